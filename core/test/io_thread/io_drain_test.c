/* io_drain_test.c: a drain (graceful shutdown) while one lane is busy. Other lanes of its worker and lanes of
 * another worker serve the connections of the busy lane. All lanes end when no connection is left. `make
 * tsan` runs this test under ThreadSanitizer. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "io_case.h"
#include "system/scoreboard.h"
#include "worker/worker.h"

/* Returns settings with timeouts that do not end during the test. */
static struct bb_settings long_timeouts(void)
{
    struct bb_settings settings = lanes_settings();
    settings.keepalive_drain = settings.graceful_timeout = 3600 * 1000;
    return settings;
}

static void open_scoreboard(void)
{
    assert_int_equal(bb_scoreboard_new(&lanes_scoreboard, 8), BB_OK);
}

static void close_scoreboard(void)
{
    bb_scoreboard_free(lanes_scoreboard);
    lanes_scoreboard = NULL;
}

/* Sends a request on each connection except the first. The lane of the first connection is busy. */
static void ask_all_once_more(int fds[CONNECTIONS])
{
    for (int i = 1; i < CONNECTIONS; i++) {
        char response[512];
        say(fds[i], "POST /more HTTP/1.1\r\nHost: x\r\n\r\n");
        read_until(fds[i], "/more 0", response, sizeof response);
        assert_non_null(strstr(response, "Connection: close"));
    }
}

static void test_draining_lanes_serve_the_clients_of_a_busy_lane(void **state)
{
    (void)state;
    struct bb_settings settings = long_timeouts();
    struct crowd crowd;
    open_scoreboard();
    gather(&crowd, 2, &settings);
    bb_worker_drain(crowd.lanes.worker, BB_QUEUE_TAKE);
    ask_all_once_more(crowd.fds);
    unblock(&crowd.lanes, crowd.fds[0]);
    close_all(crowd.fds);
    assert_int_equal(lanes_finish(&crowd.lanes), 2 * CONNECTIONS);
    close_scoreboard();
}

/* Two workers with one lane each. The first worker has all connections, and its lane is busy. */
struct pair_of_workers {
    struct crowd crowd;
    struct lanes other;
    int shared_queue[2];
};

static void start_two(struct pair_of_workers *pair, const struct bb_settings *settings)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair->shared_queue), 0);
    lanes_shared_queue = pair->shared_queue;
    open_scoreboard();
    gather(&pair->crowd, 1, settings);
    lanes_start(&pair->other, 1, settings);
    pair->other.descriptors = -1;
    pair->other.worker->pid = 1; /* makes the worker look like another process with the same listener */
    pair->other.worker->listen.addresses[0] = pair->crowd.lanes.worker->listen.addresses[0];
}

static void drain_two(struct pair_of_workers *pair)
{
    bb_worker_drain(pair->other.worker, BB_QUEUE_TAKE);
    bb_worker_drain(pair->crowd.lanes.worker, BB_QUEUE_TAKE);
}

static void end_two(struct pair_of_workers *pair, unsigned by_crowd, unsigned by_other)
{
    close_all(pair->crowd.fds);
    assert_int_equal(lanes_finish(&pair->other), by_other);
    assert_int_equal(lanes_finish(&pair->crowd.lanes), by_crowd);
    close_scoreboard();
    lanes_shared_queue = NULL;
    for (int i = 0; i < 2; i++) close(pair->shared_queue[i]);
}

static void test_a_draining_worker_serves_the_clients_of_another_worker(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = long_timeouts();
    struct pair_of_workers pair;
    start_two(&pair, &settings);
    drain_two(&pair);
    ask_all_once_more(pair.crowd.fds);
    unblock(&pair.crowd.lanes, pair.crowd.fds[0]);
    end_two(&pair, CONNECTIONS + 1, CONNECTIONS - 1);
}

