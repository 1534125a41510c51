/* file_source_below_test.c: opening files that must be below a directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bontebok.h"
#include "support/fail_file.h"
#include "support/files.h"
#include "system/file_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

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

static void link_to(const char *name, const char *link)
{
    char target[256];
    strcpy(target, path_to(name));
    assert_int_equal(symlink(target, path_to(link)), 0);
}

static int make_directory(void **state)
{
    static const char *const directories[] = {"inside", "inside/deep", "inside-not", "outside"};
    (void)state;
    assert_non_null(mkdtemp(temporary_path(directory)));
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        assert_int_equal(mkdir(path_to(directories[i]), 0700), 0);
    write_file("inside/file", "inside");
    write_file("inside/deep/file", "deeper");
    write_file("inside-not/file", "not");
    write_file("outside/file", "outside");
    assert_int_equal(mkfifo(path_to("inside/fifo"), 0600), 0);
    assert_int_equal(mkfifo(path_to("outside/fifo"), 0600), 0);
    assert_int_equal(symlink("../outside", path_to("inside/out")), 0);
    assert_int_equal(symlink("deep", path_to("inside/in")), 0);
    assert_int_equal(symlink("loop", path_to("inside/loop")), 0);
    assert_int_equal(symlink("loop", path_to("outside/loop")), 0);
    link_to("inside", "link");
    link_to("inside/deep", "inside/absolute");
    link_to("outside", "inside/elsewhere");
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

static bool elsewhere;

/* Returns 0 if the file was opened, else errno. */
static int open_below(const char *above, const char *below)
{
    char full[256];
    uint64_t size;
    int fd;
    strcpy(full, path_to(above));
    int code = bb__file_source_open_below(full, below, 0, &fd, &size, &elsewhere);
    if (code != BB_OK) return errno;
    assert_int_equal(size, 6);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_false(elsewhere);
    close(fd);
    return 0;
}

/* Runs the case as a new kernel, an old kernel, a sandbox, and a kernel that was disturbed by a rename. */
static void on_each_kernel(void (*run)(void))
{
    static const int errors[] = {0, ENOSYS, EPERM, EAGAIN};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        fail_file.openat2_error = errors[i];
        run();
    }
    fail_file.openat2_error = 0;
}

static void open_inside(void)
{
    static const char *const good[] = {"file",          "/file",          "deep/file",
                                       "in/file",       "./file",         "deep/../file",
                                       "absolute/file", "../inside/file", "out/../inside/file"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(open_below("inside", good[i]), 0);
        assert_int_equal(open_below("link", good[i]), 0);
        assert_int_equal(open_below("inside/", good[i]), 0);
    }
}

static void test_files_inside(void **state)
{
    (void)state;
    on_each_kernel(open_inside);
}

static void open_outside(void)
{
    static const char *const bad[] = {"../outside/file",
                                      "out/file",
                                      "../inside-not/file",
                                      "elsewhere/file",
                                      "elsewhere/fifo",
                                      "deep/../../outside/fifo",
                                      "out",
                                      ".."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(open_below("inside", bad[i]), EXDEV);
        assert_true(elsewhere);
        assert_int_equal(open_below("link", bad[i]), EXDEV);
        assert_true(elsewhere);
    }
}

static void test_files_outside(void **state)
{
    (void)state;
    on_each_kernel(open_outside);
}

/* The client must not learn why the lookup of a file outside has failed. */
static void look_outside(void)
{
    assert_int_equal(open_below("inside", "../outside/missing"), ENOENT);
    assert_true(elsewhere);
    assert_int_equal(open_below("inside", "elsewhere/loop"), ELOOP);
    assert_true(elsewhere);
    assert_int_equal(open_below("inside", "out/file/x"), ENOTDIR);
    assert_true(elsewhere);
}

static void test_errors_outside(void **state)
{
    (void)state;
    on_each_kernel(look_outside);
}

static void test_errors_inside(void **state)
{
    (void)state;
    assert_int_equal(open_below("inside", "missing"), ENOENT);
    assert_int_equal(open_below("inside", ""), ENOENT);
    assert_int_equal(open_below("inside", "loop"), ELOOP);
    assert_int_equal(open_below("inside", "file/x"), ENOTDIR);
    assert_int_equal(open_below("inside", "deep"), EINVAL);
    assert_int_equal(open_below("inside", "fifo"), EINVAL);
    assert_int_equal(open_below("inside", "absolute/../fifo"), EINVAL);
    assert_false(elsewhere);
    assert_int_equal(open_below("missing", "file"), ENOENT);
    assert_false(elsewhere);
    assert_int_not_equal(open_below("outside/file", "file"), 0);
}

static bool was_opened(int watch)
{
    char events[4096];
    return read(watch, events, sizeof events) > 0;
}

/* The open of a FIFO would release a process that waits for its reader. */
static void test_no_file_outside_is_opened(void **state)
{
    (void)state;
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(watch, path_to("outside"), IN_OPEN | IN_ONLYDIR) >= 0);
    FILE *control = fopen(path_to("outside/file"), "r");
    fclose(control);
    assert_true(was_opened(watch));
    on_each_kernel(open_outside);
    on_each_kernel(look_outside);
    assert_false(was_opened(watch));
    close(watch);
}

static void test_the_root_directory(void **state)
{
    (void)state;
    uint64_t size;
    int fd;
    assert_int_equal(bb__file_source_open_below("/", path_to("outside/file"), 0, &fd, &size, &elsewhere),
                     BB_OK);
    assert_int_equal(size, 7);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_inside),
        cmocka_unit_test(test_files_outside),
        cmocka_unit_test(test_errors_outside),
        cmocka_unit_test(test_errors_inside),
        cmocka_unit_test(test_no_file_outside_is_opened),
        cmocka_unit_test(test_the_root_directory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
