/* io_work_test.c: the work of the I/O thread on one connection set (the connections of one lane, a thread
 * that serves requests). No I/O thread runs in this test. The test itself calls the functions that an I/O
 * thread would call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/client.h"
#include "support/fail_shared_queue.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"
#include "support/few_descriptors.h"

#define CLIENTS       3
#define QUEUE_TIMEOUT 1000

/* A busy lane and its connections. */
struct crew {
    struct bb_scoreboard *scoreboard;
    struct host *host;
    struct bb__io_thread io;
    struct client *clients[CLIENTS];
    struct bb__conn *conns[CLIENTS];
};

static struct crew *new_crew(uint64_t queue_timeout)
{
    struct crew *crew = calloc(1, sizeof *crew);
    struct bb_settings settings = host_settings();
    settings.queue_timeout = queue_timeout;
    struct host *host = crew->host = host_new(&settings, AF_UNIX);
    assert_int_equal(bb_scoreboard_new(&crew->scoreboard, 2), BB_OK);
    host_enter_scoreboard(host, crew->scoreboard);
    for (int i = 0; i < CLIENTS; i++) {
        client_say(crew->clients[i] = client_new(host), "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_response(crew->clients[i], 200, "GET /first ");
        crew->conns[i] = host->lane->set.conns;
    }
    crew->io = (struct bb__io_thread){.worker = host->worker, .link.kick.fd = -1, .link.queue.fd = -1};
    assert_int_equal(bb__conn_context_open(&crew->io.context, host->worker), BB_OK);
    crew->io.context.timeouts = &host->lane->set.timeouts;
    bb__owner_begin(&host->lane->owner);
    assert_true(bb__owner_take(&host->lane->owner, bb__owner_look(&host->lane->owner)));
    return crew;
}

static void free_crew(struct crew *crew)
{
    assert_true(bb__owner_park(&crew->host->lane->owner));
    assert_true(bb__owner_return(&crew->host->lane->owner));
    bb__conn_context_close(&crew->io.context);
    for (int i = 0; i < CLIENTS; i++) client_free(crew->clients[i]);
    host_free(crew->host);
    bb_scoreboard_free(crew->scoreboard);
    free(crew);
}

/* Each client sends a request, and the I/O thread reads it. The I/O thread tries to put the requests into the
 * shared queue. */
static void ask(struct crew *crew)
{
    struct bb_lane *lane = crew->host->lane;
    for (int i = 0; i < CLIENTS; i++) {
        char request[64];
        snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        client_say(crew->clients[i], request);
        bb__io_settle(&crew->io, lane, crew->conns[i],
                      bb__conn_on_ready(crew->conns[i], &crew->io.context, BB_INTEREST_READ));
    }
}

static void look(struct crew *crew)
{
    struct bb_lane *lane = crew->host->lane;
    crew->io.context.now = bb__clock_ms();
    bb__io_go_on(&crew->io, lane);
    assert_true(bb__owner_unpark(&lane->owner));
}

/* Returns the number of the request in the queue's next message, or -1 if there is no message. */
static int take_message(const struct crew *crew)
{
    static char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    if (bb__shared_queue_take(&crew->host->worker->shared.queue, bytes, &message) != BB_OK) return -1;
    while (message.fd_count > 0) close(message.fds[--message.fd_count]);
    const char *target = memmem(bytes, message.len, "GET /", 5);
    assert_non_null(target);
    return target[5] - '0';
}

/* If the first request does not fit into the shared queue, the I/O thread does not try the requests behind
 * it, because there may be thousands. */
static void test_a_request_without_room_in_the_shared_queue_keeps_its_turn(void **state)
{
    (void)state;
    struct crew *crew = new_crew(0);
    fail_shared_queue.tries = 0;
    fail_shared_queue.failures = 1;
    ask(crew);
    assert_int_equal(take_message(crew), -1);
    assert_int_equal(fail_shared_queue.tries, 1);
    fail_shared_queue.failures = 1;
    look(crew);
    assert_int_equal(take_message(crew), -1);
    assert_int_equal(fail_shared_queue.tries, 2);
    look(crew);
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(take_message(crew), i);
    assert_int_equal(take_message(crew), -1);
    assert_null(crew->host->lane->set.ready_first);
    free_crew(crew);
}

/* The connections have pipelined requests that do not fit into the shared queue. Their sockets have more
 * bytes, so each poll would report these sockets. */
static void test_connections_that_wait_for_room_are_not_polled(void **state)
{
    (void)state;
    struct crew *crew = new_crew(0);
    struct bb__conn_set *set = &crew->host->lane->set;
    char request[64];
    for (int i = 0; i < CLIENTS; i++) {
        snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        client_say(crew->clients[i], request);
        assert_int_equal(bb__conn_on_ready(crew->conns[i], &crew->io.context, BB_INTEREST_READ),
                         BB_CONN_REQUEST);
        crew->conns[i]->state = BB_CONN_HEAD;
        crew->conns[i]->head.seen = 0;
        (void)bb__conn_set_settle(set, &crew->io.context, crew->conns[i], BB_CONN_AGAIN);
        client_say(crew->clients[i], "GET /more HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    fail_shared_queue.failures = 2;
    for (int looks = 0; looks < 2; looks++) {
        look(crew);
        assert_true(would_wait(crew->host));
        assert_true(crew->host->lane->watched.due > crew->io.context.now);
    }
    look(crew);
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(take_message(crew), i);
    free_crew(crew);
}

/* With `reserve` 0, all descriptors are reserved for the host. The I/O thread notices this when it takes the
 * first connection from the queue. So the I/O thread leaves the other overdue requests in the queue. */
static void test_overdue_requests_are_taken_while_there_is_room(void **state)
{
    (void)state;
    struct crew *crew = new_crew(QUEUE_TIMEOUT);
    ask(crew);
    fake_clock_advance(QUEUE_TIMEOUT);
    crew->host->worker->room.reserve = 0;
    look(crew);
    assert_int_equal(host_connections(crew->host), 1);
    assert_int_equal(take_message(crew), 1);
    assert_int_equal(take_message(crew), 2);
    assert_int_equal(take_message(crew), -1);
    free_crew(crew);
}

/* The I/O thread cannot know that descriptors have run out until it has lost a connection. It leaves the
 * other requests in the queue. */
static void test_overdue_requests_wait_for_a_descriptor(void **state)
{
    LINUX_ONLY;
    (void)state;
    struct crew *crew = new_crew(QUEUE_TIMEOUT);
    ask(crew);
    fake_clock_advance(QUEUE_TIMEOUT);
    limit_descriptors(0);
    look(crew);
    unlimit_descriptors();
    assert_int_equal(take_message(crew), 1);
    assert_int_equal(take_message(crew), 2);
    assert_int_equal(take_message(crew), -1);
    free_crew(crew);
}

/* A second later, an event reports the number of events left out, although no connection is lost in this
 * second. */
static void test_the_number_of_lost_connections_is_reported(void **state)
{
    (void)state;
    struct crew *crew = new_crew(0);
    struct bb__conn_context *context = &crew->io.context;
    const struct bb_event lost = {.text = "lost"};
    struct bb_event event;
    for (int i = 0; i < 3; i++) bb__event_add_paced(&context->events, &crew->io.lost, context->now, &lost);
    bb__io_tell(&crew->io);
    assert_int_equal(bb_worker_event(crew->host->worker, &event), BB_OK);
    assert_int_equal(bb_worker_event(crew->host->worker, &event), BB_AGAIN);
    context->now += 1000;
    bb__io_tell(&crew->io);
    assert_int_equal(bb_worker_event(crew->host->worker, &event), BB_OK);
    assert_int_equal(event.left_out, 1);
    free_crew(crew);
}

/* The lane has a client that reads slowly, whose response is in a file. */
static struct bb__conn *new_slow_reader(struct crew *crew)
{
    struct bb__conn *conn = crew->conns[0];
    struct bb__conn_context *context = &crew->io.context;
    assert_int_equal(bb__response_spool_append(&conn->response_spool, context->spool_budget, "x", 1), BB_OK);
    assert_int_equal(bb__response_spool_take(&conn->response_spool, &conn->out), BB_OK);
    bb__conn_note_owed(conn, context, bb__conn_unsent(conn));
    (void)bb__conn_await_taking(conn, context);
    return conn;
}

static void check_readers(struct crew *crew, uint64_t taking)
{
    struct bb_lane *lane = crew->host->lane;
    atomic_store(&lane->reply.waits, true);
    atomic_store(&lane->reply.taking, taking);
    atomic_store(&lane->intake.slot->taking, 1);
    crew->io.context.now = fake_clock;
    bb__io_let_go(lane);
    bb__io_check_readers(&crew->io);
    assert_true(bb__owner_unpark(&lane->owner));
}

/* The I/O thread has seen that a lane waits for its client. When it reads the rate of this client, the lane
 * has begun another request, and shows no rate. */
static void test_no_client_is_reset_for_a_lane_that_waits_no_more(void **state)
{
    (void)state;
    struct crew *crew = new_crew(0);
    crew->conns[0] = new_slow_reader(crew);
    struct client *new_client = client_new(crew->host);
    check_readers(crew, 0);
    fake_clock_advance(1000);
    check_readers(crew, 0);
    assert_int_equal(host_connections(crew->host), CLIENTS);
    check_readers(crew, UINT64_MAX);
    assert_int_equal(host_connections(crew->host), CLIENTS - 1);
    client_free(new_client);
    free_crew(crew);
}

static void await_client(struct bb_lane *lane, struct bb__conn *conn)
{
    lane->current = conn;
    atomic_store(&lane->reply.waits, true);
    atomic_store(&lane->reply.taking, 1);
    atomic_store(&lane->intake.slot->taking, 1);
}

/* Both lanes of the server wait for clients that have taken nothing. Another request needs one lane. */
static void test_one_of_two_equally_slow_clients_is_reset(void **state)
{
    (void)state;
    struct crew *crew = new_crew(0);
    struct bb_lane *first = crew->host->lane, *second;
    struct client *new_client = client_new(crew->host);
    assert_int_equal(bb_lane_new(&second, crew->host->worker), BB_OK);
    bb__owner_begin(&second->owner);
    assert_true(bb__owner_take(&second->owner, bb__owner_look(&second->owner)));
    await_client(first, crew->conns[0]);
    await_client(second, crew->conns[1]);
    bb__io_let_go(first);
    bb__io_let_go(second);
    for (int look = 0; look < 2; look++, fake_clock_advance(BB_READERS_LOOK)) {
        crew->io.context.now = fake_clock;
        bb__io_check_readers(&crew->io);
    }
    assert_int_equal(atomic_load(&crew->scoreboard->memory->slow_readers), 1);
    assert_true(bb__owner_unpark(&first->owner));
    assert_true(bb__owner_return(&second->owner));
    first->current = second->current = NULL;
    bb_lane_free(second);
    client_free(new_client);
    free_crew(crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_without_room_in_the_shared_queue_keeps_its_turn),
        cmocka_unit_test(test_connections_that_wait_for_room_are_not_polled),
        cmocka_unit_test(test_overdue_requests_are_taken_while_there_is_room),
        cmocka_unit_test(test_overdue_requests_wait_for_a_descriptor),
        cmocka_unit_test(test_the_number_of_lost_connections_is_reported),
        cmocka_unit_test(test_one_of_two_equally_slow_clients_is_reset),
        cmocka_unit_test(test_no_client_is_reset_for_a_lane_that_waits_no_more),
    };
    return cmocka_run_group_tests_name("io_work", tests, NULL, NULL);
}
