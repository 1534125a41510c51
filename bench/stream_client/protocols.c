/* protocols.c: the messages of SSE and WebSocket. Each message has the time at which it was due, in digits.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SSE_FIELD        "data: "
#define LAST_CHUNK       "0\r\n"
#define FIN_TEXT         0x81 /* RFC 6455 5.2: the last frame of a text message */
#define MASKED           0x80
#define MASK_SIZE        4
#define HEADER_SIZE      2
#define LONG_FRAME       126
#define WEBSOCKET_PADDED 40 /* bytes of payload */

static void count(struct totals *totals, const char *digits, uint64_t now_ns)
{
    uint64_t due_ns = strtoull(digits, NULL, 10);
    totals->messages++;
    histogram_record(&totals->latency, now_ns > due_ns ? now_ns - due_ns : 0);
}

/* Looks only for whole lines. A line that begins with "data: " is a message. The lines of the chunked coding
 * do not matter, except for the last chunk's: no server splits a message into two chunks. */
size_t sse_take(const char *bytes, size_t len, uint64_t now_ns, struct totals *totals)
{
    const char *at = bytes, *line_end;
    while ((line_end = memchr(at, '\n', (size_t)(bytes + len - at)))) {
        size_t field = strlen(SSE_FIELD);
        size_t line = (size_t)(line_end + 1 - at);
        if (line == strlen(LAST_CHUNK) && !memcmp(at, LAST_CHUNK, line)) fail("the server ends the stream");
        if (line > field && !memcmp(at, SSE_FIELD, field)) count(totals, at + field, now_ns);
        at = line_end + 1;
    }
    return (size_t)(at - bytes);
}

/* The frames of a server are not masked, and all of them are short. Frames other than text are skipped. */
size_t websocket_take(const char *bytes, size_t len, uint64_t now_ns, struct totals *totals)
{
    size_t at = 0;
    while (len - at >= HEADER_SIZE) {
        const unsigned char *frame = (const unsigned char *)bytes + at;
        if (frame[1] >= LONG_FRAME) fail("the server sends a long frame");
        size_t whole = HEADER_SIZE + (size_t)frame[1];
        if (len - at < whole) break;
        if (frame[0] == FIN_TEXT) count(totals, bytes + at + HEADER_SIZE, now_ns);
        at += whole;
    }
    return at;
}

/* The mask is 0, which leaves the payload as it is. The server does the same work for any mask. */
size_t websocket_frame(char frame[WEBSOCKET_FRAME_MAX], uint64_t time_ns)
{
    char payload[WEBSOCKET_PADDED + 1];
    snprintf(payload, sizeof payload, "%-*llu", WEBSOCKET_PADDED, (unsigned long long)time_ns);
    frame[0] = (char)FIN_TEXT;
    frame[1] = (char)(MASKED | WEBSOCKET_PADDED);
    memset(frame + HEADER_SIZE, 0, MASK_SIZE);
    memcpy(frame + HEADER_SIZE + MASK_SIZE, payload, WEBSOCKET_PADDED);
    return HEADER_SIZE + MASK_SIZE + WEBSOCKET_PADDED;
}
