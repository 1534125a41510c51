/* public_far_test.c: a directory of `public` on a file system that is not on this machine. Each look-up may
 * wait, so the helper does it. The clocks stand still until the test moves them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_case.h"
#include "files/slow_disk.h"
#include "support/few_descriptors.h"
#include "support/later_clock.h"

/* A file of the kernel. It is on no file system that is known not to wait. */
#define ELSEWHERE "/sys/kernel/mm/transparent_hugepage/enabled"

#define HUGE (4 * BB_FILE_READ_MAX + 5)

static int begin(void **state)
{
    (void)state;
    make_public_files();
    assert_int_equal(symlink(ELSEWHERE, public_path("far")), 0);
    assert_int_equal(symlink("a", public_path("near")), 0);
    write_public_at("large", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    write_public_at("huge", NULL, HUGE, OLD_TIME);
    hold_clocks();
    serve_public();
    public_files->directories[0].is_local = false;
    return 0;
}

static int end(void **state)
{
    (void)end_public(state);
    let_clocks_go_on();
    slow_disk.waited = 0;
    slow_disk.closes = false;
    return 0;
}

static void ask(const char *request, const char *body)
{
    client_say(client, request);
    while (!client_receive(client)) {
        host_turn_with_helper(host);
        atomic_fetch_add(&later, BB_DISK_TICK);
    }
    assert_response(client, 200, body);
}

static void test_the_helper_finds_files(void **state)
{
    (void)state;
    ask(GET("/a"), "a");
    assert_true(host->worker->files->helper.runs);
    ask(GET("/d/a"), "d/a");
    ask(GET("/d/none"), "GET /d/none ");
    write_public("a", "again");
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/a"), "again");
}

/* A known file is sent for a second. Then the helper looks again. */
static void test_a_file_that_is_known(void **state)
{
    (void)state;
    ask(GET("/a"), "a");
    slow_disk_set(true);
    client_say(client, GET("/a"));
    assert_response(client, 200, "a");
    assert_int_equal(slow_disk.waited, 0);
    atomic_fetch_add(&later, BB_FILE_VALID);
    client_say(client, GET("/a"));
    assert_silence(client);
    slow_disk_await();
    slow_disk_set(false);
    ask("", "a");
}

/* All clients that download the file at their pace share one descriptor. */
static void test_a_file_that_has_not_changed_keeps_its_entry(void **state)
{
    struct bb__file_cache *cache = host->worker->files;
    (void)state;
    ask(GET("/a"), "a");
    int before = open_descriptors();
    ask(GET("/large"), NULL);
    struct bb__file_entry *entry = cache->newest;
    bb__file_entry_use(entry);
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&later, BB_FILE_VALID);
        ask(GET("/large"), NULL);
        assert_true(entry->cache.is_in);
        assert_int_equal(cache->descriptors, 1);
    }
    write_public_at("large", NULL, 3 * BB_FILE_SMALL, OLD_TIME);
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/large"), NULL);
    assert_false(entry->cache.is_in);
    bb__file_entry_release(entry);
    assert_int_equal(unlink(public_path("large")), 0);
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/large"), "GET /large ");
    assert_int_equal(cache->descriptors, 0);
    atomic_fetch_add(&later, BB_FILE_VALID); /* the helper closes what the last user left a second ago */
    ask(GET("/none"), "GET /none ");
    while (open_descriptors() > before) sched_yield();
}

/* The connection that sends a file is its last user. No other request comes. */
static void test_the_last_user_is_a_connection(void **state)
{
    (void)state;
    ask(GET("/a"), "a");
    int before = open_descriptors();
    client_say(client, GET("/huge"));
    host_settle(host);
    while (helper_is_busy(host->worker)) sched_yield();
    atomic_fetch_add(&later, BB_DISK_TICK);
    host_settle(host);
    assert_int_equal(unlink(public_path("huge")), 0);
    make_old(public_dir, OLD_TIME + 1);
    struct client *other = client, *first = client;
    client = client_new(host);
    other = client;
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/huge"), "GET /huge ");
    client_free(other);
    client = first;
    host_settle_to(host, 1);
    assert_int_equal(open_descriptors(), before + 1);
    client_free(client);
    host_settle_to(host, 0);
    while (open_descriptors() > before - 2) sched_yield();
    client = client_new(host);
}

/* Descriptors run out while the helper looks again. */
static void test_no_descriptors(void **state)
{
    (void)state;
    ask(GET("/a"), "a");
    limit_descriptors(0);
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&later, BB_FILE_VALID);
        ask(GET("/a"), "a");
    }
    unlimit_descriptors();
    write_public("a", "again");
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/a"), "again");
}

/* The cache has the last descriptor, and the helper closes it before it opens another file. */
static void test_the_helper_makes_room_for_itself(void **state)
{
    struct bb__file_cache *cache = host->worker->files;
    (void)state;
    ask(GET("/large"), NULL);
    limit_descriptors(0);
    ask(GET("/huge"), NULL);
    assert_int_equal(cache->descriptors, 1);
    unlimit_descriptors();
}

