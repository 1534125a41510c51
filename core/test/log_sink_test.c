/* log_sink_test.c: where lines go, and what becomes of them when they cannot go there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "descriptors.h"
#include "fail_file.h"
#include "file_content.h"
#include "log_sink.h"

struct place {
    char folder[64];
    char path[100]; /* in it */
    char other[100];
    int descriptors;
};

static int begin(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->folder, "/tmp/bb_log_sink_XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->path, sizeof place->path, "%s/log", place->folder);
    snprintf(place->other, sizeof place->other, "%s/log.1", place->folder);
    place->descriptors = open_descriptors();
    signal(SIGPIPE, SIG_IGN);
    *state = place;
    return 0;
}

static int end(void **state)
{
    struct place *place = *state;
    fail_file_off();
    assert_int_equal(open_descriptors(), place->descriptors);
    unlink(place->path);
    unlink(place->other);
    assert_int_equal(rmdir(place->folder), 0);
    free(place);
    return 0;
}

static struct bb__log_sink opened(const char *target)
{
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX];
    assert_int_equal(bb__log_sink_open(&sink, target, fault), BB_OK);
    return sink;
}

static int write_error;

static size_t say(const struct bb__log_sink *sink, const char *lines)
{
    write_error = 0;
    return bb__log_sink_write(sink, lines, strlen(lines), &write_error);
}

/* ---- files ---- */

static void test_appends_to_a_file(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 2; i++) {
        struct bb__log_sink sink = opened(place->path);
        assert_int_equal(say(&sink, "one\ntwo\n"), 8);
        bb__log_sink_close(&sink);
    }
    assert_string_equal(content(place->path), "one\ntwo\none\ntwo\n");
}

static void test_writes_a_batch_at_once_unless_it_is_interrupted(void **state)
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

static void test_a_full_disk_takes_what_it_can(void **state)
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

static void test_says_why_it_cannot_be_opened(void **state)
{
    struct place *place = *state;
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX], path[200];
    snprintf(path, sizeof path, "%s/none/log", place->folder);
    assert_int_equal(bb__log_sink_open(&sink, path, fault), BB_ESYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(bb__log_sink_open(&sink, place->folder, fault), BB_ESYSTEM);
    assert_int_equal(errno, EISDIR);
}

static void test_opens_a_renamed_file_anew(void **state)
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

static void test_goes_on_with_what_it_has_when_that_fails(void **state)
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

/* Lines of 100 bytes, 5000 of them. */
static char *many_lines(void)
{
    char *lines = malloc(500001);
    memset(lines, 'a', 500000);
    for (int i = 1; i <= 5000; i++) lines[100 * i - 1] = '\n';
    lines[500000] = '\0';
    return lines;
}

static void test_a_pipe_that_nobody_reads_takes_whole_lines_and_then_none(void **state)
{
    struct place *place = *state;
    char *lines = many_lines();
    assert_int_equal(mkfifo(place->path, 0600), 0);
    struct bb__log_sink sink = opened(place->path);
    assert_int_equal(sink.line_max, PIPE_BUF);
    size_t taken = say(&sink, lines);
    assert_true(taken > 0 && taken < 500000);
    assert_int_equal(taken % 100, 0);
    assert_int_equal(write_error, EAGAIN);
    assert_int_equal(say(&sink, lines), 0);

    int reader = open(place->path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(read(reader, lines, 100000) % 100, 0);
    assert_true(say(&sink, "one\n") == 4);
    close(reader); /* and another one may come */
    assert_int_equal(bb__log_sink_reopen(&sink), BB_OK);
    assert_int_equal(say(&sink, "two\n"), 4);
    bb__log_sink_close(&sink);
    free(lines);
}

/* Puts something else in the place of standard output, for as long as the sink is opened. */
static struct bb__log_sink opened_on_stdout(int fd)
{
    fflush(stdout);
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX];
    int code = bb__log_sink_open(&sink, "-", fault);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(code, BB_OK);
    return sink;
}

static void test_standard_output_stays_as_it_is_for_others(void **state)
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

static void test_standard_error_has_a_name(void **state)
{
    (void)state;
    struct bb__log_sink sink = opened("/dev/stderr");
    assert_null(sink.path);
    bb__log_sink_close(&sink);
}

/* ---- syslog ---- */

