/* rush.h: support for tests of requests that wait or are rejected. All lanes of a worker are busy, and
 * clients wait. */
#ifndef BB_TEST_RUSH_H
#define BB_TEST_RUSH_H

#include <poll.h>
#include <sched.h>

#include "support/lanes.h"
#include "support/later_clock.h"
#include "worker/worker.h"

#define LANES 2 /* the most lanes of a test; the scoreboard has another slot, for another process */

/* ms: a timeout that is over soon, and a timeout that no test waits for. */
#define SOON  300
#define NEVER 600000

static inline struct bb_settings bounded(uint64_t queue_timeout, uint64_t max_queue)
{
    struct bb_settings settings = lanes_settings();
    settings.queue_timeout = queue_timeout;
    settings.max_queue = max_queue;
    strcpy(settings.health_paths, "/up /healthz");
    return settings;
}

/* Lanes that are all busy between block_all() and unblock_all(). */
struct rush {
    struct lanes lanes;
    int count, blocked[LANES];
};

static inline int ask(const struct rush *rush, const char *request)
{
    int fd = lanes_connect(&rush->lanes);
    assert_true(lanes_say(fd, request, strlen(request)));
    return fd;
}

static inline void begin_with(struct rush *rush, const struct bb_settings *settings, int count)
{
    rush->count = count;
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, LANES + 1), BB_OK);
    lanes_start(&rush->lanes, count, settings);
}

static inline void begin(struct rush *rush, const struct bb_settings *settings)
{
    begin_with(rush, settings, LANES);
}

/* The clocks stand still, so that no client waits long enough to be rejected. */
static inline void block_all(struct rush *rush)
{
    hold_clocks();
    for (int i = 0; i < rush->count; i++) {
        rush->blocked[i] = ask(rush, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_int_equal(sem_wait(&rush->lanes.entered), 0);
    }
    let_clocks_go_on();
}

/* The lane must be idle or about to be idle. */
static inline bool is_served(int fd, const char *target, const char *body)
{
    hold_clocks();
    bool served = lanes_ask(fd, target, "", body);
    let_clocks_go_on();
    return served;
}

static inline void begin_busy(struct rush *rush, uint64_t queue_timeout, uint64_t max_queue)
{
    struct bb_settings settings = bounded(queue_timeout, max_queue);
    begin(rush, &settings);
    block_all(rush);
}

static inline void unblock_all(struct rush *rush)
{
    for (int i = 0; i < rush->count; i++) sem_post(&rush->lanes.leave);
    for (int i = 0; i < rush->count; i++) {
        assert_true(lanes_read(rush->blocked[i], "/block 0"));
        close(rush->blocked[i]);
    }
}

static inline void end(struct rush *rush, unsigned served)
{
    bb_worker_drain(rush->lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&rush->lanes), (unsigned)rush->count + served);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* Opens a connection before the lanes are busy. */
static inline int connect_early(struct rush *rush)
{
    int fd = lanes_connect(&rush->lanes);
    assert_true(is_served(fd, "/early", ""));
    return fd;
}

/* Waits until is_it(shared queue, count) returns true. */
static inline void await_first(const struct rush *rush,
                               bool (*is_it)(const struct bb__shared_queue *, uint64_t count), uint64_t count)
{
    uint64_t end = bb__clock_ms() + WAIT_LIMIT * 1000;
    while (!is_it(&rush->lanes.worker->shared.queue, count)) {
        assert_true(bb__clock_ms() < end);
        sched_yield();
    }
}

static inline bool has_waiting(const struct bb__shared_queue *shared_queue, uint64_t count)
{
    struct bb__shared_stamp first;
    return bb__shared_queue_look(shared_queue, &first) == BB_OK &&
           bb__shared_queue_waiting(shared_queue, &first) == count;
}

static inline void await_waiting(const struct rush *rush, uint64_t count)
{
    await_first(rush, has_waiting, count);
}

static inline bool has_word(const struct bb__shared_queue *shared_queue, uint64_t count)
{
    struct bb__shared_stamp first;
    return bb__shared_queue_look(shared_queue, &first) == BB_OK && first.has_request == (count > 0);
}

static inline bool is_silent(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, 0) == 0;
}

/* Reads a whole 503 response. connection: the expected Connection field, or NULL if the response must not
 * have this field. */
static inline void assert_refused(int fd, const char *connection)
{
    static const char body[] = "\r\n\r\n503 Service Unavailable\n";
    char response[512];
    read_until(fd, body, response, sizeof response);
    assert_memory_equal(response, "HTTP/1.1 503 Service Unavailable\r\n", 34);
    assert_non_null(strstr(response, "\r\nRetry-After: 1\r\n"));
    assert_string_equal(strstr(response, body), body);
    if (connection)
        assert_non_null(strstr(response, connection));
    else
        assert_null(strstr(response, "\r\nConnection:"));
}

#endif
