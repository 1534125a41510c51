/* worker_test.c: the lanes of a worker (its threads that serve requests) share listeners, limits and the
 * drain (graceful shutdown). `make tsan` runs this test under ThreadSanitizer. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/files.h"
#include "support/lanes.h"

/* ---- clients in threads ---- */

#define CLIENTS 6
#define EACH    150

struct customer {
    struct lanes *lanes;
    pthread_t thread;
    bool closes; /* opens a new connection for each request */
    unsigned answered;
};

static void *go_shopping(void *argument)
{
    struct customer *customer = argument;
    int fd = -1;
    for (unsigned i = 0; i < EACH; i++) {
        if (fd < 0) fd = lanes_connect(customer->lanes);
        /* Every other body is larger than the threshold, so lanes share the spool's budget. */
        if (!lanes_ask(fd, "/shop", customer->closes ? "Connection: close\r\n" : "",
                       i % 2 ? "small" : "a body for the spool"))
            break;
        customer->answered++;
        if (customer->closes) close(fd), fd = -1;
    }
    if (fd >= 0) close(fd);
    return NULL;
}

/* Returns how often lanes have called bb_lane_step_aside() with success. */
static unsigned share_the_work(void)
{
    struct bb_settings settings = lanes_settings();
    struct customer customers[CLIENTS];
    struct lanes lanes;
    lanes_start(&lanes, 3, &settings);
    for (int i = 0; i < CLIENTS; i++) {
        customers[i] = (struct customer){.lanes = &lanes, .closes = i % 2};
        pthread_create(&customers[i].thread, NULL, go_shopping, &customers[i]);
    }
    for (int i = 0; i < CLIENTS; i++) pthread_join(customers[i].thread, NULL);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), CLIENTS * EACH);
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(customers[i].answered, EACH);
    unsigned aside = 0;
    for (int i = 0; i < lanes.count; i++) aside += lanes.threads[i].aside;
    return aside;
}

static void test_lanes_share_the_work(void **state)
{
    (void)state;
    assert_int_equal(share_the_work(), 0);
}

static void test_lanes_step_aside_under_load(void **state)
{
    (void)state;
    lanes_step_aside = true;
    assert_true(share_the_work() > 0);
    lanes_step_aside = false;
}

/* ---- a log that is rotated under load ---- */

#define ROTATIONS 50

static char directory[TEMPORARY_PATH];

static const char *log_path(char path[100], int rotation)
{
    snprintf(path, 100, rotation > 0 ? "%s/log.%d" : "%s/log", directory, rotation);
    return path;
}

static unsigned lines_in(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned lines = 0;
    if (!file) return 0;
    for (int byte; (byte = fgetc(file)) != EOF;) lines += byte == '\n';
    fclose(file);
    unlink(path);
    return lines;
}

static void test_no_line_is_lost_between_two_logs(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct customer customers[CLIENTS];
    struct lanes lanes;
    unsigned lines = 0;
    char path[100], renamed[100];
    assert_non_null(mkdtemp(temporary_path(directory)));
    strcpy(settings.access_log, log_path(path, 0));
    strcpy(settings.access_log_format, "json");
    lanes_start(&lanes, 3, &settings);
    for (int i = 0; i < CLIENTS; i++) {
        customers[i] = (struct customer){.lanes = &lanes, .closes = i % 2};
        pthread_create(&customers[i].thread, NULL, go_shopping, &customers[i]);
    }
    for (int i = 1; i <= ROTATIONS; i++) {
        assert_int_equal(rename(path, log_path(renamed, i)), 0);
        assert_int_equal(bb_worker_reopen_logs(lanes.worker), BB_OK);
        sched_yield();
    }
    for (int i = 0; i < CLIENTS; i++) pthread_join(customers[i].thread, NULL);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), CLIENTS * EACH);
    for (int i = 0; i <= ROTATIONS; i++) lines += lines_in(log_path(path, i));
    assert_int_equal(lines, CLIENTS * EACH);
    assert_int_equal(rmdir(directory), 0);
}

/* ---- busy and idle lanes ---- */

static int block_a_lane(struct lanes *lanes)
{
    static const char request[] = "POST /block HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = lanes_connect(lanes);
    assert_true(lanes_say(fd, request, sizeof request - 1));
    assert_int_equal(sem_wait(&lanes->entered), 0);
    return fd;
}

static void test_an_idle_lane_accepts(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct lanes lanes;
    lanes_start(&lanes, 3, &settings);
    int blocked[2] = {block_a_lane(&lanes), block_a_lane(&lanes)};
    for (int i = 0; i < 50; i++) {
        int fd = lanes_connect(&lanes);
        assert_true(lanes_ask(fd, "/quick", "", ""));
        close(fd);
    }
    for (int i = 0; i < 2; i++) sem_post(&lanes.leave);
    for (int i = 0; i < 2; i++) {
        assert_true(lanes_read(blocked[i], "/block 0"));
        close(blocked[i]);
    }
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), 52);
}

