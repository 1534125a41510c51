/* io_start_test.c: the start of a worker, its I/O thread and its lanes. If the start fails, errno has the
 * reason. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io_thread/fail_thread.h"
#include "support/few_descriptors.h"
#include "support/host.h"

static struct bb_worker *new_worker(void)
{
    struct bb_settings settings = host_settings();
    struct bb_worker *worker;
    assert_int_equal(bb_worker_new(&worker, &settings), BB_OK);
    return worker;
}

static void test_errno_says_why_a_thread_cannot_be_created(void **state)
{
    (void)state;
    static const int errors[] = {EAGAIN, EINVAL, EPERM};
    struct bb_worker *worker = new_worker();
    for (int i = 0; i < 3; i++) {
        fail_thread.error = errors[i];
        errno = ESPIPE; /* of another call */
        assert_int_equal(bb_worker_start_io_thread(worker), BB_ESYSTEM);
        assert_int_equal(errno, errors[i]);
    }
    fail_thread.error = 0;
    assert_int_equal(bb_worker_start_io_thread(worker), BB_OK);
    bb_worker_free(worker);
}

/* libc takes static TLS of libraries, perhaps hundreds of KiB, from the stack, so the stack has at least the
 * default size. */
static void test_the_stack_has_at_least_the_size_of_other_threads(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    size_t usual;
    struct bb_worker *worker = new_worker();
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &usual), 0);
    assert_int_equal(bb_worker_start_io_thread(worker), BB_OK);
    assert_true(fail_thread.stack >= usual && fail_thread.stack >= 256 * 1024);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    bb_worker_free(worker);
}

static bool is_named(const char *id, const char *name)
{
    char path[300], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", id);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return len == strlen(name) + 1 && memcmp(text, name, len - 1) == 0;
}

static int threads_named(const char *name)
{
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (struct dirent *entry; (entry = readdir(threads));) count += is_named(entry->d_name, name);
    closedir(threads);
    return count;
}

/* So top -H and ps -L show which thread it is. */
static void test_the_thread_has_a_name(void **state)
{
    LINUX_ONLY;
    struct bb_worker *worker = new_worker();
    assert_int_equal(threads_named("bontebok io"), 0);
    assert_int_equal(bb_worker_start_io_thread(worker), BB_OK);
    (void)alarm(60); /* ends the test if the thread does not name itself */
    while (threads_named("bontebok io") != 1) sched_yield();
    (void)alarm(0);
    bb_worker_free(worker);
}

/* The three starts of a server. Each opens several descriptors. */
static int start(struct bb_worker **worker, struct bb_lane **lane)
{
    struct bb_settings settings = host_settings();
    int code = bb_worker_new(worker, &settings);
    if (code == BB_OK) code = bb_worker_start_io_thread(*worker);
    return code == BB_OK ? bb_lane_new(lane, *worker) : code;
}

static void test_errno_says_which_descriptors_are_missing(void **state)
{
    (void)state;
    int code = BB_ESYSTEM, before = open_descriptors();
    for (int more = 0; code != BB_OK; more++) {
        struct bb_worker *worker = NULL;
        struct bb_lane *lane = NULL;
        assert_in_range(more, 0, 20);
        limit_descriptors(more);
        errno = ESPIPE;
        code = start(&worker, &lane);
        int error = errno;
        unlimit_descriptors();
        if (code != BB_OK) {
            assert_int_equal(code, BB_ESYSTEM);
            assert_int_equal(error, EMFILE);
        }
        bb_lane_free(lane);
        bb_worker_free(worker);
        assert_int_equal(open_descriptors(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errno_says_why_a_thread_cannot_be_created),
        cmocka_unit_test(test_the_stack_has_at_least_the_size_of_other_threads),
        cmocka_unit_test(test_the_thread_has_a_name),
        cmocka_unit_test(test_errno_says_which_descriptors_are_missing),
    };
    return cmocka_run_group_tests_name("io_start", tests, NULL, NULL);
}
