/* public_answers_test.c: when a connection that waits for the helper looks again. The clocks stand still
 * until the test moves them. public_slow_test.c has other tests of the helper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_case.h"
#include "files/slow_disk.h"
#include "support/later_clock.h"

static int begin(void **state)
{
    (void)state;
    make_public_files();
    hold_clocks();
    serve_public();
    return 0;
}

static int end(void **state)
{
    slow_disk_set(false);
    (void)end_public(state);
    slow_disk.works = NULL;
    let_clocks_go_on();
    slow_disk.waited = 0;
    return 0;
}

static void pass_time(unsigned ms)
{
    atomic_fetch_add(&later, ms);
    host_turn(host);
}

static atomic_bool answered;

static void hang_again(void)
{
    if (!atomic_exchange(&answered, true)) slow_disk_set(true);
}

/* Lets the look-up that waits end. The next one hangs. */
static void answer_one(void)
{
    atomic_store(&answered, false);
    slow_disk_set(false);
    while (!atomic_load(&answered)) sched_yield();
    slow_disk_await();
}

/* The helper has found the file, and hangs in its next job. The names in the root have to be read again, but
 * for that nobody waits longer than a moment. */
static void test_the_names_and_another_job_hang(void **state)
{
    (void)state;
    struct client *other = client_new(host);
    slow_disk.works = hang_again;
    slow_disk_set(true);
    client_say(client, GET("/a"));
    host_settle(host);
    slow_disk_await();
    client_say(other, GET("/d/a"));
    host_settle(host);
    for (int i = 0; i < 24; i++) pass_time(BB_AWAY_TIME / 2);
    answer_one();
    for (int i = 0; i < 10; i++) pass_time(BB_DISK_TICK);
    assert_true(client_receive(client));
    assert_response(client, 200, "a");
    client_free(other);
}

/* The lane has found a request while it sent files. It keeps the request until the host asks for it. */
static void test_the_host_waits_twice(void **state)
{
    const struct bb_request *request;
    (void)state;
    struct client *other = client_new(host), *third = client_new(host);
    client_say(client, GET("/a"));
    host_settle(host);
    assert_response(client, 200, "a");
    client_say(client, GET("/a"));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    client_say(other, GET("/1"));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    client_say(third, GET("/2"));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_response(client, 200, "a");
    host_settle(host);
    assert_true(client_receive(other));
    assert_response(other, 200, "GET /1 ");
    assert_response(third, 200, "GET /2 ");
    client_free(other);
    client_free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_names_and_another_job_hang, begin, end),
        cmocka_unit_test_setup_teardown(test_the_host_waits_twice, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
