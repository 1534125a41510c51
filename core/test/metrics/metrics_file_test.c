/* metrics_file_test.c: the metrics in a file, which an executed process maps, and a watcher only reads. */
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

#include "metrics/memory_file.h"
#include "metrics/metrics.h"
#include "support/descriptors.h"
#include "support/fail_alloc.h"
#include "support/few_descriptors.h"

enum { LANES = 3 };

static size_t size_for(uint64_t lanes)
{
    return sizeof(struct bb__metrics_memory) + lanes * sizeof(struct bb__metrics_block);
}

static struct bb__metrics_layout layout;

static int read_layout(void **state)
{
    (void)state;
    int fd = bb_metrics_file(LANES);
    assert_int_equal(pread(fd, &layout, sizeof layout, 0), sizeof layout);
    return close(fd);
}

static int file_with(const struct bb__metrics_layout *start, size_t size, int seals)
{
    int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(write(fd, start, sizeof *start), sizeof *start);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* Tries to map a file that begins with this layout and has this size. */
static int attach_to(const struct bb__metrics_layout *start, size_t size)
{
    struct bb_metrics *metrics;
    int fd = file_with(start, size, F_SEAL_SHRINK);
    int code = bb_metrics_attach(&metrics, fd);
    if (code == BB_OK) bb_metrics_free(metrics);
    close(fd);
    return code;
}

static int open_reader(int fd)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(reader >= 0);
    return reader;
}

