/* counting_case.h: support for tests of what requests count: a host whose lane has a block. */
#ifndef BB_TEST_COUNTING_CASE_H
#define BB_TEST_COUNTING_CASE_H

#include "metrics/totals.h"
#include "support/client.h"

#define GET(target, fields)  "GET " target " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"
#define POST(target, fields) "POST " target " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"

static struct bb_scoreboard *scoreboard;

/* slots: of the scoreboard. Without a slot, the lane counts in the common block. */
static inline struct host *counting_host(const struct bb_settings *settings, int family, unsigned slots)
{
    struct host *host = host_new(settings, family);
    assert_int_equal(bb_scoreboard_new(&scoreboard, slots), BB_OK);
    assert_int_equal(bb_metrics_new(&metrics, slots), BB_OK);
    bb_worker_metrics(host->worker, metrics, 1, 1);
    host_enter_scoreboard(host, scoreboard);
    return host;
}

static inline struct host *counting_host_with(int family, host_app app)
{
    struct bb_settings settings = host_settings();
    struct host *host = counting_host(&settings, family, 4);
    host->app = app;
    return host;
}

static inline void counting_free(struct host *host)
{
    host_free(host);
    bb_metrics_free(metrics);
    bb_scoreboard_free(scoreboard);
}

#endif
