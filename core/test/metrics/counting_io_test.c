/* counting_io_test.c: what is counted while the I/O thread has the connections of a busy lane, and when it
 * ends a request. `make tsan` runs this test under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_case.h"
#include "io_thread/limited.h"
#include "metrics/totals.h"
#include "support/later_clock.h"

/* Waits for another thread. */
#define AWAIT(condition)                                                                                     \
    for (uint64_t since = real_ms(); !(condition); sched_yield())                                            \
    assert_true(real_ms() - since < WAIT_LIMIT * 1000)

static void start(struct lanes *lanes, const struct bb_settings *settings)
{
    assert_int_equal(bb_metrics_new(&metrics, 4), BB_OK);
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 4), BB_OK);
    lanes_metrics = metrics;
    lanes_start(lanes, 1, settings);
}

static void end(void)
{
    bb_metrics_free(metrics);
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
    lanes_metrics = NULL;
}

/* ---- request_timeout ---- */

static void test_a_request_that_is_overdue_counts_once(void **state)
{
    (void)state;
    static const struct {
        const char *request, *overdue, *names, *end;
    } cases[] = {
        {"POST /block HTTP/1.1\r\nHost: x\r\n\r\n", "responses_5xx 1 accepted 1",
         "rejected request_timeout 1", "responses_2xx 1 responses_5xx 1 bytes_out 7 accepted 2"},
        {"POST /half HTTP/1.1\r\nHost: x\r\n\r\n", "aborted 1 accepted 1", "",
         "responses_2xx 1 aborted 1 bytes_out 15 accepted 2"},
    };
    struct bb_settings settings = limited(500);
    for (int i = 0; i < 2; i++) {
        struct lanes lanes;
        start(&lanes, &settings);
        int fd = blocked_with(&lanes, cases[i].request);
        (void)read_to_end(fd);
        assert_totals(cases[i].overdue);
        assert_string_equal(names(), cases[i].names);
        sem_post(&lanes.leave);
        int next = lanes_connect(&lanes);
        assert_true(is_served_at_once(&lanes, next, "/next"));
        close(next);
        close(fd);
        assert_int_equal(finish(&lanes), 2);
        assert_totals(cases[i].end);
        assert_string_equal(names(), cases[i].names);
        assert_int_equal(times(), 2);
        end();
    }
}

/* The client has the whole response, so the lane counts it. */
static void test_a_response_that_was_sent_counts_although_the_host_is_late(void **state)
{
    (void)state;
    static const char *const requests[] = {"POST /stay HTTP/1.1\r\nHost: x\r\n\r\n",
                                           "POST /each HTTP/1.1\r\nHost: x\r\n\r\n"};
    struct bb_settings settings = limited(500);
    for (int i = 0; i < 2; i++) {
        struct lanes lanes;
        start(&lanes, &settings);
        int fd = blocked_with(&lanes, requests[i]);
        assert_true(lanes_read(fd, "all"));
        AWAIT(bb_worker_take_overdue(lanes.worker));
        assert_totals("accepted 1");
        sem_post(&lanes.leave);
        close(fd);
        assert_int_equal(finish(&lanes), 1);
        assert_totals("responses_2xx 1 bytes_out 3 accepted 1");
        assert_string_equal(names(), "");
        assert_int_equal(times(), 1);
        end();
    }
}

/* ---- the I/O thread has the set ---- */

static struct bb_metrics_lane look(void)
{
    struct bb_metrics_lane lane;
    uint64_t sum = 0;
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_OK);
    for (int i = 0; i < BB_CONNECTIONS_END; i++) sum += lane.connections[i];
    lane.connections[BB_CONNECTION_SERVED] = sum - lane.connections[BB_CONNECTION_KEEPALIVE] -
                                             lane.connections[BB_CONNECTION_HEADER] -
                                             lane.connections[BB_CONNECTION_BODY];
    return lane;
}

