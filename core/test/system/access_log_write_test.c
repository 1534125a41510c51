/* access_log_write_test.c: when a lane writes its log lines, what happens to lines that cannot be written,
 * and how the worker opens and reopens the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "access_log_case.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"

/* ---- when lines are written ---- */

static void test_lines_are_written_together(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    for (int i = 0; i < 3; i++) ask(host, GET, 200);
    assert_log("");
    fake_clock_advance(BB_LOG_AGE - 1);
    host_turn(host);
    assert_log("");
    fail_file.writes = 0;
    fake_clock_advance(1);
    host_turn(host);
    assert_log("/\n/\n/\n");
    assert_int_equal(fail_file.writes, 1);
    host_free(host);
}

static void test_lines_are_written_when_nothing_comes(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    struct client *client = client_new(host);
    client_say(client, GET);
    assert_response(client, 200, NULL);
    host_settle(host);
    assert_log("");
    assert_int_equal(bb__access_log_wait(host->lane->context.log, fake_clock), BB_LOG_PAUSE);
    uint64_t since = real_ms();
    while (*content(path) == '\0' && real_ms() - since < WAIT_LIMIT) bb_lane_wait(host->lane);
    assert_log("/\n");
    client_free(client);
    host_free(host);
}

static void app_is_slow(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(BB_LOG_PAUSE);
    app_echo(host, request);
}

/* After a slow request the lane writes its lines, because the next request may also be slow, or the process
 * may end. */
static void test_lines_do_not_wait_for_the_next_slow_request(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, GET, 200);
    assert_log("");
    host->app = app_is_slow;
    ask(host, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    assert_log("/\n/slow\n");
    fail_file_full(0, ENOSPC);
    fail_file.writes = 0;
    fake_clock_advance(BB_LOG_AGE);
    for (int i = 0; i < 20; i++) ask(host, GET, 200);
    assert_in_range(fail_file.writes, 1, 6);
    fail_file_off();
    host_free(host);
}

static void test_a_full_buffer_is_written(void **state)
{
    (void)state;
    struct host *host = new_host("%{a}i", AF_UNIX);
    static char value[5001], request[6000];
    memset(value, 'v', sizeof value - 1);
    snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: x\r\na: %s\r\n\r\n", value);
    for (int i = 0; i < 12; i++) ask(host, request, 200);
    size_t written = strlen(content(path));
    assert_true(written >= 9 * 5001 && written < 12 * 5001);
    assert_int_equal(written % 5001, 0);
    host_free(host);
    assert_int_equal(strlen(content(path)), 12 * 5001);
}

/* ---- when lines cannot be written ---- */

static void fill(struct host *host, unsigned count)
{
    struct client *client = client_new(host);
    for (unsigned i = 0; i < count; i++) {
        client_say(client, GET);
        assert_response(client, 200, NULL);
    }
    client_free(client);
}

/* A line has 1000 bytes, and the lane's buffer has 64 KiB. So the lane keeps about 60 lines in memory, and
 * other lines are in the pipe. */
static void test_a_pipe_that_nobody_reads_costs_lines_only(void **state)
{
    (void)state;
    char format[1001];
    memset(format, 'f', sizeof format - 1);
    memcpy(format, "%U", 2); /* "/" */
    format[1000] = '\0';
    assert_int_equal(mkfifo(path, 0600), 0);
    struct host *host = new_host(format, AF_UNIX);
    unsigned lost = 0, read_lines = 0, requests = 300;
    fill(host, requests);
    assert_int_equal(host->event_count, 1);
    fake_clock_advance(1000);
    fill(host, 0);
    host_settle(host);
    fake_clock_advance(1000);
    host_settle(host);
    for (unsigned i = 0; i < host->event_count; i++) {
        assert_string_equal(host->events[i].text, "access log: a line is lost");
        assert_int_equal(host->events[i].error, EAGAIN);
        lost += 1 + host->events[i].left_out;
    }
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    static char bytes[1000 * 1000];
    for (int round = 0; round < 4; round++) {
        ssize_t got = read(reader, bytes, sizeof bytes);
        for (ssize_t i = 0; i < got; i++) read_lines += bytes[i] == '\n';
        if (got > 0) assert_int_equal(got % 1000, 0);
        fake_clock_advance(1000);
        host_settle(host);
    }
    assert_true(lost > 0 && read_lines > 100);
    assert_int_equal(read_lines + lost, requests);
    close(reader);
    host_free(host);
}

