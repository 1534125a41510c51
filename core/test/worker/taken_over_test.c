/* taken_over_test.c: two servers share a queue, and each has a scoreboard of its own. One of them
 * drains, that is, ends gracefully. The other one takes over the connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static const enum bb_queue modes[] = {BB_QUEUE_TAKE, BB_QUEUE_LEAVE};

static struct bb_scoreboard *scoreboard;

static struct host *begin(void)
{
    struct host *host = host_new_default(AF_UNIX);
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    host_enter_scoreboard(host, scoreboard);
    return host;
}

static void end(struct host *host)
{
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

static struct client *new_served(struct host *host)
{
    struct client *client = client_new_saying(host, REQUEST);
    assert_response(client, 200, "GET / ");
    return client;
}

/* Takes a message out of the queue, and closes its descriptors. Returns the number of descriptors. */
static size_t take(struct host *host, struct bb__shared_message *message)
{
    char bytes[BB_SHARED_QUEUE_BYTES];
    assert_int_equal(bb__shared_queue_take(&host->worker->shared.queue, bytes, message), BB_OK);
    for (size_t i = 0; i < message->fd_count; i++) close(message->fds[i]);
    return message->fd_count;
}

/* The worker has ended, and the client's connection is in the queue. */
static void end_handed_over(struct host *host, struct client *client)
{
    struct bb__shared_message message;
    host_settle(host);
    assert_int_equal(host->last, BB_DRAINED);
    assert_int_equal(take(host, &message), 1);
    client_free(client);
    end(host);
}

static void test_the_other_server_gets_idle_connections(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct host *host = begin();
        struct client *client = new_served(host);
        bb_scoreboard_set_taken_over(scoreboard, true);
        bb_worker_drain(host->worker, modes[i]);
        end_handed_over(host, client);
    }
}

/* The response does not ask the client to close the connection. */
static void test_the_other_server_gets_a_connection_after_its_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const struct bb_request *request;
        struct host *host = begin();
        struct client *client = new_served(host);
        client_say(client, REQUEST);
        assert_int_equal(bb_lane_wait(host->lane), BB_OK);
        assert_int_equal(bb_lane_next(host->lane, &request), BB_OK);
        bb_scoreboard_set_taken_over(scoreboard, true);
        bb_worker_drain(host->worker, modes[i]);
        app_echo(host, request);
        assert_true(client_read(client, true));
        assert_null(client_field(client, "Connection"));
        end_handed_over(host, client);
    }
}

static void test_one_scoreboard_counts_the_requests_of_both_servers(void **state)
{
    (void)state;
    struct bb_scoreboard *counter;
    struct bb__shared_message message;
    struct host *host = begin();
    assert_int_equal(bb_scoreboard_new(&counter, 4), BB_OK);
    atomic_store(&counter->memory->turns, 7);
    bb_worker_queue_counter(host->worker, counter);
    bb__shared_queue_nudge(&host->worker->shared.queue);
    atomic_store(&bb__scoreboard_claim(scoreboard)->pid, 1);
    bb_scoreboard_clear(scoreboard, 1, host->worker->shared.queue.in, counter);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(host, &message), 0);
        assert_int_equal(message.stamp.turn, 7);
    }
    end(host);
    bb_scoreboard_free(counter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_other_server_gets_idle_connections),
        cmocka_unit_test(test_the_other_server_gets_a_connection_after_its_request),
        cmocka_unit_test(test_one_scoreboard_counts_the_requests_of_both_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
