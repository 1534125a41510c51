/* request_end_test.c: request bodies that the host reads while they come, and does not read to the end:
 * unread, bad and slow bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "request_read_case.h"
#include "support/fake_clock.h"

/* ---- the end ---- */

static void app_leaves_the_end(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_read(host, "ab");
    say("0\r\n\r\n");
    host_respond(host, 200, "read", 4);
}

static void test_the_connection_stays_if_only_the_end_was_not_read(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_leaves_the_end, CHUNKED "\r\n2\r\nab\r\n");
    for (int round = 0; round < 2; round++) {
        assert_response(client, 200, "read");
        assert_null(client_field(client, "Connection"));
        client_say(client, CHUNKED "\r\n2\r\nab\r\n");
    }
    assert_response(client, 200, "read");
    finish();
}

static void app_reads_two(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_read(host, "ab");
    host_respond(host, 200, "enough", 6);
}

static void test_an_unread_body_ends_the_connection_after_the_response(void **state)
{
    (void)state;
    static char rest[100 * 1024];
    new_client(AF_INET, app_reads_two, CHUNKED "\r\n2\r\nab\r\n");
    assert_response(client, 200, "enough");
    assert_string_equal(client_field(client, "Connection"), "close");
    client_send(client, rest, sizeof rest); /* the host drops these bytes, so the client gets no RST */
    assert_end(client);
    finish();
}

static void app_reads_nothing(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_respond(host, 401, "no", 2);
}

static void test_an_application_may_respond_without_reading(void **state)
{
    (void)state;
    new_client(AF_INET, app_reads_nothing, LENGTH "\r\nabc");
    assert_response(client, 401, "no");
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    assert_int_equal(client->host->served, 1);
    finish();
}

/* ---- 100 Continue ---- */

static void app_wants_more(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    assert_int_equal(read_some(host, MOST), BB_AGAIN);
    assert_true(client_receive(client));
    assert_int_equal(bb__buf_len(&client->in), sizeof CONTINUE - 1);
    assert_memory_equal(bb__buf_bytes(&client->in), CONTINUE, sizeof CONTINUE - 1);
    bb__buf_clear(&client->in);
    say_and_wait(host, "abcdef");
    assert_read(host, "abcdef");
    host_respond(host, 200, "read", 4);
}

static void test_continue_is_sent_once_at_the_first_read(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_wants_more, LENGTH EXPECT "\r\n");
    assert_response(client, 200, "read");
    assert_null(client_field(client, "Connection"));
    finish();
}

static void test_continue_is_not_sent_without_a_read(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_nothing, LENGTH EXPECT "\r\n");
    assert_response(client, 401, "no");
    assert_string_equal(client_field(client, "Connection"), "close");
    finish();
}

static void test_continue_is_not_sent_if_the_body_has_begun(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_reads_two, LENGTH EXPECT "\r\nab");
    assert_response(client, 200, "enough");
    finish();
}

/* ---- bad bodies ---- */

static void app_gets_a_bad_body(struct host *host, const struct bb_request *request)
{
    (void)request;
    while (read_some(host, MOST) == BB_OK) continue;
    assert_int_equal(read_some(host, MOST), BB_EBODY);
    bb_reply_abort(host->lane);
}

static void test_a_bad_body_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int status;
    } cases[] = {
        {"x\r\n", 400},
        {"2\r\nabX", 400},
        {"2\r\nab\r\n3e7\r\n", 413}, /* 1001 bytes are announced */
        {"2\r\nab\r\n0\r\nA: b\r\n \r\n", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        new_client(AF_UNIX, app_gets_a_bad_body, CHUNKED "\r\n");
        say(cases[i].body);
        assert_response(client, cases[i].status, NULL);
        assert_end(client);
        finish();
    }
}

/* Reading takes 20 s. The I/O thread has had the lane's set meanwhile, so the time of its last look is later
 * than the beginning of the request. */
static void app_finds_a_bad_body_late(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(20000);
    bb__conn_set_look(&host->lane->set, fake_clock);
    app_gets_a_bad_body(host, request);
}