/* A known file whose look is under way keeps no descriptor that others need. */
static void test_a_file_that_is_asked_for_gives_way(void **state)
{
    struct bb__file_cache *cache = host->worker->files;
    (void)state;
    ask(GET("/large"), NULL);
    slow_disk_set(true);
    atomic_fetch_add(&later, BB_FILE_VALID);
    client_say(client, GET("/a"));
    host_settle(host);
    slow_disk_await();
    struct client *other = client_new_saying(host, GET("/large"));
    host_settle(host);
    assert_int_equal(cache->descriptors, 1);
    assert_true(bb__file_cache_give_way(cache, bb__clock_ms()));
    assert_non_null(atomic_load(&cache->closes.first)); /* as soon as the helper can */
    slow_disk_set(false);
    ask("", "a");
    while (!client_receive(other)) {
        host_turn(host);
        atomic_fetch_add(&later, BB_DISK_TICK);
    }
    assert_response(other, 200, NULL);
    client_free(other);
}

/* The names of the last look decide until the next look has ended. */
static void test_other_requests_never_wait(void **state)
{
    (void)state;
    slow_disk_set(true);
    client_say(client, GET("/none"));
    assert_response(client, 200, "GET /none ");
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&later, BB_FILE_VALID);
        client_say(client, GET("/none"));
        assert_response(client, 200, "GET /none ");
        slow_disk_await();
    }
    write_public("none", "new");
    make_old(public_dir, OLD_TIME + 1);
    client_say(client, GET("/none"));
    assert_response(client, 200, "GET /none ");
    assert_int_equal(slow_disk.waited, 1);
    slow_disk_set(false);
    while (helper_is_busy(host->worker)) sched_yield();
    atomic_fetch_add(&later, BB_FILE_VALID);
    ask(GET("/other"), "GET /other ");
    while (helper_is_busy(host->worker)) sched_yield();
    ask(GET("/none"), "new");
}

/* A file that nobody has asked for is closed. */
static void test_a_close_hangs(void **state)
{
    (void)state;
    ask(GET("/a"), "a");
    int before = open_descriptors();
    ask(GET("/large"), NULL);
    assert_int_equal(open_descriptors(), before + 1);
    slow_disk.closes = true;
    slow_disk_set(true);
    atomic_fetch_add(&later, BB_ENTRY_IDLE);
    client_free(client);
    client = client_new_saying(host, GET("/none"));
    assert_response(client, 200, "GET /none ");
    slow_disk_await();
    client_say(client, GET("/none"));
    assert_response(client, 200, "GET /none ");
    assert_int_equal(open_descriptors(), before + 1);
    slow_disk_set(false);
    while (open_descriptors() > before) sched_yield();
}

/* While the disk hangs, a request for a file gets 503 after write_timeout, and the others go on. */
static void test_the_disk_hangs(void **state)
{
    (void)state;
    ask(GET("/d/a"), "d/a");
    slow_disk_set(true);
    client_say(client, GET("/a"));
    assert_silence(client);
    uint64_t limit = host->worker->settings.write_timeout, step = BB_AWAY_TIME / 2;
    for (uint64_t ms = 0; ms < limit; ms += step) {
        atomic_fetch_add(&later, step);
        host_turn(host);
    }
    assert_response(client, 503, NULL);
    client_free(client);
    client = client_new_saying(host, GET("/none"));
    assert_response(client, 200, "GET /none ");
    slow_disk_set(false);
}

/* ---- links ---- */

static bool is_kept_as_local(const char *path)
{
    struct bb__file_cache *cache = host->worker->files;
    struct bb__file_entry *entry;
    const struct bb_slice slice = {path, strlen(path)};
    while (bb__file_cache_find(cache, slice, bb__clock_ms(), &entry) == BB_FILE_LATER) sched_yield();
    bool is = entry->is_local;
    bb__file_entry_release(entry);
    return is;
}

/* The directory is on this machine. */
static void test_a_link_leads_elsewhere(void **state)
{
    LINUX_ONLY;
    if (access(ELSEWHERE, R_OK) != 0) skip();
    public_files->directories[0].is_local = true;
    assert_true(is_kept_as_local("/near"));
    assert_true(is_kept_as_local("/a"));
    assert_false(is_kept_as_local("/far"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_helper_finds_files, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_known, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_that_has_not_changed_keeps_its_entry, begin, end),
        cmocka_unit_test_setup_teardown(test_the_last_user_is_a_connection, begin, end),
        cmocka_unit_test_setup_teardown(test_no_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_the_helper_makes_room_for_itself, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_asked_for_gives_way, begin, end),
        cmocka_unit_test_setup_teardown(test_other_requests_never_wait, begin, end),
        cmocka_unit_test_setup_teardown(test_a_close_hangs, begin, end),
        cmocka_unit_test_setup_teardown(test_the_disk_hangs, begin, end),
        cmocka_unit_test_setup_teardown(test_a_link_leads_elsewhere, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
