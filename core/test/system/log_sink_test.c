/* log_sink_test.c: where log lines go, and what happens if they cannot be written. log_syslog_test.c tests
 * syslog. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "log/log_format.h"
#include "log_sink_case.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"
#include "support/false_room.h"

/* ---- files ---- */

static void test_lines_are_appended_to_a_file(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 2; i++) {
        struct bb__log_sink sink = opened(place->path);
        assert_int_equal(say(&sink, "one\ntwo\n"), 8);
        bb__log_sink_close(&sink);
    }
    assert_string_equal(content(place->path), "one\ntwo\none\ntwo\n");
}

static void test_a_batch_is_written_at_once_unless_it_is_interrupted(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink = opened(place->path);
    fail_file.writes = 0;
    assert_int_equal(say(&sink, "one\ntwo\n"), 8);
    assert_int_equal(fail_file.writes, 1);
    fail_file.interruptions = 2;
    fail_file.most = 3;
    assert_int_equal(say(&sink, "three\n"), 6);
    assert_string_equal(content(place->path), "one\ntwo\nthree\n");
    bb__log_sink_close(&sink);
}

static void test_a_full_disk_takes_as_much_as_it_can(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink = opened(place->path);
    fail_file_full(5, ENOSPC);
    assert_int_equal(say(&sink, "one\ntwo\n"), 5);
    assert_int_equal(write_error, ENOSPC);
    bb__log_sink_close(&sink);

    sink = opened("/dev/full");
    assert_int_equal(say(&sink, "one\n"), 0);
    assert_int_equal(write_error, ENOSPC);
    bb__log_sink_close(&sink);
}

static void test_a_target_that_cannot_be_opened_is_an_error(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX], path[200];
    snprintf(path, sizeof path, "%s/none/log", place->directory);
    assert_int_equal(bb__log_sink_open(&sink, path, fault), BB_ESYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(bb__log_sink_open(&sink, place->directory, fault), BB_ESYSTEM);
    assert_int_equal(errno, EISDIR);
}

static void test_a_target_is_opened_when_that_is_possible_again(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX], directory[100], path[120];
    snprintf(directory, sizeof directory, "%s/none", place->directory);
    snprintf(path, sizeof path, "%s/log", directory);
    assert_int_equal(bb__log_sink_open(&sink, path, fault), BB_ESYSTEM);
    assert_int_equal(sink.line_max, BB_LOG_LINE_MIN);
    fake_clock_advance(BB_LOG_RETRY);
    assert_int_equal(say(&sink, "lost\n"), 0);
    assert_int_equal(write_error, ENOENT);

    assert_int_equal(mkdir(directory, 0700), 0);
    fake_clock_advance(BB_LOG_RETRY - 1);
    assert_int_equal(say(&sink, "too early\n"), 0);
    assert_int_equal(write_error, ENOENT);
    fake_clock_advance(1);
    assert_int_equal(say(&sink, "one\n"), 4);
    assert_int_equal(say(&sink, "two\n"), 4);
    assert_string_equal(content(path), "one\ntwo\n");
    assert_int_equal(sink.line_max, BB_LOG_LINE_MIN); /* unchanged: lines were already made for this length */
    bb__log_sink_close(&sink);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void test_reopen_opens_a_target_at_once(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX];
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_int_equal(bb__log_sink_open(&sink, place->path, fault), BB_ESYSTEM);
    assert_int_equal(bb__log_sink_reopen(&sink), BB_ESYSTEM);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(rmdir(place->path), 0);
    assert_int_equal(bb__log_sink_reopen(&sink), BB_OK);
    assert_int_equal(say(&sink, "one\n"), 4);
    assert_string_equal(content(place->path), "one\n");
    bb__log_sink_close(&sink);
}

static void test_reopen_opens_the_path_of_a_renamed_file(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink = opened(place->path);
    int number = sink.fd;
    say(&sink, "before\n");
    assert_int_equal(rename(place->path, place->other), 0);
    say(&sink, "meanwhile\n");
    assert_int_equal(bb__log_sink_reopen(&sink), BB_OK);
    assert_int_equal(sink.fd, number);
    assert_true(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC);
    say(&sink, "after\n");
    assert_string_equal(content(place->other), "before\nmeanwhile\n");
    assert_string_equal(content(place->path), "after\n");
    bb__log_sink_close(&sink);
}

