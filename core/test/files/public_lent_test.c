/* public_lent_test.c: files of `public` while connections have all descriptors that are not left to the host.
 * The host lends some of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_room.h"
#include "files/slow_disk.h"
#include "support/fake_clock.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_in_the_reserve, begin, end),
        cmocka_unit_test_setup_teardown(test_connections_hide_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_all_descriptors_are_lent, begin, end),
        cmocka_unit_test_setup_teardown(test_a_variant_without_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_a_young_file_without_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_the_helper_has_no_descriptor, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_of_the_application, begin, end),
        cmocka_unit_test_setup_teardown(test_clients_share_a_lent_descriptor, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