static void test_a_reader_sees_what_a_writer_counts(void **state)
{
    (void)state;
    static struct bb_metrics_sum sum;
    struct bb_metrics *writer, *watcher;
    struct stat facts;
    int before = open_descriptors(), fd = bb_metrics_file(LANES), reader = open_reader(fd);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fstat(fd, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(facts.st_size, size_for(LANES));
    assert_int_equal(bb_metrics_attach(&writer, fd), BB_OK);
    assert_int_equal(bb_metrics_attach(&watcher, reader), BB_OK);
    assert_true(bb_metrics_is_writable(writer));
    assert_false(bb_metrics_is_writable(watcher));
    close(fd);
    close(reader);
    const struct bb__counts counts = {writer, bb__metrics_begin(writer, LANES - 1, 1, 1)};
    bb__count(&counts, BB_COUNT_RESPONSES_3XX, 9);
    bb_metrics_count(writer, "name", 2);
    bb_metrics_sum(watcher, &sum);
    assert_int_equal(sum.counters[BB_COUNT_RESPONSES_3XX], 9);
    struct bb_metrics_name name;
    assert_int_equal(bb_metrics_name(watcher, 0, &name), BB_OK);
    assert_int_equal(name.count, 2);
    bb_metrics_free(writer);
    bb_metrics_free(watcher);
    assert_int_equal(open_descriptors(), before);
}

static void test_a_file_that_differs_in_any_byte_of_the_layout_is_refused(void **state)
{
    (void)state;
    assert_int_equal(attach_to(&layout, size_for(LANES)), BB_OK);
    for (size_t at = 0; at < sizeof layout; at++) {
        struct bb__metrics_layout other = layout;
        ((char *)&other)[at] ^= 1;
        assert_int_equal(attach_to(&other, size_for(LANES)), BB_ELAYOUT);
    }
}

static void test_a_file_of_another_size_is_refused(void **state)
{
    (void)state;
    const size_t size = size_for(LANES);
    const size_t wrong[] = {size + 1,    size - 1,      size_for(LANES - 1), size_for(LANES + 1),
                            size_for(0), sizeof layout, sizeof layout - 1,   0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(attach_to(&layout, wrong[i]), BB_ELAYOUT);
}

/* With 32 bits, the size of such a number of blocks would be small again. */
static void test_no_count_of_blocks_leads_out_of_the_file(void **state)
{
    (void)state;
    static const uint32_t counts[] = {UINT32_MAX, UINT32_MAX / 12288, UINT32_MAX / 12288 + 1, 1 << 31,
                                      349526};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct bb__metrics_layout other = layout;
        other.count = counts[i];
        assert_int_equal(attach_to(&other, size_for(LANES)), BB_ELAYOUT);
        assert_int_equal(attach_to(&other, (uint32_t)size_for(counts[i])), BB_ELAYOUT);
    }
}

/* Its reader would need gigabytes of memory. */
static void test_a_file_for_too_many_lanes_is_refused(void **state)
{
    (void)state;
    struct bb__metrics_layout other = layout;
    other.count = BB_MEMORY_FILE_LANES;
    assert_int_equal(attach_to(&other, size_for(other.count)), BB_OK);
    other.count++;
    assert_int_equal(attach_to(&other, size_for(other.count)), BB_ELAYOUT);
    assert_int_equal(bb_metrics_file(other.count), BB_ESYSTEM);
    assert_int_equal(errno, EFBIG);
}

static void test_metrics_without_lanes_have_a_common_block(void **state)
{
    (void)state;
    static struct bb_metrics_sum sum;
    struct bb_metrics *metrics;
    struct bb_metrics_lane lane;
    int fd = bb_metrics_file(0);
    assert_int_equal(bb_metrics_attach(&metrics, fd), BB_OK);
    close(fd);
    atomic_store(&metrics->memory->used, 1000);
    assert_null(bb__metrics_begin(metrics, 0, 1, 1));
    assert_int_equal(bb_metrics_look(metrics, 0, &lane), BB_EOF);
    const struct bb__counts counts = {metrics, NULL};
    bb__count(&counts, BB_COUNT_ACCEPTED, 1);
    bb_metrics_sum(metrics, &sum);
    assert_int_equal(sum.counters[BB_COUNT_ACCEPTED], 1);
    bb_metrics_free(metrics);
}

/* A process could make such a file shorter, and every process that reads it would be killed. */
static void test_a_file_that_can_change_its_size_is_refused(void **state)
{
    (void)state;
    struct bb_metrics *metrics;
    int unsealed = file_with(&layout, size_for(LANES), 0), sealed = bb_metrics_file(LANES);
    FILE *on_disk = tmpfile();
    assert_int_equal(write(fileno(on_disk), &layout, sizeof layout), sizeof layout);
    assert_int_equal(ftruncate(fileno(on_disk), (off_t)size_for(LANES)), 0);
    assert_int_equal(bb_metrics_attach(&metrics, unsealed), BB_ELAYOUT);
    assert_int_equal(bb_metrics_attach(&metrics, fileno(on_disk)), BB_ELAYOUT);
    assert_int_equal(ftruncate(sealed, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(sealed, 1 << 30), -1);
    close(sealed);
    close(unsealed);
    (void)fclose(on_disk);
}

static void test_a_descriptor_without_a_file_is_refused(void **state)
{
    (void)state;
    struct bb_metrics *metrics;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(bb_metrics_attach(&metrics, ends[0]), BB_ESYSTEM);
    assert_int_equal(errno, ESPIPE);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(bb_metrics_attach(&metrics, -1), BB_ESYSTEM);
    assert_int_equal(errno, EBADF);
}

static void test_a_file_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    limit_descriptors(0);
    assert_int_equal(bb_metrics_file(LANES), BB_ESYSTEM);
    assert_int_equal(errno, EMFILE);
    unlimit_descriptors();

    int before = open_descriptors();
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {.rlim_cur = 1, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = bb_metrics_file(LANES), reason = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(code, BB_ESYSTEM);
    assert_int_equal(reason, EFBIG);
    assert_int_equal(open_descriptors(), before);
}

static void test_a_map_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct bb_metrics *metrics;
    int code, fd = bb_metrics_file(LANES), before = open_descriptors();
    for (unsigned n = 1; fail_alloc_at(n), code = bb_metrics_attach(&metrics, fd), fail_alloc_off(); ++n)
        assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(code, BB_OK);
    bb_metrics_free(metrics);
    assert_int_equal(open_descriptors(), before);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reader_sees_what_a_writer_counts),
        cmocka_unit_test(test_a_file_that_differs_in_any_byte_of_the_layout_is_refused),
        cmocka_unit_test(test_a_file_of_another_size_is_refused),
        cmocka_unit_test(test_no_count_of_blocks_leads_out_of_the_file),
        cmocka_unit_test(test_a_file_for_too_many_lanes_is_refused),
        cmocka_unit_test(test_metrics_without_lanes_have_a_common_block),
        cmocka_unit_test(test_a_file_that_can_change_its_size_is_refused),
        cmocka_unit_test(test_a_descriptor_without_a_file_is_refused),
        cmocka_unit_test(test_a_file_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(test_a_map_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests_name("metrics_file", tests, read_layout, NULL);
}