static void test_a_sink_keeps_its_file_if_reopen_fails(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink = opened(place->path);
    assert_int_equal(rename(place->path, place->other), 0);
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_int_equal(bb__log_sink_reopen(&sink), BB_ESYSTEM);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(say(&sink, "one\n"), 4);
    assert_string_equal(content(place->other), "one\n");
    assert_int_equal(rmdir(place->path), 0);
    bb__log_sink_close(&sink);
}

/* ---- pipes and sockets ---- */

static void test_a_pipe_that_nobody_reads_takes_whole_lines_and_then_none(void **state)
{
    struct place *place = *state;
    char *lines = many_lines();
    assert_int_equal(mkfifo(place->path, 0600), 0);
    struct bb__log_sink sink = opened(place->path);
    assert_int_equal(sink.line_max, BB_LOG_LINE_MIN);
    size_t taken = say(&sink, lines);
    assert_true(taken > 0 && taken < 500000);
    assert_int_equal(taken % 100, 0);
    assert_int_equal(write_error, EAGAIN);
    assert_int_equal(say(&sink, lines), 0);

    int reader = open(place->path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(read(reader, lines, 100000) % 100, 0);
    assert_true(say(&sink, "one\n") == 4);
    close(reader); /* a FIFO may get another reader later */
    assert_int_equal(bb__log_sink_reopen(&sink), BB_OK);
    assert_int_equal(say(&sink, "two\n"), 4);
    bb__log_sink_close(&sink);
    free(lines);
}

/* poll() tells all writers that the pipe has room, and one writer fills it. If another writer then made a
 * blocking write, this writer would wait for the reader. */
static void test_a_sink_that_shares_a_pipe_does_not_wait_for_its_reader(void **state)
{
    LINUX_ONLY;
    int ends[2];
    char *lines = many_lines();
    assert_int_equal(pipe(ends), 0);
    struct bb__log_sink sink = {.fd = ends[1], .kind = BB_LOG_SINK_SHARED, .line_max = PIPE_BUF};
    false_room = knows_not_to_wait(ends[1]);
    alarm(60);
    size_t taken = say(&sink, lines);
    alarm(0);
    assert_true(taken > 0 && taken < 500000);
    assert_int_equal(taken % 100, 0);
    assert_int_equal(write_error, EAGAIN);
    assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
    false_room = false;
    close(ends[0]);
    close(ends[1]);
    free(lines);
}

/* The permissions of a FIFO can allow writing, but not reading. */
static void test_a_fifo_may_be_for_writing_only(void **state)
{
    struct place *place = *state;
    char line[10] = "";
    mode_t mask = umask(0);
    assert_int_equal(mkfifo(place->path, 0622), 0);
    umask(mask);
    assert_int_equal(chmod(place->directory, 0711), 0);
    int status, reader = open(place->path, O_RDONLY | O_NONBLOCK);
    pid_t child = fork();
    if (child == 0) {
        struct bb__log_sink sink;
        char fault[BB_FAULT_MAX];
        if (getuid() != 0) chmod(place->path, 0200);
        if (getuid() == 0 && setuid(65534) != 0) _exit(1);
        if (bb__log_sink_open(&sink, place->path, fault) != BB_OK) _exit(2);
        _exit(say(&sink, "one\n") == 4 ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(reader, line, sizeof line), 4);
    close(reader);
}

/* Replaces standard output by fd. Returns a duplicate of the old standard output, for restore_stdout(). */
static int replace_stdout(int fd)
{
    fflush(stdout);
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    return saved;
}

static void restore_stdout(int saved)
{
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static struct bb__log_sink opened_as(const char *target, int fd)
{
    int saved = replace_stdout(fd);
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX];
    int code = bb__log_sink_open(&sink, target, fault);
    restore_stdout(saved);
    assert_int_equal(code, BB_OK);
    return sink;
}

static struct bb__log_sink opened_on_stdout(int fd)
{
    return opened_as("-", fd);
}

static void test_standard_output_stays_blocking_for_others(void **state)
{
    (void)state;
    char *lines = many_lines();
    int ends[2];
    for (int is_socket = 0; is_socket < 2; is_socket++) {
        assert_int_equal(is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
        struct bb__log_sink sink = opened_on_stdout(ends[1]);
        assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
        assert_true(say(&sink, lines) < 500000);
        assert_int_equal(write_error, EAGAIN);
        close(ends[0]);
        assert_int_equal(say(&sink, lines), 0);
        assert_int_equal(write_error, EPIPE);
        assert_int_equal(bb__log_sink_reopen(&sink), BB_OK);
        bb__log_sink_close(&sink);
        close(ends[1]);
    }
    free(lines);
}

static void test_a_file_on_standard_output_has_one_position(void **state)
{
    struct place *place = *state;
    int fd = open(place->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "first\n", 6), 6);
    struct bb__log_sink sink = opened_on_stdout(fd);
    say(&sink, "second\n");
    assert_int_equal(write(fd, "third\n", 6), 6);
    assert_string_equal(content(place->path), "first\nsecond\nthird\n");
    bb__log_sink_close(&sink);
    close(fd);
}

/* bb__log_sink_reopen() follows a new file on standard output. If standard output is not a file any more, the
 * sink keeps its file. */
static void test_reopen_follows_a_file_on_standard_output(void **state)
{
    struct place *place = *state;
    int old = open(place->other, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int new = open(place->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), null;
    struct bb__log_sink sink = opened_on_stdout(old);
    int number = sink.fd, saved = replace_stdout(new);
    int code = bb__log_sink_reopen(&sink);
    restore_stdout(saved);
    assert_int_equal(code, BB_OK);
    assert_int_equal(sink.fd, number);
    assert_true(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC);
    say(&sink, "one\n");
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    saved = replace_stdout(null);
    code = bb__log_sink_reopen(&sink);
    restore_stdout(saved);
    assert_int_equal(code, BB_OK);
    say(&sink, "two\n");
    assert_string_equal(content(place->path), "one\ntwo\n");
    assert_string_equal(content(place->other), "");
    bb__log_sink_close(&sink);
    close(old);
    close(new);
    close(null);
}

static void test_standard_error_is_known_by_its_path(void **state)
{
    (void)state;
    struct bb__log_sink sink = opened("/dev/stderr");
    assert_null(sink.path);
    bb__log_sink_close(&sink);
}

/* No name of a socket can be opened. */
static void test_a_socket_on_standard_output_is_known_by_all_its_names(void **state)
{
    LINUX_ONLY;
    struct place *place = *state;
    assert_int_equal(symlink("/dev/stdout", place->path), 0);
    const char *names[] = {"/proc/self/fd/1", "/dev/fd/1", place->path};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int ends[2];
        char line[8] = "";
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        struct bb__log_sink sink = opened_as(names[i], ends[1]);
        assert_int_equal(say(&sink, "one\n"), 4);
        assert_int_equal(read(ends[0], line, sizeof line), 4);
        bb__log_sink_close(&sink);
        close(ends[0]);
        close(ends[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_are_appended_to_a_file),
        TEST(test_a_batch_is_written_at_once_unless_it_is_interrupted),
        TEST(test_a_full_disk_takes_as_much_as_it_can),
        TEST(test_a_target_that_cannot_be_opened_is_an_error),
        TEST(test_a_target_is_opened_when_that_is_possible_again),
        TEST(test_reopen_opens_a_target_at_once),
        TEST(test_reopen_opens_the_path_of_a_renamed_file),
        TEST(test_a_sink_keeps_its_file_if_reopen_fails),
        TEST(test_a_pipe_that_nobody_reads_takes_whole_lines_and_then_none),
        TEST(test_a_sink_that_shares_a_pipe_does_not_wait_for_its_reader),
        TEST(test_a_fifo_may_be_for_writing_only),
        TEST(test_standard_output_stays_blocking_for_others),
        TEST(test_a_file_on_standard_output_has_one_position),
        TEST(test_reopen_follows_a_file_on_standard_output),
        TEST(test_standard_error_is_known_by_its_path),
        TEST(test_a_socket_on_standard_output_is_known_by_all_its_names),
    };
    return cmocka_run_group_tests_name("log_sink", tests, NULL, NULL);
}
