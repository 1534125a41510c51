/* reply_file.c: sends a file as the body of the response to a lane's current request. The connection sends
 * what the socket does not take at once (conn_file.c). See bontebok_file.h for the contracts. */
#include "base/letters.h"
#include "http/h1_reply_file.h"
#include "lane/lane.h"
#include "system/file_source.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Files that only the cache has open make room. */
static bool may_try_again(const struct bb_lane *lane, int code)
{
    return code == BB_ESYSTEM && (errno == EMFILE || errno == ENFILE) && bb__worker_close_files(lane->worker);
}

int bb_file_open(const struct bb_lane *lane, const char *path, int *fd, uint64_t *size)
{
    int limit = lane->worker->room.lent, code = bb__file_source_open(path, limit, fd, size);
    return may_try_again(lane, code) ? bb__file_source_open(path, limit, fd, size) : code;
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
    if (!lane->reply.sent) bb__conn_file_drop(conn, NULL); /* the file is of no cache */
    return code;
}

/* ---- files that the application names (X-Sendfile, X-Accel-Redirect) ---- */

static const char x_sendfile[] = "x-sendfile", x_accel_redirect[] = "x-accel-redirect";

/* ---- which file ---- */

/* The directory, and the path below it. */
struct place {
    char directory[PATH_MAX], below[PATH_MAX];
};

/* Decodes the path of a URI (RFC 3986 2.1) up to its query. False: a malformed "%", a NUL, or too long. */
static bool decode(struct bb_slice uri, char to[PATH_MAX])
{
    const char *end = uri.at + uri.len;
    size_t len = 0;
    for (const char *at = uri.at; at < end && *at != '?'; at++) {
        char byte = *at;
        if (byte == '%') {
            int high = end - at > 2 ? bb__hex_value(at[1]) : -1, low = high < 0 ? -1 : bb__hex_value(at[2]);
            if (low < 0) return false;
            byte = (char)(high * 16 + low);
            at += 2;
        }
        if (byte == '\0' || len == PATH_MAX - 1) return false;
        to[len++] = byte;
    }
    to[len] = '\0';
    return true;
}

static bool copy(struct bb_slice from, char to[PATH_MAX])
{
    if (from.len >= PATH_MAX) return false;
    memcpy(to, from.at, from.len);
    to[from.len] = '\0';
    return true;
}

static size_t without_slash(const char *at, size_t len)
{
    return len > 0 && at[len - 1] == '/' ? len - 1 : len;
}

/* Compares the path with an entry of x_sendfile, "DIR" or "PREFIX=DIR". Returns the length of the prefix that
 * both have; 0: none. */
static size_t match(const char *path, struct bb_slice entry, bool is_uri, struct bb_slice *directory)
{
    const char *equals = memchr(entry.at, '=', entry.len);
    if (is_uri != (equals != NULL)) return 0;
    size_t before = equals ? (size_t)(equals - entry.at) : 0, skip = equals ? before + 1 : 0;
    *directory = (struct bb_slice){entry.at + skip, entry.len - skip};
    size_t len = without_slash(entry.at, equals ? before : entry.len);
    return strncmp(path, entry.at, len) == 0 && path[len] == '/' ? len + 1 : 0;
}

/* Finds the entry with the longest prefix. False: there is none. */
static bool find_place(const char *entries, const char *path, bool is_uri, struct place *place)
{
    size_t longest = 0;
    while (*entries) {
        struct bb_slice entry = {entries, strcspn(entries, "\n")}, directory;
        size_t len = match(path, entry, is_uri, &directory);
        if (len > longest && copy(directory, place->directory)) longest = len;
        entries += entry.len + (entries[entry.len] == '\n');
    }
    if (longest > 0) strcpy(place->below, path + longest);
    return longest > 0;
}

