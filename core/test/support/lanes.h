/* lanes.h: support for tests of lanes that share connections. Has a worker with a thread for each lane, and
 * clients that block. Only the test's own thread makes assertions. */
#ifndef BB_TEST_LANES_H
#define BB_TEST_LANES_H

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bontebok.h"
#include "descriptors.h"

#define LANES_MAX  5
#define WAIT_LIMIT 60 /* s; a test that passes never waits that long */

/* If a test fails, its threads continue to use its stack. So the program ends: the next test would use the
 * same stack, and report races and wait for ever instead of the failure. */
__attribute__((constructor)) static void end_at_first_failure(void)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1);
}

/* Set by the test: lanes step aside (bb_lane_step_aside()) before each wait, and sometimes between two
 * requests. */
static bool lanes_step_aside;

/* Set by the test: the scoreboard of the lanes. */
static struct bb_scoreboard *lanes_scoreboard;

/* Set by the test: the files that the lanes send. */
static const struct bb_public *lanes_public;

/* Set by the test: where the lanes count. */
static struct bb_metrics *lanes_metrics;

/* Set by the test: both ends of the shared queue of the test's workers. */
static const int *lanes_shared_queue;

/* Set by the test: the descriptor for bb_worker_tell(), which reports requests that take too long. */
static int lanes_tell_fd = -1;

/* Set by the test: whether the host logs these requests. */
static bool lanes_host_logs = true;

struct lanes;

struct lane_thread {
    struct lanes *lanes;
    struct bb_lane *lane;
    pthread_t thread;
    unsigned served, waits, aside; /* aside: how often the lane has stepped aside */
    bool joined, drained;
    atomic_bool locked; /* set by the test: after its next wait the lane's thread waits for `unlock` */
    sem_t unlock;
};

struct lanes {
    struct bb_worker *worker;
    struct lane_thread threads[LANES_MAX];
    int count, descriptors; /* open before lanes_start(); -1: not checked, because other workers exist */
    struct sockaddr_in address;
    sem_t entered,
        leave; /* for /block and /hints; entered: the application has the request; leave: it may respond */
};

/* ---- serving ---- */

static inline void lanes_reply(struct bb_lane *lane, const char *body, size_t len)
{
    const struct bb_slice part = {body, len};
    uint64_t taken;
    if (bb_reply_begin(lane, 200) != BB_OK || bb_reply_head(lane, len) != BB_OK) {
        bb_reply_abort(lane);
        return;
    }
    struct bb_slice rest = part;
    int code;
    while ((code = bb_reply_write(lane, &rest, 1, true, &taken)) == BB_AGAIN) {
        rest = (struct bb_slice){rest.at + taken, rest.len - taken};
        if (bb_reply_wait(lane) < 0) break;
    }
    if (code == BB_OK)
        bb_reply_end(lane);
    else
        bb_reply_abort(lane);
}

static inline void lanes_block(struct lane_thread *thread)
{
    sem_post(&thread->lanes->entered);
    sem_wait(&thread->lanes->leave);
}

static inline void lanes_hint(struct bb_lane *lane)
{
    bb_reply_begin(lane, 103);
    bb_reply_field(lane, "link", 4, "</a>", 4);
    bb_reply_interim(lane);
}

/* Sends half of a response, blocks, then sends the other half. */
static inline void lanes_reply_half(struct lane_thread *thread)
{
    const struct bb_slice half = {"half", 4};
    uint64_t taken;
    bb_reply_begin(thread->lane, 200);
    bb_reply_head(thread->lane, 8);
    bb_reply_write(thread->lane, &half, 1, false, &taken);
    lanes_block(thread);
    if (bb_reply_write(thread->lane, &half, 1, true, &taken) == BB_OK)
        bb_reply_end(thread->lane);
    else
        bb_reply_abort(thread->lane);
}

/* Sends a whole response, then blocks. at_once: the end of the response is sent together with the body,
 * otherwise after the body. */
