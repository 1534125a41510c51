/* io_public_test.c: files of `public` while the lanes are busy. The I/O thread sends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "files/slow_disk.h"

#include "io_thread/rush.h"
#include "support/later_clock.h"

#define VERY_LARGE (16 << 20) /* the kernel buffers only a part of it */

static struct rush rush;

static int make_files(void **state)
{
    (void)state;
    make_public_dir();
    make_public_subdir("d");
    write_public("a", "file");
    write_public("d/a", "other");
    make_old(public_path("d"), OLD_TIME);
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    open_public(public_dir, "");
    lanes_public = public_files;
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    lanes_public = NULL;
    bb_public_free(public_files);
    remove_public_dir();
    return 0;
}

static void begin_lanes(int count)
{
    struct bb_settings settings = bounded(0, 0);
    begin_with(&rush, &settings, count);
}

static bool gets(int fd, const char *request, const char *body)
{
    say(fd, request);
    return lanes_read(fd, body);
}

static size_t receive(int fd, char *to, size_t size)
{
    ssize_t got = recv(fd, to, size, 0);
    assert_true(got > 0);
    return (size_t)got;
}

/* Reads the head and the first bytes of the large file. Returns how many bytes of the file it has read. */
static size_t begin_large(int fd)
{
    char head[1024];
    size_t len = 0;
    const char *end;
    do {
        len += receive(fd, head + len, sizeof head - 1 - len);
        head[len] = '\0';
    } while (!(end = strstr(head, "\r\n\r\n")));
    assert_memory_equal(head, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(head, "\r\nContent-Length: 16777216\r\n"));
    size_t had = len - (size_t)(end + 4 - head);
    for (size_t i = 0; i < had; i++) assert_int_equal(end[4 + i], 'a' + i % 26);
    return had;
}

/* done: bytes of the file that have been read. The letters are those of write_public_at(). */
static void read_large(int fd, size_t done, size_t until)
{
    static char bytes[64 * 1024];
    while (done < until) {
        size_t left = until - done, got = receive(fd, bytes, left < sizeof bytes ? left : sizeof bytes);
        for (size_t i = 0; i < got; i += 1 + got / 8) assert_int_equal(bytes[i], 'a' + (done + i) % 26);
        done += got;
    }
}

static void test_a_kept_connection(void **state)
{
    char response[1024];
    (void)state;
    begin_lanes(LANES);
    int fd = connect_early(&rush);
    block_all(&rush);
    for (int i = 0; i < 3; i++) {
        assert_true(gets(fd, GET("/a"), "file"));
        assert_true(gets(fd, GET("/d/a"), "other"));
    }
    say(fd, "GET /a HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n");
    read_until(fd, "\r\n\r\n", response, sizeof response);
    assert_memory_equal(response, "HTTP/1.1 304 ", 13);
    assert_string_equal(strstr(response, "\r\n\r\n"), "\r\n\r\n");
    say(fd, GET("/large"));
    read_large(fd, begin_large(fd), VERY_LARGE);
    assert_true(gets(fd, GET("/a"), "file"));
    unblock_all(&rush);
    assert_true(gets(fd, GET("/a"), "file"));
    close(fd);
    end(&rush, 1);
}

static void test_new_connections(void **state)
{
    int fds[8];
    char response[2048];
    (void)state;
    begin_lanes(LANES);
    block_all(&rush);
    for (int i = 0; i < 8; i++) fds[i] = ask(&rush, GET("/a") GET("/d/a"));
    for (int i = 0; i < 8; i++) {
        read_until(fds[i], "\r\n\r\nother", response, sizeof response);
        assert_non_null(strstr(response, "\r\n\r\nfileHTTP/1.1 200 OK\r\n"));
        close(fds[i]);
    }
    unblock_all(&rush);
    end(&rush, 0);
}

/* The lane has no other connection when its request begins. */
static void test_one_lane(void **state)
{
    (void)state;
    begin_lanes(1);
    block_all(&rush);
    int fd = ask(&rush, GET("/a"));
    assert_true(lanes_read(fd, "file"));
    assert_true(gets(fd, GET("/d/a"), "other"));
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

/* Without a scoreboard, the I/O thread accepts no connections. It has those of the lane. */
static void test_no_scoreboard(void **state)
{
    (void)state;
    struct lanes lanes;
    struct bb_settings settings = lanes_settings();
    lanes_start(&lanes, 1, &settings);
    int fd = lanes_connect(&lanes), busy = lanes_connect(&lanes);
    assert_true(is_served(fd, "/early", ""));
    say(busy, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes.entered), 0);
    assert_true(gets(fd, GET("/a"), "file"));
    sem_post(&lanes.leave);
    assert_true(lanes_read(busy, "/block 0"));
    close(fd);
    close(busy);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), 2);
}

/* A request of the application waits for a lane, and the file behind it waits, too. */
static void test_pipelined_requests(void **state)
{
    (void)state;
    begin_lanes(LANES);
    int fd = connect_early(&rush);
    block_all(&rush);
    say(fd, GET("/a") GET("/app") GET("/d/a"));
    assert_true(lanes_read(fd, "file"));
    await_waiting(&rush, 1);
    assert_true(is_silent(fd));
    unblock_all(&rush);
    char response[2048];
    read_until(fd, "\r\n\r\nother", response, sizeof response);
    assert_non_null(strstr(response, "\r\n\r\n/app 0HTTP/1.1 200 OK\r\n"));
    close(fd);
    end(&rush, 2);
}

