/* public_crowd_test.c: files of `public` while more clients than max_connections are there. The clock stands
 * still until the test moves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_letters.h"
#include "files/slow_disk.h"
#include "support/fake_clock.h"

static struct host *host;
static struct client *crowd[18];

static int begin(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.max_connections = 1;
    make_public_dir();
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    host = host_new(&settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i++) crowd[i] = client_new(host);
    host_settle(host);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i++) client_free(crowd[i]);
    host_leave_public(host);
    remove_public_dir();
    return 0;
}

/* Returns a client that is accepted after the crowd. */
static struct client *join_crowd(const char *request)
{
    struct client *client = client_new_saying(host, request);
    fake_clock_advance(BB_PAUSE_TIME);
    host_settle(host);
    assert_true(host_connections(host) > 17); /* so many above max_connections get no place at once */
    return client;
}

/* The connection is no incomplete request, so it is not rejected. Its second request gets no response. */
static void test_a_file_on_its_way(void **state)
{
    (void)state;
    struct client *client = join_crowd(GET("/large") GET("/large"));
    turn_until_answered(host, client);
    assert_letters(client, VERY_LARGE);
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    client_free(client);
}

static void test_a_file_that_the_disk_looks_for(void **state)
{
    (void)state;
    slow_disk.unknown = true;
    struct client *client = join_crowd(GET("/large"));
    turn_until_answered(host, client);
    slow_disk.unknown = false;
    assert_letters(client, VERY_LARGE);
    client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_on_its_way, begin, end),
        cmocka_unit_test_setup_teardown(test_a_file_that_the_disk_looks_for, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
