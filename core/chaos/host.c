/* host.c: the host (the program that calls the core) of the chaos test: a thread for each lane. Responses are
 * in response.c and rest.c. All bodies are chaos_text. See chaos.h. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

static void check(const char *bytes, size_t len, uint64_t at)
{
    if (at + len > TEXT_LENGTH || memcmp(bytes, chaos_text + at, len) != 0)
        chaos_fail("a request's body has wrong bytes from %llu on", (unsigned long long)at);
}

static size_t read_some(struct thread *self, char *bytes, unsigned len)
{
    size_t got;
    int code = bb_request_read(self->lane, bytes, 1 + below(&self->random, len), &got);
    if (code == BB_AGAIN && one_in(&self->random, 2)) bb_request_wait(self->lane);
    self->reads = code == BB_OK || code == BB_AGAIN;
    return code == BB_OK ? got : 0;
}

void chaos_read_some(struct thread *self)
{
    char bytes[10 * 1000];
    if (self->reads) (void)read_some(self, bytes, sizeof bytes);
}

static void read_body(struct thread *self, const struct bb_request *request)
{
    char bytes[10 * 1000];
    uint64_t at = 0;
    for (ssize_t len; request->body_fd >= 0 && at < request->body_length; at += (uint64_t)len) {
        len = pread(request->body_fd, bytes, sizeof bytes, (off_t)at);
        if (len <= 0) chaos_fail("a request's body is too short");
        check(bytes, (size_t)len, at);
    }
    if (request->body) check(request->body, request->body_length, 0);
    self->reads = request->unbuffered;
    for (size_t got; self->reads && !one_in(&self->random, 20); at += got) {
        got = read_some(self, bytes, sizeof bytes);
        check(bytes, got, at);
    }
}

static void work_aside(struct thread *self)
{
    if (one_in(&self->random, 20)) {
        bb_lane_begin_work(self->lane);
        usleep(below(&self->random, 5000));
        bb_lane_end_work(self->lane);
    }
    if (one_in(&self->random, 20) && bb_lane_step_aside(self->lane, BB_ASIDE_ANYWAY) == BB_OK) {
        usleep(below(&self->random, 5000));
        bb_lane_step_back(self->lane);
    }
    if (one_in(&self->random, 5)) (void)bb_lane_gives_way(self->lane, true);
}

static void *serve(void *argument)
{
    struct thread *self = argument;
    const struct bb_request *request;
    struct bb_event event;
    for (;;) {
        switch (bb_lane_next(self->lane, &request)) {
        case BB_OK:
            self->served++;
            read_body(self, request);
            chaos_respond(self, request->head.upgrade);
            work_aside(self);
            break;
        case BB_AGAIN:
            bb_lane_wait(self->lane);
            break;
        case BB_EVENT:
            bb_lane_event(self->lane, &event);
            break;
        default:
            return NULL;
        }
    }
}

/* ---- start and end ---- */

static void start(struct chaos_host *host, struct thread *thread, uint64_t seed, void *(*run)(void *))
{
    thread->host = host;
    thread->random.state = seed;
    pthread_mutex_init(&thread->lock, NULL);
    if (pthread_create(&thread->thread, NULL, run, thread) != 0) chaos_fail("pthread_create");
}

struct chaos_host *chaos_host_start(struct bb_worker *worker, uint64_t seed, const char *directory)
{
    struct chaos_host *host = calloc(1, sizeof *host);
    host->worker = worker;
    snprintf(host->file, sizeof host->file, "%s/file", directory);
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->changed, NULL);
    for (int i = 0; i < LANES; i++)
        if (bb_lane_new(&host->lanes[i].lane, worker) != BB_OK) chaos_fail("bb_lane_new");
    for (int i = 0; i < LANES; i++) start(host, &host->lanes[i], seed * 100 + (uint64_t)i, serve);
    for (int i = 0; i < WRITERS; i++)
        start(host, &host->writers[i], seed * 1000 + (uint64_t)i, chaos_write_rests);
    return host;
}

void chaos_host_tick(struct chaos_host *host, struct chaos_random *random)
{
    struct bb_event event;
    bool overdue = bb_worker_take_overdue(host->worker);
    while (bb_worker_event(host->worker, &event) == BB_OK) continue;
    for (int i = 0; i < LANES; i++) {
        struct thread *thread = &host->lanes[i];
        uint64_t ms;
        pthread_mutex_lock(&thread->lock);
        (void)bb_lane_take_late(thread->lane);
        if (overdue) (void)bb_lane_take_overdue(thread->lane, &ms);
        if (one_in(random, 50)) bb_lane_extend_time(thread->lane, 5);
        if (one_in(random, 50)) bb_lane_remind(thread->lane);
        pthread_mutex_unlock(&thread->lock);
        if (one_in(random, 20)) bb_lane_wake(thread->lane);
    }
    if (overdue) bb_worker_overdue_is_logged(host->worker);
    bb_worker_beat(host->worker);
    if (one_in(random, 100)) (void)bb_worker_reopen_logs(host->worker);
    if (one_in(random, 50)) bb_worker_watch(host->worker, one_in(random, 2));
}

unsigned chaos_host_finish(struct chaos_host *host)
{
    unsigned served = 0;
    for (int i = 0; i < LANES; i++) {
        pthread_join(host->lanes[i].thread, NULL);
        served += host->lanes[i].served;
    }
    pthread_mutex_lock(&host->lock);
    host->ends = true;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
    for (int i = 0; i < WRITERS; i++) pthread_join(host->writers[i].thread, NULL);
    for (int i = 0; i < LANES; i++) bb_lane_free(host->lanes[i].lane);
    free(host);
    return served;
}
