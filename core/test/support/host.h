/* host.h: the smallest host (program that calls the core). It has a worker with one lane, a listener, and an
 * application that is a C function. The host runs in the test's own thread, serves only when the test calls a
 * function of this file or of client.h, and never waits. client.h is the client. lanes.h has a host with
 * threads. */
#ifndef BB_TEST_HOST_H
#define BB_TEST_HOST_H

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptors.h"
#include "lane/lane.h"

struct host;
typedef void (*host_app)(struct host *host, const struct bb_request *request);

#define HOST_EVENTS_MAX 16

struct host {
    struct bb_worker *worker;
    struct bb_lane *lane;
    host_app app;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_un local;
    } address;
    socklen_t address_len;
    int family;
    int descriptors; /* number of descriptors that were open before host_new() */
    int last;        /* the last code of bb_lane_next() */
    unsigned served, clients;
    struct bb_event events[HOST_EVENTS_MAX];
    unsigned event_count;
};

/* ---- applications ---- */

static inline void host_fields(struct host *host, int status)
{
    assert_int_equal(bb_reply_begin(host->lane, status), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "content-type", 12, "text/plain", 10), BB_OK);
}

/* Sends a whole response with this body. If the client does not take all bytes without a wait, aborts the
 * response. */
static inline void host_respond(struct host *host, int status, const char *body, size_t len)
{
    const struct bb_slice part = {body, len};
    uint64_t taken;
    host_fields(host, status);
    assert_int_equal(bb_reply_head(host->lane, len), BB_OK);
    int code = bb_reply_write(host->lane, &part, 1, true, &taken);
    if (code == BB_OK)
        (void)bb_reply_end(host->lane);
    else
        bb_reply_abort(host->lane);
}

/* Responds with a file. The caller ends the request. */
static inline void host_send_file(struct host *host, const char *path)
{
    int fd;
    uint64_t size;
    host_fields(host, 200);
    assert_int_equal(bb_file_open(host->lane, path, &fd, &size), BB_OK);
    assert_int_equal(bb_reply_file(host->lane, fd, size), BB_OK);
}

static inline void read_body(const struct bb_request *request, char *to)
{
    if (request->body_length == 0) return;
    if (request->body)
        memcpy(to, request->body, request->body_length);
    else
        assert_int_equal(pread(request->body_fd, to, request->body_length, 0), request->body_length);
}

/* The usual application: responds with "METHOD target body" of the request. */
static inline void app_echo(struct host *host, const struct bb_request *request)
{
    static char text[4 << 20];
    const struct bb_head *head = &request->head;
    int len = snprintf(text, sizeof text, "%.*s %.*s ", (int)head->method.len, head->method.at,
                       (int)head->target.len, head->target.at);
    assert_true((size_t)len + request->body_length <= sizeof text);
    read_body(request, text + len);
    host_respond(host, 200, text, (size_t)len + request->body_length);
}

/* ---- start and end ---- */

static inline int host_bind(struct host *host)
{
    int fd = socket(host->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    host->address.any.sa_family = (sa_family_t)host->family;
    host->address_len = sizeof(sa_family_t); /* AF_UNIX: the kernel chooses an abstract name */
    if (host->family == AF_INET) {
        host->address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        host->address_len = sizeof host->address.v4;
    }
    assert_int_equal(bind(fd, &host->address.any, host->address_len), 0);
    assert_int_equal(listen(fd, 1024), 0);
    host->address_len = sizeof host->address;
    assert_int_equal(getsockname(fd, &host->address.any, &host->address_len), 0);
    return fd;
}

static inline struct bb_settings host_settings(void)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    return settings;
}

/* family: AF_UNIX, or AF_INET for tests of resets. */
static inline struct host *host_new(const struct bb_settings *settings, int family)
{
    struct host *host = calloc(1, sizeof *host);
    host->descriptors = open_descriptors();
    host->family = family;
    host->app = app_echo;
    assert_int_equal(bb_worker_new(&host->worker, settings), BB_OK);
    assert_int_equal(bb_worker_listen(host->worker, host_bind(host), 7), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    return host;
}

static inline struct host *host_new_default(int family)
{
    struct bb_settings settings = host_settings();
    return host_new(&settings, family);
}

/* Frees the host in any state. The test must free its clients first. Asserts that no descriptor is left
 * open. */
static inline void host_free(struct host *host)
{
    bb_lane_free(host->lane);
    bb_worker_free(host->worker);
    assert_int_equal(host->clients, 0);
    assert_int_equal(open_descriptors(), host->descriptors);
    free(host);
}

/* ---- serving ---- */

static inline void host_take_events(struct host *host)
{
    assert_true(host->event_count < HOST_EVENTS_MAX);
    if (bb_lane_event(host->lane, &host->events[host->event_count]) == BB_OK) host->event_count++;
}

/* Serves all requests that have come, without a poll. Returns false if there was no request. */
static inline bool host_serve(struct host *host)
{
    const struct bb_request *request;
    bool served = false;
    while ((host->last = bb_lane_next(host->lane, &request)) == BB_OK || host->last == BB_EVENT) {
        if (host->last == BB_EVENT) {
            host_take_events(host);
            continue;
        }
        served = true;
        host->served++;
        host->app(host, request);
    }
    return served;
}

/* One turn: polls without a wait, and serves the requests that have come. */
static inline void host_turn(struct host *host)
{
    bb_lane_wake(host->lane);
    bb_lane_wait(host->lane);
    host_serve(host);
}

/* Replaces the lane by a lane that shows its state in a slot on the scoreboard. */
static inline void host_enter_scoreboard(struct host *host, struct bb_scoreboard *scoreboard)
{
    bb_lane_free(host->lane);
    bb_worker_scoreboard(host->worker, scoreboard);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
}

/* Takes enough turns to serve all requests that have come. One turn does not handle all waiting events. */
static inline void host_settle(struct host *host)
{
    for (int turn = 0; turn < 8; turn++) host_turn(host);
}

static inline bool lane_has_events(struct bb_lane *lane)
{
    struct bb__batch found;
    bb__poller_wait(&lane->set.poller, &found, 0);
    return found.count > 0;
}

/* Whether bb_lane_wait() would wait, because there is no event. */
static inline bool would_wait(const struct host *host)
{
    return !lane_has_events(host->lane);
}

static inline unsigned host_connections(const struct host *host)
{
    unsigned count = 0;
    for (const struct bb__conn *conn = host->lane->set.conns; conn; conn = conn->set.next) count++;
    return count;
}

/* Takes turns until this many connections are left. */
static inline void host_settle_to(struct host *host, unsigned connections)
{
    host_settle(host);
    for (int turn = 0; turn < 1000 && host_connections(host) != connections; turn++) host_turn(host);
    assert_int_equal(host_connections(host), connections);
}

#endif
