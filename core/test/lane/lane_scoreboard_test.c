/* lane_scoreboard_test.c: the scoreboard (memory that all processes share). Each lane has a slot on it. Tests
 * what a lane shows in its slot while it serves, and how it reads the slots of other lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "accept_case.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

static struct bb_scoreboard *scoreboard;
static struct bb_scoreboard_lane during[8]; /* the slot during each request, as the host sees it */

static struct bb_scoreboard_lane look(void)
{
    struct bb_scoreboard_lane seen;
    assert_int_equal(bb_scoreboard_look(scoreboard, 0, &seen), BB_OK);
    return seen;
}

/* The second request gets no response. */
static void app_looks(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(7);
    during[host->served - 1] = look();
    assert_int_equal(during[host->served - 1].queue_time, request->queue_time);
    if (host->served == 2)
        bb_reply_abort(host->lane);
    else
        host_respond(host, 200, "", 0);
}

static struct host *new_shown_host(void)
{
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_UNIX);
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    host_enter_scoreboard(host, scoreboard);
    host->app = app_looks;
    return host;
}

static void test_each_request_is_shown(void **state)
{
    (void)state;
    struct client *clients[3];
    struct host *host = new_shown_host();
    assert_true(!look().has_request && look().requests == 0);
    for (int i = 0; i < 3; i++) clients[i] = client_new(host);
    host_settle(host);
    for (int i = 0; i < 3; i++) client_say(clients[i], REQUEST);
    for (unsigned i = 0; i < 3; i++) {
        while (host->served == i) {
            const struct bb_request *request;
            if (bb_lane_next(host->lane, &request) == BB_OK) {
                host->served++;
                app_looks(host, request);
            } else {
                bb_lane_wait(host->lane);
            }
        }
        assert_true(during[i].has_request && !during[i].idle && during[i].requests == i + 1);
        assert_int_equal(during[i].taken, 7);
        assert_int_equal(during[i].queue_time, i * 7000);
        assert_true(!look().has_request && look().requests == i + 1);
        assert_int_equal(look().queue_time, i * 7000);
    }
    for (int i = 0; i < 3; i++) client_free(clients[i]);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

static bool is_overdue;

/* The host begins a response, cannot send it, and responds with another one. */
static void app_fails_twice(struct host *host, const struct bb_request *request)
{
    (void)request;
    if (is_overdue) bb__lane_note_error(host->lane); /* as the I/O thread does */
    host_fields(host, 500);
    host_respond(host, 503, "", 0);
}

static void test_a_request_is_one_error(void **state)
{
    (void)state;
    struct host *host = new_shown_host();
    host->app = app_fails_twice;
    struct client *client = client_new(host);
    for (unsigned i = 1; i <= 4; i++) {
        is_overdue = i > 2;
        client_say(client, REQUEST);
        assert_response(client, 503, "");
        assert_int_equal(look().errors, i);
    }
    client_free(client);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

/* The drain begins 1 ms after the lane has read the clock. */
static void test_a_lane_whose_clock_is_behind_the_order_stands_by(void **state)
{
    (void)state;
    struct host *host = new_shown_host();
    struct bb__slot *busy = bb__scoreboard_claim(scoreboard);
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    fake_clock--;
    host_settle_to(host, 0);
    assert_int_equal(host->last, BB_AGAIN);
    assert_true(host->lane->drain.standing_by);
    bb__scoreboard_set_done(busy, true);
    host_settle_to(host, 0);
    assert_int_equal(host->last, BB_DRAINED);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

/* Another process passes its idle connections on. Their last requests were served long ago, so no lane that
 * is shown as idle has failed to take a request. */
static void test_idle_connections_that_are_passed_on_blame_nobody(void **state)
{
    (void)state;
    struct host *host = new_shown_host();
    struct bb__slot *other = bb__scoreboard_claim(scoreboard);
    atomic_store(&other->pid, (int)getppid());
    atomic_store(&other->idle, BB_IDLE);
    host->app = app_echo;
    struct client *clients[2] = {new_served(host), new_served(host)};
    fake_micros += 1000000;
    for (int i = 0; i < 2; i++) client_say(clients[i], REQUEST); /* one look finds both, so they may wait */
    for (int i = 0; i < 2; i++) assert_response(clients[i], 200, "GET / ");
    fake_clock_advance(2000);
    fake_micros += 1000000;

    assert_true(bb__conn_set_pass_idle(&host->lane->set, &host->lane->context, &host->worker->shared.queue));
    assert_int_equal(host_connections(host), 0);
    host_settle_to(host, 2);
    assert_int_equal(atomic_load(&other->idle), BB_IDLE);
    bb__scoreboard_give_back(other);
    for (int i = 0; i < 2; i++) client_free(clients[i]);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request_is_shown),
        cmocka_unit_test(test_a_request_is_one_error),
        cmocka_unit_test(test_idle_connections_that_are_passed_on_blame_nobody),
        cmocka_unit_test(test_a_lane_whose_clock_is_behind_the_order_stands_by),
    };
    return cmocka_run_group_tests_name("lane_scoreboard", tests, NULL, NULL);
}
