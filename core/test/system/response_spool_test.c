/* response_spool_test.c: bytes that a client does not take go to a file. All bytes come back in order,
 * however much room there is. No file, descriptor or part of the budget (limits the bytes of all spools)
 * stays in use. */
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
#include "system/response_spool.h"

#define MAX     (4 << 20)
#define LARGEST (256 * 1024)

struct fixture {
    char directory[TEMPORARY_PATH];
    struct bb__spool_budget budget;
    struct bb__response_spool response_spool;
    struct bb__buf out;
    uint64_t appended, taken;
    int descriptors;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->descriptors = open_descriptors();
    assert_non_null(mkdtemp(temporary_path(fixture->directory)));
    fixture->budget.max = MAX;
    fixture->budget.directory = fixture->directory;
    bb__response_spool_start(&fixture->response_spool);
    *state = fixture;
    return 0;
}

static void drop(struct fixture *fixture)
{
    fail_file_off();
    bb__response_spool_drop(&fixture->response_spool);
    bb__buf_free(&fixture->out);
    fixture->appended = fixture->taken = 0;
    assert_int_equal(bb__response_spool_len(&fixture->response_spool), 0);
    assert_int_equal(atomic_load(&fixture->budget.used), 0);
}

/* Asserts that the budget, the descriptors and the directory are as before the test. */
static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    drop(fixture);
    assert_int_equal(rmdir(fixture->directory), 0);
    assert_int_equal(open_descriptors(), fixture->descriptors);
    free(fixture);
    return 0;
}

static char byte_at(uint64_t position)
{
    return (char)('a' + (position * 7 + position / 1000) % 26);
}

/* Appends `len` bytes of the pattern byte_at(). */
static void append(struct fixture *fixture, size_t len)
{
    static char bytes[LARGEST];
    assert_true(len <= sizeof bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = byte_at(fixture->appended + i);
    assert_int_equal(bb__response_spool_append(&fixture->response_spool, &fixture->budget, bytes, len),
                     BB_OK);
    fixture->appended += len;
    assert_int_equal(bb__response_spool_len(&fixture->response_spool), fixture->appended - fixture->taken);
}

/* Takes some bytes. The bytes must continue the pattern. */
static void take(struct fixture *fixture)
{
    assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_OK);
    size_t len = bb__buf_len(&fixture->out);
    assert_true(len > 0);
    for (size_t i = 0; i < len; i++)
        if (bb__buf_bytes(&fixture->out)[i] != byte_at(fixture->taken + i)) fail_msg("other bytes");
    fixture->taken += len;
    bb__response_spool_consume(&fixture->response_spool, &fixture->out, len);
    assert_int_equal(bb__response_spool_len(&fixture->response_spool), fixture->appended - fixture->taken);
}

static void take_all(struct fixture *fixture)
{
    while (bb__response_spool_len(&fixture->response_spool) > 0) take(fixture);
    bb__response_spool_drop(&fixture->response_spool);
    assert_int_equal(fixture->taken, fixture->appended);
    assert_int_equal(fixture->response_spool.fd, -1);
    assert_int_equal(atomic_load(&fixture->budget.used), 0);
}

/* ---- room ---- */

/* A quarter of the budget is only for request bodies, because a request body cannot wait for room. */
static void test_a_quarter_is_left_to_request_bodies(void **state)
{
    struct fixture *fixture = *state;
    struct bb__spool spool;
    static char body[MAX / 4];
    bb__spool_start(&spool);
    while (!bb__response_spool_is_full(&fixture->response_spool)) append(fixture, LARGEST);
    assert_int_equal(atomic_load(&fixture->budget.used), MAX / 4 * 3);
    assert_true(bb__spool_would_fit(&fixture->budget, sizeof body));
    assert_int_equal(bb__spool_append(&spool, &fixture->budget, body, sizeof body), BB_OK);
    assert_false(bb__spool_would_fit(&fixture->budget, 1));
    take(fixture);
    assert_false(bb__response_spool_try_again(&fixture->response_spool));
    bb__spool_drop(&spool, &fixture->budget);
    take_all(fixture);
}

