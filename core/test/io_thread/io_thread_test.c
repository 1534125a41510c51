/* io_thread_test.c: while a lane is busy, the I/O thread watches the lane's other connections. Idle lanes
 * serve the requests of these connections. `make tsan` runs this test under ThreadSanitizer. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_case.h"
#include "io_thread/io_thread.h"
#include "support/fail_socket.h"
#include "support/later_clock.h"

/* ---- requests ---- */

static void test_no_request_waits_behind_a_busy_lane(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[CONNECTIONS];
    lanes_start(&lanes, 2, &settings);
    connect_all(&lanes, fds);
    for (int round = 0; round < CONNECTIONS; round++) {
        block(&lanes, fds[round]);
        for (int i = 0; i < CONNECTIONS; i++)
            if (i != round) assert_true(lanes_ask(fds[i], "/meanwhile", "", ""));
        unblock(&lanes, fds[round]);
    }
    close_all(fds);
    assert_int_equal(finish(&lanes), CONNECTIONS + CONNECTIONS * CONNECTIONS);
}

/* Tests bodies in memory, in a file and with trailers. Tests heads that fit into one message, and heads that
 * do not. */
static void test_a_request_moves_whole(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    static char field[40000], body[100000];
    struct crowd crowd;
    memset(body, 'b', sizeof body - 1);
    memset(field, 'f', sizeof field - 1);
    memcpy(field, "X-Large: ", 9);
    gather(&crowd, 2, &settings);
    for (int i = 1; i < CONNECTIONS; i++) {
        assert_true(lanes_ask(crowd.fds[i], "/small", "", "12345678"));
        assert_true(lanes_ask(crowd.fds[i], "/spooled", "", "a body for the spool"));
        say(crowd.fds[i],
            "POST /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        say(crowd.fds[i], "10\r\n0123456789abcdef\r\n0\r\nX-Trailer: x\r\n\r\n");
        assert_true(lanes_read(crowd.fds[i], "/chunked 19"));
        say(crowd.fds[i], "POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n");
        say(crowd.fds[i], field);
        say(crowd.fds[i], "\r\n\r\n");
        say(crowd.fds[i], body);
        assert_true(lanes_read(crowd.fds[i], "/long 99999"));
    }
    disperse(&crowd, 4 * (CONNECTIONS - 1));
}

/* One read does not get all bytes, and epoll reports no later event for the rest. */
static void test_all_bytes_that_came_at_once_are_read(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    static char request[30000], body[1000000];
    struct crowd crowd;
    int len = snprintf(request, sizeof request,
                       "POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\nX-Large: ", sizeof body);
    memset(request + len, 'f', sizeof request - (size_t)len);
    memcpy(request + sizeof request - 4, "\r\n\r\n", 4);
    gather(&crowd, 2, &settings);
    for (int i = 1; i < CONNECTIONS; i++) {
        assert_true(lanes_say(crowd.fds[i], request, sizeof request));
        assert_true(lanes_say(crowd.fds[i], body, sizeof body));
        assert_true(lanes_read(crowd.fds[i], "/long 1000000"));
    }
    disperse(&crowd, CONNECTIONS - 1);
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    int fds[CONNECTIONS];
    lanes_start(&lanes, 2, &settings);
    connect_all(&lanes, fds);
    block(&lanes, fds[0]);
    say(fds[0], "POST /behind HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 1; i < CONNECTIONS; i++) {
        say(fds[i], "POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
                    "POST /two HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n22");
        char responses[1024];
        read_until(fds[i], "/two 2", responses, sizeof responses);
        const char *one = strstr(responses, "/one 1");
        assert_non_null(one);
        assert_true(one < strstr(responses, "/two 2"));
    }
    sem_post(&lanes.leave);
    char responses[1024];
    read_until(fds[0], "/behind 0", responses, sizeof responses);
    close_all(fds);
    assert_int_equal(finish(&lanes), CONNECTIONS + 2 + 2 * (CONNECTIONS - 1));
}

/* The I/O thread cannot watch the lane's connection set (ENOSPC), so the I/O thread polls the set itself. */
static void test_connections_are_served_if_their_set_cannot_be_watched(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct crowd crowd;
    fail_socket.watch_poller_error = ENOSPC;
    gather(&crowd, 2, &settings);
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < CONNECTIONS; i++) assert_true(lanes_ask(crowd.fds[i], "/meanwhile", "", ""));
    disperse(&crowd, 3 * (CONNECTIONS - 1));
    fail_socket.watch_poller_error = 0;
}

