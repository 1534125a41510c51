/* conn_transfer_test.c: a connection that moves to another lane through the shared queue arrives whole.
 * conn_transfer_fail_test.c tests the failures. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn_transfer_case.h"

static void test_an_idle_connection_moves(void **state)
{
    (void)state;
    struct move *move = begin();
    move->conn->served = 3;
    move_it(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->want, BB_INTEREST_READ);
    assert_int_equal(move->conn->timeout.kind, BB_TIMEOUT_KEEPALIVE);
    assert_null(move->conn->in.data);

    say_text(move, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n", BB_CONN_REQUEST);
    assert_int_equal(move->conn->served, 4);
    end(move);
}

/* A client that has sent nothing still has the timeout of a new connection. */
static void test_a_connection_without_a_request_moves(void **state)
{
    (void)state;
    struct move *move = begin();
    move_it(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->timeout.kind, BB_TIMEOUT_FRESH);
    end(move);
}

/* A child process that the application has forked may hold a duplicate of the socket. The client must see the
 * close although the child still runs. */
static void test_the_client_sees_the_end_of_a_connection_that_has_moved(void **state)
{
    (void)state;
    static const enum bb__conn_end ends[] = {BB_CONN_END_CLOSE, BB_CONN_END_RESET};
    for (int tcp = 0; tcp < 2; tcp++) {
        for (int i = 0; i < 2; i++) {
            struct move *move = begin_with(tcp ? tcp_pair : unix_pair);
            int duplicate = dup(move->conn->fd);
            bb__sock_process_forks();
            char byte;
            move_it(move);
            assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
            bb__conn_free(move->conn, &move->to.context, ends[i]);
            move->conn = NULL;
            ssize_t got = recv(move->sockets.theirs, &byte, 1, MSG_DONTWAIT);
            assert_int_equal(got, tcp && ends[i] == BB_CONN_END_RESET ? -1 : 0);
            close(duplicate);
            end(move);
        }
    }
}

static void test_the_data_of_the_client_move(void **state)
{
    (void)state;
    struct move *move = begin();
    move->from.context.read_at = 123456789;
    move->conn->served = 41;
    say_text(move, "GET /one?two HTTP/1.1\r\nHost: x\r\nX-Field: value\r\n\r\n", BB_CONN_REQUEST);
    move_request(move);
    assert_target(move, "/one?two");
    assert_body(move, "", 0);
    assert_int_equal(move->conn->served, 42);
    assert_int_equal(move->conn->wait.ready_at, 123456789);
    assert_true(move->conn->tcp);
    assert_int_equal(move->request.listener, LISTENER);
    assert_int_equal(move->request.peer.len, strlen("2001:db8:47::1"));
    assert_memory_equal(move->request.peer.at, "2001:db8:47::1", move->request.peer.len);
    assert_int_equal(move->request.peer_port, 4711);
    assert_false(move->request.peer_is_unix);
    assert_false(move->conn->head_method);
    assert_int_equal(move->conn->timeout.kind, BB_TIMEOUT_NONE);
    assert_int_equal(fcntl(move->conn->fd, F_GETFD), FD_CLOEXEC);
    assert_true(fcntl(move->conn->fd, F_GETFL) & O_NONBLOCK);
    end(move);
}

static void test_a_HEAD_request_moves(void **state)
{
    (void)state;
    struct move *move = begin();
    say_text(move, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", BB_CONN_REQUEST);
    move_request(move);
    assert_true(move->conn->head_method);
    end(move);
}

static void test_a_body_in_the_buffer_of_its_head_moves(void **state)
{
    (void)state;
    struct move *move = begin();
    say_text(move, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /next HTTP/1.1\r\n",
             BB_CONN_REQUEST);
    assert_true(move->conn->body_in_buffer);
    move_request(move);
    assert_body(move, "hello", 5);
    assert_int_equal(respond(move), BB_CONN_AGAIN);
    assert_int_equal(bb__conn_advance(move->conn, &move->to.context), BB_CONN_WAIT);
    say_text(move, "Host: x\r\n\r\n", BB_CONN_REQUEST);
    end(move);
}

/* Some bodies fit into the message. Some are in memory, but too long for the message. The longest bodies are
 * in a file. */
static void test_a_body_in_memory_or_in_a_file_moves(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 4096, 4097, THRESHOLD, THRESHOLD + 1, 100000};
    static char body[100000];
    for (size_t i = 0; i < sizeof body; i++) body[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct move *move = begin();
        char head[100];
        snprintf(head, sizeof head, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                 lengths[i]);
        say_text(move, head, BB_CONN_WAIT);
        assert_int_equal(say(move, body, lengths[i]), BB_CONN_REQUEST);
        assert_int_equal(move->conn->spool.fd >= 0, lengths[i] > THRESHOLD);
        move_request(move);
        assert_target(move, "/body");
        assert_body(move, body, lengths[i]);
        assert_int_equal(move->to.worker->spool_budget.used, lengths[i]);
        assert_int_equal(respond(move), BB_CONN_WAIT);
        end(move);
    }
}

