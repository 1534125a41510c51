/* scoreboard_file_test.c: the scoreboard in a file, which an executed process maps. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "system/scoreboard.h"

enum { LANES = 3 };

/* Returns a file with the bytes of an empty scoreboard, but without its seals. */
static int copy_of_scoreboard(off_t *size)
{
    struct stat stat;
    int fd = bb_scoreboard_file(LANES), copy = memfd_create("copy", MFD_CLOEXEC);
    assert_int_equal(fstat(fd, &stat), 0);
    assert_int_equal(ftruncate(copy, stat.st_size), 0);
    char bytes[sizeof(struct bb__scoreboard_layout)];
    assert_int_equal(pread(fd, bytes, sizeof bytes, 0), sizeof bytes);
    assert_int_equal(pwrite(copy, bytes, sizeof bytes, 0), sizeof bytes);
    *size = stat.st_size;
    close(fd);
    return copy;
}

static void test_two_maps_of_a_file_have_the_same_slots(void **state)
{
    (void)state;
    struct bb_scoreboard *one, *other;
    int fd = bb_scoreboard_file(LANES);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(bb_scoreboard_attach(&one, fd), BB_OK);
    assert_int_equal(bb_scoreboard_attach(&other, fd), BB_OK);
    close(fd);
    assert_ptr_not_equal(one, other);
    struct bb__slot *slots[LANES];
    for (int i = 0; i < LANES; i++) assert_non_null(slots[i] = bb__scoreboard_claim(one));
    assert_null(bb__scoreboard_claim(other));
    bb__scoreboard_set_idle(slots[0], true);
    assert_int_equal(bb__scoreboard_idle(other, LANES), 1);
    bb_scoreboard_free(one);
    struct bb_scoreboard_lane lane;
    assert_int_equal(bb_scoreboard_look(other, 0, &lane), BB_OK);
    assert_int_equal(lane.pid, getpid());
    bb_scoreboard_free(other);
}

static void test_nobody_can_change_the_size_of_the_file(void **state)
{
    (void)state;
    int fd = bb_scoreboard_file(LANES);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    close(fd);
}

static void test_a_file_that_differs_in_any_number_of_the_layout_is_refused(void **state)
{
    (void)state;
    off_t size;
    int fd = copy_of_scoreboard(&size);
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_attach(&scoreboard, fd), BB_OK);
    bb_scoreboard_free(scoreboard);
    for (off_t at = 0; at < (off_t)sizeof(struct bb__scoreboard_layout); at++) {
        char former, other;
        assert_int_equal(pread(fd, &former, 1, at), 1);
        other = (char)(former ^ 1);
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        assert_int_equal(bb_scoreboard_attach(&scoreboard, fd), BB_EFORMAT);
        assert_int_equal(pwrite(fd, &former, 1, at), 1);
    }
    close(fd);
}

static void test_a_file_of_another_size_is_refused(void **state)
{
    (void)state;
    off_t size;
    int fd = copy_of_scoreboard(&size);
    const off_t wrong[] = {size + 1, size - 1, sizeof(struct bb__scoreboard_layout),
                           sizeof(struct bb__scoreboard_layout) - 1, 0};
    struct bb_scoreboard *scoreboard;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ftruncate(fd, wrong[i]), 0);
        assert_int_equal(bb_scoreboard_attach(&scoreboard, fd), BB_EFORMAT);
    }
    close(fd);
}

static void test_a_descriptor_without_a_file_is_refused(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, ends[0]), BB_ESYSTEM);
    assert_int_equal(errno, ESPIPE);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, -1), BB_ESYSTEM);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_maps_of_a_file_have_the_same_slots),
        cmocka_unit_test(test_nobody_can_change_the_size_of_the_file),
        cmocka_unit_test(test_a_file_that_differs_in_any_number_of_the_layout_is_refused),
        cmocka_unit_test(test_a_file_of_another_size_is_refused),
        cmocka_unit_test(test_a_descriptor_without_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
