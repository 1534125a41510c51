/* public_slow_test.c: files of `public` that the kernel does not have in memory. The helper looks for them,
 * and the connections wait. The clocks stand still until the test moves them. public_far_test.c has
 * directories that are not on this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "files/slow_disk.h"
#include "io_thread/fail_thread.h"
#include "support/client.h"
#include "support/fake_pause.h"
#include "support/later_clock.h"

static struct host *host;

static void serve_with(const struct bb_settings *settings)
{
    host = host_new(settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
}

/* The directory has `known`, which is served once, and `a`, `d/a`, which the kernel does not have. */
static int begin(void **state)
{
    (void)state;
    make_public_dir();
    make_public_subdir("d");
    write_public("known", "known");
    write_public("a", "a");
    write_public("d/a", "d/a");
    make_old(public_path("d"), OLD_TIME);
    make_old(public_dir, OLD_TIME);
    hold_clocks();
    return 0;
}

static int end(void **state)
{
    (void)state;
    host_leave_public(host);
    remove_public_dir();
    let_clocks_go_on();
    slow_disk.unknown = false;
    slow_disk.works = NULL;
    slow_disk.waited = 0;
    return 0;
}

static struct bb__file_cache *cache(void)
{
    return host->worker->files;
}

static void pass_time(unsigned ms)
{
    atomic_fetch_add(&later, ms);
}

static void serve(void)
{
    struct bb_settings settings = host_settings();
    serve_with(&settings);
}

/* Returns a client whose request waits for the disk. */
static struct client *wait_for(const char *request)
{
    struct client *client = client_new_saying(host, request);
    host_settle(host);
    slow_disk_await();
    assert_int_equal(host->lane->set.conns->state, BB_CONN_LOOK);
    return client;
}

/* The disk answers, and the connections look again. */
static void answer(void)
{
    slow_disk_set(false);
    while (helper_is_busy(host->worker)) sched_yield();
    pass_time(BB_DISK_TICK);
    host_settle(host);
}

static void test_others_are_served(void **state)
{
    (void)state;
    serve();
    struct client *other = client_new_saying(host, GET("/known"));
    assert_response(other, 200, "known");
    slow_disk_set(true);
    struct client *client = wait_for(GET("/d/a"));
    for (int i = 0; i < 3; i++) {
        client_say(other, GET("/known") GET("/app") GET("/known"));
        assert_response(other, 200, "known");
        assert_response(other, 200, "GET /app ");
        assert_response(other, 200, "known");
        pass_time(BB_DISK_TICK);
        assert_silence(client);
    }
    answer();
    assert_response(client, 200, "d/a");
    client_say(client, GET("/d/a"));
    assert_response(client, 200, "d/a");
    assert_int_equal(host->served, 3);
    client_free(client);
    client_free(other);
}

/* Bytes behind the head stay where they are. The wait for the disk is no wait for a lane. */
static void test_a_path_that_is_no_file(void **state)
{
    (void)state;
    serve();
    slow_disk_set(true);
    struct client *client = wait_for(GET("/d/none") GET("/known"));
    assert_int_equal(host->served, 0);
    bb__conn_has_to_wait(host->lane->set.conns);
    pass_time(BB_AWAY_TIME / 2);
    answer();
    assert_response(client, 200, "GET /d/none ");
    assert_int_equal(host->served, 1);
    assert_int_equal(host->lane->request.queue_time, 0);
    slow_disk_set(false);
    assert_response(client, 200, "known");
    client_free(client);
}

static void test_many_connections_make_one_job(void **state)
{
    struct client *clients[8];
    (void)state;
    serve();
    slow_disk_set(true);
    for (int i = 0; i < 8; i++) clients[i] = wait_for(GET("/a"));
    assert_int_equal(cache()->helper.jobs, 1);
    answer();
    for (int i = 0; i < 8; i++) {
        assert_response(clients[i], 200, "a");
        client_free(clients[i]);
    }
    assert_int_equal(slow_disk.waited, 1);
    assert_int_equal(host->served, 0);
}

