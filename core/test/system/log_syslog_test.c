/* log_syslog_test.c: syslog as the target of log lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/un.h>

#include "log_sink_case.h"
#include "support/fail_file.h"

static int receiver(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Asserts that a line as in RFC 3164 has come: "<PRI>Nov  6 08:49:37 TAG[PID]: ", then `text`. */
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

static void test_syslog_gets_a_datagram_for_each_line(void **state)
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

static void test_lines_go_on_after_syslog_was_started_again(void **state)
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

#define LONG "a23456789.123456789.123456789.123456789.123456789.123456789."

static void test_a_wrong_syslog_target_is_rejected_with_its_fault(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        {"syslog:facility=local8", "syslog: unknown facility \"local8\""},
        {"syslog:facility=", "syslog: unknown facility \"\""},
        {"syslog:severity=loud", "syslog: unknown severity \"loud\""},
        {"syslog:tag=a b", "syslog: not a tag of letters, digits, _, - and .: \"a b\""},
        {"syslog:tag=a23456789.123456789.123456789.123456789.12345678",
         "syslog: not a tag of letters, digits, _, - and .: "
         "\"a23456789.123456789.123456789.123456789.12345678\""},
        {"syslog:tag=", "syslog: not a tag of letters, digits, _, - and .: \"\""},
        {"syslog:socket=", "syslog: not the path of a socket: \"\""},
        {"syslog:socket=/" LONG LONG "end", "syslog: not the path of a socket: \"/" LONG LONG "end\""},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_syslog_gets_a_datagram_for_each_line),
        TEST(test_lines_go_on_after_syslog_was_started_again),
        TEST(test_syslog_that_does_not_read_takes_whole_lines_and_then_none),
        TEST(test_a_wrong_syslog_target_is_rejected_with_its_fault),
    };
    return cmocka_run_group_tests_name("log_syslog", tests, NULL, NULL);
}
