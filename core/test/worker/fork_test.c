/* fork_test.c: an application that forks. In the child, calls of the core have no effect. Descriptors that
 * stay open in the child do not delay the parent's clients and do not disturb the parent's lane. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define CLOSING "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static struct host *new_host(int family)
{
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    settings.response_buffer = 100 << 20;
    return host_new(&settings, family);
}

/* ---- children ---- */

/* Runs the action in a child process. Returns the result of the action. */
static bool in_child(bool (*action)(struct host *host), struct host *host)
{
    int status;
    pid_t child = fork();
    if (child == 0) _exit(action(host) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The child is killed when the test ends, even if the test fails before stop(). */
static pid_t fork_sleeper(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    return child;
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- in the child ---- */

static bool every_call_is_inert(struct host *host)
{
    const struct bb_request *request;
    const struct bb_slice part = {"x", 1};
    struct bb_event event;
    struct bb_lane *lane;
    uint64_t taken;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    bb_lane_wake(host->lane);
    bb_lane_step_back(host->lane);
    return bb_lane_next(host->lane, &request) == BB_DRAINED && bb_lane_wait(host->lane) == BB_OK &&
           bb_lane_event(host->lane, &event) == BB_AGAIN && bb_reply_begin(host->lane, 200) == BB_EGONE &&
           bb_reply_write(host->lane, &part, 1, true, &taken) == BB_EGONE && taken == 0 &&
           bb_reply_wait(host->lane) == BB_EGONE && bb_reply_end(host->lane) == BB_EGONE &&
           bb_worker_listen(host->worker, 0, 0) == BB_DRAINED &&
           bb_lane_step_aside(host->lane, BB_ASIDE_ANYWAY) == BB_AGAIN &&
           bb_lane_new(&lane, host->worker) == BB_DRAINED;
}

static bool all_is_freed(struct host *host)
{
    bb_reply_abort(host->lane);
    bb_lane_free(host->lane);
    bb_worker_free(host->worker);
    return true;
}

static bool inert_then_freed(struct host *host)
{
    return every_call_is_inert(host) && all_is_freed(host);
}

/* Tests the calls in a child of this child, then in this child. */
static bool inert_in_its_child(struct host *host)
{
    return in_child(inert_then_freed, host) && inert_then_freed(host);
}

static bool waits_for_nobody(struct host *host)
{
    struct bb_event event;
    alarm(WAIT_LIMIT / 1000);
    return bb_worker_event(host->worker, &event) == BB_AGAIN && every_call_is_inert(host) &&
           all_is_freed(host);
}

/* At the fork, the I/O thread has the lane's connection set. The child has no I/O thread that could give back
 * the set. */
static void test_calls_in_a_child_do_not_wait_for_the_io_thread(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *lane = host->lane;
    static char half[1];
    pthread_mutex_lock(&host->worker->lock);
    for (int wanted = 0; wanted < 2; wanted++) {
        bb__owner_begin(&lane->owner);
        assert_true(bb__owner_take(&lane->owner, bb__owner_look(&lane->owner)));
        lane->set.conns = (struct bb__conn *)half;
        if (wanted) lane->owner.word += BB_OWNER_RECLAIMED - BB_OWNER_WORKING;
        assert_true(in_child(waits_for_nobody, host));
        lane->set.conns = NULL;
        bb__owner_give(&lane->owner);
    }
    pthread_mutex_unlock(&host->worker->lock);
    host_free(host);
}

/* At the fork, the I/O thread was sending bytes of the lane's response. */
static void test_a_child_frees_nothing_that_was_half_sent(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX);
    struct bb_lane *lane = host->lane;
    static char half[1];
    pthread_mutex_lock(&lane->reply.gather.lock);
    lane->set.conns = (struct bb__conn *)half;
    assert_true(in_child(waits_for_nobody, host));
    lane->set.conns = NULL;
    pthread_mutex_unlock(&lane->reply.gather.lock);
    host_free(host);
}

/* ---- the parent goes on ---- */

static void app_forks(struct host *host, const struct bb_request *request)
{
    assert_true(in_child(inert_then_freed, host));
    assert_true(in_child(inert_then_freed, host)); /* the process has already forked once */
    assert_true(in_child(inert_in_its_child, host));
    app_echo(host, request);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static char body[8 << 20];
    (void)request;
    memset(body, 'x', sizeof body);
    host_respond(host, 200, body, sizeof body);
}

static void test_the_parents_connections_go_on_after_a_fork(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int family = 0; family < 2; family++) {
        struct host *host = new_host(families[family]);
        struct client *idle = client_new(host), *upload = client_new(host), *slow = client_new(host),
                      *forking = client_new(host);
        client_say(idle, REQUEST);
        assert_response(idle, 200, "GET / ");
        client_say(upload, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n");
        for (int i = 0; i < 200; i++) client_say(upload, "0123456789");
        host->app = app_large;
        client_say(slow, REQUEST);
        host_settle(host);
        host->app = app_forks;
        client_say(forking, REQUEST);
        assert_response(forking, 200, "GET / ");

        host->app = app_echo;
        client_say(idle, REQUEST);
        assert_response(idle, 200, "GET / ");
        client_say(upload, "\r\n0\r\n\r\n");
        assert_response(upload, 200, NULL);
        assert_int_equal(bb__buf_len(&upload->body), strlen("POST / ") + 2000 + 1);
        assert_response(slow, 200, NULL);
        assert_int_equal(bb__buf_len(&slow->body), (8 << 20) + 1);
        struct client *new = client_new(host);
        client_say(new, REQUEST);
        assert_response(new, 200, "GET / ");
        host_settle(host);
        assert_true(would_wait(host)); /* the child's calls have not woken the parent's lane */
        client_free(new);
        client_free(idle);
        client_free(upload);
        client_free(slow);
        client_free(forking);
        host_free(host);
    }
}

/* ---- a child that sleeps ---- */

static pid_t sleeper;

static void app_forks_a_sleeper(struct host *host, const struct bb_request *request)
{
    sleeper = fork_sleeper();
    app_echo(host, request);
}

static void app_aborts(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb_slice part = {"begun", 5};
    uint64_t taken;
    sleeper = fork_sleeper();
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    bb_reply_abort(host->lane);
}

static void test_a_sleeping_child_keeps_no_client_waiting(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET);
    struct client *client = client_new(host);
    host->app = app_forks_a_sleeper;
    client_say(client, CLOSING);
    assert_response(client, 200, "GET / ");
    assert_end(client);
    stop(sleeper);
    client_free(client);

    client = client_new(host); /* an aborted response must not look whole */
    host->app = app_aborts;
    client_say(client, "GET / HTTP/1.0\r\n\r\n");
    assert_reset(client);
    stop(sleeper);
    client_free(client);
    host_free(host);
}

/* epoll reports events of a socket until all processes have closed the socket. */
static void test_a_closed_connection_has_no_events_while_a_child_has_it(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    for (int family = 0; family < 2; family++) {
        struct host *host = new_host(families[family]);
        struct client *idle = client_new(host), *other;
        client_say(idle, REQUEST);
        assert_response(idle, 200, "GET / ");
        sleeper = fork_sleeper();
        fake_clock_advance(75000);
        host_settle(host);
        assert_end(idle);
        other = client_new(host);
        for (int i = 0; i < 3; i++) {
            client_say(other, REQUEST);
            assert_response(other, 200, "GET / ");
        }
        stop(sleeper);
        client_free(idle);
        client_free(other);
        host_free(host);
    }
}

static void test_a_drain_ends_although_a_child_sleeps(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET);
    struct client *client = client_new(host);
    host->app = app_forks_a_sleeper;
    client_say(client, REQUEST);
    assert_response(client, 200, "GET / ");
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    host_settle(host);
    fake_clock_advance(2000);
    assert_end(client);
    host_settle(host);
    assert_int_equal(host->last, BB_DRAINED);
    stop(sleeper);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_in_a_child_do_not_wait_for_the_io_thread),
        cmocka_unit_test(test_a_child_frees_nothing_that_was_half_sent),
        cmocka_unit_test(test_the_parents_connections_go_on_after_a_fork),
        cmocka_unit_test(test_a_sleeping_child_keeps_no_client_waiting),
        cmocka_unit_test(test_a_closed_connection_has_no_events_while_a_child_has_it),
        cmocka_unit_test(test_a_drain_ends_although_a_child_sleeps),
    };
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
