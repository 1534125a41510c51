/* conn_transfer_case.h: support for tests that move a connection from one lane to another lane through the
 * shared queue. Two connection contexts stand for the two lanes. */
#ifndef BB_TEST_CONN_TRANSFER_CASE_H
#define BB_TEST_CONN_TRANSFER_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn_transfer.h"
#include "support/descriptors.h"
#include "support/socket_pair.h"
#include "worker/worker.h"

#define THRESHOLD 20000 /* bytes; a longer body goes to a file */
#define LISTENER  9

/* The part of a lane that its connections need. */
struct side {
    struct bb_worker *worker;
    struct bb__conn_context context;
    struct bb__timeouts timeouts;
};

struct move {
    struct side from, to, *here; /* here: the side that has the connection */
    struct bb__shared_queue shared_queue;
    struct pair sockets; /* theirs: the socket of the client */
    struct bb__conn *conn;
    struct bb_request request; /* the request that the receiver has read */
    int descriptors;
};

static inline void open_side(struct side *side)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    settings.spool_threshold = THRESHOLD;
    assert_int_equal(bb_worker_new(&side->worker, &settings), BB_OK);
    side->worker->listen.numbers = 1 << LISTENER;
    assert_int_equal(bb__conn_context_open(&side->context, side->worker), BB_OK);
    side->context.timeouts = &side->timeouts;
    bb__conn_set_durations(&side->timeouts, &side->worker->settings);
}

static inline void close_side(struct side *side)
{
    for (int kind = 0; kind < BB_TIMEOUT_KINDS; kind++)
        assert_null(bb__timeout_oldest(&side->timeouts, (enum bb__timeout_kind)kind));
    assert_int_equal(side->worker->spool_budget.used, 0);
    bb__conn_context_close(&side->context);
    bb_worker_free(side->worker);
}

static inline struct move *begin_with(struct pair (*connect_two)(void))
{
    struct move *move = calloc(1, sizeof *move);
    move->descriptors = open_descriptors();
    open_side(&move->from);
    open_side(&move->to);
    assert_int_equal(bb__shared_queue_open(&move->shared_queue), BB_OK);
    move->sockets = connect_two();
    move->here = &move->from;
    move->conn = bb__conn_new(move->sockets.ours, &move->from.context);
    assert_non_null(move->conn);
    move->conn->tcp = true;
    move->conn->listener = LISTENER;
    move->conn->peer = (struct bb__peer){"2001:db8:47::1", 4711};
    return move;
}

static inline struct move *begin(void)
{
    return begin_with(tcp_pair);
}

static inline void end(struct move *move)
{
    if (move->conn) bb__conn_free(move->conn, &move->here->context, BB_CONN_END_CLOSE);
    close(move->sockets.theirs);
    bb__shared_queue_close(&move->shared_queue);
    close_side(&move->from);
    close_side(&move->to);
    assert_int_equal(open_descriptors(), move->descriptors);
    free(move);
}

/* ---- the sender ---- */

static inline enum bb__conn_next say(struct move *move, const char *bytes, size_t len)
{
    enum bb__conn_next next = BB_CONN_WAIT;
    assert_int_equal(send(move->sockets.theirs, bytes, len, MSG_NOSIGNAL), len);
    for (size_t had = SIZE_MAX;
         next == BB_CONN_WAIT && had != move->conn->in.end + move->conn->spool.length;) {
        had = move->conn->in.end + move->conn->spool.length;
        next = bb__conn_on_ready(move->conn, &move->here->context, BB_INTEREST_READ);
    }
    return next;
}

static inline void say_text(struct move *move, const char *text, enum bb__conn_next expected)
{
    assert_int_equal(say(move, text, strlen(text)), expected);
}

static inline void leave(struct move *move)
{
    assert_int_equal(bb__conn_transfer(move->conn, move->from.worker->listen.addresses, &move->shared_queue),
                     BB_OK);
    bb__conn_free(move->conn, &move->from.context, BB_CONN_END_ABANDON);
    move->conn = NULL;
}

/* ---- the receiver ---- */

static inline void arrive(struct move *move)
{
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(&move->shared_queue, move->to.context.scratch, &message), BB_OK);
    move->here = &move->to;
    move->conn = bb__conn_receive(&move->to.context, move->to.context.scratch, &message);
}

/* Fills `request` from the connection that has arrived. */
static inline void take_request(struct move *move, enum bb__conn_next next)
{
    assert_int_equal(next, BB_CONN_REQUEST);
    bb__conn_fill_request(move->conn, &move->to.context, &move->request);
}

static inline enum bb__conn_next respond(struct move *move)
{
    move->conn->keep_alive = true;
    return bb__conn_response_done(move->conn, &move->to.context);
}

static inline void move_it(struct move *move)
{
    leave(move);
    arrive(move);
    assert_non_null(move->conn);
}

static inline void move_request(struct move *move)
{
    move_it(move);
    take_request(move, bb__conn_resume(move->conn, &move->to.context));
}

static inline void assert_target(const struct move *move, const char *target)
{
    assert_int_equal(move->request.head.target.len, strlen(target));
    assert_memory_equal(move->request.head.target.at, target, strlen(target));
}

static inline void assert_body(const struct move *move, const char *body, size_t len)
{
    const struct bb_request *request = &move->request;
    assert_int_equal(request->body_length, len);
    if (request->body) {
        assert_memory_equal(request->body, body, len);
    } else if (len > 0) {
        char *read_back = malloc(len);
        assert_int_equal(pread(request->body_fd, read_back, len, 0), len);
        assert_memory_equal(read_back, body, len);
        free(read_back);
    }
}

#endif
