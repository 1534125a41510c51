/* conn_file.c: see conn_file.h. */
#include "conn/conn_report.h"
#include "files/file_cache.h"
#include "sockets/sigpipe.h"
#include "system/file_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#if __has_include(<sys/random.h>)
#include <sys/random.h> /* macOS declares getentropy() here, other systems in unistd.h */
#endif

/* Bytes. A smaller body is copied behind the head. */
#define SMALL_MAX (16 * 1024)

/* Bytes. One call of bb__conn_file_send() sends at most this many, as nginx does with sendfile_max_chunk.
 * Then other connections come first. */
#define TURN_MAX (2 * BB_FILE_SLICE)

int bb__conn_file_attach(struct bb__conn *conn, int fd, struct bb__file_entry *entry,
                         struct bb__file_body *body)
{
    conn->file = malloc(sizeof *conn->file);
    if (!conn->file) return BB_ENOMEM;
    *conn->file = (struct bb__conn_file){.fd = fd, .entry = entry, .body = *body};
    conn->file->is_far = entry && !entry->is_local && !bb__file_source_can_tell(fd);
    if (entry) bb__file_entry_use(entry);
    body->text = (struct bb__buf){0};
    bb__sigpipe_prepare();
    return BB_OK;
}

static void drop_part(struct bb__conn_file *file)
{
    if (file->part) bb__file_read_release(file->part);
    file->part = NULL;
}

void bb__conn_file_drop(struct bb__conn *conn, struct bb__file_cache *files)
{
    if (!conn->file) return;
    drop_part(conn->file);
    if (conn->file->entry)
        bb__file_entry_release(conn->file->entry);
    else
        (void)close(conn->file->fd);
    bb__buf_free(&conn->file->body.text);
    free(conn->file);
    conn->file = NULL;
    if (files) bb__file_cache_close_unused(files);
}

/* ---- small bodies ---- */

static bool copy_piece(char *to, int fd, const char *bytes, const struct bb__file_piece *piece)
{
    if (piece->len == 0) return true;
    if (!bytes) return bb__file_source_read_cached(fd, piece->first, to, piece->len);
    bb__put(to, bytes + piece->first, piece->len);
    return true;
}

bool bb__conn_file_copy(struct bb__buf *to, int fd, const char *bytes, const struct bb__file_body *body)
{
    size_t text = body->text.start;
    if ((!bytes && body->length > SMALL_MAX) || bb__buf_reserve(to, body->length) != BB_OK) return false;
    char *at = to->data + to->end;
    for (unsigned i = 0; i < body->count; i++) {
        const struct bb__file_piece *piece = &body->pieces[i];
        if (piece->text_len > 0) {
            at = bb__put(at, body->text.data + text, piece->text_len);
            text += piece->text_len;
        }
        if (!copy_piece(at, fd, bytes, piece)) return false;
        at += piece->len;
    }
    to->end += body->length;
    return true;
}

void bb__conn_file_make_boundary(char boundary[BB_BOUNDARY_LEN])
{
    unsigned char bytes[BB_BOUNDARY_LEN / 2] = {0};
    (void)!getentropy(bytes, sizeof bytes);
    for (size_t i = 0; i < BB_BOUNDARY_LEN; i++)
        boundary[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 * 4) & 15];
}

/* ---- the disk ---- */

static bool has_waited_too_long(const struct bb__conn_file *file, const struct bb_settings *settings,
                                uint64_t now)
{
    return settings->write_timeout > 0 && bb__elapsed(now, file->disk_since) >= settings->write_timeout;
}

/* BB_AGAIN: wait; BB_EGONE: the client has gone, or the disk has delivered nothing for write_timeout. */
static int await_disk(struct bb__conn *conn, struct bb__conn_context *context)
{
    struct bb__conn_file *file = conn->file;
    uint64_t now = bb__clock_ms();
    if (file->disk_since == 0) {
        file->disk_since = now;
        return BB_AGAIN;
    }
    if (bb__sock_client_gone(conn->fd, false)) return BB_EGONE;
    if (!has_waited_too_long(file, context->settings, now)) return BB_AGAIN;
    (void)bb__conn_report(conn, context, BB_REASON_FILE_UNREADABLE, ETIMEDOUT);
    return BB_EGONE;
}

/* The next bytes are not in the page cache. Each call starts to read them, because the kernel may have had no
 * memory for them, or may have dropped them again. */
static int read_ahead(struct bb__conn *conn, struct bb__conn_context *context, uint64_t first)
{
    bb__file_source_read_ahead(conn->file->fd, first, 2 * BB_FILE_SLICE);
    conn->file->reads_ahead = true;
    return await_disk(conn, context);
}

/* The time in which the disk was slow does not count against the client. */
static void end_disk_wait(struct bb__conn *conn)
{
    struct bb__conn_file *file = conn->file;
    if (file->disk_since == 0) return;
    if (bb__conn_has_unsent(conn))
        conn->unsent.since = bb__excused(conn->unsent.since, file->disk_since, bb__clock_ms());
    file->disk_since = 0;
}

/* ---- sending ---- */

static int report(struct bb__conn *conn, struct bb__conn_context *context, int code)
{
    if (code == BB_EOF) (void)bb__conn_report(conn, context, BB_REASON_FILE_SHORTER, 0);
    if (code == BB_ESYSTEM) (void)bb__conn_report(conn, context, BB_REASON_FILE_UNREADABLE, errno);
    return code == BB_OK || code == BB_AGAIN ? code : BB_EGONE;
}

