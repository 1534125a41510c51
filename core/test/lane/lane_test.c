/* lane_test.c: the life of a lane: which connection has the next turn, what wakes a lane, and the end of a
 * lane with connections in each state. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/time.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

static struct host *new_host(int family)
{
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    return host_new(&settings, family);
}

/* ---- turns ---- */

#define GREEDY 4
#define EACH   120

/* The requests in the order in which they were served: the first letter of each target. */
static char order[GREEDY * EACH + 1];
static struct client *newcomer;
static unsigned newcomer_at;

static void app_notes_order(struct host *host, const struct bb_request *request)
{
    order[host->served - 1] = request->head.target.at[1];
    if (host->served == newcomer_at) {
        newcomer = client_new(host);
        client_say(newcomer, "GET /n HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    host_respond(host, 200, "", 0);
}

static struct client *new_greedy(struct host *host, char name)
{
    struct client *client = client_new(host);
    char request[] = "GET /? HTTP/1.1\r\nHost: x\r\n\r\n";
    request[5] = name;
    for (int i = 0; i < EACH; i++) client_say(client, request);
    return client;
}

static unsigned longest_run(unsigned end)
{
    unsigned run = 0, longest = 0;
    for (unsigned i = 0; i < end; i++) {
        run = i > 0 && order[i] == order[i - 1] ? run + 1 : 1;
        if (run > longest) longest = run;
    }
    return longest;
}

static void test_greedy_clients_take_turns(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *clients[GREEDY];
    host->app = app_notes_order;
    newcomer_at = 0;
    for (int i = 0; i < GREEDY; i++) clients[i] = new_greedy(host, (char)('a' + i));
    host_settle(host);
    assert_int_equal(host->served, GREEDY * EACH);
    assert_int_equal(longest_run(GREEDY * EACH - EACH), BB_IN_A_ROW);
    for (int i = 0; i < GREEDY; i++) client_free(clients[i]);
    host_free(host);
}

/* A new client waits for at most one turn of one greedy client, not for a turn of each greedy client. */
static void test_a_new_client_comes_before_greedy_ones(void **state)
{
    (void)state;
    /* The new client comes after all greedy clients have been accepted. */
    for (unsigned at = 2 * GREEDY * BB_IN_A_ROW; at < 2 * GREEDY * BB_IN_A_ROW + 40; at++) {
        struct host *host = new_host(AF_UNIX);
        struct client *clients[GREEDY];
        host->app = app_notes_order;
        newcomer_at = at;
        for (int i = 0; i < GREEDY; i++) clients[i] = new_greedy(host, (char)('a' + i));
        host_settle(host);
        const char *served = memchr(order, 'n', sizeof order);
        assert_non_null(served);
        assert_true(served - order <= at + BB_IN_A_ROW);
        for (int i = 0; i < GREEDY; i++) client_free(clients[i]);
        client_free(newcomer);
        host_free(host);
    }
}

/* Other clients always have a request for the lane. The lane must still serve a connection that waits after
 * its turn. */
static struct client *others[2];

#define OTHER(name)                                                                                          \
    (name) == 'o' ? "GET /o HTTP/1.1\r\nHost: x\r\n\r\n" : "GET /p HTTP/1.1\r\nHost: x\r\n\r\n"

static void app_makes_others_come(struct host *host, const struct bb_request *request)
{
    char name = order[host->served - 1] = request->head.target.at[1];
    host_respond(host, 200, "", 0);
    if (name == 'a' || host->served > 300) return;
    while (client_receive(others[name - 'o'])) bb__buf_clear(&others[name - 'o']->in);
    client_say(others[name - 'o'], OTHER(name));
}

static void test_a_connection_that_has_had_its_turn_is_not_forgotten(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    memset(order, 0, sizeof order);
    for (int i = 0; i < 2; i++) others[i] = client_new(host);
    host_settle(host);
    struct client *client = new_greedy(host, 'a');
    for (int i = 0; i < 2; i++) client_say(others[i], OTHER('o' + i));
    host->app = app_makes_others_come;
    host_settle(host);
    const char *last = memrchr(order, 'a', sizeof order);
    assert_non_null(last);
    assert_true(last - order < 200);
    client_free(client);
    for (int i = 0; i < 2; i++) client_free(others[i]);
    host_free(host);
}

static void test_a_greedy_client_that_is_alone_is_not_delayed(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct client *client = new_greedy(host, 'a');
    host->app = app_notes_order;
    newcomer_at = 0;
    host_turn(host);
    assert_int_equal(host->served, EACH);
    client_free(client);
    host_free(host);
}

/* ---- waking ---- */

static void test_a_wake_up_lasts_until_a_wait(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    const struct bb_request *request;
    assert_true(would_wait(host));
    bb_lane_wake(host->lane);
    bb_lane_wake(host->lane);
    host->lane->pick.busy = true; /* so that bb_lane_next() polls before it returns BB_AGAIN */
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    assert_false(would_wait(host));
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_true(would_wait(host));
    host_free(host);
}

static void test_a_timeout_ends_the_wait(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.keepalive_timeout = 30;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    const struct bb_request *request;
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    uint64_t since = real_ms();
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_true(real_ms() - since >= 25);
    fake_clock_advance(30);
    assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
    assert_int_equal(host_connections(host), 0);
    client_free(client);
    host_free(host);
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

static void test_a_signal_ends_the_wait(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct sigaction action = {.sa_handler = ignore};
    const struct timeval soon = {.tv_usec = 2000}; /* repeated, in case the lane does not wait yet */
    const struct itimerval repeated = {.it_value = soon, .it_interval = soon}, never = {.it_value = {0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &repeated, NULL);
    assert_int_equal(bb_lane_wait(host->lane), BB_OK); /* would wait for ever without the signal */
    setitimer(ITIMER_REAL, &never, NULL);
    host_free(host);
}

/* ---- the end of a lane ---- */

static void app_large(struct host *host, const struct bb_request *request)
{
    static char body[8 << 20];
    (void)request;
    host_respond(host, 200, body, sizeof body);
}

/* How a client's connection gets into a state, and how the client sees the connection end. */
struct stage {
    const char *says;
    bool large_response;
    int state; /* state of the connection, enum bb__conn_state */
    enum client_end end;
};

static const struct stage stages[] = {
    {"", false, BB_CONN_HEAD, CLIENT_ENDED},
    {"GET / HT", false, BB_CONN_HEAD, CLIENT_ENDED},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, BB_CONN_HEAD, CLIENT_ENDED},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nbody", false, BB_CONN_BODY, CLIENT_ENDED},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, BB_CONN_BODY,
     CLIENT_ENDED},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", true, BB_CONN_FLUSH, CLIENT_RESET},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n", true, BB_CONN_FLUSH, CLIENT_RESET},
    {"nonsense\r\n\r\n", false, BB_CONN_LINGER, CLIENT_ENDED},
};

static void bring_to(struct client *client, const struct stage *stage)
{
    client->host->app = stage->large_response ? app_large : app_echo;
    client_say(client, stage->says);
    host_settle(client->host);
    assert_int_equal(client->host->lane->set.conns->state, stage->state);
}

static void test_a_lane_is_freed_with_connections_in_each_state(void **state)
{
    (void)state;
    enum { STAGES = sizeof stages / sizeof *stages };
    struct bb_settings settings = host_settings();
    settings.response_buffer = 100 << 20;
    struct host *host = host_new(&settings, AF_INET);
    struct client *clients[STAGES];
    for (int i = 0; i < STAGES; i++) {
        clients[i] = client_new(host);
        bring_to(clients[i], &stages[i]);
    }
    bb_lane_free(host->lane);
    host->lane = NULL;
    for (int i = 0; i < STAGES; i++) {
        uint64_t since = real_ms();
        while (clients[i]->end == CLIENT_OPEN) {
            bb__buf_clear(&clients[i]->in);
            if (!client_receive(clients[i])) assert_true(real_ms() - since < WAIT_LIMIT);
        }
        assert_int_equal(clients[i]->end, stages[i].end);
        client_free(clients[i]);
    }
    host_free(host);
}

static void next_request(struct host *host)
{
    const struct bb_request *request;
    while (bb_lane_next(host->lane, &request) == BB_AGAIN) bb_lane_wait(host->lane);
    assert_non_null(host->lane->current);
}

static void test_a_lane_is_freed_with_a_request_in_hand(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET);
    struct client *client = client_new(host), *pipelining = client_new(host);
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 20; i++) client_say(pipelining, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 17; i++) {
        next_request(host);
        host_respond(host, 200, "", 0);
    }
    assert_non_null(host->lane->set.ready_first); /* after 16 requests in a row, the client must wait */
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    next_request(host);
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
    bb_lane_free(host->lane);
    host->lane = NULL;
    client_free(client);
    client_free(pipelining);
    host_free(host);
}

/* The worker keeps its listeners when a lane is freed. So a new lane can use these listeners. */
static void test_a_lane_is_made_after_another_was_freed(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    bb_lane_free(host->lane);
    struct client *client = client_new(host);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

static void test_freeing_null_has_no_effect(void **state)
{
    (void)state;
    int before = open_descriptors();
    bb_lane_free(NULL);
    bb_worker_free(NULL);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy_clients_take_turns),
        cmocka_unit_test(test_a_new_client_comes_before_greedy_ones),
        cmocka_unit_test(test_a_connection_that_has_had_its_turn_is_not_forgotten),
        cmocka_unit_test(test_a_greedy_client_that_is_alone_is_not_delayed),
        cmocka_unit_test(test_a_wake_up_lasts_until_a_wait),
        cmocka_unit_test(test_a_timeout_ends_the_wait),
        cmocka_unit_test(test_a_signal_ends_the_wait),
        cmocka_unit_test(test_a_lane_is_freed_with_connections_in_each_state),
        cmocka_unit_test(test_a_lane_is_freed_with_a_request_in_hand),
        cmocka_unit_test(test_a_lane_is_made_after_another_was_freed),
        cmocka_unit_test(test_freeing_null_has_no_effect),
    };
    return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
