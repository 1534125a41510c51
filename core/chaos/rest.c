/* rest.c: responses of the chaos test that leave their lane: streams, upgrades and hijacked sockets, and the
 * threads that write them. See host.c. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void pass(struct thread *self, struct rest rest)
{
    struct chaos_host *host = self->host;
    struct rest *added = malloc(sizeof *added);
    *added = rest;
    pthread_mutex_lock(&host->lock);
    added->next = host->rests;
    host->rests = added;
    pthread_cond_signal(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

/* Writes a random part of the rest. False: the rest has ended. */
static bool write_some(struct thread *self, struct rest *rest, struct bb_lane *lane)
{
    size_t len = 1 + below(&self->random, 40 * 1000);
    if (len > rest->length - rest->at) len = rest->length - rest->at;
    const struct bb_slice part = {chaos_text + rest->at, len};
    uint64_t taken = 0;
    if (!rest->stream) {
        ssize_t sent = send(rest->fd, part.at, part.len, MSG_NOSIGNAL);
        if (sent < 0) return false;
        rest->at += (size_t)sent;
        return rest->at < rest->length;
    }
    bool last = rest->at + len == rest->length;
    int code = bb_stream_write(rest->stream, &part, 1, last, &taken);
    rest->at += taken;
    if (code == BB_AGAIN && lane)
        bb_lane_wait_for_stream(lane, rest->stream, BB_STREAM_WRITABLE);
    else if (code == BB_AGAIN)
        bb_stream_wait(rest->stream, BB_STREAM_WRITABLE);
    return code == BB_AGAIN || (code == BB_OK && !last);
}

static void read_some(struct thread *self, struct rest *rest)
{
    char bytes[1000];
    size_t got;
    for (unsigned times = below(&self->random, 20); times > 0; times--) {
        int code = bb_stream_read(rest->stream, bytes, sizeof bytes, &got);
        if (code == BB_AGAIN) bb_stream_wait(rest->stream, BB_STREAM_READABLE);
        if (code != BB_OK && code != BB_AGAIN) return;
    }
}

static void drop(struct rest *rest)
{
    if (rest->stream)
        bb_stream_free(rest->stream);
    else
        close(rest->fd);
}

/* Streams end in the lane's thread, or outlive the request, or are freed in the middle. */
static void go_on_with_stream(struct thread *self, struct rest rest)
{
    if (one_in(&self->random, 2)) {
        pass(self, rest);
        chaos_end(self);
        return;
    }
    for (unsigned parts = below(&self->random, 100); parts > 0 && write_some(self, &rest, self->lane);)
        parts--;
    if (one_in(&self->random, 2)) bb_lane_rejoin(self->lane, rest.stream);
    if (one_in(&self->random, 2)) {
        chaos_end(self);
        drop(&rest);
    } else {
        drop(&rest);
        chaos_end(self);
    }
}

void chaos_reply_by_stream(struct thread *self)
{
    struct rest rest = {.length = chaos_length(self)};
    int code = chaos_begin_body(self, rest.length);
    if (code == BB_OK && !bb_reply_bodyless(self->lane)) code = bb_lane_detach(self->lane, &rest.stream);
    if (code == BB_OK && rest.stream)
        go_on_with_stream(self, rest);
    else
        chaos_finish(self, code);
}

void chaos_upgrade(struct thread *self)
{
    struct rest rest = {.length = chaos_length(self)};
    int code = chaos_begin(self, 101);
    if (code == BB_OK) code = bb_reply_field(self->lane, "upgrade", 7, "chaos", 5);
    if (code == BB_OK) code = bb_reply_head(self->lane, BB_LENGTH_UNKNOWN);
    if (code == BB_OK) code = bb_lane_detach(self->lane, &rest.stream);
    if (code != BB_OK) {
        chaos_give_up(self);
        return;
    }
    pass(self, rest);
    chaos_end(self);
}

void chaos_hijack(struct thread *self)
{
    struct rest rest = {.length = chaos_length(self)};
    struct bb_slice unread;
    if (bb_lane_hijack(self->lane, &rest.fd, &unread) != BB_OK) {
        chaos_reply_whole(self);
        return;
    }
    char head[100];
    int len = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", rest.length);
    if (send(rest.fd, head, (size_t)len, MSG_NOSIGNAL) != len) rest.length = 0;
    pass(self, rest);
    chaos_end(self);
}

void chaos_hijack_after_head(struct thread *self)
{
    struct rest rest = {.length = chaos_length(self)};
    struct bb_slice unread;
    uint64_t taken;
    int code = chaos_begin(self, 200);
    if (code == BB_OK) code = bb_reply_head(self->lane, BB_LENGTH_RAW);
    if (code == BB_OK) code = bb_reply_write(self->lane, NULL, 0, false, &taken);
    while (code == BB_OK && (code = bb_lane_hijack(self->lane, &rest.fd, &unread)) == BB_AGAIN)
        code = bb_reply_wait(self->lane) == BB_EGONE ? BB_EGONE : BB_OK;
    if (code != BB_OK) {
        chaos_give_up(self);
        return;
    }
    pass(self, rest);
    chaos_end(self);
}

/* ---- writers ---- */

static struct rest *take_rest(struct chaos_host *host)
{
    pthread_mutex_lock(&host->lock);
    while (!host->rests && !host->ends) pthread_cond_wait(&host->changed, &host->lock);
    struct rest *rest = host->rests;
    if (rest) host->rests = rest->next;
    pthread_mutex_unlock(&host->lock);
    return rest;
}

void *chaos_write_rests(void *argument)
{
    struct thread *self = argument;
    for (struct rest *rest; (rest = take_rest(self->host)); free(rest)) {
        bool reads = rest->stream && bb_stream_is_upgrade(rest->stream);
        if (reads) read_some(self, rest);
        while (!one_in(&self->random, 200) && write_some(self, rest, NULL)) pause_a_little(self);
        drop(rest);
    }
    return NULL;
}