static void test_bytes_come_back_from_a_private_file(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    for (int round = 0; round < 2; round++) {
        append(fixture, 1);
        append(fixture, LARGEST);
        append(fixture, 3);
        assert_false(bb__response_spool_is_full(&fixture->response_spool));
        assert_int_equal(atomic_load(&fixture->budget.used), LARGEST + 4);
        assert_int_equal(fstat(fixture->response_spool.fd, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        assert_int_equal(status.st_nlink, 0);
        assert_true(fcntl(fixture->response_spool.fd, F_GETFD) & FD_CLOEXEC);
        take(fixture);
        assert_int_equal(fixture->taken % (LARGEST + 4), BB_RESPONSE_SPOOL_WINDOW);
        append(fixture, 0); /* while other bytes are not taken yet */
        take_all(fixture);
    }
}

/* Bytes that are put back stay in the file and are read again. */
static void test_bytes_that_are_put_back_are_read_again(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, LARGEST);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_OK);
        size_t len = bb__buf_len(&fixture->out);
        bb__response_spool_consume(&fixture->response_spool, &fixture->out, 1000);
        fixture->taken += 1000;
        bb__response_spool_put_back(&fixture->response_spool, &fixture->out);
        assert_true(len > 1000 && !fixture->out.data);
        assert_int_equal(bb__response_spool_len(&fixture->response_spool),
                         fixture->appended - fixture->taken);
    }
    take_all(fixture);
    append(fixture, 10);
    fixture->budget.max = 1;
    append(fixture, 10); /* the file has no room for these */
    take(fixture);
    assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_OK);
    bb__response_spool_put_back(&fixture->response_spool, &fixture->out);
    assert_int_equal(bb__buf_len(&fixture->out), 10);
}

/* Bytes that others have appended to the buffer are in no file. The response_spool keeps its own bytes and
 * these bytes in their order. */
static void test_bytes_of_others_are_not_put_back(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, 3000);
    assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_OK);
    assert_int_equal(bb__buf_append(&fixture->out, "other", 5), BB_OK);
    for (int sent = 0; sent < 3; sent++) {
        bb__response_spool_put_back(&fixture->response_spool, &fixture->out);
        assert_int_equal(bb__buf_len(&fixture->out), 3005 - 1500 * sent);
        assert_int_equal(bb__response_spool_len(&fixture->response_spool), 0);
        if (sent < 2) bb__response_spool_consume(&fixture->response_spool, &fixture->out, 1500);
    }
    assert_memory_equal(bb__buf_bytes(&fixture->out), "other", 5);
}

static void test_memory_of_a_larger_buffer_is_not_kept(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, LARGEST);
    assert_int_equal(bb__buf_reserve(&fixture->out, 1 << 20), BB_OK);
    take(fixture);
    assert_true(fixture->out.cap <= BB_RESPONSE_SPOOL_WINDOW);
}

/* An endless response is a little ahead of its client. The response's file must not grow for ever. */
static void test_the_front_of_a_file_is_given_back(void **state)
{
    LINUX_ONLY;
    struct fixture *fixture = *state;
    struct stat status;
    append(fixture, LARGEST);
    if (fallocate(fixture->response_spool.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MAX, 1) != 0)
        skip();
    for (int i = 0; i < 3 * MAX / LARGEST && !bb__response_spool_is_full(&fixture->response_spool); i++) {
        append(fixture, LARGEST);
        for (int window = 0; window < LARGEST / BB_RESPONSE_SPOOL_WINDOW; window++) take(fixture);
    }
    assert_false(bb__response_spool_is_full(&fixture->response_spool));
    assert_int_equal(fstat(fixture->response_spool.fd, &status), 0);
    assert_in_range(status.st_blocks * 512, LARGEST, MAX);
    assert_in_range(atomic_load(&fixture->budget.used), LARGEST, MAX / 2);
    take_all(fixture);
}

/* ---- no room ---- */

static void test_bytes_without_room_in_the_budget_wait_in_memory(void **state)
{
    struct fixture *fixture = *state;
    fixture->budget.max = 1333;               /* 1000 for responses */
    atomic_store(&fixture->budget.used, 200); /* used by other responses */
    append(fixture, 800);
    assert_false(bb__response_spool_is_full(&fixture->response_spool));
    append(fixture, 1);
    assert_true(bb__response_spool_is_full(&fixture->response_spool));
    append(fixture, 99);
    assert_false(bb__response_spool_try_again(&fixture->response_spool));
    atomic_fetch_sub(&fixture->budget.used, 99);
    assert_false(bb__response_spool_try_again(&fixture->response_spool));
    assert_int_equal(atomic_load(&fixture->budget.used), 901);
    atomic_fetch_sub(&fixture->budget.used, 1);
    assert_true(bb__response_spool_try_again(&fixture->response_spool));
    assert_false(bb__response_spool_is_full(&fixture->response_spool));
    assert_null(fixture->response_spool.tail.data);
    assert_int_equal(atomic_load(&fixture->budget.used), 1000);
    append(fixture, 50);
    assert_true(bb__response_spool_is_full(&fixture->response_spool));
    atomic_fetch_sub(&fixture->budget.used, 100);
    take_all(fixture);
}

static void test_a_disk_that_fills_up_loses_and_doubles_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        append(fixture, 1000);
        fail_file.most = 7;
        fail_file.interruptions = 3;
        fail_file_full(120, errors[i]);
        append(fixture, 400);
        assert_true(bb__response_spool_is_full(&fixture->response_spool));
        assert_int_equal(atomic_load(&fixture->budget.used), 1120);
        fail_file_full(30, errors[i]);
        assert_false(bb__response_spool_try_again(&fixture->response_spool));
        assert_int_equal(atomic_load(&fixture->budget.used), 1150);
        append(fixture, 10);
        if (i % 2 == 0) {
            fail_file_off();
            assert_true(bb__response_spool_try_again(&fixture->response_spool));
            assert_int_equal(atomic_load(&fixture->budget.used), 1410);
        }
        take_all(fixture);
        drop(fixture);
    }
}

