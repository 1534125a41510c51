/* conn_transfer.c: see conn_transfer.h. A message has three parts:
 *
 *     struct note   the head and the bytes after it   the body
 *
 * A part that is too long for the message is sent as a file: the spool's file, or a new file in memory. */
#include "conn/conn_transfer.h"
#include "system/scoreboard.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#define IN_MAX   (16 * 1024)
#define BODY_MAX (4 * 1024)

/* The state of the connection, for the receiver. During a deploy the receiver may be of another version. So
 * new fields are added only at the end. The receiver reads 0 in a field that the sender does not know. Any
 * other change needs another LAYOUT, and another BB_LAYOUT (scoreboard.h). */
#define LAYOUT 1
struct note {
    uint32_t layout, size;
    uint64_t served, ready_at, in_len, body_len;
    bool has_request, in_is_file, body_is_file, tcp;
    uint8_t listener;
    char peer[BB_PEER_MAX];
    uint64_t address; /* bb__sock_address() of the listener, because its number may differ in the receiver */
    uint8_t group;    /* enum bb__group */
    uint8_t empty;    /* 0 */
    uint16_t peer_port;
    uint8_t spare[4]; /* 0; for new fields */
};

_Static_assert(sizeof(struct note) == offsetof(struct note, spare) + 4, "a new field is 0 in an older note");

_Static_assert(sizeof(struct note) + IN_MAX + BODY_MAX <= BB_SHARED_QUEUE_BYTES, "a message holds them all");

/* A message under construction. */
struct parcel {
    struct note note;
    struct iovec parts[3];
    size_t part_count;
    int fds[BB_SHARED_QUEUE_FDS];
    size_t fd_count;
    int made[2]; /* files in memory, which the sender closes */
    size_t made_count;
};

/* Adds the bytes as a part. If there are more than `most` bytes, adds them as a file (*is_file). */
static bool add_bytes(struct parcel *parcel, const struct bb__buf *bytes, size_t most, bool *is_file)
{
    size_t len = bb__buf_len(bytes);
    *is_file = len > most;
    if (!*is_file) {
        parcel->parts[parcel->part_count++] = (struct iovec){bb__buf_bytes(bytes), len};
        return true;
    }
    int fd = bb__shared_queue_make_file(bb__buf_bytes(bytes), len);
    if (fd < 0) return false;
    parcel->fds[parcel->fd_count++] = parcel->made[parcel->made_count++] = fd;
    return true;
}

static bool add_body(struct parcel *parcel, const struct bb__spool *spool)
{
    if (spool->fd < 0) return add_bytes(parcel, &spool->memory, BODY_MAX, &parcel->note.body_is_file);
    parcel->note.body_is_file = true;
    parcel->fds[parcel->fd_count++] = spool->fd;
    return true;
}

bool bb__conn_needs_file(const struct bb__conn *conn)
{
    return bb__buf_len(&conn->in) > IN_MAX;
}

int bb__conn_transfer(const struct bb__conn *conn, const uint64_t *addresses,
                      const struct bb__shared_queue *shared_queue)
{
    bool unread = conn->unbuffered != NULL; /* the receiver parses the head as if it were new */
    struct parcel parcel = {
        .note = {.layout = LAYOUT,
                 .size = sizeof parcel.note,
                 .served = conn->served - unread,
                 .ready_at = conn->wait.ready_at,
                 .in_len = bb__buf_len(&conn->in),
                 .body_len = conn->spool.length,
                 .has_request = conn->state == BB_CONN_SERVED && !unread,
                 .tcp = conn->tcp,
                 .listener = conn->listener,
                 .address = addresses[conn->listener],
                 .group = conn->group,
                 .peer_port = conn->peer.port},
        .fds = {conn->fd},
        .fd_count = 1,
    };
    memcpy(parcel.note.peer, conn->peer.address, sizeof parcel.note.peer);
    parcel.parts[parcel.part_count++] = (struct iovec){&parcel.note, sizeof parcel.note};

    int code = BB_ESYSTEM;
    if (add_bytes(&parcel, &conn->in, IN_MAX, &parcel.note.in_is_file) && add_body(&parcel, &conn->spool))
        code = bb__shared_queue_send(shared_queue, bb__conn_waits_since(conn), parcel.parts,
                                     parcel.part_count, parcel.fds, parcel.fd_count);
    int error = errno;
    while (parcel.made_count > 0) (void)close(parcel.made[--parcel.made_count]);
    errno = error;
    return code;
}

/* ---- receiving ---- */

/* The unread bytes and descriptors of a message. */
struct reader {
    const char *at;
    size_t left;
    const int *fds;
    size_t fd_count;
};

static const char *next_bytes(struct reader *reader, size_t len)
{
    if (len > reader->left) return NULL;
    const char *at = reader->at;
    reader->at += len;
    reader->left -= len;
    return at;
}

static int next_fd(struct reader *reader)
{
    return reader->fd_count > 0 ? (reader->fd_count--, *reader->fds++) : -1;
}

enum note_kind { NOTE_OK, NOTE_USELESS, NOTE_BROKEN };

static bool has_listener(const struct bb__conn_context *context, size_t number)
{
    return number < CHAR_BIT * sizeof *context->listeners && (*context->listeners >> number & 1);
}

/* Finds the listener by its address, and sets note->listener to its number in this worker. If the address is
 * 0, both workers use the same numbers. */
