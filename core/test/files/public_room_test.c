/* public_room_test.c: files of `public` while descriptors run out. The files make room for connections. The
 * clock stands still until the test moves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_letters.h"
#include "files/slow_disk.h"
#include "support/fake_clock.h"
#include "support/few_descriptors.h"

#define LARGE      (BB_FILE_SMALL + 1)
#define MORE       31 /* descriptors that the process may open */
#define FILES      20
#define MANY_FILES 300

static struct host *host;

static struct bb__file_cache *cache(void)
{
    return host->worker->files;
}

static void write_large(int number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "%d", number);
    write_public_at(name, NULL, LARGE, OLD_TIME);
}

static void serve(const struct bb_settings *settings)
{
    host = host_new(settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
}

static int begin_with(int files)
{
    struct bb_settings settings = host_settings();
    make_public_dir();
    for (int i = 0; i < files; i++) write_large(i);
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    write_public_at("two", NULL, LARGE, OLD_TIME);
    write_public_at("two.gz", NULL, 2 * LARGE, OLD_TIME);
    make_public_subdir("d");
    write_public("d/a", "d/a");
    limit_descriptors(MORE);
    serve(&settings);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with(FILES);
}

static int begin_with_many(void **state)
{
    (void)state;
    return begin_with(MANY_FILES);
}

static int end(void **state)
{
    (void)state;
    host_leave_public(host);
    unlimit_descriptors();
    remove_public_dir();
    return 0;
}

static void get_large(struct client *client, int number)
{
    char request[64];
    (void)snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", number);
    client_say(client, request);
    assert_letters(client, LARGE);
}

/* The cache has as many descriptors as it may have. */
static void fill_cache(void)
{
    struct client *client = client_new(host);
    for (int i = 2; i < FILES; i++) get_large(client, i);
    client_free(client);
    host_settle_to(host, 0);
    assert_int_equal(cache()->descriptors, cache()->descriptors_max);
}

/* Opens descriptors until the next one has at least this number. */
static int occupy_until(int number, int fds[64])
{
    int count = 0;
    while ((fds[count] = dup(0)) >= 0 && fds[count] < number) count++;
    if (fds[count] >= 0) close(fds[count]);
    return count;
}

static void leave(int count, const int fds[64])
{
    while (count > 0) close(fds[--count]);
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

/* Another file is open with a descriptor of the host's reserve. It gets a descriptor of the cache instead. */
static void test_a_file_in_the_reserve(void **state)
{
    int fds[64];
    (void)state;
    fill_cache();
    struct client *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    int count = occupy_until(host->worker->room.reserve, fds);
    get_large(client, 0);
    assert_int_equal(host->served, 1);
    assert_int_equal(cache()->descriptors, 1);
    leave(count, fds);
    count = occupy_until(host->worker->room.reserve, fds);
    get_large(client, 1);
    leave(count, fds);
    assert_int_equal(host->served, 1);
    client_free(client);
}

/* Clients that only connect do not hide files, although one file is being sent. */
static void test_connections_hide_no_file(void **state)
{
    struct client *clients[MORE];
    int count = 0;
    (void)state;
    do {
        fake_clock_advance(1100);
        clients[count] = client_new_saying(host, GET("/app"));
        assert_response(clients[count++], 200, "GET /app ");
        (void)client_receive(clients[0]);
    } while (clients[0]->end == CLIENT_OPEN);
    client_say(clients[count - 1], GET("/large"));
    host_settle(host);
    get_large(clients[count - 2], 0);
    assert_letters(clients[count - 1], VERY_LARGE);
    while (count > 0) client_free(clients[--count]);
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

/* A file in use has the descriptors that the host lends. The host has the others for itself. */
static void test_all_descriptors_are_lent(void **state)
{
    int fds[64];
    (void)state;
    struct client *slow = client_new(host), *other = client_new(host),
                  *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    host_settle(host);
    int count = occupy_until(host->worker->room.reserve, fds);
    for (int i = host->worker->room.reserve + 1; i < host->worker->room.lent; i++) fds[count++] = dup(0);
    client_say(slow, GET("/large"));
    host_settle(host);
    client_say(client, GET("/1"));
    assert_response(client, 503, NULL);
    fds[count++] = dup(0);
    assert_true(fds[count - 1] >= 0);
    assert_letters(slow, VERY_LARGE);
    get_large(other, 1);
    assert_int_equal(host->served, 1);
    leave(count, fds);
    client_free(other);
    client_free(client);
    client_free(slow);
}

/* The file itself is sent. */
static void test_a_variant_without_descriptor(void **state)
{
    int fds[64];
    (void)state;
    struct client *client = client_new_saying(host, GET("/app"));
    assert_response(client, 200, "GET /app ");
    int count = occupy_until(host->worker->room.reserve, fds);
    for (int i = host->worker->room.reserve + 1; i < host->worker->room.lent; i++) fds[count++] = dup(0);
    client_say(client, "GET /two HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
    assert_letters(client, LARGE);
    leave(count, fds);
    client_free(client);
}

/* Its bytes are in memory, so it needs no descriptor that the host does not lend. */
static void test_a_young_file_without_descriptor(void **state)
{
    int fds[64];
    (void)state;
    write_public_at("d/a", "young", 5, (int64_t)time(NULL));
    struct client *client = client_new_saying(host, GET("/d/none"));
    turn_until_answered(host, client);
    assert_response(client, 200, "GET /d/none ");
    int count = occupy_until(host->worker->room.lent, fds);
    client_say(client, GET("/d/a"));
    assert_response(client, 200, "young");
    assert_int_equal(cache()->descriptors, 0);
    leave(count, fds);
    client_free(client);
}

/* The helper has found it. After a second it looks again. */
static void test_the_helper_has_no_descriptor(void **state)
{
    int fds[64];
    (void)state;
    struct client *client = client_new_saying(host, GET("/app")), *other = client_new(host);
    assert_response(client, 200, "GET /app ");
    slow_disk.unknown = true;
    int count = occupy_until(host->worker->room.lent, fds);
    client_say(client, GET("/1"));
    turn_until_answered(host, client);
    assert_response(client, 503, NULL);
    leave(count, fds);
    client_say(other, GET("/1"));
    assert_response(other, 503, NULL);
    client_free(other);
    fake_clock_advance(BB_FILE_VALID);
    other = client_new_saying(host, GET("/1"));
    turn_until_answered(host, other);
    slow_disk.unknown = false;
    assert_letters(other, LARGE);
    client_free(other);
    client_free(client);
}

/* The application names the file. Files of the cache make room for it. */
static void test_a_file_of_the_application(void **state)
{
    int fds[64], fd;
    char name[PATH_MAX];
    uint64_t size;
    (void)state;
    (void)snprintf(name, sizeof name, "%s/1", public_dir);
    fill_cache();
    int count = occupy_until(host->worker->room.lent, fds);
    assert_int_equal(bb_file_open(host->lane, name, &fd, &size), BB_OK);
    assert_int_equal(cache()->descriptors, 0);
    close(fd);
    leave(count, fds);
    count = occupy_until(host->worker->room.lent, fds);
    assert_int_equal(bb_file_open(host->lane, name, &fd, &size), BB_ESYSTEM);
    leave(count, fds);
    count = occupy_until(host->worker->room.reserve, fds);
    assert_int_equal(bb_file_open(host->lane, name, &fd, &size), BB_OK);
    close(fd);
    leave(count, fds);
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

/* All descriptors are in use but one, which is lent. Clients that download the same file share it. */
static void test_clients_share_a_lent_descriptor(void **state)
{
    int fds[64];
    struct client *clients[4], *client = client_new_saying(host, GET("/app"));
    (void)state;
    assert_response(client, 200, "GET /app ");
    for (int i = 0; i < 4; i++) clients[i] = client_new(host);
    host_settle(host);
    int count = occupy_until(host->worker->room.reserve, fds);
    for (int i = host->worker->room.reserve + 1; i < host->worker->room.lent; i++) fds[count++] = dup(0);
    for (int i = 0; i < 4; i++) {
        client_say(clients[i], GET("/large"));
        host_settle(host);
        fake_clock_advance(BB_FILE_VALID / 2);
    }
    client_say(client, GET("/1"));
    assert_response(client, 503, NULL);
    for (int i = 0; i < 4; i++) assert_letters(clients[i], VERY_LARGE);
    fake_clock_advance(BB_FILE_VALID);
    client_say(clients[0], GET("/app"));
    assert_response(clients[0], 200, "GET /app ");
    assert_int_equal(cache()->descriptors, 0);
    leave(count, fds);
    for (int i = 0; i < 4; i++) client_free(clients[i]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_large_files, begin_with_many, end),
        cmocka_unit_test_setup_teardown(test_connections_have_all_places, begin, end),
        cmocka_unit_test_setup_teardown(test_connections_leave_the_reserve, begin, end),
        cmocka_unit_test_setup_teardown(test_accept_without_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_the_shared_queue_gets_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_in_the_reserve, begin, end),
        cmocka_unit_test_setup_teardown(test_connections_hide_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_a_directory_without_descriptors, begin, end),
        cmocka_unit_test_setup_teardown(test_all_descriptors_are_lent, begin, end),
        cmocka_unit_test_setup_teardown(test_a_variant_without_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_a_young_file_without_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_the_helper_has_no_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_of_the_application, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_in_use_stays_open, begin, end),
        cmocka_unit_test_setup_teardown(test_clients_share_a_lent_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_the_cache_keeps_descriptors_again, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
