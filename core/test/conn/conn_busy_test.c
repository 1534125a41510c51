/* conn_busy_test.c: timeouts of clients while the lane is busy. Bytes that come while the lane is busy are in
 * time, even if the lane reads them after the timeout. The tests use a fake clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "time_case.h"

static struct client *waiting;
static const char *says_meanwhile;

static void app_takes_an_hour(struct host *host, const struct bb_request *request)
{
    client_say(waiting, says_meanwhile);
    fake_clock_advance(3600 * 1000);
    host->app = app_echo;
    app_echo(host, request);
}

static void test_bytes_that_come_while_the_lane_is_busy_come_in_time(void **state)
{
    (void)state;
    static const char *const parts[][2] = {
        {"", REQUEST},
        {"GET / HTTP", "/1.1\r\nHost: x\r\n\r\n"},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe", "llo"},
    };
    struct host *host = host_new_default(AF_UNIX);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct client *busy = client_new(host);
        waiting = client_new(host);
        client_say(waiting, parts[i][0]);
        host_settle(host);
        client_say(busy, REQUEST);
        says_meanwhile = parts[i][1];
        host->app = app_takes_an_hour;
        assert_response(waiting, 200, i < 2 ? "GET / " : "POST / hello");
        client_free(busy);
        client_free(waiting);
        host_settle_to(host, 0);
    }
    host_free(host);
}

/* The lane needs several reads for the head. The head is in time nevertheless. */
static void test_a_long_head_that_comes_while_the_lane_is_busy_is_served(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *busy = client_new(host);
    static char rest[60 * 1000];
    snprintf(rest, sizeof rest, "%050000d\r\nHost: x\r\n\r\n", 0);
    waiting = client_new(host);
    client_say(waiting, "GET / HTTP/1.1\r\nX: ");
    host_settle(host);
    client_say(busy, REQUEST);
    says_meanwhile = rest;
    host->app = app_takes_an_hour;
    assert_response(waiting, 200, "GET / ");
    client_free(busy);
    client_free(waiting);
    host_free(host);
}

/* The first bytes of a head come before the idle timeout ends. header_timeout begins when the lane reads
 * these bytes. */
static void test_half_a_head_at_the_end_of_the_idle_time_has_header_timeout(void **state)
{
    (void)state;
    for (int kept_alive = 0; kept_alive < 2; kept_alive++) {
        struct host *host = host_new_default(AF_UNIX);
        struct client *busy = client_new(host);
        waiting = client_new(host);
        host_settle(host);
        if (kept_alive) {
            client_say(waiting, REQUEST);
            assert_response(waiting, 200, "GET / ");
        }
        client_say(busy, REQUEST);
        says_meanwhile = "GET / HT";
        host->app = app_takes_an_hour;
        host_settle(host);
        assert_int_equal(host_connections(host), 2);
        pass(host, 29999);
        assert_silence(waiting);
        pass(host, 1);
        assert_response(waiting, 408, NULL);
        assert_end(waiting);
        client_free(busy);
        client_free(waiting);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_that_come_while_the_lane_is_busy_come_in_time),
        cmocka_unit_test(test_a_long_head_that_comes_while_the_lane_is_busy_is_served),
        cmocka_unit_test(test_half_a_head_at_the_end_of_the_idle_time_has_header_timeout),
    };
    return cmocka_run_group_tests_name("conn_busy", tests, NULL, NULL);
}