/* No lane has accepted the queued connections when the drain begins. */
static void test_queued_connections_do_not_wait_for_a_busy_lane(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = long_timeouts();
    struct pair_of_workers pair;
    int queued[4];
    start_two(&pair, &settings);
    for (int i = 0; i < 4; i++) {
        queued[i] = lanes_connect(&pair.crowd.lanes);
        say(queued[i], "POST /queued HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    drain_two(&pair);
    for (int i = 0; i < 4; i++) {
        assert_true(lanes_read(queued[i], "/queued 0"));
        close(queued[i]);
    }
    unblock(&pair.crowd.lanes, pair.crowd.fds[0]);
    end_two(&pair, CONNECTIONS + 1, 4);
}

/* The I/O thread does not watch a lane that has a single connection. */
static void test_queued_connections_do_not_wait_for_a_lane_that_is_alone(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = long_timeouts();
    struct pair_of_workers pair;
    int queued[4];
    start_two(&pair, &settings);
    int alone = lanes_connect(&pair.other);
    block(&pair.other, alone);
    for (int i = 0; i < 4; i++) {
        queued[i] = lanes_connect(&pair.other);
        say(queued[i], "POST /queued HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    drain_two(&pair);
    unblock(&pair.crowd.lanes, pair.crowd.fds[0]);
    for (int i = 0; i < 4; i++) {
        assert_true(lanes_read(queued[i], "/queued 0"));
        close(queued[i]);
    }
    unblock(&pair.other, alone);
    close(alone);
    end_two(&pair, CONNECTIONS + 1 + 4, 1);
}

/* The worker drains while another process runs. leaves: the other process drains, too, but never finishes. */
static void drains_beside(bool leaves, const struct bb_settings *settings)
{
    struct lanes lanes;
    open_scoreboard();
    struct bb__slot *slot = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&slot->leaves, leaves);
    lanes_start(&lanes, 2, settings);
    int fd = lanes_connect(&lanes);
    assert_true(lanes_ask(fd, "/one", "", ""));
    close(fd);
    assert_int_equal(finish(&lanes), 1);
    bb__scoreboard_give_back(slot);
    close_scoreboard();
}

static void test_a_worker_that_goes_on_serving_is_not_waited_for(void **state)
{
    (void)state;
    struct bb_settings settings = long_timeouts();
    settings.keepalive_drain = 20;
    drains_beside(false, &settings);
}

/* The other process is killed after graceful_timeout. The lanes of this worker must end earlier. */
static void test_lanes_end_before_a_worker_that_does_not_finish_is_killed(void **state)
{
    (void)state;
    struct bb_settings settings = long_timeouts();
    settings.graceful_timeout = 40;
    drains_beside(true, &settings);
}

/* A process is dead, but its slot on the scoreboard still has its pid. */
static void test_a_dead_worker_is_not_waited_for(void **state)
{
    (void)state;
    struct bb_settings settings = long_timeouts();
    struct lanes lanes;
    open_scoreboard();
    struct bb__slot *slot = bb__scoreboard_claim(lanes_scoreboard);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    lanes_start(&lanes, 1, &settings);
    atomic_store(&slot->pid, pid);
    assert_int_equal(finish(&lanes), 0);
    close_scoreboard();
}

int main(void)
{
    (void)alarm(3 * WAIT_LIMIT); /* ends the test if a lane never ends */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draining_lanes_serve_the_clients_of_a_busy_lane),
        cmocka_unit_test(test_a_draining_worker_serves_the_clients_of_another_worker),
        cmocka_unit_test(test_queued_connections_do_not_wait_for_a_busy_lane),
        cmocka_unit_test(test_queued_connections_do_not_wait_for_a_lane_that_is_alone),
        cmocka_unit_test(test_a_worker_that_goes_on_serving_is_not_waited_for),
        cmocka_unit_test(test_lanes_end_before_a_worker_that_does_not_finish_is_killed),
        cmocka_unit_test(test_a_dead_worker_is_not_waited_for),
    };
    return cmocka_run_group_tests_name("io_drain", tests, NULL, NULL);
}
