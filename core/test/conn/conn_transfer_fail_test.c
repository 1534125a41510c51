/* conn_transfer_fail_test.c: a connection that cannot move to another lane stays as it is. If a connection
 * does not arrive whole, the receiver resets it. Neither lane leaks memory or descriptors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "conn_transfer_case.h"
#include "support/fail_alloc.h"

/* ---- messages that are not whole ---- */

static void assert_client_is_reset(struct move *move)
{
    char byte;
    assert_int_equal(recv(move->sockets.theirs, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, ECONNRESET);
}

/* Begins a connection with a head that is too long for the message. The message carries the head as a file.
 * If `length` is not 0, the message carries a body of `length` bytes as another file. */
static struct move *begin_long(size_t length)
{
    static char bytes[60000];
    struct move *move = begin();
    int len = snprintf(bytes, sizeof bytes,
                       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\nX-Long: ", length);
    memset(bytes + len, 'l', 30000 - (size_t)len);
    memcpy(bytes + 30000 - 4, "\r\n\r\n", 5);
    say_text(move, bytes, length > 0 ? BB_CONN_WAIT : BB_CONN_REQUEST);
    if (length > 0) assert_int_equal(say(move, bytes, length), BB_CONN_REQUEST);
    return move;
}

static struct move *begin_short(void)
{
    struct move *move = begin();
    say_text(move, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", BB_CONN_WAIT);
    say_text(move, "hello", BB_CONN_REQUEST);
    return move;
}

static struct move *begin_nth(int kind)
{
    return kind == 0 ? begin_short() : begin_long(kind == 1 ? 0 : 5000);
}

static void test_each_allocation_of_an_arrival_fails_once(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool failed = true;
        for (unsigned n = 1; failed; n++) {
            struct move *move = begin_nth(kind);
            leave(move);
            fail_alloc_at(n);
            arrive(move);
            failed = fail_alloc_off();
            if (failed) assert_null(move->conn);
            if (failed) assert_client_is_reset(move);
            if (!failed) assert_non_null(move->conn);
            if (!failed) assert_true(n > 1);
            end(move);
        }
    }
}

/* The core never sends a message that is shorter than its fields say, or that lacks descriptors. If such a
 * message comes, the receiver resets the connection. */
static void test_a_message_that_is_cut_resets_its_client(void **state)
{
    (void)state;
    size_t whole = 1;
    for (size_t len = 0; len < whole; len++) {
        struct move *move = begin_short();
        struct bb__shared_message message;
        leave(move);
        assert_int_equal(bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message),
                         BB_OK);
        whole = message.len;
        assert_int_equal(message.fd_count, 1);
        char *exact = malloc(len); /* ASan detects a read beyond this block */
        memcpy(exact, move->to.context.scratch, len);
        message.len = len;
        assert_null(bb__conn_receive(&move->to.context, exact, &message));
        free(exact);
        assert_client_is_reset(move);
        end(move);
    }
    assert_true(whole > 1);
}

static void test_a_message_without_its_descriptors_resets_its_client(void **state)
{
    (void)state;
    for (size_t left = 0; left < BB_SHARED_QUEUE_FDS; left++) {
        struct move *move = begin_long(5000);
        struct bb__shared_message message;
        leave(move);
        assert_int_equal(bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message),
                         BB_OK);
        assert_int_equal(message.fd_count, BB_SHARED_QUEUE_FDS);
        while (message.fd_count > left) close(message.fds[--message.fd_count]);
        assert_null(bb__conn_receive(&move->to.context, move->to.context.scratch, &message));
        if (left > 0) assert_client_is_reset(move);
        end(move);
    }
}

static void test_a_message_with_a_short_file_resets_its_client(void **state)
{
    (void)state;
    for (int file = 1; file < BB_SHARED_QUEUE_FDS; file++) {
        struct move *move = begin_long(5000);
        struct bb__shared_message message;
        leave(move);
        assert_int_equal(bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message),
                         BB_OK);
        close(message.fds[file]);
        assert_true((message.fds[file] = bb__shared_queue_make_file("short", 5)) >= 0);
        assert_null(bb__conn_receive(&move->to.context, move->to.context.scratch, &message));
        assert_client_is_reset(move);
        end(move);
    }
}

/* ---- messages of another version ---- */

/* The first word of a message is its layout. The second word is the length of the part that all versions
 * read. */
static void assert_arrives(size_t word, unsigned difference, bool arrives, bool useless)
{
    struct move *move = begin_short();
    struct bb__shared_message message;
    unsigned value;
    char *at = move->to.context.scratch + word * sizeof value;
    leave(move);
    assert_int_equal(bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message), BB_OK);
    memcpy(&value, at, sizeof value);
    value += difference;
    memcpy(at, &value, sizeof value);
    move->here = &move->to;
    move->conn = bb__conn_receive(&move->to.context, move->to.context.scratch, &message);
    assert_int_equal(move->conn != NULL, arrives);
    if (arrives) assert_int_equal(move->conn->useless, useless);
    if (!arrives) assert_client_is_reset(move);
    end(move);
}

