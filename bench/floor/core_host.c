/*
 * core_host.c: a server that consists of the core and one fixed response. bench/quick and bench/price use it
 * to show the cost of Bontebok without Ruby. It is also the smallest complete program that uses the core.
 *
 *   core_host [--io-thread] unix:/path|PORT          SIGTERM: graceful stop
 *
 * --io-thread: adds an I/O thread, a scoreboard (shared memory with a slot for each serving thread), and
 * metrics (totals). Workers in Ruby have all three.
 */
#include "bontebok.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct bb_lane *lane;
static volatile sig_atomic_t told_to_end;

static void on_term(int signal_number)
{
    (void)signal_number;
    told_to_end = 1;
    bb_lane_wake(lane);
}

static int fail(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_on(const char *where)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool is_path = strncmp(where, "unix:", 5) == 0;
    int on = 1, fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    if (is_path)
        strncpy(path.sun_path, where + 5, sizeof path.sun_path - 1);
    else
        port.sin_port = htons((uint16_t)atoi(where));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int bound = is_path ? bind(fd, (struct sockaddr *)&path, sizeof path)
                        : bind(fd, (struct sockaddr *)&port, sizeof port);
    if (bound < 0 || listen(fd, 1024) < 0) fail(where);
    return fd;
}

static void answer(void)
{
    static const struct bb_slice body = {"Hello, World!\n", 14};
    uint64_t taken;
    bb_reply_begin(lane, 200);
    bb_reply_field(lane, "content-type", 12, "text/plain", 10);
    bb_reply_field(lane, "x-app", 5, "hello", 5);
    bb_reply_head(lane, body.len);
    if (bb_reply_write(lane, &body, 1, true, &taken) == BB_OK)
        bb_reply_end(lane);
    else
        bb_reply_abort(lane);
}

static void serve(struct bb_worker *worker)
{
    for (;;) {
        if (told_to_end) bb_worker_drain(worker, BB_QUEUE_TAKE);
        const struct bb_request *request;
        struct bb_event event;
        switch (bb_lane_next(lane, &request)) {
        case BB_OK:
            answer();
            break;
        case BB_AGAIN:
            bb_lane_wait(lane);
            break;
        case BB_EVENT:
            if (bb_lane_event(lane, &event) == BB_OK) fprintf(stderr, "%s\n", event.text);
            break;
        default:
            return;
        }
    }
}

static void add_io_thread(struct bb_worker *worker)
{
    struct bb_scoreboard *scoreboard;
    if (bb_scoreboard_new(&scoreboard, 1) != BB_OK) fail("scoreboard");
    bb_worker_scoreboard(worker, scoreboard);
    struct bb_metrics *metrics;
    if (bb_metrics_new(&metrics, 1) != BB_OK) fail("metrics");
    bb_worker_metrics(worker, metrics, 1, 1);
    if (bb_worker_start_io_thread(worker) != BB_OK) fail("I/O thread");
}

int main(int argc, char **argv)
{
    bool has_io_thread = argc == 3 && strcmp(argv[1], "--io-thread") == 0;
    if (argc != 2 + has_io_thread) {
        fprintf(stderr, "usage: core_host [--io-thread] unix:/path|PORT\n");
        return 2;
    }
    struct bb_settings settings;
    struct bb_worker *worker;
    bb_settings_init(&settings);
    int fd = listen_on(argv[argc - 1]);
    if (bb_worker_new(&worker, &settings) != BB_OK || bb_worker_listen(worker, fd, 0) != BB_OK)
        fail("worker");
    if (has_io_thread) add_io_thread(worker);
    if (bb_lane_new(&lane, worker) != BB_OK) fail("lane");
    signal(SIGTERM, on_term);
    serve(worker);
    bb_lane_free(lane);
    bb_worker_free(worker);
    return 0;
}
