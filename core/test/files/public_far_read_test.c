/* public_far_read_test.c: large files of `public` on a file system that cannot tell whether a read waits. The
 * helper reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/fail_names.h"
#include "files/public_case.h"
#include "files/slow_disk.h"
#include "support/later_clock.h"

#define LARGE (2 * BB_FILE_SMALL)
#define HUGE  (4 * BB_FILE_READ_MAX + 5)

static int begin(void **state)
{
    (void)state;
    make_public_files();
    write_public_at("large", NULL, LARGE, OLD_TIME);
    write_public_at("huge", NULL, HUGE, OLD_TIME);
    serve_public();
    public_files->directories[0].is_local = false;
    return 0;
}

static int end(void **state)
{
    slow_disk.reads = false;
    return end_public(state);
}

static void get(const char *request, int status)
{
    client_say(client, request);
    assert_response(client, status, NULL);
}

static void assert_letters(size_t from, size_t len)
{
    const char *body = bb__buf_bytes(&client->body);
    assert_int_equal(bb__buf_len(&client->body), len + 1);
    for (size_t i = 0; i < len; i++) assert_int_equal(body[i], 'a' + (from + i) % 26);
}

/* More than one part, ranges, and a second response on the same connection. */
static void test_the_helper_reads(void **state)
{
    (void)state;
    slow_disk.reads = true;
    get(GET("/huge"), 200);
    assert_letters(0, HUGE);
    get("GET /huge HTTP/1.1\r\nHost: x\r\nRange: bytes=131000-\r\n\r\n", 206);
    assert_letters(131000, HUGE - 131000);
    get("GET /huge HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9,200000-200009\r\n\r\n", 206);
    assert_non_null(strstr(bb__buf_bytes(&client->body), "bytes 200000-200009/"));
    client_say(client, GET("/none"));
    assert_response(client, 200, "GET /none ");
}

/* The client has asked for a large file, and takes nothing. */
static void begin_slowly(void)
{
    slow_disk.reads = true;
    client_say(client, GET("/huge"));
    do host_turn(host);
    while (!host->lane->set.conns || host->lane->set.conns->timeout.kind != BB_TIMEOUT_WRITE);
}

/* The part that is read counts as response bytes in memory. If these take too much, the helper reads it
 * again. */
static void test_a_slow_client(void **state)
{
    struct bb__spool_budget *budget = &host->worker->spool_budget;
    (void)state;
    begin_slowly();
    assert_true(budget->unsent >= BB_FILE_READ_MAX);
    budget->unsent_max = 1;
    get("", 200);
    assert_letters(0, HUGE);
    assert_int_equal(budget->unsent, 0);
}

static void test_a_client_that_takes_nothing(void **state)
{
    uint64_t limit = host->worker->settings.write_timeout, step = BB_AWAY_TIME / 2;
    (void)state;
    host->worker->spool_budget.unsent_max = 1;
    begin_slowly();
    for (uint64_t ms = 0; ms <= limit + limit / 4; ms += step) {
        atomic_fetch_add(&later, step);
        host_turn_with_helper(host);
    }
    assert_int_equal(host_connections(host), 0);
}

/* Lets the read of a large file hang. */
static void begin_read(void)
{
    get(GET("/huge"), 200);
    slow_disk.reads = true;
    slow_disk_set(true);
    client_say(client, GET("/huge"));
    host_turn(host);
    slow_disk_await();
}

static void test_a_read_hangs(void **state)
{
    (void)state;
    begin_read();
    struct client *other = client_new_saying(host, GET("/none"));
    assert_response(other, 200, "GET /none ");
    client_say(other, GET("/large"));
    host_settle(host);
    assert_int_equal(host_connections(host), 2);
    client_free(client);
    atomic_fetch_add(&later, BB_DISK_TICK);
    host_settle_to(host, 1);
    client = other;
    slow_disk_set(false);
    get("", 200);
    assert_letters(0, LARGE);
}

static void test_a_read_hangs_too_long(void **state)
{
    (void)state;
    begin_read();
    uint64_t limit = host->worker->settings.write_timeout, step = BB_AWAY_TIME / 2;
    for (uint64_t ms = 0; ms <= limit; ms += step) {
        atomic_fetch_add(&later, step);
        host_turn(host);
    }
    assert_false(client_read(client, true));
    assert_int_equal(host_connections(host), 0);
    slow_disk_set(false);
}

static void test_a_read_fails(void **state)
{
    (void)state;
    begin_read();
    fail_read = EIO;
    slow_disk_set(false);
    while (helper_is_busy(host->worker)) sched_yield();
    atomic_fetch_add(&later, BB_DISK_TICK);
    host_settle_to(host, 0);
    assert_false(client_read(client, true));
    fail_read = 0;
}

static void test_the_file_becomes_shorter(void **state)
{
    (void)state;
    begin_read();
    assert_int_equal(truncate(public_path("huge"), 10), 0);
    slow_disk_set(false);
    for (int i = 0; i < 3; i++) {
        while (helper_is_busy(host->worker)) sched_yield();
        atomic_fetch_add(&later, BB_DISK_TICK);
        host_turn(host);
    }
    assert_false(client_read(client, true));
    host_settle_to(host, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_helper_reads, begin, end),
        cmocka_unit_test_setup_teardown(test_a_slow_client, begin, end),
        cmocka_unit_test_setup_teardown(test_a_client_that_takes_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_a_read_hangs, begin, end),
        cmocka_unit_test_setup_teardown(test_a_read_hangs_too_long, begin, end),
        cmocka_unit_test_setup_teardown(test_a_read_fails, begin, end),
        cmocka_unit_test_setup_teardown(test_the_file_becomes_shorter, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