static void test_the_client_goes_away(void **state)
{
    (void)state;
    serve();
    slow_disk_set(true);
    client_free(wait_for(GET("/a")));
    host_settle_to(host, 0);
    answer();
    struct client *client = client_new_saying(host, GET("/a"));
    assert_response(client, 200, "a");
    client_free(client);
}

static void test_write_timeout(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.write_timeout = 500;
    serve_with(&settings);
    slow_disk_set(true);
    struct client *client = wait_for(GET("/a"));
    for (int i = 0; i < 9; i++) {
        pass_time(BB_AWAY_TIME / 2);
        assert_silence(client);
    }
    pass_time(BB_AWAY_TIME / 2);
    assert_response(client, 503, NULL);
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_int_equal(host->event_count, 1);
    assert_string_equal(host->events[0].text, bb__reasons[BB_REASON_SLOW_DISK].text);
    assert_false(host->events[0].by_client);
    client_free(client);
    answer();
}

static void test_the_worker_drains(void **state)
{
    (void)state;
    serve();
    slow_disk_set(true);
    struct client *client = wait_for(GET("/a"));
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_AGAIN);
    answer();
    assert_response(client, 200, "a");
    assert_string_equal(client_field(client, "Connection"), "close");
    client_free(client);
    host_settle(host);
    assert_int_equal(host->last, BB_DRAINED);
}

static void test_the_lane_is_freed(void **state)
{
    (void)state;
    serve();
    slow_disk_set(true);
    struct client *client = wait_for(GET("/a")), *other = client_new_saying(host, GET("/d/a"));
    host_settle(host);
    assert_int_equal(cache()->helper.jobs, 2);
    bb_lane_free(host->lane);
    host->lane = NULL;
    slow_disk_set(false);
    while (client_receive(client)) continue;
    assert_int_equal(client->end, CLIENT_ENDED);
    client_free(client);
    client_free(other);
}

static void pause_some_time(void)
{
    pass_time(100);
    sched_yield();
}

/* A helper that hangs in a system call cannot be stopped, so nothing is freed. Later it ends before its next
 * job. */
static void test_the_helper_hangs(void **state)
{
    (void)state;
    serve();
    slow_disk_set(true);
    client_free(wait_for(GET("/a")));
    client_free(wait_for(GET("/d/a")));
    bb_lane_free(host->lane);
    host->lane = NULL;
    in_the_pause = pause_some_time;
    uint64_t before = atomic_load(&later);
    assert_int_equal(bb_worker_free(host->worker), BB_AGAIN);
    assert_in_range(atomic_load(&later) - before, 1000, 1200);
    slow_disk_set(false);
    while (bb_worker_free(host->worker) != BB_OK) sched_yield();
    in_the_pause = NULL;
    host->worker = NULL;
}

static void test_no_helper_is_needed(void **state)
{
    (void)state;
    serve();
    struct client *client = client_new_saying(host, GET("/a") GET("/none") GET("/known"));
    assert_response(client, 200, "a");
    assert_response(client, 200, "GET /none ");
    assert_response(client, 200, "known");
    for (int i = 0; i < 3; i++) {
        pass_time(BB_FILE_VALID);
        client_say(client, GET("/a"));
        assert_response(client, 200, "a");
    }
    assert_false(cache()->helper.runs);
    client_free(client);
}

/* Better late than never: the lane itself waits for the disk. */
static void test_there_can_be_no_helper(void **state)
{
    (void)state;
    serve();
    fail_thread.error = EAGAIN;
    slow_disk.unknown = true;
    struct client *client = client_new_saying(host, GET("/a") GET("/d/a") GET("/d/none"));
    assert_response(client, 200, "a");
    assert_response(client, 200, "d/a");
    assert_response(client, 200, "GET /d/none ");
    write_public("new", "new");
    make_old(public_dir, OLD_TIME + 1);
    pass_time(BB_FILE_VALID);
    client_say(client, GET("/new"));
    assert_response(client, 200, "new");
    fail_thread.error = 0;
    client_free(client);
}

