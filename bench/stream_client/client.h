/* client.h: the clients of bench/stream: what main.c and the protocols share. */
#ifndef CLIENT_H
#define CLIENT_H

#include "report/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_SIZE 4096 /* bytes of one client that are not read yet; a message is much shorter */

struct client {
    int fd;       /* -1: closed */
    bool is_open; /* the head of the response has arrived, with the right status */
    size_t len;
    char buffer[BUFFER_SIZE];
};

struct totals {
    uint64_t messages;
    struct histogram latency; /* from the time in a message to its arrival */
};

/* Prints the reason in place of the figures, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

/* Counts the messages at the beginning of the client's buffer. Returns the number of bytes that belong to
 * them; the rest is the beginning of another message. Calls fail() if the stream ends. */
typedef size_t take_messages(const char *bytes, size_t len, uint64_t now_ns, struct totals *totals);

take_messages sse_take;
take_messages websocket_take;

/* Writes a masked text frame with this time into `frame`. Returns its length. */
#define WEBSOCKET_FRAME_MAX 64
size_t websocket_frame(char frame[WEBSOCKET_FRAME_MAX], uint64_t time_ns);

#endif