static void test_a_message_of_another_layout_is_useless(void **state)
{
    (void)state;
    assert_arrives(0, 0, true, false);
    assert_arrives(0, 1, true, true);
    assert_arrives(0, 0U - 1, true, true);
    assert_arrives(1, 0U - 1000, false, false); /* an overflow makes this length larger than the message */
    assert_arrives(1, 1U << 30, false, false);
}

/* A newer sender may append fields that the receiver does not know. The message of an older sender may lack
 * the last fields. */
static void test_a_message_with_more_or_fewer_fields_is_read(void **state)
{
    (void)state;
    for (int difference = -56; difference <= 56; difference += 112) {
        const char *peer =
            difference < 0 ? "2001:db8:47" : "2001:db8:47::1"; /* cut, because the last fields lack */
        struct move *move = begin_short();
        struct bb__shared_message message;
        char *bytes = move->to.context.scratch;
        unsigned size;
        leave(move);
        assert_int_equal(bb__shared_queue_take(&move->shared_queue, bytes, &message), BB_OK);
        memcpy(&size, bytes + sizeof size, sizeof size);
        memmove(bytes + size + difference, bytes + size, message.len - size);
        message.len += (size_t)difference;
        size += (unsigned)difference;
        memcpy(bytes + sizeof size, &size, sizeof size);
        move->here = &move->to;
        move->conn = bb__conn_receive(&move->to.context, bytes, &message);
        assert_non_null(move->conn);
        take_request(move, bb__conn_resume(move->conn, &move->to.context));
        assert_body(move, "hello", 5);
        assert_string_equal(move->request.peer.at, peer);
        assert_int_equal(move->request.peer_port, difference < 0 ? 0 : 4711);
        end(move);
    }
}

static void test_a_connection_of_an_unknown_listener_is_useless(void **state)
{
    (void)state;
    static const uint8_t others[] = {0, LISTENER + 1, BB_LISTENERS_MAX - 1};
    for (size_t i = 0; i < sizeof others; i++) {
        struct move *move = begin_short();
        move->conn->listener = others[i];
        leave(move);
        arrive(move);
        assert_true(move->conn->useless);
        end(move);
    }
}

static void test_a_nudge_is_no_connection(void **state)
{
    (void)state;
    struct move *move = begin();
    struct bb__conn *conn = move->conn;
    const struct iovec word = {(char *)"", 1};
    assert_int_equal(bb__shared_queue_send(&move->shared_queue, 0, &word, 1, NULL, 0), BB_OK);
    arrive(move);
    assert_null(move->conn);
    move->conn = conn;
    move->here = &move->from;
    end(move);
}

/* ---- connections that cannot leave ---- */

static void test_a_connection_stays_as_it_is_if_the_queue_is_full(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct move *move = begin_nth(kind);
        static const char text[1000];
        const struct iovec filler = {(char *)text, sizeof text};
        int before = open_descriptors();
        while (bb__shared_queue_send(&move->shared_queue, 0, &filler, 1, NULL, 0) == BB_OK) continue;
        assert_int_equal(
            bb__conn_transfer(move->conn, move->from.worker->listen.addresses, &move->shared_queue),
            BB_AGAIN);
        assert_int_equal(open_descriptors(), before);
        struct bb__shared_message message;
        while (bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message) == BB_OK)
            continue;
        move_request(move);
        assert_target(move, "/");
        end(move);
    }
}

static void test_a_connection_stays_as_it_is_if_no_file_can_be_created(void **state)
{
    (void)state;
    for (int room = 0; room < 2; room++) {
        struct move *move = begin_long(5000);
        int before = open_descriptors(), lowest = dup(0);
        struct rlimit limit, few;
        close(lowest);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
        few = limit;
        few.rlim_cur = (rlim_t)(lowest + room);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        assert_int_equal(
            bb__conn_transfer(move->conn, move->from.worker->listen.addresses, &move->shared_queue),
            BB_ESYSTEM);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        assert_int_equal(open_descriptors(), before);
        move_request(move);
        assert_int_equal(move->request.body_length, 5000);
        end(move);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_of_an_arrival_fails_once),
        cmocka_unit_test(test_a_message_that_is_cut_resets_its_client),
        cmocka_unit_test(test_a_message_without_its_descriptors_resets_its_client),
        cmocka_unit_test(test_a_message_with_a_short_file_resets_its_client),
        cmocka_unit_test(test_a_message_of_another_layout_is_useless),
        cmocka_unit_test(test_a_message_with_more_or_fewer_fields_is_read),
        cmocka_unit_test(test_a_connection_of_an_unknown_listener_is_useless),
        cmocka_unit_test(test_a_nudge_is_no_connection),
        cmocka_unit_test(test_a_connection_stays_as_it_is_if_the_queue_is_full),
        cmocka_unit_test(test_a_connection_stays_as_it_is_if_no_file_can_be_created),
    };
    return cmocka_run_group_tests_name("conn_transfer_fail", tests, NULL, NULL);
}
