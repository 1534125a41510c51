/* io_helper_test.c: the helper, a thread that looks for files of `public`, beside the I/O thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "files/slow_disk.h"
#include "io_thread/fail_thread.h"
#include "support/client.h"

static struct host *host;

static int begin(void **state)
{
    (void)state;
    make_public_dir();
    write_public("a", "a");
    host = host_new_default(AF_UNIX);
    open_public(public_dir, "");
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_public(host->worker, public_files), BB_OK);
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    slow_disk_set(true);
    struct client *client = client_new_saying(host, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    host_settle(host);
    slow_disk_await();
    client_free(client);
    return 0;
}

static int end(void **state)
{
    (void)state;
    slow_disk_set(false);
    host_leave_public(host);
    remove_public_dir();
    return 0;
}

/* libc takes static TLS of libraries from the stack, as for the I/O thread. */
static void test_the_stack_has_at_least_the_size_of_other_threads(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    size_t usual;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &usual), 0);
    assert_true(fail_thread.stack >= usual && fail_thread.stack >= 256 * 1024);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
}

/* While the helper hangs, the I/O thread is not freed either. */
static void test_a_worker_cannot_be_freed_while_the_helper_hangs(void **state)
{
    (void)state;
    bb_lane_free(host->lane);
    host->lane = NULL;
    assert_int_equal(bb_worker_free(host->worker), BB_AGAIN);
    assert_false(host->worker->io->ended);
    slow_disk_set(false);
    assert_int_equal(bb_worker_free(host->worker), BB_OK);
    host->worker = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_stack_has_at_least_the_size_of_other_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_a_worker_cannot_be_freed_while_the_helper_hangs, begin, end),
    };
    return cmocka_run_group_tests_name("io_helper", tests, NULL, NULL);
}