static inline void lanes_reply_and_stay(struct lane_thread *thread, bool at_once)
{
    const struct bb_slice all = {"all", 3};
    uint64_t taken;
    bb_reply_begin(thread->lane, 200);
    bb_reply_head(thread->lane, 3);
    bb_reply_write(thread->lane, &all, 1, at_once, &taken);
    if (!at_once) bb_reply_write(thread->lane, NULL, 0, true, &taken);
    lanes_block(thread);
    bb_reply_end(thread->lane);
}

#define LANES_LARGE (16 << 20) /* bytes; the kernel buffers about a quarter of them */

static inline void lanes_respond(struct lane_thread *thread, const struct bb_request *request)
{
    const struct bb_slice *target = &request->head.target;
    bool hints = target->len == 6 && memcmp(target->at, "/hints", 6) == 0;
    if (hints) lanes_hint(thread->lane);
    if (hints || (target->len == 6 && memcmp(target->at, "/block", 6) == 0)) lanes_block(thread);
    if (target->len == 5 && memcmp(target->at, "/half", 5) == 0) {
        lanes_reply_half(thread);
        return;
    }
    if (target->len == 5 && (memcmp(target->at, "/stay", 5) == 0 || memcmp(target->at, "/each", 5) == 0)) {
        lanes_reply_and_stay(thread, target->at[1] == 's');
        return;
    }
    if (target->len == 5 && memcmp(target->at, "/slow", 5) == 0) usleep(3000);
    if (target->len == 6 && memcmp(target->at, "/large", 6) == 0) {
        static const char large[LANES_LARGE];
        lanes_reply(thread->lane, large, sizeof large);
        return;
    }
    char text[64];
    int len = snprintf(text, sizeof text, "%.*s %llu", (int)(target->len < 32 ? target->len : 32), target->at,
                       (unsigned long long)request->body_length);
    lanes_reply(thread->lane, text, (size_t)len);
}

static inline void lanes_go_aside(struct lane_thread *thread, enum bb_aside when)
{
    if (!lanes_step_aside || bb_lane_step_aside(thread->lane, when) != BB_OK) return;
    thread->aside++;
    sched_yield();
    bb_lane_step_back(thread->lane);
}

/* Another thread has the host's lock if `locked` is set. */
static inline void lanes_wait(struct lane_thread *thread)
{
    thread->waits++;
    lanes_go_aside(thread, BB_ASIDE_IDLE);
    bb_lane_wait(thread->lane);
    if (!atomic_load(&thread->locked)) return;
    sem_post(&thread->lanes->entered);
    sem_wait(&thread->unlock);
}

static inline void *lanes_serve(void *argument)
{
    struct lane_thread *thread = argument;
    for (;;) {
        const struct bb_request *request;
        struct bb_event event;
        switch (bb_lane_next(thread->lane, &request)) {
        case BB_OK:
            thread->served++;
            lanes_respond(thread, request);
            if (thread->served % 7 == 0) lanes_go_aside(thread, BB_ASIDE_ANYWAY);
            break;
        case BB_AGAIN:
            lanes_wait(thread);
            break;
        case BB_EVENT:
            bb_lane_event(thread->lane, &event);
            break;
        default:
            thread->drained = true;
            return NULL;
        }
    }
}

/* ---- start and end ---- */

static inline int lanes_listen(struct lanes *lanes)
{
    socklen_t len = sizeof lanes->address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    lanes->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)&lanes->address, len), 0);
    assert_int_equal(listen(fd, 1024), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&lanes->address, &len), 0);
    return fd;
}

static inline struct bb_settings lanes_settings(void)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    settings.keepalive_drain = 50;
    settings.spool_threshold = 10;
    return settings;
}