/* The lane tries a failed write again soon, because a slow reader empties the pipe in much less than a
 * second. If more tries fail, the lane tries about once per second. */
static void test_a_write_is_tried_again_soon_and_then_less_often(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, GET, 200);
    fail_file_full(0, ENOSPC);
    let_a_second_pass(host);
    fail_file.writes = 0;
    for (int i = 0; i < 30; i++) {
        fake_clock_advance(BB_LOG_AGE / 5);
        host_turn(host);
    }
    assert_in_range(fail_file.writes, 6, 12);
    fail_file_full(1, ENOSPC);
    let_a_second_pass(host);
    assert_log("/");
    fail_file_off();
    fake_clock_advance(BB_LOG_PAUSE);
    host_turn(host);
    assert_log("/\n/\n");
    host_free(host);
}

static void test_a_full_disk_leaves_no_half_line_in_the_middle(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    ask(host, "GET /second HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    fail_file_full(10, ENOSPC);
    let_a_second_pass(host);
    assert_log("/first\n/se");
    fail_file_full(0, ENOSPC);
    let_a_second_pass(host);
    fail_file_off();
    let_a_second_pass(host);
    assert_log("/first\n/se\n/second\n");
    assert_int_equal(host->event_count, 0);
    host_free(host);
}

/* There are seven requests, but the lane has room for only four log lines. The first lost line is reported at
 * once. */
static struct host *host_of_a_full_disk(void)
{
    static char value[15001], request[16000];
    struct host *host = new_host("%{a}i", AF_UNIX);
    memset(value, 'v', sizeof value - 1);
    snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: x\r\na: %s\r\n\r\n", value);
    fail_file_full(0, ENOSPC);
    for (int i = 0; i < 7; i++) ask(host, request, 200);
    host_settle(host);
    assert_int_equal(host->event_count, 1);
    return host;
}

static void count(struct host *host, unsigned lost)
{
    assert_int_equal(host->last, BB_DRAINED);
    assert_int_equal(host->event_count, 2);
    for (unsigned i = 0; i < host->event_count; i++) {
        assert_string_equal(host->events[i].text, "access log: a line is lost");
        assert_int_equal(host->events[i].error, ENOSPC);
        lost -= 1 + host->events[i].left_out;
    }
    assert_int_equal(lost, 0);
    host_free(host);
}

static void test_no_more_lines_are_lost_when_there_is_room_again(void **state)
{
    (void)state;
    struct host *host = host_of_a_full_disk();
    fail_file_off();
    fake_clock_advance(1);
    ask(host, GET, 200);
    assert_int_equal(strlen(content(path)), 4 * 15001);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    count(host, 3);
    assert_int_equal(strlen(content(path)), 4 * 15001 + 2);
}

static void test_lines_that_are_lost_at_the_end_are_reported(void **state)
{
    (void)state;
    struct host *host = host_of_a_full_disk();
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_AGAIN);
    fake_clock_advance(BB_LOG_LAST);
    host_settle(host);
    count(host, 7);
    assert_log("");
}

static void test_lost_lines_are_reported_at_the_end_at_the_latest(void **state)
{
    (void)state;
    struct host *host = host_of_a_full_disk();
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    fail_file_off();
    fake_clock_advance(BB_LOG_PAUSE);
    host_settle(host);
    count(host, 3);
    assert_int_equal(strlen(content(path)), 4 * 15001);
}