static void test_the_client_of_a_late_rejection_has_three_seconds_to_read(void **state)
{
    (void)state;
    struct host *host = new_client(AF_UNIX, app_finds_a_bad_body_late, CHUNKED "\r\n");
    say("x\r\n");
    host_settle(host);
    fake_clock_advance(2999);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    fake_clock_advance(1);
    host_settle(host);
    assert_int_equal(host_connections(host), 0);
    finish();
}

static void app_responds_anyway(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_int_equal(read_some(host, MOST), BB_EBODY);
    host_respond(host, 422, "bad", 3);
}

static void test_an_application_may_respond_to_a_bad_body(void **state)
{
    (void)state;
    new_client(AF_UNIX, app_responds_anyway, CHUNKED "\r\nx\r\n");
    assert_response(client, 422, "bad");
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    finish();
}

static void app_loses_its_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_read(host, "ab");
    shutdown(client->fd, SHUT_WR);
    bb_request_wait(host->lane);
    assert_int_equal(read_some(host, MOST), BB_EGONE);
    assert_int_equal(read_some(host, MOST), BB_EGONE);
    bb_reply_abort(host->lane);
}

static void test_a_body_that_breaks_off(void **state)
{
    (void)state;
    new_client(AF_INET, app_loses_its_client, LENGTH "\r\nab");
    assert_reset(client);
    assert_int_equal(host_connections(client->host), 0);
    finish();
}

/* ---- time ---- */

static void wait_for(struct host *host, unsigned seconds)
{
    while (seconds-- > 0) {
        assert_int_equal(read_some(host, MOST), BB_AGAIN);
        fake_clock_advance(1000);
    }
}

static void app_waits_for_a_stalled_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    say("2\r\nab\r\n");
    assert_read(host, "ab");
    wait_for(host, 59);
    say("96\r\nc");
    assert_read(host, "c");
    fake_clock_advance(3600 * 1000); /* the application is slow, not the client */
    wait_for(host, 60);
    assert_int_equal(read_some(host, MOST), BB_EBODY);
    bb_reply_abort(host->lane);
}

static void test_a_stalled_body_is_late_after_body_timeout(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.unbuffered_bodies, "/");
    settings.min_body_rate = 0;
    struct host *host = host_new(&settings, AF_UNIX);
    host->app = app_waits_for_a_stalled_client;
    client = client_new_saying(host, CHUNKED "\r\n");
    assert_response(client, 408, NULL);
    assert_end(client);
    finish();
}

static void app_waits_for_a_slow_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    unsigned second = 0;
    int code;
    do {
        assert_int_equal(write(client->fd, bytes, 100), 100);
        assert_int_equal(read_some(host, MOST), BB_OK);
        code = read_some(host, MOST);
        fake_clock_advance(1000);
    } while (code == BB_AGAIN && second++ < 60);
    assert_int_equal(code, BB_EBODY);
    assert_int_equal(second, 11);
    bb_reply_abort(host->lane);
}

static void test_a_body_below_min_body_rate_is_late(void **state)
{
    (void)state;
    struct host *host = new_client(AF_UNIX, app_waits_for_a_slow_client, CHUNKED "\r\n2710\r\n");
    host->worker->settings.max_body = 0;
    assert_response(client, 408, NULL);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_connection_stays_if_only_the_end_was_not_read),
        cmocka_unit_test(test_an_unread_body_ends_the_connection_after_the_response),
        cmocka_unit_test(test_an_application_may_respond_without_reading),
        cmocka_unit_test(test_continue_is_sent_once_at_the_first_read),
        cmocka_unit_test(test_continue_is_not_sent_without_a_read),
        cmocka_unit_test(test_continue_is_not_sent_if_the_body_has_begun),
        cmocka_unit_test(test_a_bad_body_is_rejected),
        cmocka_unit_test(test_the_client_of_a_late_rejection_has_three_seconds_to_read),
        cmocka_unit_test(test_an_application_may_respond_to_a_bad_body),
        cmocka_unit_test(test_a_body_that_breaks_off),
        cmocka_unit_test(test_a_stalled_body_is_late_after_body_timeout),
        cmocka_unit_test(test_a_body_below_min_body_rate_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