static void work_long(void)
{
    pass_time(600);
}

/* Before the last directory of the path is read, the first one is older than a second. */
static void test_each_look_takes_long(void **state)
{
    (void)state;
    make_public_subdir("d/e");
    make_public_subdir("d/e/f");
    write_public("d/e/f/a", "deep");
    serve();
    slow_disk.works = work_long;
    slow_disk_set(true);
    struct client *client = wait_for(GET("/d/e/f/a"));
    answer();
    assert_response(client, 200, "deep");
    client_free(client);
}

/* While descriptors are scarce, the cache keeps none, but the connection that waits gets its file. */
static void test_descriptors_are_scarce(void **state)
{
    (void)state;
    write_public_at("large", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    serve();
    slow_disk.unknown = true;
    pthread_mutex_lock(&slow_disk.lock);
    slow_disk.slow = true;
    pthread_mutex_unlock(&slow_disk.lock);
    struct client *client = wait_for(GET("/large"));
    assert_false(bb__file_cache_give_way(cache(), bb__clock_ms()));
    answer();
    assert_true(client_read(client, true));
    assert_int_equal(bb__buf_len(&client->body), 2 * BB_FILE_SMALL + 1);
    assert_true(bb__file_cache_give_way(cache(), bb__clock_ms()));
    client_free(client);
}

/* DIR has changed, and the disk hangs. Requests wait only for a moment. */
static void test_the_names_cannot_be_read(void **state)
{
    (void)state;
    serve();
    struct client *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    slow_disk_set(true);
    pass_time(BB_FILE_VALID);
    client_say(client, GET("/app"));
    assert_silence(client);
    slow_disk_await();
    for (int i = 0; i < 5; i++) {
        pass_time(BB_DISK_TICK);
        host_settle(host);
    }
    assert_response(client, 200, "GET /app ");
    client_say(client, GET("/other"));
    assert_response(client, 200, "GET /other ");
    answer();
    client_say(client, GET("/a"));
    assert_response(client, 200, "a");
    client_free(client);
}

/* Requests for many paths do not fill the memory while the disk hangs. */
static void test_the_jobs_have_a_limit(void **state)
{
    enum { PATHS = 2 * BB_ENTRIES_MAX };
    struct bb__file_entry *entry;
    char path[32];
    (void)state;
    serve();
    slow_disk_set(true);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < PATHS; i++) {
            int len = snprintf(path, sizeof path, "/d/%d", i);
            assert_int_equal(
                bb__file_cache_find(cache(), (struct bb_slice){path, (size_t)len}, bb__clock_ms(), &entry),
                BB_FILE_LATER);
        }
    assert_in_range(cache()->helper.jobs, 2, BB_JOBS_MAX);
    answer();
    struct client *client = client_new_saying(host, GET("/d/a"));
    assert_response(client, 200, "d/a");
    client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_others_are_served, begin, end),
        cmocka_unit_test_setup_teardown(test_a_path_that_is_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_many_connections_make_one_job, begin, end),
        cmocka_unit_test_setup_teardown(test_the_client_goes_away, begin, end),
        cmocka_unit_test_setup_teardown(test_write_timeout, begin, end),
        cmocka_unit_test_setup_teardown(test_the_worker_drains, begin, end),
        cmocka_unit_test_setup_teardown(test_the_lane_is_freed, begin, end),
        cmocka_unit_test_setup_teardown(test_the_helper_hangs, begin, end),
        cmocka_unit_test_setup_teardown(test_no_helper_is_needed, begin, end),
        cmocka_unit_test_setup_teardown(test_there_can_be_no_helper, begin, end),
        cmocka_unit_test_setup_teardown(test_each_look_takes_long, begin, end),
        cmocka_unit_test_setup_teardown(test_descriptors_are_scarce, begin, end),
        cmocka_unit_test_setup_teardown(test_the_names_cannot_be_read, begin, end),
        cmocka_unit_test_setup_teardown(test_the_jobs_have_a_limit, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
