/* conn_test.c: what happens when sending fails, over a socket pair whose other end the test holds; that is a
 * matter of microseconds between two processes. test/load has whole servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char carry[RESPONSE_LINE_MAX], buffer[1024];
static char get[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
static struct request request;
static struct target target;
static struct conn_setup setup;
static struct conn conn;
static int peer;

/* An idle connection, open as after `answers` answers. */
static void open_pair(uint64_t answers)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_null(target_parse(&target, "unix:/nobody/listens/here:/"));
    request = (struct request){.bytes = get, .len = sizeof get - 1, .is_idempotent = true};
    setup = (struct conn_setup){
        .target = &target, .request = &request, .buffer = buffer, .buffer_size = sizeof buffer};
    conn = (struct conn){.fd = pair[0], .is_connected = true, .answers = answers, .response.carry = carry};
    peer = pair[1];
}

static void peer_says(const char *text)
{
    assert_int_equal(send(peer, text, strlen(text), 0), (ssize_t)strlen(text));
}

static void an_answer_before_the_close_counts(void **state)
{
    (void)state;
    open_pair(1);
    peer_says("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_STATUS);
    assert_int_equal(conn.fd, -1); /* its request was never sent */
    assert_int_equal(setup.resent, 0);
}

static void half_an_answer_before_the_close_is_waited_for(void **state)
{
    (void)state;
    open_pair(1);
    peer_says("HTTP/1.1 413 ");
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup), CONN_READ);
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_SHORT);
    assert_int_equal(conn.fd, -1);
}

static void a_close_without_an_answer_on_a_new_connection_is_a_reset(void **state)
{
    (void)state;
    open_pair(0);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_RESET);
    assert_int_equal(conn.error, EPIPE);
}

static void a_close_without_an_answer_on_a_kept_connection_opens_another(void **state)
{
    (void)state;
    open_pair(1);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_REFUSED); /* which nobody accepts here */
    assert_int_equal(conn.error, ENOENT);
    assert_int_equal(setup.resent, 1);
}

/* Not a byte of it had left: whatever it does, it has not done it yet. */
static void so_it_does_for_a_request_that_is_not_idempotent(void **state)
{
    (void)state;
    open_pair(1);
    request.is_idempotent = false;
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup), CONN_ENDED);
    assert_int_equal(setup.resent, 1);
}

static void but_not_once_a_byte_of_it_was_sent(void **state)
{
    (void)state;
    open_pair(1);
    request.is_idempotent = false;
    assert_int_equal(conn_begin(&conn, &setup), CONN_READ);
    close(peer);
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_RESET);
    assert_int_equal(setup.resent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_before_the_close_counts),
        cmocka_unit_test(half_an_answer_before_the_close_is_waited_for),
        cmocka_unit_test(a_close_without_an_answer_on_a_new_connection_is_a_reset),
        cmocka_unit_test(a_close_without_an_answer_on_a_kept_connection_opens_another),
        cmocka_unit_test(so_it_does_for_a_request_that_is_not_idempotent),
        cmocka_unit_test(but_not_once_a_byte_of_it_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