static void assert_kept_in_memory(struct fixture *fixture)
{
    append(fixture, 5000);
    assert_true(bb__response_spool_is_full(&fixture->response_spool));
    assert_false(bb__response_spool_try_again(&fixture->response_spool));
    assert_int_equal(fixture->response_spool.fd, -1);
    assert_int_equal(atomic_load(&fixture->budget.used), 0);
    take_all(fixture);
    assert_false(bb__response_spool_is_full(&fixture->response_spool));
}

static void test_bytes_stay_in_memory_if_there_is_no_file(void **state)
{
    struct fixture *fixture = *state;
    fail_file.tmpfile_error = EMFILE;
    assert_kept_in_memory(fixture);
    fail_file_off();
    fail_file_full(0, ENOSPC); /* a file can be created, but not written */
    assert_kept_in_memory(fixture);
    fail_file_off();
    fixture->budget.reserve = 1; /* all free descriptors are reserved for other uses */
    assert_kept_in_memory(fixture);
    fixture->budget.reserve = 1000;
    append(fixture, 1);
    assert_true(fixture->response_spool.fd >= 0);
}

/* ---- failures ---- */

static void test_a_file_that_has_lost_bytes_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, LARGEST);
    take(fixture);
    assert_int_equal(ftruncate(fixture->response_spool.fd, BB_RESPONSE_SPOOL_WINDOW), 0);
    uint64_t len = bb__response_spool_len(&fixture->response_spool);
    assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_ESYSTEM);
    assert_int_equal(bb__response_spool_len(&fixture->response_spool), len);
}

static void test_calls_fail_if_there_is_no_memory(void **state)
{
    struct fixture *fixture = *state;
    append(fixture, 100);
    fail_alloc_at(1);
    assert_int_equal(bb__response_spool_take(&fixture->response_spool, &fixture->out), BB_ENOMEM);
    assert_true(fail_alloc_off());
    take_all(fixture);
    fixture->budget.max = 1;
    fail_alloc_at(1);
    assert_int_equal(bb__response_spool_append(&fixture->response_spool, &fixture->budget, "abc", 3),
                     BB_ENOMEM);
    assert_true(fail_alloc_off());
    assert_int_equal(bb__response_spool_len(&fixture->response_spool), 0);
}

/* ---- at random ---- */

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 20;
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % limit;
}

static void take_a_step(struct fixture *fixture)
{
    switch (random_below(8)) {
    case 0:
        fail_file_full(random_below(100000), ENOSPC);
        break;
    case 1:
        fail_file_off();
        fail_file.most = random_below(10000);
        break;
    case 2:
        fail_file.tmpfile_error = random_below(2) ? EMFILE : 0;
        break;
    case 3:
        (void)bb__response_spool_try_again(&fixture->response_spool);
        break;
    case 4:
    case 5:
        if (bb__response_spool_len(&fixture->response_spool) < 3 * MAX)
            append(fixture, random_below(LARGEST));
        break;
    default:
        if (bb__response_spool_len(&fixture->response_spool) > 0) take(fixture);
    }
    assert_true(atomic_load(&fixture->budget.used) <= MAX);
}

static void test_no_byte_is_lost_or_doubled_in_random_steps(void **state)
{
    struct fixture *fixture = *state;
    fixture->budget.max = MAX / 2;
    for (int step = 0; step < 3000; step++) take_a_step(fixture);
    assert_true(fixture->taken > MAX);
    take_all(fixture);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FIXTURE(test_bytes_come_back_from_a_private_file),
        IN_FIXTURE(test_bytes_that_are_put_back_are_read_again),
        IN_FIXTURE(test_bytes_of_others_are_not_put_back),
        IN_FIXTURE(test_memory_of_a_larger_buffer_is_not_kept),
        IN_FIXTURE(test_the_front_of_a_file_is_given_back),
        IN_FIXTURE(test_a_quarter_is_left_to_request_bodies),
        IN_FIXTURE(test_bytes_without_room_in_the_budget_wait_in_memory),
        IN_FIXTURE(test_a_disk_that_fills_up_loses_and_doubles_nothing),
        IN_FIXTURE(test_bytes_stay_in_memory_if_there_is_no_file),
        IN_FIXTURE(test_a_file_that_has_lost_bytes_is_an_error),
        IN_FIXTURE(test_calls_fail_if_there_is_no_memory),
        IN_FIXTURE(test_no_byte_is_lost_or_doubled_in_random_steps),
    };
    return cmocka_run_group_tests_name("response_spool", tests, NULL, NULL);
}
