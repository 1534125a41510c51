/* lane_return_test.c: a lane finishes a request while the I/O thread is in the middle of a step with the
 * connections of this lane. A step may be slow, for example because it writes to a disk. Only bb_lane_wait()
 * and bb_lane_free() wait for the end of the step. No I/O thread runs in this test. The test itself calls the
 * functions that an I/O thread would call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io_thread/io_work.h"
#include "support/client.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

/* One lane, and a struct bb__io_thread without a running thread. */
struct scene {
    struct host *host;
    struct bb__io_thread io;
    struct client *client;
};

static void io_thread_takes(struct host *host)
{
    struct bb__owner *own = &host->lane->owner;
    assert_true(bb__owner_take(own, bb__owner_look(own)));
}

static void io_thread_gives(struct host *host)
{
    bb__owner_give(&host->lane->owner);
    bb__wakeup_raise(&host->lane->intake.wakeup);
}

static void app_responds_meanwhile(struct host *host, const struct bb_request *request)
{
    io_thread_takes(host);
    app_echo(host, request);
}

static void app_breaks_off_meanwhile(struct host *host, const struct bb_request *request)
{
    (void)request;
    io_thread_takes(host);
    bb_reply_abort(host->lane);
    bb_reply_abort(host->lane); /* the second call has no effect */
}

/* Returns when the lane has responded. If `app` calls io_thread_takes(), the I/O thread is still in a
 * step. */
static struct scene *begin(host_app app)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct bb_settings settings = host_settings();
    struct host *host = scene->host = host_new(&settings, AF_INET);
    scene->io = (struct bb__io_thread){.worker = host->worker, .link.kick.fd = -1};
    assert_int_equal(bb__poller_open(&scene->io.link.queue), BB_OK);
    pthread_mutex_init(&scene->io.link.lock, NULL);
    host->worker->io = &scene->io.link;
    host->lane->turn.not_alone = 1; /* the I/O thread gets the set, although the set has one connection */
    host->app = app;
    client_say(scene->client = client_new(host), REQUEST);
    while (host->served == 0) host_turn(host);
    host->app = app_echo;
    return scene;
}

static void end(struct scene *scene)
{
    client_free(scene->client);
    scene->host->worker->io = NULL;
    bb__poller_close(&scene->io.link.queue);
    host_free(scene->host);
    free(scene);
}

static void test_a_response_does_not_wait_for_the_io_thread(void **state)
{
    (void)state;
    struct scene *scene = begin(app_responds_meanwhile);
    struct host *host = scene->host;
    const struct bb_request *request;
    assert_true(client_receive(scene->client)); /* the response was sent */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bb_lane_next(host->lane, &request), BB_AGAIN);
        assert_int_equal(bb_reply_begin(host->lane, 200), BB_EGONE);
        assert_int_equal(bb_reply_end(host->lane), BB_EGONE);
        bb_lane_wake(host->lane);
        assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    }
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_AGAIN);
    io_thread_gives(host);
    assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    assert_response(scene->client, 200, "GET / ");
    client_say(scene->client, REQUEST);
    assert_response(scene->client, 200, "GET / ");
    end(scene);
}

static void test_a_response_that_breaks_off_ends_the_connection_later(void **state)
{
    (void)state;
    struct scene *scene = begin(app_breaks_off_meanwhile);
    assert_false(client_receive(scene->client));
    io_thread_gives(scene->host);
    assert_reset(scene->client);
    assert_int_equal(host_connections(scene->host), 0);
    end(scene);
}

static void test_a_step_back_is_made_later(void **state)
{
    (void)state;
    struct scene *scene = begin(app_echo);
    struct bb_lane *lane = scene->host->lane;
    const struct bb_request *request;
    lane->turn.not_alone = 1;
    assert_int_equal(bb_lane_step_aside(lane, BB_ASIDE_ANYWAY), BB_OK);
    io_thread_takes(scene->host);
    bb_lane_step_back(lane);
    bb_lane_step_back(lane);
    assert_int_equal(bb_lane_next(lane, &request), BB_AGAIN);
    assert_ptr_equal(scene->host->worker->aside, &lane->intake);
    io_thread_gives(scene->host);
    assert_int_equal(bb_lane_next(lane, &request), BB_AGAIN);
    assert_null(scene->host->worker->aside);
    end(scene);
}

/* The I/O thread has link.lock during a step. */
static void test_calls_about_the_time_of_a_request_do_not_wait(void **state)
{
    (void)state;
    struct scene *scene = begin(app_responds_meanwhile);
    struct bb_lane *lane = scene->host->lane;
    uint64_t ms;
    pthread_mutex_lock(&scene->io.link.lock);
    assert_false(bb_lane_take_late(lane));
    assert_false(bb_lane_take_overdue(lane, &ms));
    bb_lane_extend_time(lane, 5);
    bb_lane_remind(lane);
    pthread_mutex_unlock(&scene->io.link.lock);
    io_thread_gives(scene->host);
    host_settle(scene->host);
    end(scene);
}

static void *io_thread_is_slow(void *scene)
{
    struct scene *it = scene;
    pthread_mutex_lock(&it->io.link.lock);
    io_thread_gives(it->host);
    pthread_mutex_unlock(&it->io.link.lock);
    return NULL;
}

static void test_the_end_of_a_lane_waits_for_the_io_thread(void **state)
{
    (void)state;
    struct scene *scene = begin(app_responds_meanwhile);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, io_thread_is_slow, scene), 0);
    bb_lane_free(scene->host->lane);
    pthread_join(thread, NULL);
    assert_int_equal(bb_lane_new(&scene->host->lane, scene->host->worker), BB_OK);
    end(scene);
}

int main(void)
{
    (void)alarm(60); /* ends the test if a call waits for ever */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_response_does_not_wait_for_the_io_thread),
        cmocka_unit_test(test_a_response_that_breaks_off_ends_the_connection_later),
        cmocka_unit_test(test_a_step_back_is_made_later),
        cmocka_unit_test(test_calls_about_the_time_of_a_request_do_not_wait),
        cmocka_unit_test(test_the_end_of_a_lane_waits_for_the_io_thread),
    };
    return cmocka_run_group_tests_name("lane_return", tests, NULL, NULL);
}