static void test_a_write_that_has_failed_for_long_is_tried_at_the_end(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, GET, 200);
    fail_file_full(0, ENOSPC);
    for (int i = 0; i < 20; i++) let_a_second_pass(host);
    fail_file_off();
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    assert_int_equal(host->last, BB_DRAINED);
    assert_log("/\n");
    host_free(host);
}

/* ---- the worker's part ---- */

static void test_a_renamed_log_is_opened_again(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, "GET /before HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    let_a_second_pass(host);
    assert_int_equal(rename(path, renamed), 0);
    assert_int_equal(bb_worker_reopen_logs(host->worker), BB_OK);
    ask(host, "GET /after HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    let_a_second_pass(host);
    assert_log("/after\n");
    assert_string_equal(content(renamed), "/before\n");
    host_free(host);
}

static void test_a_child_writes_nothing(void **state)
{
    (void)state;
    struct host *host = new_host("%U", AF_UNIX);
    ask(host, GET, 200);
    pid_t child = fork();
    if (child == 0) {
        fake_clock_advance(BB_LOG_AGE);
        int code = bb_worker_reopen_logs(host->worker);
        bb_lane_free(host->lane);
        bb_worker_free(host->worker);
        _exit(code);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_log("");
    let_a_second_pass(host);
    assert_log("/\n");
    host_free(host);
}

static void test_a_log_that_cannot_be_opened_stops_no_worker(void **state)
{
    (void)state;
    struct bb_event event;
    assert_int_equal(mkdir(path, 0700), 0);
    struct host *host = new_host("%U", AF_UNIX);
    assert_int_equal(bb_worker_event(host->worker, &event), BB_OK);
    assert_string_equal(event.text, "the access log cannot be opened yet");
    assert_int_equal(event.error, EISDIR);
    ask(host, "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    let_a_second_pass(host);
    assert_int_equal(rmdir(path), 0);
    ask(host, "GET /after HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    let_a_second_pass(host);
    let_a_second_pass(host);
    assert_log("/waits\n/after\n");
    host_free(host);
}

static void test_a_wrong_target_or_format_is_rejected(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct bb_worker *worker;
    char fault[BB_FAULT_MAX];
    int descriptors = open_descriptors();
    assert_int_equal(bb_access_log_check(&settings, fault), BB_OK);
    strcpy(settings.access_log, path);
    assert_int_equal(bb_access_log_check(&settings, fault), BB_OK);
    strcpy(settings.access_log_format, "%Z");
    assert_int_equal(bb_access_log_check(&settings, fault), BB_EFORMAT);
    assert_string_equal(fault, "format: unknown directive %Z");
    assert_int_equal(bb_worker_new(&worker, &settings), BB_EFORMAT);
    strcpy(settings.access_log_format, "json");
    strcpy(settings.access_log, directory);
    assert_int_equal(bb_access_log_check(&settings, fault), BB_ESYSTEM);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(open_descriptors(), descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_are_written_together),
        TEST(test_lines_are_written_when_nothing_comes),
        TEST(test_lines_do_not_wait_for_the_next_slow_request),
        TEST(test_a_full_buffer_is_written),
        TEST(test_a_pipe_that_nobody_reads_costs_lines_only),
        TEST(test_a_write_is_tried_again_soon_and_then_less_often),
        TEST(test_a_full_disk_leaves_no_half_line_in_the_middle),
        TEST(test_no_more_lines_are_lost_when_there_is_room_again),
        TEST(test_lines_that_are_lost_at_the_end_are_reported),
        TEST(test_lost_lines_are_reported_at_the_end_at_the_latest),
        TEST(test_a_write_that_has_failed_for_long_is_tried_at_the_end),
        TEST(test_a_renamed_log_is_opened_again),
        TEST(test_a_child_writes_nothing),
        TEST(test_a_log_that_cannot_be_opened_stops_no_worker),
        TEST(test_a_wrong_target_or_format_is_rejected),
    };
    return cmocka_run_group_tests_name("access_log_write", tests, NULL, NULL);
}