static inline void lanes_start(struct lanes *lanes, int count, const struct bb_settings *settings)
{
    *lanes = (struct lanes){.count = count, .descriptors = open_descriptors()};
    sem_init(&lanes->entered, 0, 0);
    sem_init(&lanes->leave, 0, 0);
    assert_int_equal(bb_worker_new(&lanes->worker, settings), BB_OK);
    assert_int_equal(bb_worker_listen(lanes->worker, lanes_listen(lanes), 0), BB_OK);
    if (lanes_shared_queue)
        assert_int_equal(
            bb_worker_share_queue(lanes->worker, dup(lanes_shared_queue[0]), dup(lanes_shared_queue[1])),
            BB_OK);
    if (lanes_scoreboard) bb_worker_scoreboard(lanes->worker, lanes_scoreboard);
    assert_int_equal(bb_worker_public(lanes->worker, lanes_public), BB_OK);
    if (lanes_metrics) bb_worker_metrics(lanes->worker, lanes_metrics, 1, 1);
    if (lanes_tell_fd >= 0) bb_worker_tell(lanes->worker, lanes_tell_fd, "huxe", lanes_host_logs);
    assert_int_equal(bb_worker_start_io_thread(lanes->worker), BB_OK);
    for (int i = 0; i < count; i++) {
        struct lane_thread *thread = &lanes->threads[i];
        thread->lanes = lanes;
        sem_init(&thread->unlock, 0, 0);
        assert_int_equal(bb_lane_new(&thread->lane, lanes->worker), BB_OK);
    }
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&lanes->threads[i].thread, NULL, lanes_serve, &lanes->threads[i]), 0);
}

static inline void lanes_join(struct lane_thread *thread)
{
    if (!thread->joined) pthread_join(thread->thread, NULL);
    thread->joined = true;
    assert_true(thread->drained);
}

/* Called when the worker drains. Waits until all lanes have ended. Returns the number of requests served. */
static inline unsigned lanes_finish(struct lanes *lanes)
{
    unsigned served = 0;
    for (int i = 0; i < lanes->count; i++) {
        struct lane_thread *thread = &lanes->threads[i];
        lanes_join(thread);
        served += thread->served;
        bb_lane_free(thread->lane);
    }
    bb_worker_free(lanes->worker);
    if (lanes->descriptors >= 0) assert_int_equal(open_descriptors(), lanes->descriptors);
    return served;
}

/* ---- clients ---- */

static inline int lanes_connect(const struct lanes *lanes)
{
    struct timeval wait_time = {.tv_sec = WAIT_LIMIT};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait_time, sizeof wait_time);
    if (connect(fd, (const struct sockaddr *)&lanes->address, sizeof lanes->address) == 0) return fd;
    close(fd);
    return -1;
}

static inline bool lanes_say(int fd, const char *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* say() and read_until() make assertions, so only the test's own thread may call them. */
static inline void say(int fd, const char *text)
{
    assert_true(lanes_say(fd, text, strlen(text)));
}

/* Reads into response[size] until this text has come. */
static inline void read_until(int fd, const char *text, char *response, size_t size)
{
    size_t len = 0;
    do {
        ssize_t got = recv(fd, response + len, size - 1 - len, 0);
        assert_true(got > 0);
        response[len += (size_t)got] = '\0';
    } while (!strstr(response, text));
}

/* Reads one response. Returns true if the response is whole, has status 200, and has this body. */
static inline bool lanes_read(int fd, const char *body)
{
    char response[512];
    size_t len = 0, wanted = strlen(body);
    for (;;) {
        ssize_t got = recv(fd, response + len, sizeof response - 1 - len, 0);
        if (got <= 0) return false;
        response[len += (size_t)got] = '\0';
        const char *end = strstr(response, "\r\n\r\n");
        if (!end || strlen(end + 4) < wanted) continue;
        return strncmp(response, "HTTP/1.1 200 ", 13) == 0 && strcmp(end + 4, body) == 0;
    }
}

static inline bool lanes_ask(int fd, const char *target, const char *fields, const char *body)
{
    char request[256], expected[64];
    snprintf(request, sizeof request, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n%s",
             target, fields, strlen(body), body);
    snprintf(expected, sizeof expected, "%s %zu", target, strlen(body));
    return lanes_say(fd, request, strlen(request)) && lanes_read(fd, expected);
}

#endif
