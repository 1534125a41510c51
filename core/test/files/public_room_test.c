/* public_room_test.c: files of `public` while descriptors run out. The files make room for connections.
 * public_lent_test.c has the descriptors that the host lends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_room.h"
#include "files/slow_disk.h"
#include "support/fake_clock.h"

static int begin_with_many(void **state)
{
    (void)state;
    return begin_with(MANY_FILES);
}

static void test_many_large_files(void **state)
{
    (void)state;
    struct client *client = client_new(host), *slow = client_new_saying(host, GET("/large"));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY_FILES; i++) {
            get_large(client, i);
            assert_in_range(cache()->descriptors, 1, host->worker->room.reserve / 4);
        }
    assert_letters(slow, VERY_LARGE);
    assert_int_equal(host->served, 0);
    client_free(client);
    client_free(slow);
}

/* Returns how many connections the lane has before it closes the first one. */
static unsigned count_places(void)
{
    struct client *clients[MORE];
    unsigned count = 0;
    do {
        clients[count] = client_new_saying(host, GET("/app"));
        assert_response(clients[count++], 200, "GET /app ");
        fake_clock_advance(200);
        host_settle(host);
        (void)client_receive(clients[0]);
    } while (clients[0]->end == CLIENT_OPEN);
    for (unsigned i = 0; i < count; i++) client_free(clients[i]);
    host_settle_to(host, 0);
    return count;
}

/* The reserve is reached. */
static void test_connections_have_all_places(void **state)
{
    (void)state;
    unsigned places = count_places();
    assert_in_range(places, 4, MORE / 2);
    fake_clock_advance(60000);
    host->worker->room.fits = 0;
    fill_cache();
    assert_int_equal(count_places(), places);
    assert_int_equal(cache()->descriptors, 0);
}

static unsigned count_in_reserve(void)
{
    unsigned count = 0;
    for (const struct bb__conn *conn = host->lane->set.conns; conn; conn = conn->set.next)
        count += conn->fd >= host->worker->room.reserve;
    return count;
}

/* Clients connect, and ask for large files, until all descriptors below the reserve are in use. */
static void test_connections_leave_the_reserve(void **state)
{
    struct client *clients[MORE];
    int count = 0;
    (void)state;
    for (unsigned before = 0; count == 0 || cache()->descriptors > before; count++) {
        before = cache()->descriptors;
        clients[count] = client_new(host);
        get_large(clients[count], count);
        fake_clock_advance(1100);
    }
    assert_int_equal(count_in_reserve(), 0);
    assert_int_equal(host_connections(host), count);
    while (count > 0) client_free(clients[--count]);
}

/* No descriptor at all is left for accept(2). */
static void test_accept_without_descriptors(void **state)
{
    int fds[64];
    (void)state;
    fill_cache();
    struct client *client = client_new(host);
    int count = occupy_until(INT32_MAX, fds);
    client_say(client, GET("/app"));
    assert_response(client, 200, "GET /app ");
    assert_int_equal(host->event_count, 0);
    assert_int_equal(cache()->descriptors, 0);
    leave(count, fds);
    client_free(client);
}

static void test_the_shared_queue_gets_descriptors(void **state)
{
    int fds[64];
    (void)state;
    fill_cache();
    atomic_store(&host->worker->room.exhausted, true);
    int count = occupy_until(host->worker->room.reserve, fds);
    assert_true(bb__worker_has_descriptor(host->worker));
    assert_int_equal(cache()->descriptors, 0);
    leave(count, fds);
    count = occupy_until(host->worker->room.reserve, fds);
    assert_false(bb__worker_has_descriptor(host->worker));
    leave(count, fds);
}

/* No descriptor at all is left for a directory that nobody has asked for yet. */
static void test_a_directory_without_descriptors(void **state)
{
    int fds[64];
    (void)state;
    fill_cache();
    struct client *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    int count = occupy_until(INT32_MAX, fds);
    client_say(client, GET("/d/a"));
    turn_until_answered(host, client);
    assert_response(client, 200, "d/a");
    leave(count, fds);
    client_free(client);
}

static void test_a_file_in_use_stays_open(void **state)
{
    (void)state;
    struct client *client = client_new_saying(host, GET("/large"));
    host_settle(host);
    assert_false(bb__file_cache_give_way(cache(), fake_clock));
    assert_letters(client, VERY_LARGE);
    assert_true(bb__file_cache_give_way(cache(), fake_clock));
    client_free(client);
}

static void test_the_cache_keeps_descriptors_again(void **state)
{
    (void)state;
    struct client *client = client_new(host);
    get_large(client, 0);
    assert_int_equal(cache()->descriptors, 1);
    assert_true(bb__file_cache_give_way(cache(), fake_clock));
    for (int i = 0; i < 3; i++) get_large(client, i);
    assert_int_equal(cache()->descriptors, 1);
    fake_clock_advance(1000);
    get_large(client, 0);
    assert_int_equal(cache()->descriptors, 2);
    client_free(client);
}

/* A download takes longer than BB_ENTRY_IDLE. Then another client asks for the file. */
static void test_a_long_download(void **state)
{
    struct bb__file_entry *first, *second;
    (void)state;
    const struct bb_slice path = {"/1", 2};
    assert_int_equal(bb__file_cache_find(cache(), path, fake_clock, &first), BB_FILE_FOUND);
    fake_clock_advance(BB_ENTRY_IDLE);
    assert_int_equal(bb__file_cache_may_have(cache(), path, fake_clock), BB_FILE_FOUND);
    assert_int_equal(bb__file_cache_find(cache(), path, fake_clock, &second), BB_FILE_FOUND);
    assert_ptr_equal(first, second);
    bb__file_entry_release(first);
    bb__file_entry_release(second);
    fake_clock_advance(BB_ENTRY_IDLE);
    assert_int_equal(bb__file_cache_may_have(cache(), path, fake_clock), BB_FILE_FOUND);
    assert_int_equal(cache()->count, 0);
}

/* Files in use may be more than the cache may have open. When they are in use no more, it closes some. */
static void test_many_files_in_use(void **state)
{
    struct bb__file_entry *entries[FILES];
    int count = 0;
    (void)state;
    while (cache()->descriptors <= cache()->descriptors_max) {
        char path[16];
        const struct bb_slice slice = {path, (size_t)snprintf(path, sizeof path, "/%d", count)};
        assert_int_equal(bb__file_cache_find(cache(), slice, fake_clock, &entries[count++]), BB_FILE_FOUND);
    }
    while (count > 0) bb__file_entry_release(entries[--count]);
    fake_clock_advance(1000);
    struct client *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    assert_int_equal(cache()->descriptors, cache()->descriptors_max);
    client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_large_files, begin_with_many, end),
        cmocka_unit_test_setup_teardown(test_connections_have_all_places, begin, end),
        cmocka_unit_test_setup_teardown(test_connections_leave_the_reserve, begin, end),
        cmocka_unit_test_setup_teardown(test_accept_without_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_the_shared_queue_gets_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_a_directory_without_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_in_use_stays_open, begin, end),
        cmocka_unit_test_setup_teardown(test_the_cache_keeps_descriptors_again, begin, end),
        cmocka_unit_test_setup_teardown(test_a_long_download, begin, end),
        cmocka_unit_test_setup_teardown(test_many_files_in_use, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