/* A request of another client waits in the set, because the shared queue is full. */
static void test_the_shared_queue_is_full(void **state)
{
    static const struct iovec word = {(char *)"", 1};
    char response[2048];
    (void)state;
    begin_lanes(1);
    int fd = connect_early(&rush), waits = connect_early(&rush);
    block_all(&rush);
    while (bb__shared_queue_send(&rush.lanes.worker->shared.queue, 0, &word, 1, NULL, 0) == BB_OK) continue;
    say(waits, GET("/app"));
    say(fd, GET("/a") GET("/d/a") GET("/a") GET("/d/a"));
    for (int i = 0; i < 2; i++) {
        read_until(fd, "\r\n\r\nother", response, sizeof response);
        assert_non_null(strstr(response, "\r\n\r\nfileHTTP/1.1 200 OK\r\n"));
    }
    assert_true(is_silent(waits));
    unblock_all(&rush);
    assert_true(lanes_read(waits, "/app 0"));
    close(fd);
    close(waits);
    end(&rush, 3);
}

/* The lanes go on while the file is on its way. */
static void test_a_lane_takes_its_set_back(void **state)
{
    (void)state;
    begin_lanes(LANES);
    int fd = connect_early(&rush), new;
    block_all(&rush);
    say(fd, GET("/large"));
    size_t done = begin_large(fd);
    new = ask(&rush, GET("/large"));
    size_t new_done = begin_large(new);
    read_large(fd, done, VERY_LARGE / 4);
    unblock_all(&rush);
    read_large(fd, VERY_LARGE / 4, VERY_LARGE / 2);
    block_all(&rush);
    read_large(new, new_done, VERY_LARGE);
    read_large(fd, VERY_LARGE / 2, VERY_LARGE);
    assert_true(gets(fd, GET("/a"), "file"));
    unblock_all(&rush);
    close(fd);
    close(new);
    end(&rush, 1 + LANES);
}

/* A lane that sends files while it waits shows that it runs, although it does not return to its host. Another
 * process has taken it for frozen. */
static void test_a_lane_that_sends_files_is_not_silent(void **state)
{
    (void)state;
    begin_lanes(1);
    struct bb__slot *slot = bb__scoreboard_slot(lanes_scoreboard, 0);
    int fd = connect_early(&rush);
    for (int i = 0; i < 3; i++) assert_true(gets(fd, GET("/a"), "file"));
    atomic_store(&slot->idle, BB_IDLE_SILENT);
    assert_true(gets(fd, GET("/a"), "file"));
    uint64_t end_at = bb__clock_ms() + 5000;
    while (atomic_load(&slot->idle) != BB_IDLE && bb__clock_ms() < end_at) sched_yield();
    assert_int_equal(atomic_load(&slot->idle), BB_IDLE);
    close(fd);
    end(&rush, 0);
}

/* The connection waits for the disk when the lane takes its set back. */
static void test_a_slow_disk(void **state)
{
    (void)state;
    begin_lanes(LANES);
    int fd = connect_early(&rush), other = connect_early(&rush);
    block_all(&rush);
    assert_true(gets(other, GET("/a"), "file"));
    hold_clocks();
    slow_disk_set(true);
    say(fd, GET("/d/a"));
    slow_disk_await();
    assert_true(gets(other, GET("/a"), "file"));
    let_clocks_go_on();
    unblock_all(&rush);
    assert_true(is_served(other, "/app", ""));
    assert_true(is_silent(fd));
    block_all(&rush);
    slow_disk_set(false);
    assert_true(lanes_read(fd, "other"));
    unblock_all(&rush);
    close(fd);
    close(other);
    end(&rush, 3 + LANES);
}

/* The I/O thread may notice the drain only after this request. Then the connection ends after
 * keepalive_drain. */
static void test_drain(void **state)
{
    char more;
    (void)state;
    begin_lanes(LANES);
    int fd = connect_early(&rush), large = connect_early(&rush);
    block_all(&rush);
    say(large, GET("/large"));
    size_t done = begin_large(large);
    hold_clocks();
    bb_worker_drain(rush.lanes.worker, BB_QUEUE_TAKE);
    assert_true(gets(fd, GET("/a"), "file"));
    let_clocks_go_on();
    assert_int_equal(recv(fd, &more, 1, 0), 0);
    read_large(large, done, VERY_LARGE);
    assert_int_equal(recv(large, &more, 1, 0), 0);
    close(fd);
    close(large);
    unblock_all(&rush);
    end(&rush, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kept_connection),
        cmocka_unit_test(test_new_connections),
        cmocka_unit_test(test_one_lane),
        cmocka_unit_test(test_no_scoreboard),
        cmocka_unit_test(test_pipelined_requests),
        cmocka_unit_test(test_the_shared_queue_is_full),
        cmocka_unit_test(test_a_lane_takes_its_set_back),
        cmocka_unit_test(test_a_lane_that_sends_files_is_not_silent),
        cmocka_unit_test(test_a_slow_disk),
        cmocka_unit_test(test_drain),
    };
    return cmocka_run_group_tests_name("io_public", tests, make_files, remove_files);
}