/* Tests heads near the longest length that fits into a message, and a head that is longer than a read
 * buffer. */
static void test_a_long_head_moves(void **state)
{
    (void)state;
    static const size_t lengths[] = {16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 40000};
    static char head[40001];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct move *move = begin();
        int len = snprintf(head, sizeof head, "GET /long HTTP/1.1\r\nHost: x\r\nX-Long: ");
        memset(head + len, 'l', lengths[i] - (size_t)len);
        memcpy(head + lengths[i] - 4, "\r\n\r\n", 5);
        say_text(move, head, BB_CONN_REQUEST);
        move_request(move);
        assert_target(move, "/long");
        assert_int_equal(move->conn->head.len, lengths[i]);
        assert_int_equal(respond(move), BB_CONN_WAIT);
        assert_null(move->conn->in.data);
        say_text(move, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n", BB_CONN_REQUEST);
        end(move);
    }
}

/* Head and body are both too long for the message. */
static void test_head_and_body_move_as_files(void **state)
{
    (void)state;
    static char head[30001], body[30000];
    struct move *move = begin();
    int len = snprintf(head, sizeof head,
                       "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\nX-Long: ", sizeof body);
    memset(head + len, 'h', sizeof head - 1 - (size_t)len);
    memcpy(head + sizeof head - 5, "\r\n\r\n", 5);
    memset(body, 'b', sizeof body);
    say_text(move, head, BB_CONN_WAIT);
    assert_int_equal(say(move, body, sizeof body), BB_CONN_REQUEST);
    move_request(move);
    assert_body(move, body, sizeof body);
    end(move);
}

static void test_pipelined_requests_move(void **state)
{
    (void)state;
    struct move *move = begin();
    say_text(move,
             "POST /one HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
             "GET /two HTTP/1.1\r\nHost: x\r\n\r\nGET /three HTTP/1.1\r\nHost: x\r\n\r\n",
             BB_CONN_REQUEST);
    move_request(move);
    assert_target(move, "/one");
    assert_body(move, "abc", 3);
    assert_int_equal(respond(move), BB_CONN_AGAIN);
    take_request(move, bb__conn_advance(move->conn, &move->to.context));
    assert_target(move, "/two");
    assert_int_equal(respond(move), BB_CONN_AGAIN);
    take_request(move, bb__conn_advance(move->conn, &move->to.context));
    assert_target(move, "/three");
    assert_int_equal(move->conn->served, 3);
    assert_int_equal(respond(move), BB_CONN_WAIT);
    end(move);
}

static void set_unbuffered(struct side *side)
{
    strcpy(side->worker->settings.unbuffered_bodies, "/in");
}

#define UNBUFFERED "POST /in HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab"

/* The receiver parses the head as if it were new. */
static void test_an_unbuffered_body_moves(void **state)
{
    (void)state;
    struct move *move = begin();
    set_unbuffered(&move->from);
    set_unbuffered(&move->to);
    move->from.context.read_at = 123456789;
    say_text(move, UNBUFFERED, BB_CONN_REQUEST);
    move_request(move);
    assert_target(move, "/in");
    assert_true(move->request.unbuffered);
    assert_int_equal(move->conn->served, 1);
    assert_int_equal(move->conn->wait.ready_at, 123456789);
    assert_int_equal(bb__conn_move_rest(move->conn), BB_OK);
    assert_int_equal(bb__buf_len(&move->conn->unbuffered->rest), 2);
    end(move);
}

static void test_the_receiver_may_buffer_the_body(void **state)
{
    (void)state;
    struct move *move = begin();
    set_unbuffered(&move->from);
    say_text(move, UNBUFFERED, BB_CONN_REQUEST);
    move_it(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    say_text(move, "cd", BB_CONN_REQUEST);
    take_request(move, BB_CONN_REQUEST);
    assert_body(move, "abcd", 4);
    assert_int_equal(move->conn->served, 1);
    end(move);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_idle_connection_moves),
        cmocka_unit_test(test_a_connection_without_a_request_moves),
        cmocka_unit_test(test_the_client_sees_the_end_of_a_connection_that_has_moved),
        cmocka_unit_test(test_the_data_of_the_client_move),
        cmocka_unit_test(test_a_HEAD_request_moves),
        cmocka_unit_test(test_a_body_in_the_buffer_of_its_head_moves),
        cmocka_unit_test(test_a_body_in_memory_or_in_a_file_moves),
        cmocka_unit_test(test_a_long_head_moves),
        cmocka_unit_test(test_head_and_body_move_as_files),
        cmocka_unit_test(test_pipelined_requests_move),
        cmocka_unit_test(test_an_unbuffered_body_moves),
        cmocka_unit_test(test_the_receiver_may_buffer_the_body),
    };
    return cmocka_run_group_tests_name("conn_transfer", tests, NULL, NULL);
}
