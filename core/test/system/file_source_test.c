/* file_source_test.c: opening files that are response bodies, and sending them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bontebok.h"
#include "support/files.h"
#include "system/file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[TEMPORARY_PATH];

static const char *path_to(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_to(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_directory(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(temporary_path(directory)));
    write_file("file", "content");
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

static void assert_fails(int code, int error)
{
    int reason = errno;
    assert_int_equal(code, BB_ESYSTEM);
    assert_int_equal(reason, error);
}

static void test_only_regular_files_are_opened(void **state)
{
    (void)state;
    int fd;
    uint64_t size;
    assert_int_equal(bb__file_source_open(path_to("file"), 0, &fd, &size), BB_OK);
    assert_int_equal(size, 7);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    assert_int_equal(mkfifo(path_to("fifo"), 0600), 0);
    assert_fails(bb__file_source_open(path_to("fifo"), 0, &fd, &size), EINVAL);
    assert_fails(bb__file_source_open("/dev/null", 0, &fd, &size), EINVAL);
    assert_fails(bb__file_source_open(directory, 0, &fd, &size), EINVAL);
    assert_fails(bb__file_source_open(path_to("missing"), 0, &fd, &size), ENOENT);
    assert_fails(bb__file_source_open(path_to("file"), 1, &fd, &size), EMFILE);
}

static void test_a_file_is_sent_up_to_its_end(void **state)
{
    (void)state;
    int pair[2], fd;
    uint64_t size;
    size_t sent;
    char got[16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(bb__file_source_open(path_to("file"), 0, &fd, &size), BB_OK);
    assert_int_equal(bb__file_source_send(pair[0], fd, 3, 100, &sent), BB_OK);
    assert_int_equal(sent, 4);
    assert_int_equal(read(pair[1], got, sizeof got), 4);
    assert_memory_equal(got, "tent", 4);
    assert_int_equal(bb__file_source_send(pair[0], fd, 7, 1, &sent), BB_EOF);
    int code = BB_OK;
    while (code == BB_OK) code = bb__file_source_send(pair[0], fd, 0, 7, &sent);
    assert_int_equal(code, BB_AGAIN);
    close(pair[0]);
    close(pair[1]);
    close(fd);
}

static void test_cached_bytes_are_read(void **state)
{
    (void)state;
    int fd;
    uint64_t size;
    char got[16];
    assert_int_equal(bb__file_source_open(path_to("file"), 0, &fd, &size), BB_OK);
    assert_int_equal(read(fd, got, sizeof got), 7); /* fills the page cache */
    assert_true(bb__file_source_is_cached(fd, 0, 7));
    assert_false(bb__file_source_read_cached(fd, 0, got, 8));
    assert_false(bb__file_source_read_cached(fd, 7, got, 1));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_regular_files_are_opened),
        cmocka_unit_test(test_a_file_is_sent_up_to_its_end),
        cmocka_unit_test(test_cached_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
