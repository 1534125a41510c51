/* spool_test.c: a request body goes to memory, then to an unnamed file. The budget limits the bytes of all
 * bodies. No file, descriptor or part of the budget stays in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bontebok.h"
#include "support/descriptors.h"
#include "support/fail_alloc.h"
#include "support/fail_file.h"
#include "support/files.h"
#include "system/spool.h"

#define THRESHOLD 100
#define MAX       1000

struct fixture {
    char directory[TEMPORARY_PATH];
    struct bb__spool_budget budget;
    struct bb__spool spool;
    int descriptors;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->descriptors = open_descriptors();
    assert_non_null(mkdtemp(temporary_path(fixture->directory)));
    fixture->budget.max = MAX;
    fixture->budget.threshold = THRESHOLD;
    fixture->budget.directory = fixture->directory;
    bb__spool_start(&fixture->spool);
    *state = fixture;
    return 0;
}

/* Asserts that the budget, the descriptors and the directory are as before the test. */
static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    fail_file_off();
    bb__spool_drop(&fixture->spool, &fixture->budget);
    assert_int_equal(atomic_load(&fixture->budget.used), 0);
    assert_int_equal(rmdir(fixture->directory), 0);
    assert_int_equal(open_descriptors(), fixture->descriptors);
    free(fixture);
    return 0;
}

static char byte_at(size_t position)
{
    return (char)('a' + position * 7 % 26);
}

/* Appends `len` bytes of the pattern byte_at(). */
static int append(struct fixture *fixture, size_t len)
{
    char bytes[4096];
    assert_true(len <= sizeof bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = byte_at((size_t)fixture->spool.length + i);
    return bb__spool_append(&fixture->spool, &fixture->budget, bytes, len);
}

static void assert_in_file(const struct bb__spool *spool, size_t len)
{
    char bytes[4096];
    assert_true(spool->fd >= 0);
    assert_null(spool->memory.data);
    assert_int_equal(spool->length, len);
    assert_int_equal(pread(spool->fd, bytes, sizeof bytes, 0), len);
    for (size_t i = 0; i < len; i++) assert_int_equal(bytes[i], byte_at(i));
}

static void test_a_body_stays_in_memory_up_to_the_threshold(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < THRESHOLD; i++) assert_int_equal(append(fixture, 1), BB_OK);
    assert_int_equal(fixture->spool.fd, -1);
    assert_int_equal(fixture->spool.length, THRESHOLD);
    for (size_t i = 0; i < THRESHOLD; i++)
        assert_int_equal(bb__buf_bytes(&fixture->spool.memory)[i], byte_at(i));
    assert_int_equal(atomic_load(&fixture->budget.used), THRESHOLD);
}