static bool find_listener(const struct bb__conn_context *context, struct note *note)
{
    if (has_listener(context, note->listener) &&
        (note->address == 0 || context->addresses[note->listener] == note->address))
        return true;
    for (uint8_t number = 0; note->address != 0 && number < CHAR_BIT * sizeof *context->listeners; number++) {
        if (!has_listener(context, number) || context->addresses[number] != note->address) continue;
        note->listener = number;
        return true;
    }
    return false;
}

static enum note_kind copy_bytes(struct reader *reader, struct note *note)
{
    static const size_t first = offsetof(struct note, served);
    *note = (struct note){0};
    const char *bytes = next_bytes(reader, first);
    if (!bytes) return NOTE_BROKEN;
    memcpy(note, bytes, first);
    if (note->layout != LAYOUT) return NOTE_USELESS;
    if (note->size < first || !(bytes = next_bytes(reader, note->size - first))) return NOTE_BROKEN;
    size_t rest = note->size - first, known = sizeof *note - first;
    memcpy((char *)note + first, bytes, rest < known ? rest : known);
    note->peer[sizeof note->peer - 1] = '\0';
    return NOTE_OK;
}

static enum note_kind read_note(struct reader *reader, const struct bb__conn_context *context,
                                struct note *note)
{
    enum note_kind kind = copy_bytes(reader, note);
    return kind == NOTE_OK && !find_listener(context, note) ? NOTE_USELESS : kind;
}

static struct reader read_from(const char *bytes, const struct bb__shared_message *message)
{
    return (struct reader){bytes, message->len, message->fds, message->fd_count};
}

bool bb__conn_is_for_us(const struct bb__conn_context *context, const char *bytes,
                        const struct bb__shared_message *message)
{
    struct reader reader = read_from(bytes, message);
    struct note note;
    return read_note(&reader, context, &note) != NOTE_USELESS;
}

bool bb__conn_is_for_others(const struct bb__conn_context *context, const char *bytes,
                            const struct bb__shared_message *message)
{
    struct reader reader = read_from(bytes, message);
    struct note note;
    return context->group != BB_GROUP_ANY && copy_bytes(&reader, &note) == NOTE_OK &&
           note.group != BB_GROUP_ANY && note.group != context->group;
}

static bool take_in(struct bb__conn *conn, struct bb__conn_context *context, const struct note *note,
                    struct reader *reader)
{
    if (note->in_len == 0) return true;
    if (note->in_is_file) {
        if (bb__buf_reserve(&conn->in, note->in_len) != BB_OK) return false;
        int fd = next_fd(reader);
        if (fd < 0) return false;
        conn->in.end = note->in_len;
        return bb__shared_queue_read_file(fd, conn->in.data, note->in_len);
    }
    const char *bytes = next_bytes(reader, note->in_len);
    return bytes && bb__buf_pool_get(&context->buf_pool, &conn->in) == BB_OK &&
           bb__buf_append(&conn->in, bytes, note->in_len) == BB_OK;
}

static bool holds(int fd, uint64_t len)
{
    struct stat file;
    return fstat(fd, &file) == 0 && file.st_size >= 0 && (uint64_t)file.st_size >= len;
}

static bool take_body(struct bb__conn *conn, struct bb__conn_context *context, const struct note *note,
                      struct reader *reader)
{
    if (note->body_len == 0) return true;
    if (note->body_is_file) {
        int fd = next_fd(reader);
        if (fd < 0) return false;
        bb__spool_adopt(&conn->spool, context->spool_budget, fd, note->body_len);
        return holds(fd, note->body_len);
    }
    const char *bytes = next_bytes(reader, note->body_len);
    return bytes && bb__spool_append(&conn->spool, context->spool_budget, bytes, note->body_len) == BB_OK;
}

static void copy_note(struct bb__conn *conn, const struct note *note)
{
    conn->served = note->served;
    conn->wait.ready_at = note->ready_at;
    conn->tcp = note->tcp;
    conn->listener = note->listener;
    conn->state = note->has_request ? BB_CONN_SERVED : BB_CONN_HEAD;
    memcpy(conn->peer.address, note->peer, sizeof conn->peer.address);
    conn->peer.port = note->peer_port;
}

static struct bb__conn *make_conn(struct bb__conn_context *context, struct reader *reader,
                                  const struct bb__shared_stamp *stamp)
{
    struct note note;
    int fd = next_fd(reader);
    enum note_kind kind = read_note(reader, context, &note);
    struct bb__conn *conn = fd >= 0 && kind != NOTE_BROKEN ? bb__conn_new(fd, context) : NULL;
    if (!conn) {
        if (fd >= 0) bb__sock_reset(fd);
        return NULL;
    }
    conn->moved = true;
    conn->wait.queued_at = stamp->has_request ? stamp->since : 0;
    if (kind == NOTE_USELESS) {
        conn->useless = true;
        conn->state = stamp->has_request || note.in_len > 0 ? BB_CONN_SERVED : BB_CONN_HEAD;
        return conn;
    }
    copy_note(conn, &note);
    if (take_in(conn, context, &note, reader) && take_body(conn, context, &note, reader)) return conn;
    bb__conn_free(conn, context, BB_CONN_END_RESET);
    return NULL;
}

struct bb__conn *bb__conn_receive(struct bb__conn_context *context, const char *bytes,
                                  const struct bb__shared_message *message)
{
    struct reader reader = read_from(bytes, message);
    struct bb__conn *conn = make_conn(context, &reader, &message->stamp);
    for (int fd; (fd = next_fd(&reader)) >= 0;) (void)close(fd);
    return conn;
}
