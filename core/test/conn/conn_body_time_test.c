/* conn_body_time_test.c: how long a client may take for a body. The rest of what takes time is
 * conn_time_test.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "time_case.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"

static void test_a_body_that_stands_still(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.min_body_rate = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, UPLOAD);
    host_settle(host);
    for (int byte = 0; byte < 5; byte++) { /* each one is progress */
        pass(host, 59000);
        assert_silence(client);
        client_say(client, "x");
        host_settle(host);
    }
    pass(host, 59999);
    assert_silence(client);
    pass(host, 1001); /* looked at once a second */
    assert_late(client);
    assert_int_equal(host->served, 0);
    client_free(client);
    host_free(host);
}

/* Uploads so many bytes a second for a minute; how many seconds it took to be refused, or 60. */
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

static void test_a_body_that_is_too_slow(void **state)
{
    (void)state;
    struct host *host = new_host();
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

/* While the host serves another request nobody reads. */
static void test_a_body_is_not_late_when_we_are(void **state)
{
    (void)state;
    static char bytes[6000];
    struct host *host = new_host();
    struct client *upload = client_new(host), *other = client_new(host);
    host->app = app_slow;
    client_say(upload, UPLOAD);
    host_settle(host);
    for (int round = 0; round < 3; round++) {
        client_say(other, REQUEST);
        assert_answer(other, 200, "GET / ");
        assert_silence(upload);
        client_send(upload, bytes, 500);
        pass(host, 1000);
        assert_silence(upload);
    }
    pass(host, 10000); /* but it is as soon as we look again */
    assert_late(upload);
    client_free(upload);
    client_free(other);
    host_free(host);
}

static void test_a_slow_start_is_no_slow_body(void **state)
{
    (void)state;
    static char bytes[6000];
    struct host *host = new_host();
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

/* The client has sent enough, and we have not read it yet: a look reads 64 KiB. */
static void test_what_has_come_counts_first(void **state)
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

/* A body is looked at a few times in body_timeout; where that is no limit, once a second for its rate. */
static void test_how_often_a_body_is_looked_at(void **state)
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
        cmocka_unit_test(test_a_body_that_stands_still),
        cmocka_unit_test(test_a_body_that_is_too_slow),
        cmocka_unit_test(test_a_body_is_not_late_when_we_are),
        cmocka_unit_test(test_a_slow_start_is_no_slow_body),
        cmocka_unit_test(test_what_has_come_counts_first),
        cmocka_unit_test(test_how_often_a_body_is_looked_at),
    };
    return cmocka_run_group_tests_name("conn_body_time", tests, NULL, NULL);
}
