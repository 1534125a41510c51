/* lane_nudge_test.c: the kernel wakes only one sleeping lane for an event. If this lane is busy or its
 * process is dead, a nudge (an empty message in the shared queue) wakes another lane. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/sleeping.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

/* A thread that stands for another process. It waits for the listener and the shared queue, is woken before
 * the lane, and accepts nothing. */
struct stranger {
    pthread_t thread;
    int poller;
    atomic_int id;
};

static void *sleep_once(void *argument)
{
    struct stranger *stranger = argument;
    struct epoll_event event;
    atomic_store(&stranger->id, gettid());
    epoll_wait(stranger->poller, &event, 1, -1);
    return NULL;
}

static void begin_stranger(struct stranger *stranger, struct host *host)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    assert_true((stranger->poller = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    const int sources[] = {host->worker->listen.listeners[0].fd, host->worker->shared.queue.out};
    for (int i = 0; i < 2; i++)
        assert_int_equal(epoll_ctl(stranger->poller, EPOLL_CTL_ADD, sources[i], &event), 0);
    bb__lane_rescan(host->lane); /* the lane enters the kernel's wait queue behind the stranger */
    assert_int_equal(pthread_create(&stranger->thread, NULL, sleep_once, stranger), 0);
    while (atomic_load(&stranger->id) == 0 || !sleeps(atomic_load(&stranger->id))) sched_yield();
}

static void end_stranger(struct stranger *stranger)
{
    pthread_join(stranger->thread, NULL);
    close(stranger->poller);
}

/* Returns a client that has connected and sent a request. For this client the kernel has woken the stranger,
 * not the lane. */
static struct client *client_without_wakeup(struct host *host)
{
    struct stranger stranger = {0};
    begin_stranger(&stranger, host);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    end_stranger(&stranger);
    return client;
}

static void nudge(struct host *host)
{
    pthread_mutex_lock(&host->worker->lock);
    bb__worker_nudge(host->worker);
    pthread_mutex_unlock(&host->worker->lock);
}

static void test_a_nudge_makes_a_lane_find_a_new_connection(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    struct client *client = client_without_wakeup(host);
    nudge(host);
    assert_response(client, 200, "GET / ");
    host_settle(host);
    assert_true(would_wait(host)); /* no nudge stays in the queue */
    client_free(client);
    host_free(host);
}

static void test_no_nudge_is_sent_if_nothing_waits(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    nudge(host);
    assert_true(would_wait(host));
    host_free(host);
}

/* The kernel may have woken only this lane for the client. So bb_lane_step_aside() nudges another lane. */
static void test_a_lane_that_steps_aside_nudges_another(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    struct client *client = client_without_wakeup(host);
    assert_int_equal(bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY), BB_OK);
    struct pollfd shared_queue = {.fd = host->worker->shared.queue.out, .events = POLLIN};
    assert_int_equal(poll(&shared_queue, 1, 0), 1);
    bb_lane_step_back(host->lane);
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

static struct host *new_host_with_io_thread(void)
{
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    return host;
}

static const struct bb_request *next_request(struct host *host)
{
    const struct bb_request *request;
    while (bb_lane_next(host->lane, &request) != BB_OK) assert_int_equal(bb_lane_wait(host->lane), BB_OK);
    return request;
}

/* The kernel has woken two strangers for two connections, and the strangers have ended. A nudge wakes the
 * lane, and the lane gets a long request. So the lane nudges the next lane. */
static void test_a_lane_that_was_nudged_nudges_another(void **state)
{
    (void)state;
    struct host *host = new_host_with_io_thread();
    struct stranger strangers[2] = {{0}};
    struct client *clients[2];
    for (int i = 0; i < 2; i++) begin_stranger(&strangers[i], host);
    for (int i = 0; i < 2; i++) client_say(clients[i] = client_new(host), REQUEST);
    for (int i = 0; i < 2; i++) end_stranger(&strangers[i]);
    assert_true(would_wait(host));
    nudge(host);
    const struct bb_request *request = next_request(host);
    struct pollfd shared_queue = {.fd = host->worker->shared.queue.out, .events = POLLIN};
    assert_int_equal(poll(&shared_queue, 1, WAIT_LIMIT), 1);
    app_echo(host, request);
    for (int i = 0; i < 2; i++) {
        assert_response(clients[i], 200, "GET / ");
        client_free(clients[i]);
    }
    host_free(host);
}

/* The kernel may have woken a lane of a dead process. So bb_scoreboard_clear() sends a nudge for each lane of
 * this process. */
static void test_a_nudge_is_sent_for_each_lane_of_a_dead_process(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_INET);
    struct client *client = client_without_wakeup(host);
    struct bb_scoreboard *scoreboard;
    struct bb__shared_message message;
    char bytes[BB_SHARED_QUEUE_BYTES];
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    for (int i = 0; i < 3; i++) atomic_store(&bb__scoreboard_claim(scoreboard)->pid, i > 0 ? 1 : getppid());
    assert_true(would_wait(host));
    bb_scoreboard_clear(scoreboard, 1, host->worker->shared.queue.in, scoreboard);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bb__shared_queue_take(&host->worker->shared.queue, bytes, &message), BB_OK);
        assert_int_equal(message.fd_count, 0);
    }
    assert_int_equal(bb__shared_queue_take(&host->worker->shared.queue, bytes, &message), BB_AGAIN);
    bb_scoreboard_clear(scoreboard, getppid(), host->worker->shared.queue.in, scoreboard);
    assert_response(client, 200, "GET / ");
    bb_scoreboard_clear(scoreboard, getppid(), host->worker->shared.queue.in, scoreboard);
    host_settle(host);
    assert_true(would_wait(host));
    client_free(client);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_nudge_makes_a_lane_find_a_new_connection),
        cmocka_unit_test(test_no_nudge_is_sent_if_nothing_waits),
        cmocka_unit_test(test_a_lane_that_steps_aside_nudges_another),
        cmocka_unit_test(test_a_lane_that_was_nudged_nudges_another),
        cmocka_unit_test(test_a_nudge_is_sent_for_each_lane_of_a_dead_process),
    };
    return cmocka_run_group_tests_name("lane_nudge", tests, NULL, NULL);
}
