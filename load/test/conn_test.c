/* conn_test.c: tests a connection that the server closes or resets at a given moment: before the request
 * is sent, before the server reads the request, or after that. The test itself is the server, so each
 * moment is exact. With a server in another process, the moment would vary by microseconds. test/load
 * tests whole servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LONG_REQUEST (16 * 1024 * 1024) /* more bytes than one send() accepts */

static char carry[RESPONSE_LINE_MAX], buffer[1024];
static char get[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
static struct request request;
static struct target target;
static struct conn_setup setup;
static struct conn conn;
static int listener, peer;

/* Listens on any free port, or on any free abstract name. */
static void listen_somewhere(int family)
{
    target = (struct target){.address.ss_family = (sa_family_t)family, .address_len = sizeof(sa_family_t)};
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (family == AF_INET) {
        memcpy(&target.address, &loopback, sizeof loopback);
        target.address_len = sizeof loopback;
    }
    listener = socket(family, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&target.address, target.address_len), 0);
    assert_int_equal(listen(listener, 8), 0);
    target.address_len = sizeof target.address;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&target.address, &target.address_len), 0);
}

/* Opens `conn`, an idle connection that has received `responses` responses, and `peer`, the server's end. */
static void open_to(int family, uint64_t responses)
{
    listen_somewhere(family);
    request = (struct request){.bytes = get, .len = sizeof get - 1};
    setup = (struct conn_setup){.target = &target, .buffer = buffer, .buffer_size = sizeof buffer};
    conn = (struct conn){.fd = socket(family, SOCK_STREAM, 0),
                         .is_connected = true,
                         .responses = responses,
                         .response.carry = carry};
    assert_int_equal(connect(conn.fd, (struct sockaddr *)&target.address, target.address_len), 0);
    int flags = 1;
    assert_int_equal(ioctl(conn.fd, FIONBIO, &flags), 0);
    peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
}

static void close_both(void)
{
    conn_close(&conn);
    close(listener);
}

static void peer_says(const char *text)
{
    assert_int_equal(send(peer, text, strlen(text), 0), (ssize_t)strlen(text));
}

static void peer_reads(void)
{
    char bytes[sizeof get];
    assert_int_equal(recv(peer, bytes, sizeof bytes, 0), sizeof get - 1);
}

static void peer_resets(void)
{
    struct linger abort = {.l_onoff = 1};
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &abort, sizeof abort), 0);
    close(peer);
}

/* Checks that the whole request arrives over a second connection, and that the response makes it ok. */
static void assert_served_by_another(uint64_t resent)
{
    peer = accept(listener, NULL, NULL);
    peer_reads();
    peer_says("HTTP/1.1 204 No Content\r\n\r\n");
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_OK);
    assert_int_equal(setup.resent, resent);
    close(peer);
    close_both();
}

static void assert_lost(enum fate fate)
{
    assert_int_equal(conn.fate, fate);
    assert_int_equal(conn.fd, -1);
    assert_int_equal(setup.resent, 0);
    close_both();
}

static void a_response_before_the_close_counts(void **state)
{
    (void)state;
    open_to(AF_UNIX, 1);
    peer_says("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_ENDED);
    assert_lost(FATE_STATUS);
}

static void half_a_response_before_the_close_is_waited_for(void **state)
{
    (void)state;
    open_to(AF_UNIX, 1);
    peer_says("HTTP/1.1 413 ");
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_lost(FATE_SHORT);
}

static void a_close_without_a_response_on_a_new_connection_is_a_reset(void **state)
{
    (void)state;
    open_to(AF_UNIX, 0);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_ENDED);
    assert_int_equal(conn.error, EPIPE);
    assert_lost(FATE_RESET);
}

/* send() fails on the unix socket, so no byte of the request was sent. */
static void a_unix_close_before_the_request_opens_another(void **state)
{
    (void)state;
    open_to(AF_UNIX, 1);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    assert_served_by_another(0);
}

/* send() succeeds on TCP, and the server's kernel discards the bytes. */
static void a_tcp_close_before_the_request_sends_it_again(void **state)
{
    (void)state;
    open_to(AF_INET, 1);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    assert_int_equal(conn_receive(&conn, &setup), CONN_READ);
    assert_served_by_another(1);
}

static void a_reset_before_the_request_opens_another(void **state)
{
    (void)state;
    open_to(AF_INET, 1);
    peer_resets();
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    assert_served_by_another(0);
}

static void a_request_is_sent_again_only_once(void **state)
{
    (void)state;
    open_to(AF_INET, 1);
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    assert_int_equal(conn_receive(&conn, &setup), CONN_READ);
    close(accept(listener, NULL, NULL));
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_int_equal(conn.fate, FATE_RESET);
    assert_int_equal(setup.resent, 1);
    close_both();
}

static void a_request_that_was_read_is_short(void **state)
{
    (void)state;
    const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 2; i++) {
        open_to(families[i], 1);
        assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
        peer_reads();
        close(peer);
        assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
        assert_lost(FATE_SHORT);
    }
}

static void a_request_that_was_read_and_then_reset_is_reset(void **state)
{
    (void)state;
    open_to(AF_INET, 1);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
    peer_reads();
    peer_resets();
    assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
    assert_lost(FATE_RESET);
}

/* The request has arrived. The client cannot know that the server has not read it. */
static void a_request_that_had_arrived_is_reset(void **state)
{
    (void)state;
    const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 2; i++) {
        open_to(families[i], 1);
        assert_int_equal(conn_begin(&conn, &setup, &request), CONN_READ);
        close(peer);
        assert_int_equal(conn_receive(&conn, &setup), CONN_ENDED);
        assert_lost(FATE_RESET);
    }
}

static void a_request_that_was_read_in_part_is_reset(void **state)
{
    (void)state;
    const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 2; i++) {
        open_to(families[i], 1);
        request = (struct request){.bytes = calloc(1, LONG_REQUEST), .len = LONG_REQUEST};
        assert_int_equal(conn_begin(&conn, &setup, &request), CONN_WRITE);
        assert_int_equal(recv(peer, buffer, sizeof buffer, 0), sizeof buffer);
        close(peer);
        assert_int_equal(conn_send(&conn, &setup), CONN_ENDED);
        request_free(&request);
        assert_lost(FATE_RESET);
    }
}

/* The first send succeeds and the second fails. No byte of the request has arrived. */
static void a_long_request_after_a_close_is_sent_again(void **state)
{
    (void)state;
    open_to(AF_INET, 1);
    request = (struct request){.bytes = calloc(1, LONG_REQUEST), .len = LONG_REQUEST};
    close(peer);
    assert_int_equal(conn_begin(&conn, &setup, &request), CONN_WRITE);
    assert_int_equal(setup.resent, 1);
    request_free(&request);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_before_the_close_counts),
        cmocka_unit_test(half_a_response_before_the_close_is_waited_for),
        cmocka_unit_test(a_close_without_a_response_on_a_new_connection_is_a_reset),
        cmocka_unit_test(a_unix_close_before_the_request_opens_another),
        cmocka_unit_test(a_tcp_close_before_the_request_sends_it_again),
        cmocka_unit_test(a_reset_before_the_request_opens_another),
        cmocka_unit_test(a_request_is_sent_again_only_once),
        cmocka_unit_test(a_request_that_was_read_is_short),
        cmocka_unit_test(a_request_that_was_read_and_then_reset_is_reset),
        cmocka_unit_test(a_request_that_had_arrived_is_reset),
        cmocka_unit_test(a_request_that_was_read_in_part_is_reset),
        cmocka_unit_test(a_long_request_after_a_close_is_sent_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
