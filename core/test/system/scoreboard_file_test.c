/* scoreboard_file_test.c: the scoreboard in a file, which an executed process maps. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "metrics/memory_file.h"
#include "support/descriptors.h"
#include "support/few_descriptors.h"
#include "system/scoreboard.h"

enum { LANES = 3 };

/* The bytes of an empty scoreboard. */
static struct {
    struct bb__scoreboard_memory head;
    char slots[LANES * sizeof(struct bb__slot)];
} bytes;

static int read_bytes(void **state)
{
    (void)state;
    int fd = bb_scoreboard_file(LANES);
    assert_int_equal(pread(fd, &bytes, sizeof bytes, 0), sizeof bytes);
    return close(fd);
}

/* Writes the bytes to a new file of this size, and tries to map it. The file cannot become shorter. */
static int attach_to(off_t size)
{
    struct bb_scoreboard *scoreboard;
    int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(fd, &bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    int code = bb_scoreboard_attach(&scoreboard, fd);
    if (code == BB_OK) bb_scoreboard_free(scoreboard);
    close(fd);
    return code;
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

static void test_only_the_owner_opens_the_file_and_nobody_changes_its_size(void **state)
{
    (void)state;
    struct stat facts;
    int fd = bb_scoreboard_file(LANES);
    assert_int_equal(fstat(fd, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    close(fd);
}

static void test_a_file_that_differs_in_any_byte_of_the_layout_is_refused(void **state)
{
    (void)state;
    assert_int_equal(attach_to(sizeof bytes), BB_OK);
    for (size_t at = 0; at < sizeof bytes.head.layout; at++) {
        char *byte = (char *)&bytes + at;
        *byte ^= 1;
        assert_int_equal(attach_to(sizeof bytes), BB_ELAYOUT);
        *byte ^= 1;
    }
}

static void test_a_file_of_another_size_is_refused(void **state)
{
    (void)state;
    const size_t head = sizeof bytes.head, layout = sizeof bytes.head.layout;
    const size_t wrong[] = {sizeof bytes + 1, sizeof bytes - 1, head, head - 1, layout, 0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(attach_to((off_t)wrong[i]), BB_ELAYOUT);
}

/* Its reader would need gigabytes of memory. */
static void test_a_file_for_too_many_lanes_is_refused(void **state)
{
    (void)state;
    for (uint32_t count = BB_MEMORY_FILE_LANES; count <= BB_MEMORY_FILE_LANES + 1; count++) {
        off_t size = (off_t)(sizeof bytes.head + count * sizeof(struct bb__slot));
        bytes.head.layout.count = count;
        assert_int_equal(attach_to(size), count == BB_MEMORY_FILE_LANES ? BB_OK : BB_ELAYOUT);
    }
    bytes.head.layout.count = LANES;
    assert_int_equal(bb_scoreboard_file(BB_MEMORY_FILE_LANES + 1), BB_ESYSTEM);
    assert_int_equal(errno, EFBIG);
}

/* A process may have overwritten everything behind the layout. */
static void test_a_file_that_uses_more_slots_than_it_has_shows_its_own(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    struct bb_scoreboard_lane lane;
    int fd = bb_scoreboard_file(LANES);
    const unsigned used = LANES + 1;
    assert_int_equal(pwrite(fd, &used, sizeof used, offsetof(struct bb__scoreboard_memory, used)),
                     sizeof used);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, fd), BB_OK);
    assert_int_equal(bb__scoreboard_used(scoreboard), LANES);
    assert_int_equal(bb_scoreboard_look(scoreboard, LANES - 1, &lane), BB_AGAIN);
    assert_int_equal(bb_scoreboard_look(scoreboard, LANES, &lane), BB_EOF);
    bb_scoreboard_free(scoreboard);
    close(fd);
}

/* A host uses the kind as an index. */
static void test_any_number_in_a_slot_shows_a_kind_that_exists(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    struct bb_scoreboard_lane lane;
    int fd = bb_scoreboard_file(1);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, fd), BB_OK);
    struct bb__slot *slot = bb__scoreboard_claim(scoreboard);
    atomic_store(&slot->began, 1);
    for (uint64_t number = 0; number < 12; number++) {
        atomic_store(&slot->held, number);
        for (uint64_t request = 0; request < 4; request++) {
            atomic_store(&slot->requests, request);
            assert_int_equal(bb_scoreboard_look(scoreboard, 0, &lane), BB_OK);
            assert_in_range(lane.held, BB_HELD_NOT, BB_HELD_STREAM);
        }
    }
    bb_scoreboard_free(scoreboard);
    close(fd);
}

/* A process could make such a file shorter, and every process that reads the scoreboard would be killed. */
static void test_a_file_that_can_become_shorter_is_refused(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    FILE *on_disk = tmpfile();
    int unsealed = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(unsealed, &bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(write(fileno(on_disk), &bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, unsealed), BB_ELAYOUT);
    assert_int_equal(bb_scoreboard_attach(&scoreboard, fileno(on_disk)), BB_ELAYOUT);
    close(unsealed);
    (void)fclose(on_disk);
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

/* A write to the memory would end the process (SIGSEGV), so the memory must say that it is read-only. */
static void test_a_descriptor_that_only_reads_maps_memory_that_only_reads(void **state)
{
    (void)state;
    struct bb_scoreboard *writer, *reader;
    char path[64];
    int fd = bb_scoreboard_file(LANES);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int only_reads = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(bb_scoreboard_attach(&writer, fd), BB_OK);
    assert_int_equal(bb_scoreboard_attach(&reader, only_reads), BB_OK);
    assert_int_equal(mprotect(reader->memory, 1, PROT_READ | PROT_WRITE), -1);
    assert_true(bb_scoreboard_is_writable(writer));
    assert_false(bb_scoreboard_is_writable(reader));
    struct bb_scoreboard_lane lane;
    assert_non_null(bb__scoreboard_claim(writer));
    assert_int_equal(bb_scoreboard_look(reader, 0, &lane), BB_OK);
    bb_scoreboard_set_draining(writer, true);
    assert_true(bb_scoreboard_is_draining(reader));
    bb_scoreboard_free(reader);
    bb_scoreboard_free(writer);
    close(only_reads);
    close(fd);
}

static void test_a_file_that_cannot_be_made_leaves_no_descriptor(void **state)
{
    (void)state;
    limit_descriptors(0);
    assert_int_equal(bb_scoreboard_file(LANES), BB_ESYSTEM);
    assert_int_equal(errno, EMFILE);
    unlimit_descriptors();

    int before = open_descriptors();
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {.rlim_cur = 1, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = bb_scoreboard_file(LANES), reason = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(code, BB_ESYSTEM);
    assert_int_equal(reason, EFBIG);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_maps_of_a_file_have_the_same_slots),
        cmocka_unit_test(test_only_the_owner_opens_the_file_and_nobody_changes_its_size),
        cmocka_unit_test(test_a_file_that_differs_in_any_byte_of_the_layout_is_refused),
        cmocka_unit_test(test_a_file_of_another_size_is_refused),
        cmocka_unit_test(test_a_file_for_too_many_lanes_is_refused),
        cmocka_unit_test(test_a_file_that_uses_more_slots_than_it_has_shows_its_own),
        cmocka_unit_test(test_any_number_in_a_slot_shows_a_kind_that_exists),
        cmocka_unit_test(test_a_file_that_can_become_shorter_is_refused),
        cmocka_unit_test(test_a_descriptor_without_a_file_is_refused),
        cmocka_unit_test(test_a_descriptor_that_only_reads_maps_memory_that_only_reads),
        cmocka_unit_test(test_a_file_that_cannot_be_made_leaves_no_descriptor),
    };
    return cmocka_run_group_tests(tests, read_bytes, NULL);
}
