/* public_log_test.c: the lines of the access log for files of `public`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_case.h"
#include "files/slow_disk.h"
#include "support/later_clock.h"

#define ASK(path, fields) "GET " path " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"

static char log_path[TEMPORARY_PATH];

static int begin(void **state)
{
    (void)state;
    make_public_files();
    write_public("b", "123");
    close(mkstemp(temporary_path(log_path)));
    hold_clocks();
    return 0;
}

static int end(void **state)
{
    slow_disk_set(false);
    (void)end_public(state);
    let_clocks_go_on();
    return unlink(log_path);
}

static void serve_with_log(const char *format)
{
    struct bb_settings settings = host_settings();
    strcpy(settings.access_log, log_path);
    strcpy(settings.access_log_format, format);
    host = host_new(&settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
    client = client_new(host);
}

static void pass_time(uint64_t ms)
{
    atomic_fetch_add(&later, ms);
    host_turn(host);
}

static const char *lines(void)
{
    pass_time(BB_LOG_AGE);
    return content(log_path);
}

static void ask(const char *request, bool has_body, int status)
{
    client_say(client, request);
    assert_true(client_read(client, has_body));
    assert_int_equal(client->status, status);
}

static void test_all_kinds_of_responses(void **state)
{
    (void)state;
    serve_with_log("%r %s %B %b %X %{Host}i %{accept-ranges}o %{content-range}o %{reason}n");
    ask(ASK("/b?q", ""), true, 200);
    ask("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", false, 200);
    ask(ASK("/b", "If-None-Match: *\r\n"), false, 304);
    ask(ASK("/b", "Range: bytes=1-\r\n"), true, 206);
    ask(ASK("/b", "Range: bytes=9-\r\n"), true, 416);
    ask(ASK("/b", "If-Match: \"x\"\r\nConnection: close\r\n"), true, 412);
    assert_string_equal(lines(), "GET /b?q HTTP/1.1 200 3 3 + x bytes - -\n"
                                 "HEAD /a HTTP/1.1 200 0 - + x bytes - -\n"
                                 "GET /b HTTP/1.1 304 0 - + x - - -\n"
                                 "GET /b HTTP/1.1 206 2 2 + x bytes bytes 1-2/3 -\n"
                                 "GET /b HTTP/1.1 416 0 - + x bytes bytes */3 -\n"
                                 "GET /b HTTP/1.1 412 24 24 - x - - -\n");
}

/* The time is that of the request, and the wait for the disk is a part of the response time. */
static void test_a_slow_disk(void **state)
{
    unsigned long long came, took, before, tick = CLOCK_TICK / 1000;
    (void)state;
    serve_with_log("%{msec}t %{ms}T");
    slow_disk_set(true);
    client_say(client, GET("/d/a"));
    before = bb__clock_real_us() / 1000;
    host_settle(host);
    slow_disk_await();
    for (int i = 0; i < 10; i++) pass_time(BB_AWAY_TIME / 2);
    slow_disk_set(false);
    while (helper_is_busy(host->worker)) sched_yield();
    while (!client_receive(client)) pass_time(BB_DISK_TICK);
    assert_response(client, 200, "d/a");
    assert_int_equal(sscanf(lines(), "%llu %llu\n", &came, &took), 2);
    assert_in_range(took, 10 * BB_AWAY_TIME / 2 - tick, 60000);
    assert_in_range(came, before - took, before + 1000 - took);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_kinds_of_responses, begin, end),
        cmocka_unit_test_setup_teardown(test_a_slow_disk, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
