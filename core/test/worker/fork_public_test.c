/* fork_public_test.c: an application that forks while its worker serves files of `public`. The child frees
 * the cache of the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "support/client.h"

static struct host *host;

static int begin(void **state)
{
    (void)state;
    make_public_dir();
    write_public_at("large", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    struct client *client = client_new_saying(host, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(client_read(client, true));
    assert_int_equal(host->worker->files->descriptors, 1);
    client_free(client);
    return 0;
}

static int end(void **state)
{
    (void)state;
    host_leave_public(host);
    remove_public_dir();
    return 0;
}

/* Returns how many descriptors the child has closed. */
static int free_in_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int before = open_descriptors();
        alarm(WAIT_LIMIT / 1000);
        bb_lane_free(host->lane);
        bb_worker_free(host->worker);
        _exit(before - open_descriptors());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_the_child_frees_the_files(void **state)
{
    (void)state;
    int with_file = free_in_child(), before = open_descriptors();
    assert_true(bb__file_cache_give_way(host->worker->files, bb__clock_ms()));
    while (open_descriptors() == before) sched_yield(); /* without openat2(2), the helper closes it */
    assert_int_equal(free_in_child(), with_file - 1);
}

/* At the fork, another thread may be in the middle of a change. */
static void test_the_child_touches_no_half_changed_cache(void **state)
{
    (void)state;
    int with_file = free_in_child();
    pthread_mutex_lock(&host->worker->files->lock);
    int without = free_in_child();
    pthread_mutex_unlock(&host->worker->files->lock);
    assert_int_equal(without, with_file - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_child_frees_the_files, begin, end),
        cmocka_unit_test_setup_teardown(test_the_child_touches_no_half_changed_cache, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