static void test_requests_wait_while_all_lanes_are_busy(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    for (int count = 1; count <= 2; count++) {
        struct lanes lanes;
        int fds[CONNECTIONS], blocked[2];
        lanes_start(&lanes, count, &settings);
        connect_all(&lanes, fds);
        for (int i = 0; i < count; i++) block(&lanes, blocked[i] = lanes_connect(&lanes));
        for (int i = 0; i < CONNECTIONS; i++)
            say(fds[i], "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
        for (int i = 0; i < count; i++) sem_post(&lanes.leave);
        for (int i = 0; i < count; i++) {
            assert_true(lanes_read(blocked[i], "/block 0"));
            close(blocked[i]);
        }
        for (int i = 0; i < CONNECTIONS; i++) assert_true(lanes_read(fds[i], "/later 3"));
        close_all(fds);
        assert_int_equal(finish(&lanes), 2 * CONNECTIONS + (unsigned)count);
    }
}

/* ---- timeouts, rejections and draining ---- */

/* The clocks stand still until all clients have a response. */
static void test_the_io_thread_applies_timeouts(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    settings.header_timeout = 300;
    settings.keepalive_timeout = 500;
    struct crowd crowd;
    char response[256];
    hold_clocks();
    gather(&crowd, 1, &settings);
    say(crowd.fds[1], "POST /never HTTP/1.1\r\nHo");
    let_clocks_go_on();
    ssize_t got = recv(crowd.fds[1], response, sizeof response - 1, 0);
    assert_true(got > 0);
    response[got] = '\0';
    assert_memory_equal(response, "HTTP/1.1 408 ", 13);
    for (int i = 2; i < CONNECTIONS; i++)
        assert_int_equal(recv(crowd.fds[i], response, sizeof response, 0), 0);
    disperse(&crowd, 0);
}

static void test_the_io_thread_rejects_wrong_requests(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct crowd crowd;
    gather(&crowd, 1, &settings);
    for (int i = 1; i < CONNECTIONS; i++) {
        char response[256];
        say(crowd.fds[i], "POST /wrong HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n");
        ssize_t got = recv(crowd.fds[i], response, sizeof response - 1, 0);
        assert_true(got > 13);
        assert_memory_equal(response, "HTTP/1.1 400 ", 13);
    }
    disperse(&crowd, 0);
}

/* A draining worker serves all requests that have come. Any lane may serve them. */
static void test_a_drain_serves_requests_behind_a_busy_lane(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    for (int count = 1; count <= 3; count++) {
        struct lanes lanes;
        int fds[CONNECTIONS];
        lanes_start(&lanes, count, &settings);
        connect_all(&lanes, fds);
        block(&lanes, fds[0]);
        for (int i = 1; i < CONNECTIONS; i++) say(fds[i], "POST /last HTTP/1.1\r\nHost: x\r\n\r\n");
        bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
        unblock(&lanes, fds[0]);
        for (int i = 1; i < CONNECTIONS; i++) assert_true(lanes_read(fds[i], "/last 0"));
        close_all(fds);
        assert_int_equal(lanes_finish(&lanes), 2 * CONNECTIONS);
    }
}

/* ---- many clients ---- */

#define CLIENTS 12
#define EACH    200

static void *go_shopping(void *argument)
{
    const struct lanes *lanes = argument;
    uintptr_t answered = 0;
    int fd = -1;
    for (unsigned i = 0; i < EACH; i++) {
        if (fd < 0) fd = lanes_connect(lanes);
        if (!lanes_ask(fd, i % 20 == 7 ? "/slow" : "/quick", "", i % 3 ? "" : "a body for the spool")) break;
        answered++;
        if (i % 50 == 49) close(fd), fd = -1;
    }
    if (fd >= 0) close(fd);
    return (void *)answered;
}

static void test_many_clients_at_once_are_served(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    pthread_t clients[CLIENTS];
    lanes_start(&lanes, 3, &settings);
    for (int i = 0; i < CLIENTS; i++) pthread_create(&clients[i], NULL, go_shopping, &lanes);
    for (int i = 0; i < CLIENTS; i++) {
        void *answered;
        pthread_join(clients[i], &answered);
        assert_int_equal((uintptr_t)answered, EACH);
    }
    assert_int_equal(finish(&lanes), CLIENTS * EACH);
}

static uint64_t cpu_time_ms(pthread_t thread)
{
    clockid_t clock;
    struct timespec time;
    assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The thread's epoll descriptor is replaced, as if the application had closed it by mistake. So each
 * epoll_wait() fails at once. */
static void test_an_io_thread_that_cannot_poll_pauses(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    lanes_start(&lanes, 1, &settings);
    struct bb__io_thread *io = bb__io_of(lanes.worker);
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = lanes_connect(&lanes);
    assert_int_equal(dup2(other, io->link.queue.fd), io->link.queue.fd);
    close(other);
    bb__wakeup_raise(&io->link.kick);
    uint64_t before = cpu_time_ms(io->thread);
    for (int i = 0; i < 60; i++) assert_true(lanes_ask(fd, "/slow", "", ""));
    assert_in_range(cpu_time_ms(io->thread) - before, 0, 60 * 3 / 3);
    close(fd);
    assert_int_equal(finish(&lanes), 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_request_waits_behind_a_busy_lane),
        cmocka_unit_test(test_a_request_moves_whole),
        cmocka_unit_test(test_all_bytes_that_came_at_once_are_read),
        cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
        cmocka_unit_test(test_connections_are_served_if_their_set_cannot_be_watched),
        cmocka_unit_test(test_requests_wait_while_all_lanes_are_busy),
        cmocka_unit_test(test_the_io_thread_applies_timeouts),
        cmocka_unit_test(test_the_io_thread_rejects_wrong_requests),
        cmocka_unit_test(test_a_drain_serves_requests_behind_a_busy_lane),
        cmocka_unit_test(test_many_clients_at_once_are_served),
        cmocka_unit_test(test_an_io_thread_that_cannot_poll_pauses),
    };
    return cmocka_run_group_tests_name("io_thread", tests, NULL, NULL);
}