/* Opens the file. BB_OK; BB_ESYSTEM with errno. */
static int open_file(const struct bb_lane *lane, struct bb_slice named, bool is_uri, int *fd, uint64_t *size,
                     bool *elsewhere)
{
    struct place place;
    char path[PATH_MAX];
    errno = is_uri ? ENOENT : EXDEV;
    *elsewhere = true;
    if (!(is_uri ? decode(named, path) : copy(named, path)) ||
        !find_place(lane->worker->settings.x_sendfile, path, is_uri, &place))
        return BB_ESYSTEM;
    int limit = lane->worker->room.lent;
    int code = bb__file_source_open_below(place.directory, place.below, limit, fd, size, elsewhere);
    if (!may_try_again(lane, code)) return code;
    return bb__file_source_open_below(place.directory, place.below, limit, fd, size, elsewhere);
}

/* ---- a file that is not sent ---- */

/* As nginx answers. A file that is elsewhere is answered like a file that is missing. Otherwise a client
 * could ask which files exist outside of the directories. */
static int status_for(int error, bool elsewhere)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return 500;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EINVAL:
        return 404;
    case EACCES:
    case EPERM:
    case ELOOP:
        return elsewhere ? 404 : 403;
    default:
        return elsewhere ? 404 : 500;
    }
}

static void tell(struct bb_lane *lane, int status, int error)
{
    struct bb_event event = {.status = status,
                             .error = error == EXDEV ? 0 : error,
                             .text = error == EXDEV
                                         ? "X-Sendfile: the file is outside of the directories of x_sendfile"
                                         : "X-Sendfile: the file cannot be sent"};
    memcpy(event.peer, lane->current->peer.address, sizeof event.peer);
    bb__event_add_paced(&lane->context.events, &lane->paces.unnamed, lane->context.now, &event);
}

static int refuse(struct bb_lane *lane, int error, bool elsewhere)
{
    static const char type[] = "text/plain", text[] = "The file cannot be sent.\n";
    const size_t len = sizeof text - 1;
    uint64_t taken;
    int status = status_for(error, elsewhere);
    tell(lane, status, error);
    int code = bb_reply_begin(lane, status);
    if (code == BB_OK) code = bb_reply_field(lane, "Content-Type", 12, type, sizeof type - 1);
    if (code == BB_OK) code = bb_reply_head(lane, len);
    if (code == BB_OK && !bb_reply_bodyless(lane)) code = bb__buf_append(&lane->reply.staged, text, len);
    if (code != BB_OK) return code;
    lane->reply.encoder.remaining = 0;
    lane->reply.body_length = bb_reply_bodyless(lane) ? 0 : len;
    code = bb_reply_write(lane, NULL, 0, true, &taken);
    return code < 0 ? code : BB_OK;
}

/* ---- the response ---- */

/* A 304, for example, is sent as it is. */
static bool has_body(const struct bb__h1_reply *encoder)
{
    int status = encoder->status;
    return status >= 200 && status != 204 && status != 205 && status != 304;
}

static void forget_names(struct bb__buf *staged)
{
    bb__h1_reply_remove(staged, x_sendfile);
    bb__h1_reply_remove(staged, x_accel_redirect);
}

/* The length of the application's own body, usually 0, does not apply to the file. */
static void forget_body(struct bb__h1_reply *encoder)
{
    encoder->has_length = encoder->has_chunked = false;
    encoder->content_length = 0;
}

int bb_reply_named_file(struct bb_lane *lane, bool *answered)
{
    struct bb__buf *staged = &lane->reply.staged;
    *answered = false;
    if (!bb__lane_current(lane) || lane->worker->settings.x_sendfile[0] == '\0') return BB_OK;
    struct bb_slice named = bb__h1_reply_find(staged, x_sendfile);
    bool is_uri = !named.at;
    if (is_uri) named = bb__h1_reply_find(staged, x_accel_redirect);
    if (!named.at) return BB_OK;
    if (!has_body(&lane->reply.encoder)) {
        forget_names(staged);
        return BB_OK;
    }

    int fd;
    uint64_t size;
    bool elsewhere;
    int code = open_file(lane, named, is_uri, &fd, &size, &elsewhere), error = errno;
    forget_names(staged);
    forget_body(&lane->reply.encoder);
    *answered = true;
    if (code != BB_OK) return refuse(lane, error, elsewhere);
    return bb_reply_file(lane, fd, size);
}