static bool shows(unsigned keepalive, unsigned header, unsigned body)
{
    const struct bb_metrics_lane lane = look();
    return lane.connections[BB_CONNECTION_KEEPALIVE] == keepalive &&
           lane.connections[BB_CONNECTION_HEADER] == header && lane.connections[BB_CONNECTION_BODY] == body &&
           lane.connections[BB_CONNECTION_SERVED] == CONNECTIONS - keepalive - header - body;
}

static void test_the_io_thread_shows_and_counts_for_a_busy_lane(void **state)
{
    (void)state;
    char text[512];
    int fds[CONNECTIONS];
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    start(&lanes, &settings);
    connect_all(&lanes, fds);
    block(&lanes, fds[0]);
    say(fds[1], "GET / HT");
    AWAIT(shows(CONNECTIONS - 2, 1, 0));
    say(fds[2], "POST /up HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    read_until(fds[2], "100 Continue\r\n\r\n", text, sizeof text);
    AWAIT(shows(CONNECTIONS - 3, 1, 1));
    assert_totals("responses_1xx 1 responses_2xx 8 bytes_out 64 accepted 8");
    say(fds[2], "ab");
    AWAIT(strcmp(totals(), "responses_1xx 1 responses_2xx 8 bytes_out 64 accepted 8 passed_on 1") == 0);
    unblock(&lanes, fds[0]);
    assert_true(lanes_read(fds[2], "/up 2"));
    close_all(fds);
    assert_int_equal(finish(&lanes), CONNECTIONS + 2);
    assert_totals("responses_1xx 1 responses_2xx 10 bytes_in 2 bytes_out 77 accepted 8 passed_on 1");
    const struct bb_metrics_lane lane = look();
    for (int i = 0; i < BB_CONNECTIONS_END; i++) assert_int_equal(lane.connections[i], 0);
    end();
}

/* The I/O thread rejects the requests for which the queue has no room. */
static void test_requests_that_the_io_thread_rejects_count_by_name_and_status(void **state)
{
    (void)state;
    enum { REQUESTS = 6 };
    int fds[REQUESTS], busy;
    unsigned rejected = 0;
    char expected[64], text[512] = "";
    struct bb_settings settings = lanes_settings();
    settings.max_queue = 1;
    struct lanes lanes;
    start(&lanes, &settings);
    busy = lanes_connect(&lanes);
    block(&lanes, busy);
    for (int i = 0; i < REQUESTS; i++) {
        fds[i] = lanes_connect(&lanes);
        say(fds[i], "POST /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    }
    AWAIT(names()[0] != '\0');
    unblock(&lanes, busy);
    for (int i = 0; i < REQUESTS; i++) {
        read_until(fds[i], "\r\n\r\n", text, sizeof text);
        rejected += strncmp(text, "HTTP/1.1 503 ", 13) == 0;
        close(fds[i]);
    }
    close(busy);
    assert_int_equal(finish(&lanes), REQUESTS + 1 - rejected);
    (void)snprintf(expected, sizeof expected, "rejected queue_full %u", rejected);
    assert_string_equal(names(), expected);
    static struct bb_metrics_sum sum;
    bb_metrics_sum(metrics, &sum);
    assert_int_equal(sum.counters[BB_COUNT_RESPONSES_5XX], rejected);
    assert_int_equal(sum.counters[BB_COUNT_RESPONSES_2XX], REQUESTS + 1 - rejected);
    assert_int_equal(sum.counters[BB_COUNT_ACCEPTED], REQUESTS + 1);
    assert_int_equal(times(), REQUESTS + 1 - rejected);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_that_is_overdue_counts_once),
        cmocka_unit_test(test_a_response_that_was_sent_counts_although_the_host_is_late),
        cmocka_unit_test(test_the_io_thread_shows_and_counts_for_a_busy_lane),
        cmocka_unit_test(test_requests_that_the_io_thread_rejects_count_by_name_and_status),
    };
    return cmocka_run_group_tests_name("counting_io", tests, NULL, NULL);
}