static int receiver(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* RFC 3164: "<PRI>Nov  6 08:49:37 TAG[PID]: ". */
static void assert_received(int fd, int priority, const char *tag, const char *text)
{
    char packet[8192], form[100], rest[8192];
    int found_priority = -1, day, hour, minute, second, pid;
    char month[4];
    ssize_t len = recv(fd, packet, sizeof packet - 1, 0);
    assert_true(len > 0);
    packet[len] = '\0';
    snprintf(form, sizeof form, "<%%d>%%3s %%2d %%2d:%%2d:%%2d %s[%%d]: %%[^\n]", tag);
    assert_int_equal(sscanf(packet, form, &found_priority, month, &day, &hour, &minute, &second, &pid, rest),
                     8);
    assert_int_equal(found_priority, priority);
    assert_int_equal(pid, getpid());
    assert_string_equal(rest, text);
    assert_null(strchr(packet, '\n'));
}

static void test_syslog_gets_a_datagram_each_line(void **state)
{
    struct place *place = *state;
    char target[200];
    int fd = receiver(place->path);
    snprintf(target, sizeof target, "syslog:socket=%s", place->path);
    struct bb__log_sink sink = opened(target);
    assert_int_equal(say(&sink, "one\ntwo\n"), 8);
    assert_received(fd, 23 * 8 + 6, "bontebok", "one");
    assert_received(fd, 23 * 8 + 6, "bontebok", "two");
    bb__log_sink_close(&sink);

    snprintf(target, sizeof target, "syslog:facility=daemon,severity=debug,tag=my_app-1,socket=%s",
             place->path);
    sink = opened(target);
    say(&sink, "three\n");
    assert_received(fd, 3 * 8 + 7, "my_app-1", "three");
    bb__log_sink_close(&sink);
    close(fd);
}

static void test_syslog_may_be_started_again(void **state)
{
    struct place *place = *state;
    char target[200];
    int fd = receiver(place->path);
    snprintf(target, sizeof target, "syslog:socket=%s", place->path);
    struct bb__log_sink sink = opened(target);
    close(fd);
    unlink(place->path);
    assert_int_equal(say(&sink, "one\n"), 0);
    assert_int_equal(write_error, ENOENT);
    fd = receiver(place->path);
    assert_int_equal(say(&sink, "two\n"), 4);
    assert_received(fd, 23 * 8 + 6, "bontebok", "two");
    bb__log_sink_close(&sink);
    close(fd);
}

static void test_syslog_that_does_not_read_takes_whole_lines_and_then_none(void **state)
{
    struct place *place = *state;
    char target[200], *lines = many_lines();
    int fd = receiver(place->path);
    snprintf(target, sizeof target, "syslog:socket=%s", place->path);
    struct bb__log_sink sink = opened(target);
    size_t taken = say(&sink, lines);
    assert_true(taken > 0 && taken < 500000);
    assert_int_equal(taken % 100, 0);
    assert_int_equal(write_error, EAGAIN);
    bb__log_sink_close(&sink);
    close(fd);
    free(lines);
}

static void test_syslog_says_what_is_wrong(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        {"syslog:facility=local8", "syslog: unknown facility \"local8\""},
        {"syslog:facility=", "syslog: unknown facility \"\""},
        {"syslog:severity=loud", "syslog: unknown severity \"loud\""},
        {"syslog:tag=a b", "syslog: no tag of letters, digits and _ - .: \"a b\""},
        {"syslog:tag=", "syslog: no tag of letters, digits and _ - .: \"\""},
        {"syslog:socket=", "syslog: no path of a socket: \"\""},
        {"syslog:server=a,tag=b", "syslog: unknown setting \"server\""},
        {"syslog:local7", "syslog: unknown setting \"local7\""},
        {"syslog:,", "syslog: unknown setting \"\""},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bb__log_sink sink;
        char fault[BB_FAULT_MAX] = "";
        assert_int_equal(bb__log_sink_open(&sink, faults[i][0], fault), BB_EFORMAT);
        assert_string_equal(fault, faults[i][1]);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_appends_to_a_file),
        TEST(test_writes_a_batch_at_once_unless_it_is_interrupted),
        TEST(test_a_full_disk_takes_what_it_can),
        TEST(test_says_why_it_cannot_be_opened),
        TEST(test_opens_a_renamed_file_anew),
        TEST(test_goes_on_with_what_it_has_when_that_fails),
        TEST(test_a_pipe_that_nobody_reads_takes_whole_lines_and_then_none),
        TEST(test_standard_output_stays_as_it_is_for_others),
        TEST(test_a_file_on_standard_output_has_one_position),
        TEST(test_standard_error_has_a_name),
        TEST(test_syslog_gets_a_datagram_each_line),
        TEST(test_syslog_may_be_started_again),
        TEST(test_syslog_that_does_not_read_takes_whole_lines_and_then_none),
        TEST(test_syslog_says_what_is_wrong),
    };
    return cmocka_run_group_tests_name("log_sink", tests, NULL, NULL);
}