static int send_text(struct bb__conn *conn, struct bb__file_piece *piece)
{
    struct bb__file_body *body = &conn->file->body;
    while (piece->text_len > 0) {
        size_t sent;
        const char *text = bb__buf_bytes(&body->text);
        int code = piece->len > 0 ? bb__sock_send_more(conn->fd, text, piece->text_len, &sent)
                                  : bb__sock_send(conn->fd, text, piece->text_len, &sent);
        if (code != BB_OK) return code;
        bb__buf_consume(&body->text, sent);
        piece->text_len -= sent;
        body->length -= sent;
    }
    return BB_OK;
}

static void advance(struct bb__conn_file *file, struct bb__file_piece *piece, size_t sent)
{
    piece->first += sent;
    piece->len -= sent;
    file->body.length -= sent;
}

static int send_cached(struct bb__conn *conn, struct bb__conn_context *context, struct bb__file_piece *piece,
                       size_t len)
{
    struct bb__conn_file *file = conn->file;
    for (size_t sent; len > 0; len -= sent) {
        int code = bb__file_source_send(conn->fd, file->fd, piece->first, len, &sent);
        if (code != BB_OK) return report(conn, context, code);
        advance(file, piece, sent);
        if (file->reads_ahead && piece->len > BB_FILE_SLICE)
            bb__file_source_read_ahead(file->fd, piece->first + BB_FILE_SLICE, sent);
    }
    return BB_OK;
}

/* *left: bytes of this turn. Each look into the page cache is for as many bytes as possible. But while the
 * file comes from the disk, a slice does not wait for the next one. */
static int send_file(struct bb__conn *conn, struct bb__conn_context *context, struct bb__file_piece *piece,
                     size_t *left)
{
    struct bb__conn_file *file = conn->file;
    while (piece->len > 0) {
        size_t most = file->reads_ahead && *left > BB_FILE_SLICE ? BB_FILE_SLICE : *left;
        size_t len = piece->len < most ? (size_t)piece->len : most;
        if (len == 0) return BB_AGAIN;
        if (!bb__file_source_is_cached(file->fd, piece->first, len))
            return read_ahead(conn, context, piece->first);
        end_disk_wait(conn);
        *left -= len;
        int code = send_cached(conn, context, piece, len);
        if (code != BB_OK) return code;
    }
    return BB_OK;
}

/* Sends the rest of `part`. */
static int send_part(struct bb__conn *conn, struct bb__conn_context *context, struct bb__file_piece *piece,
                     size_t *left)
{
    struct bb__conn_file *file = conn->file;
    struct bb__file_read *part = file->part;
    size_t sent, from = (size_t)(piece->first - part->first), len = part->len - from;
    if (part->len == 0) {
        errno = part->error;
        return report(conn, context, part->error ? BB_ESYSTEM : BB_EOF);
    }
    if (len > *left) len = *left;
    if (len == 0) return BB_AGAIN;
    int code = bb__sock_send(conn->fd, part->bytes + from, len, &sent);
    if (code != BB_OK) return code;
    advance(file, piece, sent);
    *left -= sent;
    if (from + sent == part->len) drop_part(file);
    return BB_OK;
}

/* As send_file(). The helper reads the next part when this one is sent. */
static int send_far(struct bb__conn *conn, struct bb__conn_context *context, struct bb__file_piece *piece,
                    size_t *left)
{
    struct bb__conn_file *file = conn->file;
    int code = BB_OK;
    while (code == BB_OK && piece->len > 0) {
        size_t len = piece->len < BB_FILE_READ_MAX ? (size_t)piece->len : BB_FILE_READ_MAX;
        if (file->needs_room && bb__sock_wait_writable(conn->fd, -1, 0) != BB_OK) return BB_AGAIN;
        file->needs_room = false;
        if (!file->part)
            file->part = bb__file_cache_read(context->files, file->entry, file->fd, piece->first, len);
        if (!file->part) return report(conn, context, BB_ESYSTEM);
        if (!bb__file_read_is_done(file->part)) return await_disk(conn, context);
        end_disk_wait(conn);
        code = send_part(conn, context, piece, left);
    }
    return code;
}

size_t bb__conn_file_held(const struct bb__conn *conn)
{
    return conn->file && conn->file->part ? conn->file->part->size : 0;
}

/* A part that the helper still reads stays. Otherwise the connection might never get one. */
void bb__conn_file_put_back(struct bb__conn *conn)
{
    if (!conn->file || !conn->file->part || bb__conn_waits_for_disk(conn)) return;
    drop_part(conn->file);
    conn->file->needs_room = true;
}

int bb__conn_file_send(struct bb__conn *conn, struct bb__conn_context *context)
{
    struct bb__conn_file *file = conn->file;
    for (size_t left = TURN_MAX; file->next < file->body.count; file->next++) {
        struct bb__file_piece *piece = &file->body.pieces[file->next];
        int code = send_text(conn, piece);
        if (code == BB_OK)
            code =
                file->is_far ? send_far(conn, context, piece, &left) : send_file(conn, context, piece, &left);
        if (code != BB_OK) return code;
    }
    bb__conn_file_drop(conn, context->files);
    return BB_OK;
}
