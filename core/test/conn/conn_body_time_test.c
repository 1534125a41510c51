/* conn_body_time_test.c: how long a client may take to send a body. conn_time_test.c tests the other timeouts
 * of a client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "time_case.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"

static void test_a_body_without_progress_is_late_after_body_timeout(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.min_body_rate = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, UPLOAD);
    host_settle(host);
    for (int byte = 0; byte < 5; byte++) { /* each byte is progress */
        pass(host, 59000);
        assert_silence(client);
        client_say(client, "x");
        host_settle(host);
    }
    pass(host, 59999);
    assert_silence(client);
    pass(host, 1001); /* the lane (a thread that serves requests) checks a body once a second */
    assert_late(client);
    assert_int_equal(host->served, 0);
    client_free(client);
    host_free(host);
}

/* Uploads `rate` bytes per second for a minute. Returns the second in which the upload is rejected, or 60 if
 * it is not rejected. */
static int seconds_at(struct host *host, size_t rate)
{
    static char bytes[1000];
    struct client *client = client_new(host);
    int second = 0;
    client_say(client, UPLOAD);
    host_settle(host);
    for (; second < 60 && client->end == CLIENT_OPEN && bb__buf_len(&client->in) == 0; second++) {
        client_send(client, bytes, rate);
        pass(host, 1000);
        client_receive(client);
    }
    if (second < 60) assert_late(client);
    client_free(client);
    host_settle_to(host, 0);
    return second;
}

static void test_a_body_below_min_body_rate_is_late(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    assert_int_equal(seconds_at(host, 510), 60);
    assert_int_equal(seconds_at(host, 490), 11);
    assert_int_equal(seconds_at(host, 1), 11);
    assert_int_equal(host->served, 0);
    host_free(host);
}

static void app_slow(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(20000);
    app_echo(host, request);
}

/* While the host serves another request, the lane does not read the upload. */
static void test_a_body_is_not_late_if_the_lane_is_late(void **state)
{
    (void)state;
    static char bytes[6000];
    struct host *host = host_new_default(AF_UNIX);
    struct client *upload = client_new(host), *other = client_new(host);
    host->app = app_slow;
    client_say(upload, UPLOAD);
    host_settle(host);
    for (int round = 0; round < 3; round++) {
        client_say(other, REQUEST);
        assert_response(other, 200, "GET / ");
        assert_silence(upload);
        client_send(upload, bytes, 500);
        pass(host, 1000);
        assert_silence(upload);
    }
    pass(host, 10000); /* without more bytes, the next check finds the body late */
    assert_late(upload);
    client_free(upload);
    client_free(other);
    host_free(host);
}

static void test_a_body_that_starts_late_is_not_too_slow(void **state)
{
    (void)state;
    static char bytes[6000];
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, UPLOAD);
    host_settle(host);
    pass(host, 9900);
    assert_silence(client);
    client_send(client, bytes, sizeof bytes);
    pass(host, 1100);
    assert_silence(client);
    client_free(client);
    host_free(host);
}

/* The client has sent enough bytes, but the lane has not read all of them, because it reads at most 64 KiB
 * after each poll. */
static void test_bytes_that_have_come_count_before_they_are_read(void **state)
{
    (void)state;
    static char bytes[150 * 1000];
    struct bb_settings settings = host_settings();
    settings.min_body_rate = 10000;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, UPLOAD);
    host_settle(host);
    pass(host, 9500);
    client_send(client, bytes, sizeof bytes);
    pass(host, 2500);
    assert_silence(client);
    pass(host, 4000);
    assert_late(client);
    client_free(client);
    host_free(host);
}

/* The lane checks a body four times within body_timeout, and at least once a second. */
static void test_the_interval_of_checks_depends_on_body_timeout(void **state)
{
    (void)state;
    static const uint64_t cases[][2] = {{0, BB_BODY_TICK_MAX}, {60000, BB_BODY_TICK_MAX}, {400, 100}, {1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bb_settings settings = host_settings();
        settings.body_timeout = cases[i][0];
        struct host *host = host_new(&settings, AF_UNIX);
        struct client *client = client_new(host);
        client_say(client, UPLOAD);
        host_settle(host);
        assert_int_equal(bb__timeout_wait(&host->lane->set.timeouts, fake_clock), cases[i][1]);
        client_free(client);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_without_progress_is_late_after_body_timeout),
        cmocka_unit_test(test_a_body_below_min_body_rate_is_late),
        cmocka_unit_test(test_a_body_is_not_late_if_the_lane_is_late),
        cmocka_unit_test(test_a_body_that_starts_late_is_not_too_slow),
        cmocka_unit_test(test_bytes_that_have_come_count_before_they_are_read),
        cmocka_unit_test(test_the_interval_of_checks_depends_on_body_timeout),
    };
    return cmocka_run_group_tests_name("conn_body_time", tests, NULL, NULL);
}
