/* conn_unservable_test.c: a worker (the receiver) gets a connection in a message of the shared queue. The
 * sender is a worker of another version or configuration. If the receiver cannot serve the connection, it
 * puts the message back into the queue for another worker, or responds with 503. It never resets the
 * connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn_transfer_case.h"
#include "lane/conn_set.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

/* Sets the number and address of the receiver's only listener. */
static void listens_at(struct move *move, unsigned number, uint64_t address)
{
    move->to.worker->listen.numbers = UINT64_C(1) << number;
    move->to.worker->listen.addresses[number] = address;
}

static struct move *begin_at(uint64_t address)
{
    struct move *move = begin();
    move->from.worker->listen.addresses[LISTENER] = address;
    return move;
}

static void assert_says(struct move *move, const char *response)
{
    char bytes[512] = "";
    ssize_t got = recv(move->sockets.theirs, bytes, sizeof bytes - 1, MSG_DONTWAIT);
    assert_int_equal(got >= (ssize_t)strlen(response), 1);
    bytes[strlen(response)] = '\0';
    assert_string_equal(bytes, response);
}

/* Asserts that the client sees an orderly close and no reset. */
static void assert_end(struct move *move)
{
    char bytes[512];
    while (recv(move->sockets.theirs, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
    assert_int_equal(recv(move->sockets.theirs, bytes, sizeof bytes, MSG_DONTWAIT), 0);
}

static void assert_is_refused(struct move *move)
{
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->state, BB_CONN_LINGER);
    assert_says(move, "HTTP/1.1 503 ");
    assert_end(move);
    assert_int_equal(move->to.context.events.count, 1);
    assert_int_equal(move->to.context.events.items[0].status, 503);
}

static void test_a_listener_is_known_by_its_address(void **state)
{
    (void)state;
    static const unsigned numbers[] = {LISTENER, 3, BB_LISTENERS_MAX - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct move *move = begin_at(77);
        listens_at(move, numbers[i], 77);
        say_text(move, REQUEST, BB_CONN_REQUEST);
        move_request(move);
        assert_int_equal(move->request.listener, numbers[i]);
        end(move);
    }
}

/* The receiver's listener has the number LISTENER, but another address. */
static void test_a_request_of_an_unknown_listener_is_answered(void **state)
{
    (void)state;
    struct move *move = begin_at(77);
    listens_at(move, LISTENER, 78);
    say_text(move, REQUEST, BB_CONN_REQUEST);
    move_it(move);
    assert_is_refused(move);
    end(move);
}

static void test_half_a_head_of_an_unknown_listener_is_answered(void **state)
{
    (void)state;
    struct move *move = begin_at(77);
    listens_at(move, LISTENER, 78);
    say_text(move, "GET / HT", BB_CONN_WAIT);
    move_it(move);
    assert_is_refused(move);
    end(move);
}

static void test_an_idle_connection_of_an_unknown_listener_ends(void **state)
{
    (void)state;
    struct move *move = begin_at(77);
    listens_at(move, LISTENER, 78);
    move_it(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->state, BB_CONN_LINGER);
    assert_end(move);
    end(move);
}

static void test_a_request_beyond_a_limit_is_answered(void **state)
{
    (void)state;
    struct move *move = begin();
    say_text(move, "GET / HTTP/1.1\r\nHost: x\r\nOne: 1\r\nTwo: 2\r\n\r\n", BB_CONN_REQUEST);
    move_it(move);
    move->to.context.head_limits.max_fields = 2;
    assert_is_refused(move);
    end(move);
}

/* ---- sent back ---- */

static enum bb__received receive(struct move *move, struct bb__conn_set *set, struct bb__conn **conn)
{
    struct bb__event_pace lost = {0};
    move->to.context.timeouts = &set->timeouts;
    return bb__conn_set_receive(set, &move->to.context, &move->shared_queue, &lost, conn);
}

static uint8_t times_sent_back(const struct move *move)
{
    struct bb__shared_stamp stamp;
    assert_int_equal(bb__shared_queue_look(&move->shared_queue, &stamp), BB_OK);
    return stamp.sent_back;
}

/* The receiver puts the message back three times, so that another worker can receive it. When the receiver
 * gets the message for the fourth time, it responds. */
static void test_a_useless_request_is_left_to_other_workers_first(void **state)
{
    (void)state;
    struct move *move = begin_at(77);
    atomic_uint_fast64_t count = 0;
    struct bb__conn_set set;
    struct bb__conn *conn;
    listens_at(move, LISTENER, 78);
    say_text(move, REQUEST, BB_CONN_REQUEST);
    leave(move);
    assert_int_equal(bb__conn_set_open(&set, &move->to.worker->settings, &count), BB_OK);
    for (uint8_t times = 1; times <= 3; times++) {
        assert_int_equal(receive(move, &set, &conn), BB_RECEIVED_MESSAGE);
        assert_null(conn);
        assert_int_equal(times_sent_back(move), times);
    }
    assert_int_equal(receive(move, &set, &conn), BB_RECEIVED_MESSAGE);
    assert_non_null(conn);
    assert_int_equal(bb__conn_resume(conn, &move->to.context), BB_CONN_WAIT);
    assert_says(move, "HTTP/1.1 503 ");
    bb__conn_set_end(&set, &move->to.context, conn, BB_CONN_END_CLOSE);
    bb__conn_set_close(&set);
    move->to.context.timeouts = &move->to.timeouts;
    end(move);
}

/* A message that is put back keeps the whole request and the time at which the request began to wait. */
static void test_a_worker_that_can_use_a_request_serves_it(void **state)
{
    (void)state;
    struct move *move = begin_at(77);
    atomic_uint_fast64_t count = 0;
    struct bb__conn_set set;
    struct bb__conn *conn;
    struct bb__shared_stamp before, after;
    say_text(move, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", BB_CONN_WAIT);
    say_text(move, "hello", BB_CONN_REQUEST);
    bb__conn_has_to_wait(move->conn);
    leave(move);
    assert_int_equal(bb__conn_set_open(&set, &move->to.worker->settings, &count), BB_OK);
    listens_at(move, LISTENER, 78);
    assert_int_equal(bb__shared_queue_look(&move->shared_queue, &before), BB_OK);
    assert_int_equal(receive(move, &set, &conn), BB_RECEIVED_MESSAGE);
    assert_int_equal(bb__shared_queue_look(&move->shared_queue, &after), BB_OK);
    assert_int_equal(after.since, before.since);
    assert_true(after.has_request);
    listens_at(move, 2, 77);
    move->to.context.timeouts = &move->to.timeouts;
    arrive(move);
    take_request(move, bb__conn_resume(move->conn, &move->to.context));
    assert_body(move, "hello", 5);
    assert_int_equal(move->request.listener, 2);
    bb__conn_set_close(&set);
    end(move);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_listener_is_known_by_its_address),
        cmocka_unit_test(test_a_request_of_an_unknown_listener_is_answered),
        cmocka_unit_test(test_half_a_head_of_an_unknown_listener_is_answered),
        cmocka_unit_test(test_an_idle_connection_of_an_unknown_listener_ends),
        cmocka_unit_test(test_a_request_beyond_a_limit_is_answered),
        cmocka_unit_test(test_a_useless_request_is_left_to_other_workers_first),
        cmocka_unit_test(test_a_worker_that_can_use_a_request_serves_it),
    };
    return cmocka_run_group_tests_name("conn_unservable", tests, NULL, NULL);
}