/* ---- drain ---- */

#define QUEUED 30

static void test_a_drain_serves_what_is_queued(void **state)
{
    (void)state;
    static const char request[] = "POST /queued HTTP/1.1\r\nHost: x\r\n\r\n";
    for (int count = 1; count <= 3; count++) {
        struct bb_settings settings = lanes_settings();
        struct lanes lanes;
        int blocked[LANES_MAX], queued[QUEUED];
        lanes_start(&lanes, count, &settings);
        for (int i = 0; i < count; i++) blocked[i] = block_a_lane(&lanes);
        for (int i = 0; i < QUEUED; i++) {
            queued[i] = lanes_connect(&lanes);
            assert_true(lanes_say(queued[i], request, sizeof request - 1));
        }
        bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
        for (int i = 0; i < count; i++) sem_post(&lanes.leave);
        for (int i = 0; i < count; i++) assert_true(lanes_read(blocked[i], "/block 0"));
        for (int i = 0; i < QUEUED; i++) {
            assert_true(lanes_read(queued[i], "/queued 0"));
            close(queued[i]);
        }
        for (int i = 0; i < count; i++) close(blocked[i]);
        assert_int_equal(lanes_finish(&lanes), count + QUEUED);
        assert_int_equal(lanes_connect(&lanes), -1);
        assert_int_equal(errno, ECONNREFUSED);
    }
}

/* No client can connect to a draining worker, even if all lanes are busy. */
static void test_a_drain_waits_for_no_busy_lane(void **state)
{
    (void)state;
    for (int count = 1; count <= 2; count++) {
        struct bb_settings settings = lanes_settings();
        struct lanes lanes;
        lanes_start(&lanes, count, &settings);
        int blocked = block_a_lane(&lanes);
        bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
        bb_worker_drain(lanes.worker, BB_QUEUE_TAKE); /* a second drain has no effect */
        assert_int_equal(lanes_connect(&lanes), -1);
        assert_int_equal(errno, ECONNREFUSED);
        sem_post(&lanes.leave);
        assert_true(lanes_read(blocked, "/block 0"));
        close(blocked);
        assert_int_equal(lanes_finish(&lanes), 1);
    }
}

/* ---- limits ---- */

static void test_max_connections_counts_the_connections_of_all_lanes(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    settings.max_connections = 4;
    settings.keepalive_timeout = 60 * 1000;
    struct lanes lanes;
    int fds[40];
    lanes_start(&lanes, 2, &settings);
    for (int i = 0; i < 40; i++) { /* each is served, although another connection may have to be closed */
        fds[i] = lanes_connect(&lanes);
        assert_true(lanes_ask(fds[i], "/", "", ""));
    }
    for (int i = 0; i < 40; i++) close(fds[i]);
    bb_worker_drain(lanes.worker, BB_QUEUE_TAKE);
    assert_int_equal(lanes_finish(&lanes), 40);
}

/* ---- waking ---- */

static void *wait_once(void *argument)
{
    struct lane_thread *thread = argument;
    bb_lane_wait(thread->lane);
    thread->drained = true;
    return NULL;
}

static void test_a_lane_is_woken_by_another_thread(void **state)
{
    (void)state;
    struct bb_settings settings = lanes_settings();
    struct bb_worker *worker;
    struct lane_thread thread = {0};
    assert_int_equal(bb_worker_new(&worker, &settings), BB_OK);
    assert_int_equal(bb_lane_new(&thread.lane, worker), BB_OK);
    for (int i = 0; i < 200; i++) { /* the lane is woken before it waits, or while it waits */
        thread.drained = false;
        pthread_create(&thread.thread, NULL, wait_once, &thread);
        if (i % 2) sched_yield();
        bb_lane_wake(thread.lane);
        pthread_join(thread.thread, NULL);
        assert_true(thread.drained);
    }
    bb_lane_free(thread.lane);
    bb_worker_free(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_share_the_work),
        cmocka_unit_test(test_lanes_step_aside_under_load),
        cmocka_unit_test(test_no_line_is_lost_between_two_logs),
        cmocka_unit_test(test_an_idle_lane_accepts),
        cmocka_unit_test(test_a_drain_serves_what_is_queued),
        cmocka_unit_test(test_a_drain_waits_for_no_busy_lane),
        cmocka_unit_test(test_max_connections_counts_the_connections_of_all_lanes),
        cmocka_unit_test(test_a_lane_is_woken_by_another_thread),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