static void test_a_body_moves_to_a_private_file_without_a_name(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    assert_int_equal(append(fixture, THRESHOLD), BB_OK);
    assert_int_equal(append(fixture, 1), BB_OK);
    assert_int_equal(append(fixture, 50), BB_OK);
    assert_in_file(&fixture->spool, THRESHOLD + 51);
    assert_int_equal(fstat(fixture->spool.fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_nlink, 0);
    assert_true(fcntl(fixture->spool.fd, F_GETFD) & FD_CLOEXEC);
}

static void test_a_body_that_is_large_at_once_goes_to_a_file(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(append(fixture, THRESHOLD + 1), BB_OK);
    assert_in_file(&fixture->spool, THRESHOLD + 1);
}

static void test_a_body_is_kept_if_there_are_no_unnamed_files(void **state)
{
    LINUX_ONLY;
    struct fixture *fixture = *state;
    static const int errors[] = {EOPNOTSUPP, EISDIR, ENOENT};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct stat status;
        fail_file.tmpfile_error = errors[i];
        assert_int_equal(append(fixture, THRESHOLD + 1), BB_OK);
        assert_in_file(&fixture->spool, THRESHOLD + 1);
        assert_int_equal(fstat(fixture->spool.fd, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        assert_int_equal(status.st_nlink, 0);
        assert_true(fcntl(fixture->spool.fd, F_GETFD) & FD_CLOEXEC);
        bb__spool_drop(&fixture->spool, &fixture->budget);
    }
}

static void test_an_append_fails_if_no_file_can_be_created(void **state)
{
    struct fixture *fixture = *state;
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const struct {
        int error;
        const char *directory;
        int code;
    } cases[] = {
        {EMFILE, fixture->directory, BB_ESYSTEM},
        {ENOSPC, fixture->directory, BB_EDISK}, /* no inode is left */
        {ENOENT, "/proc/none/directory", BB_ESYSTEM},
        {EOPNOTSUPP, long_name, BB_ESYSTEM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fail_file.tmpfile_error = cases[i].error;
        fixture->budget.directory = cases[i].directory;
        assert_int_equal(append(fixture, THRESHOLD + 1), cases[i].code);
        bb__spool_drop(&fixture->spool, &fixture->budget);
    }
}

static void test_the_budget_is_for_all_spools_together(void **state)
{
    struct fixture *fixture = *state;
    struct bb__spool other;
    bb__spool_start(&other);
    assert_int_equal(append(fixture, MAX - 10), BB_OK);
    assert_int_equal(bb__spool_append(&other, &fixture->budget, "0123456789", 10), BB_OK);
    errno = EIO;
    assert_int_equal(bb__spool_append(&other, &fixture->budget, "x", 1), BB_ENOSPACE);
    bb__spool_drop(&fixture->spool, &fixture->budget);
    assert_int_equal(bb__spool_append(&other, &fixture->budget, "x", 1), BB_OK);
    bb__spool_drop(&other, &fixture->budget);
}

static void test_the_budget_tells_whether_a_body_would_fit(void **state)
{
    struct fixture *fixture = *state;
    assert_true(bb__spool_would_fit(&fixture->budget, MAX));
    assert_false(bb__spool_would_fit(&fixture->budget, MAX + 1));
    assert_false(bb__spool_would_fit(&fixture->budget, UINT64_MAX));
    assert_int_equal(append(fixture, MAX), BB_OK);
    assert_true(bb__spool_would_fit(&fixture->budget, 0));
    assert_false(bb__spool_would_fit(&fixture->budget, 1));
}

static void test_a_budget_without_limit_takes_all(void **state)
{
    struct fixture *fixture = *state;
    fixture->budget.max = 0;
    assert_true(bb__spool_would_fit(&fixture->budget, UINT64_MAX));
    assert_int_equal(append(fixture, MAX), BB_OK);
    assert_int_equal(append(fixture, MAX), BB_OK);
    assert_in_file(&fixture->spool, 2 * MAX);
}

static void test_an_append_fails_if_the_disk_is_full(void **state)
{
    struct fixture *fixture = *state;
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        assert_int_equal(append(fixture, 90), BB_OK);
        fail_file_full(120, errors[i]);
        assert_int_equal(append(fixture, 40), BB_EDISK);
        assert_int_equal(errno, errors[i]);
        fail_file_off();
        bb__spool_drop(&fixture->spool, &fixture->budget);
        assert_int_equal(atomic_load(&fixture->budget.used), 0);
    }
    /* The disk is full while the body moves from memory to the file. */
    assert_int_equal(append(fixture, 90), BB_OK);
    fail_file_full(50, ENOSPC);
    assert_int_equal(append(fixture, 40), BB_EDISK);
    bb__spool_drop(&fixture->spool, &fixture->budget);
    fail_file_full(0, EROFS);
    assert_int_equal(append(fixture, THRESHOLD + 1), BB_ESYSTEM);
}

static void test_interrupted_and_partial_writes_go_on(void **state)
{
    struct fixture *fixture = *state;
    fail_file.interruptions = 3;
    fail_file.most = 7;
    assert_int_equal(append(fixture, THRESHOLD + 1), BB_OK);
    assert_in_file(&fixture->spool, THRESHOLD + 1);
}

static void test_an_append_fails_if_there_is_no_memory(void **state)
{
    struct fixture *fixture = *state;
    fail_alloc_at(1);
    assert_int_equal(append(fixture, 10), BB_ENOMEM);
    assert_true(fail_alloc_off());
    bb__spool_drop(&fixture->spool, &fixture->budget);
    assert_int_equal(append(fixture, 10), BB_OK);
}

static void test_an_append_of_nothing_keeps_the_spool_empty(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(append(fixture, 0), BB_OK);
    assert_int_equal(fixture->spool.length, 0);
    bb__spool_drop(&fixture->spool, &fixture->budget);
    bb__spool_drop(&fixture->spool, &fixture->budget);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FIXTURE(test_a_body_stays_in_memory_up_to_the_threshold),
        IN_FIXTURE(test_a_body_moves_to_a_private_file_without_a_name),
        IN_FIXTURE(test_a_body_that_is_large_at_once_goes_to_a_file),
        IN_FIXTURE(test_a_body_is_kept_if_there_are_no_unnamed_files),
        IN_FIXTURE(test_an_append_fails_if_no_file_can_be_created),
        IN_FIXTURE(test_the_budget_is_for_all_spools_together),
        IN_FIXTURE(test_the_budget_tells_whether_a_body_would_fit),
        IN_FIXTURE(test_a_budget_without_limit_takes_all),
        IN_FIXTURE(test_an_append_fails_if_the_disk_is_full),
        IN_FIXTURE(test_interrupted_and_partial_writes_go_on),
        IN_FIXTURE(test_an_append_fails_if_there_is_no_memory),
        IN_FIXTURE(test_an_append_of_nothing_keeps_the_spool_empty),
    };
    return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
