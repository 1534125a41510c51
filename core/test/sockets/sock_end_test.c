/* sock_end_test.c: how the peer sees the end of a connection, with and without a child that has a duplicate
 * of the socket. */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "sockets/sock.h"
#include "support/socket_pair.h"

/* Reads as the peer. Returns the number of bytes, or -errno. Waits for at most 10 s. */
static int read_there(int fd)
{
    static char bytes[1 << 16];
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    if (poll(&watched, 1, 60000) <= 0) return -ETIMEDOUT;
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    return got < 0 ? -errno : (int)got;
}

static void test_the_peer_may_go_on_after_our_end_of_sending(void **state)
{
    (void)state;
    struct pair pair = tcp_pair();
    char byte;
    size_t got;
    bb__sock_end_sending(pair.ours);
    assert_int_equal(read_there(pair.theirs), 0);
    assert_int_equal(send(pair.theirs, "x", 1, 0), 1);
    assert_int_equal(bb__sock_recv(pair.ours, &byte, 1, &got), BB_OK);
    bb__sock_close(pair.ours);
    close(pair.theirs);
}

static unsigned segments_received(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    return info.tcpi_segs_in;
}

static void test_the_end_leaves_with_the_last_bytes(void **state)
{
    LINUX_ONLY;
    struct pair pair = tcp_pair();
    size_t sent;
    unsigned before = segments_received(pair.theirs);
    assert_int_equal(bb__sock_send_last(pair.ours, "hello", 5, &sent), BB_OK);
    assert_int_equal(sent, 5);
    assert_int_equal(read_there(pair.theirs), 5);
    assert_int_equal(read_there(pair.theirs), 0);
    assert_int_equal(segments_received(pair.theirs), before + 1);
    bb__sock_close(pair.ours);
    close(pair.theirs);
}

/* If a socket with unread bytes is closed, the kernel sends a reset. The response must be sent before the
 * reset. */
static void test_the_last_bytes_arrive_although_bytes_are_unread(void **state)
{
    (void)state;
    struct pair pair = tcp_pair();
    size_t sent;
    assert_int_equal(send(pair.theirs, "\r\n", 2, 0), 2);
    assert_int_equal(bb__sock_send_last(pair.ours, "hello", 5, &sent), BB_OK);
    bb__sock_close(pair.ours);
    assert_int_equal(read_there(pair.theirs), 5);
    close(pair.theirs);
}

static void test_last_bytes_that_do_not_fit_are_sent_in_part(void **state)
{
    (void)state;
    static const char zeros[16 << 20];
    struct pair pair = tcp_pair();
    size_t sent, more;
    assert_int_equal(bb__sock_send_last(pair.ours, zeros, sizeof zeros, &sent), BB_OK);
    assert_true(sent > 0 && sent < sizeof zeros);
    /* This socket gets new room while the kernel moves bytes to the peer. */
    int code;
    while ((code = bb__sock_send_last(pair.ours, zeros, sizeof zeros - sent, &more)) == BB_OK) {
        sent += more;
        assert_true(sent < sizeof zeros);
    }
    assert_int_equal(code, BB_AGAIN);
    for (size_t got = 0; got < sent;) {
        int bytes = read_there(pair.theirs);
        assert_true(bytes > 0);
        got += (size_t)bytes;
    }
    assert_int_equal(bb__sock_send_last(pair.ours, "x", 1, &more), BB_OK);
    assert_int_equal(read_there(pair.theirs), 1);
    assert_int_equal(read_there(pair.theirs), 0);
    bb__sock_close(pair.ours);
    close(pair.theirs);
}

static void test_a_close_delivers_all_sent_bytes(void **state)
{
    (void)state;
    struct pair pair = tcp_pair();
    assert_int_equal(send(pair.ours, "hello", 5, 0), 5);
    bb__sock_close(pair.ours);
    assert_int_equal(read_there(pair.theirs), 5);
    assert_int_equal(read_there(pair.theirs), 0);
    close(pair.theirs);
}

static void test_a_reset_is_an_error_for_the_peer(void **state)
{
    (void)state;
    struct pair pair = tcp_pair();
    bb__sock_reset(pair.ours);
    assert_int_equal(read_there(pair.theirs), -ECONNRESET);
    close(pair.theirs);

    pair = unix_pair();
    bb__sock_reset(pair.ours);
    assert_int_equal(read_there(pair.theirs), 0);
    close(pair.theirs);
}

/* Forks a child with duplicates of all open descriptors. The child lives until stop() or the end of the test
 * kills it. */
static pid_t fork_sleeper(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    assert_true(child > 0);
    return child;
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_a_sleeping_child_keeps_no_peer_waiting(void **state)
{
    (void)state;
    struct pair closed = tcp_pair(), closed_unix = unix_pair(), was_reset = tcp_pair(), left = tcp_pair();
    bb__sock_process_forks();
    pid_t child = fork_sleeper();
    bb__sock_close(closed.ours);
    assert_int_equal(read_there(closed.theirs), 0);
    bb__sock_close(closed_unix.ours);
    assert_int_equal(read_there(closed_unix.theirs), 0);
    bb__sock_reset(was_reset.ours);
    assert_int_equal(read_there(was_reset.theirs), -ECONNRESET);

    /* An abandoned connection stays open in the child. */
    bb__sock_abandon(left.ours);
    struct pollfd watched = {.fd = left.theirs, .events = POLLIN};
    assert_int_equal(poll(&watched, 1, 20), 0);
    stop(child);
    assert_int_equal(read_there(left.theirs), 0);

    close(closed.theirs);
    close(closed_unix.theirs);
    close(was_reset.theirs);
    close(left.theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_peer_may_go_on_after_our_end_of_sending),
        cmocka_unit_test(test_the_end_leaves_with_the_last_bytes),
        cmocka_unit_test(test_the_last_bytes_arrive_although_bytes_are_unread),
        cmocka_unit_test(test_last_bytes_that_do_not_fit_are_sent_in_part),
        cmocka_unit_test(test_a_close_delivers_all_sent_bytes),
        cmocka_unit_test(test_a_reset_is_an_error_for_the_peer),
        cmocka_unit_test(test_a_sleeping_child_keeps_no_peer_waiting),
    };
    return cmocka_run_group_tests_name("sock_end", tests, NULL, NULL);
}
