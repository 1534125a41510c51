/* response.c: the applications of the chaos test: whole responses and parts, files, interim responses, slow
 * and broken responses. See host.c. */
#include "host.h"

#include <string.h>

/* ---- the end of a request ---- */

void chaos_end(struct thread *self)
{
    pthread_mutex_lock(&self->lock);
    (void)bb_reply_end(self->lane);
    pthread_mutex_unlock(&self->lock);
}

void chaos_give_up(struct thread *self)
{
    pthread_mutex_lock(&self->lock);
    bb_reply_abort(self->lane);
    pthread_mutex_unlock(&self->lock);
}

/* The host may pause, and read the request's body, after the last part of its response. */
void chaos_finish(struct thread *self, int code)
{
    if (one_in(&self->random, 3)) {
        bb_reply_pause(self->lane);
        pause_a_little(self);
    }
    while (one_in(&self->random, 3)) chaos_read_some(self);
    if (code < 0 || one_in(&self->random, 50))
        chaos_give_up(self);
    else
        chaos_end(self);
}

/* ---- responses ---- */

size_t chaos_length(struct thread *self)
{
    static const unsigned limits[] = {10, 300, 20 * 1000, 300 * 1000, TEXT_LENGTH};
    return below(&self->random, limits[below(&self->random, 5)]);
}

int chaos_begin(struct thread *self, int status)
{
    int code = bb_reply_begin(self->lane, status);
    return code == BB_OK ? bb_reply_field(self->lane, "content-type", 12, "text/plain", 10) : code;
}

/* Announces `length` bytes, or an unknown length. */
int chaos_begin_body(struct thread *self, size_t length)
{
    int code = chaos_begin(self, 200);
    if (code != BB_OK) return code;
    return bb_reply_head(self->lane, one_in(&self->random, 3) ? BB_LENGTH_UNKNOWN : length);
}

static int write_all(struct thread *self, const char *bytes, size_t len, bool last)
{
    int code = BB_AGAIN;
    while (code == BB_AGAIN) {
        const struct bb_slice part = {bytes, len};
        uint64_t taken;
        code = bb_reply_write(self->lane, &part, 1, last, &taken);
        bytes += taken;
        len -= taken;
        if (code == BB_AGAIN && bb_reply_wait(self->lane) == BB_EGONE) code = BB_EGONE;
    }
    return code;
}

/* Small parts are gathered, large ones are not. */
static void reply_in_parts(struct thread *self)
{
    size_t length = chaos_length(self), limit = one_in(&self->random, 2) ? 100 : 40 * 1000;
    if (limit == 100 && length > 20 * 1000) length = 20 * 1000;
    int code = chaos_begin_body(self, length);
    for (size_t at = 0, len; code == BB_OK && at < length; at += len) {
        len = 1 + below(&self->random, (unsigned)limit);
        if (len > length - at) len = length - at;
        code = write_all(self, chaos_text + at, len, false);
        pause_a_little(self);
        if (one_in(&self->random, 20)) chaos_read_some(self);
    }
    chaos_finish(self, code);
}

void chaos_reply_whole(struct thread *self)
{
    size_t length = chaos_length(self);
    int code = chaos_begin_body(self, length);
    if (code == BB_OK) code = write_all(self, chaos_text, length, true);
    chaos_finish(self, code);
}

/* A large part goes to a file. The client catches up while small parts follow. */
static void reply_behind_file(struct thread *self)
{
    size_t at = 100 * 1000 + below(&self->random, 300 * 1000);
    int code = chaos_begin_body(self, at + 100 * 1000);
    if (code == BB_OK) code = write_all(self, chaos_text, at, false);
    for (size_t len, left = 100 * 1000; code == BB_OK && left > 0; at += len, left -= len) {
        len = 1 + below(&self->random, 4000);
        if (len > left) len = left;
        usleep(below(&self->random, 4000));
        code = write_all(self, chaos_text + at, len, false);
    }
    chaos_finish(self, code);
}

/* The body is shorter than announced, or the response ends in the middle. */
static void reply_broken(struct thread *self)
{
    size_t length = chaos_length(self);
    int code = chaos_begin(self, 200);
    if (code == BB_OK) code = bb_reply_head(self->lane, length + 1);
    if (code == BB_OK && one_in(&self->random, 2)) code = write_all(self, chaos_text, length, false);
    if (one_in(&self->random, 2))
        chaos_give_up(self);
    else
        chaos_end(self);
}

static void reply_file(struct thread *self)
{
    int fd;
    uint64_t size;
    int code = chaos_begin(self, 200);
    if (code == BB_OK && bb_file_open(self->lane, self->host->file, &fd, &size) != BB_OK) {
        chaos_reply_whole(self);
        return;
    }
    if (code == BB_OK) code = bb_reply_file(self->lane, fd, size);
    chaos_finish(self, code);
}

static void reply_named_file(struct thread *self)
{
    const char *path = self->host->file;
    bool answered;
    int code = chaos_begin(self, 200);
    if (code == BB_OK) code = bb_reply_field(self->lane, "x-sendfile", 10, path, strlen(path));
    if (code == BB_OK) code = bb_reply_named_file(self->lane, &answered);
    chaos_finish(self, code);
}

static void reply_after_hints(struct thread *self)
{
    for (unsigned count = below(&self->random, 100); count > 0; count--) {
        if (bb_reply_begin(self->lane, 103) != BB_OK) break;
        (void)bb_reply_field(self->lane, "link", 4, chaos_text, 2000);
        if (bb_reply_interim(self->lane) != BB_OK) break;
    }
    reply_in_parts(self);
}

/* The response comes after request_timeout, or the request gets more time. */
static void reply_late(struct thread *self)
{
    if (one_in(&self->random, 3)) bb_lane_extend_time(self->lane, below(&self->random, 30));
    usleep(below(&self->random, 30 * 1000));
    reply_in_parts(self);
}

/* ---- the choice ---- */

void chaos_respond(struct thread *self, bool upgrade)
{
    static void (*const replies[])(struct thread *) = {
        chaos_reply_whole,     reply_in_parts, reply_behind_file,
        reply_broken,          reply_file,     reply_named_file,
        reply_after_hints,     reply_late,     chaos_reply_by_stream,
        chaos_reply_by_stream, chaos_hijack,   chaos_hijack_after_head};
    if (upgrade && one_in(&self->random, 2))
        chaos_upgrade(self);
    else
        replies[below(&self->random, sizeof replies / sizeof *replies)](self);
}
