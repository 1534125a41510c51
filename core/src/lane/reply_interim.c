/* reply_interim.c: interim responses (RFC 9110 15.2), such as 103 Early Hints (RFC 8297), before the response
 * of a request. reply.c makes the head, and sends the response itself. See bontebok.h for the contracts. */
#include "lane/lane.h"

#include <string.h>

/* An HTTP/1.0 client understands no interim response (RFC 9110 15.2). A client that has not taken earlier
 * bytes would only be slowed down. */
static bool is_wanted(const struct bb_lane *lane)
{
    return lane->request.head.minor_version > 0 && !bb__conn_has_unsent(lane->current);
}

/* Removes the fields without a value ("name: \r\n"). Returns whether a field is left behind the status line.
 * A value has no LF. */
static bool keep_hints(struct bb__buf *staged)
{
    char *start = bb__buf_bytes(staged), *end = start + bb__buf_len(staged);
    char *line = (char *)memchr(start, '\n', (size_t)(end - start)) + 1;
    char *first = line, *kept = line;
    while (line < end) {
        char *next = (char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        char *value = (char *)memchr(line, ':', (size_t)(next - line)) + 2;
        if (next - value > 2) {
            memmove(kept, line, (size_t)(next - line));
            kept += next - line;
        }
        line = next;
    }
    staged->end -= (size_t)(end - kept);
    return kept > first;
}

/* The socket has taken only a part, so the rest must come before anything else. The I/O thread
 * must not send a 504 after this call. */
static int keep_rest(struct bb_lane *lane, size_t sent)
{
    struct bb__conn *conn = lane->current;
    const struct bb__buf *staged = &lane->reply.staged;
    size_t rest = bb__buf_len(staged) - sent;
    if (!bb__lane_may_send(lane)) return BB_EGONE;
    if (bb__buf_append(&conn->out, bb__buf_bytes(staged) + sent, rest) != BB_OK) return BB_ENOMEM;
    bb__conn_note_owed(conn, &lane->context, rest);
    bb__reply_note_progress(lane);
    return BB_OK;
}

int bb_reply_interim(struct bb_lane *lane)
{
    struct bb__buf *staged = &lane->reply.staged;
    size_t sent = 0;
    if (!bb__lane_current(lane) || lane->reply.sent) return BB_EGONE;
    if (!is_wanted(lane) || !keep_hints(staged)) return BB_OK;
    if (bb__buf_append(staged, "\r\n", 2) != BB_OK) return BB_ENOMEM;
    int code = bb__sock_send(lane->current->fd, bb__buf_bytes(staged), bb__buf_len(staged), &sent);
    if (code == BB_OK && sent < bb__buf_len(staged)) code = keep_rest(lane, sent);
    if (code == BB_OK) bb__count(&lane->context.counts, BB_COUNT_RESPONSES_1XX, 1);
    if (code < 0) { /* the client may have a part of it, so no response can follow */
        lane->reply.sent = true;
        lane->reply.encoder.framing = BB_FRAMING_NONE;
    }
    bb__buf_clear(staged);
    return code == BB_AGAIN ? BB_OK : code;
}
