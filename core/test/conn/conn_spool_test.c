/* conn_spool_test.c: how many writes the core needs to store a request body in a file, and how often events
 * report 5xx responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

static struct host *new_host(void)
{
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    settings.spool_max = 500 * 1000;
    return host_new(&settings, AF_UNIX);
}

/* ---- cost ---- */

/* Number of chunks of one byte each. They are too many for one read. */
#define TINY 50000

static void app_gets_every_byte(struct host *host, const struct bb_request *request)
{
    static char body[TINY];
    assert_int_equal(request->body_length, TINY);
    read_body(request, body);
    for (int i = 0; i < TINY; i++) assert_int_equal(body[i], 'a' + i % 26);
    host_respond(host, 200, "", 0);
}

/* The core writes tiny chunks together. Otherwise a client could cause one write per byte. */
static void test_tiny_chunks_are_written_together(void **state)
{
    (void)state;
    static char wire[TINY * 6];
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (int i = 0; i < TINY; i++)
        memcpy(wire + 6 * i, (char[]){'1', '\r', '\n', (char)('a' + i % 26), '\r', '\n'}, 6);
    host->app = app_gets_every_byte;
    client_say(client, CHUNKED);
    client_send(client, wire, sizeof wire);
    client_say(client, "0\r\n\r\n");
    assert_response(client, 200, "");
    assert_in_range(fail_file.writes, 1, TINY / 100);
    client_free(client);
    host_free(host);
}

/* ---- events ---- */

static void assert_refused(struct host *host, const char *request, int status)
{
    struct client *client = client_new(host);
    client_say(client, request);
    assert_response(client, status, NULL);
    assert_end(client);
    client_free(client);
}

static void assert_events(struct host *host, int status, int error, const char *text, unsigned left_out)
{
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].status, status);
    assert_int_equal(host->events[0].error, error);
    assert_string_equal(host->events[0].text, text);
    assert_int_equal(host->events[0].left_out, left_out);
    assert_string_equal(host->events[0].peer, "127.0.0.1");
    host->event_count = 0;
}

/* A client needs only a few bytes to cause a rejection. So a client could fill the log if each rejection were
 * logged. */
static void test_one_event_of_a_fault_is_reported_per_second(void **state)
{
    (void)state;
    static const char too_much[] = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
    static char too_large[4000];
    snprintf(too_large, sizeof too_large, CHUNKED "7d0\r\n%02000d\r\n", 0);
    struct host *host = new_host();
    assert_refused(host, too_much, 507);
    assert_events(host, 507, 0, "spool: SpoolMax reached", 0);
    for (int i = 0; i < 100; i++) assert_refused(host, too_much, 507);
    assert_int_equal(host->event_count, 0);

    fail_file.tmpfile_error = EMFILE; /* another fault has its own event */
    assert_refused(host, too_large, 503);
    assert_events(host, 503, EMFILE, "spool: no memory or no file for a request body", 0);
    assert_refused(host, too_large, 503);
    fail_file.tmpfile_error = 0;
    fail_file_full(0, EIO);
    assert_refused(host, too_large, 507);
    assert_events(host, 507, EIO, "spool: a request body cannot be written", 0);
    assert_refused(host, too_large, 507);
    fail_file_off();

    fake_clock_advance(999);
    assert_refused(host, too_much, 507);
    assert_int_equal(host->event_count, 0);
    fake_clock_advance(1);
    host_turn(host);
    assert_int_equal(host->event_count, 3); /* one event per fault, with a count of unreported rejections */
    assert_int_equal(host->events[0].left_out, 100);
    assert_int_equal(host->events[1].left_out, 0);
    assert_int_equal(host->events[2].left_out, 0);
    host->event_count = 0;
    fake_clock_advance(1000);
    assert_refused(host, too_much, 507);
    assert_events(host, 507, 0, "spool: SpoolMax reached", 0);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_chunks_are_written_together),
        cmocka_unit_test(test_one_event_of_a_fault_is_reported_per_second),
    };
    return cmocka_run_group_tests_name("conn_spool", tests, NULL, NULL);
}
