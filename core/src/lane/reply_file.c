/* reply_file.c: sends a file as the body of the response to a lane's current request. The connection sends
 * what the socket does not take at once (conn_file.c). See bontebok_file.h for the contracts. */
#include "http/h1_reply_file.h"
#include "lane/lane.h"
#include "system/file_source.h"

#include <unistd.h>

int bb_file_open(const struct bb_lane *lane, const char *path, int *fd, uint64_t *size)
{
    return bb__file_source_open(path, lane->context.spool_budget->reserve, fd, size);
}

bool bb_reply_takes_file(const struct bb_lane *lane, uint64_t size)
{
    return bb__h1_reply_takes_file(&lane->reply.encoder, &lane->reply.staged, size);
}

/* Ends the head, and gives the file to the connection. The core owns fd. */
static int end_head(struct bb_lane *lane, int fd, uint64_t size)
{
    struct bb__h1_reply *encoder = &lane->reply.encoder;
    const struct bb_head *request = &lane->request.head;
    struct bb__file_body body;
    char boundary[BB_BOUNDARY_LEN];
    if (bb__h1_asks_for_ranges(request)) bb__conn_file_make_boundary(boundary);
    int code = bb__h1_reply_file(encoder, &lane->reply.staged, request, size, boundary, &body);
    if (code == BB_OK) code = bb_reply_head(lane, body.length);
    bool wanted = code == BB_OK && encoder->framing != BB_FRAMING_NONE &&
                  !bb__conn_file_copy(&lane->reply.staged, fd, NULL, &body);
    if (wanted) code = bb__conn_file_attach(lane->current, fd, NULL, &body);
    if (!wanted || code != BB_OK) (void)close(fd);
    bb__buf_free(&body.text);
    encoder->remaining = 0;
    return code;
}

/* Sends the head and the first bytes of the file. */
static int send_first(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    struct bb__buf *staged = &lane->reply.staged;
    uint64_t taken;
    if (!conn->file) return bb_reply_write(lane, NULL, 0, true, &taken);
    lane->reply.ended = true;
    lane->reply.ended_as = BB_OK;
    if (!bb__lane_may_send(lane)) return BB_EGONE;
    uint64_t before = bb__conn_has_unsent(conn) ? bb__buf_len(&conn->out) : 0;
    int code = bb__buf_append(&conn->out, bb__buf_bytes(staged), bb__buf_len(staged));
    if (code != BB_OK) return code;
    lane->reply.sent = true;
    bb__buf_clear(staged);
    if (bb__conn_has_unsent(conn)) bb__conn_note_owed(conn, &lane->context, bb__conn_unsent(conn) - before);
    conn->large = true;
    return bb__conn_flush(conn, &lane->context) == BB_EGONE ? BB_EGONE : BB_OK;
}

int bb_reply_file(struct bb_lane *lane, int fd, uint64_t size)
{
    struct bb__conn *conn = bb__lane_current(lane);
    if (!conn || lane->reply.sent || lane->reply.failed != BB_OK) {
        (void)close(fd);
        return BB_EGONE;
    }
    int code = end_head(lane, fd, size);
    if (code == BB_OK) code = send_first(lane);
    if (code >= 0) return BB_OK;
    lane->reply.failed = code;
    if (!lane->reply.sent) bb__conn_file_drop(conn);
    return code;
}
