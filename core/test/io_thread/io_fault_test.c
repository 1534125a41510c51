/* io_fault_test.c: failures in the I/O thread. Each kind of failure is reported at most once per second, and
 * the I/O thread pauses before it tries again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/access_log.h"
#include <fcntl.h>

#include "io_thread/io_work.h"
#include "support/client.h"
#include "support/fail_shared_queue.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"

/* A busy lane, one of its connections, and a struct bb__io_thread without a running thread. */
struct scene {
    struct host *host;
    struct bb__io_thread io;
    struct client *client;
    struct bb__conn *conn;
};

static struct scene *begin(const char *log)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct bb_settings settings = host_settings();
    strcpy(settings.access_log, log);
    struct host *host = scene->host = host_new(&settings, AF_UNIX);
    client_say(scene->client = client_new(host), "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(scene->client, 200, "GET /first ");
    scene->conn = host->lane->set.conns;
    scene->io = (struct bb__io_thread){.worker = host->worker, .link.kick.fd = -1};
    assert_int_equal(bb__poller_open(&scene->io.link.queue), BB_OK);
    assert_int_equal(bb__conn_context_open(&scene->io.context, host->worker), BB_OK);
    scene->io.context.timeouts = &host->lane->set.timeouts;
    bb__owner_begin(&host->lane->owner);
    assert_true(bb__owner_take(&host->lane->owner, bb__owner_look(&host->lane->owner)));
    return scene;
}

static void end(struct scene *scene)
{
    assert_true(bb__owner_park(&scene->host->lane->owner));
    assert_true(bb__owner_return(&scene->host->lane->owner));
    bb__conn_context_close(&scene->io.context);
    bb__poller_close(&scene->io.link.queue);
    client_free(scene->client);
    host_free(scene->host);
    free(scene);
}

static void look(struct scene *scene)
{
    struct bb_lane *lane = scene->host->lane;
    scene->io.context.now = bb__clock_ms();
    bb__io_go_on(&scene->io, lane);
    assert_true(lane->watched.due > scene->io.context.now); /* the I/O thread pauses */
    assert_true(bb__owner_unpark(&lane->owner));
    bb__io_tell(&scene->io);
}

static void assert_events(struct scene *scene, const char *text, int error, unsigned left_out)
{
    struct bb_event event;
    assert_int_equal(bb_worker_event(scene->host->worker, &event), BB_OK);
    assert_non_null(strstr(event.text, text));
    assert_int_equal(event.error, error);
    assert_int_equal(event.left_out, left_out);
    assert_int_equal(bb_worker_event(scene->host->worker, &event), BB_AGAIN);
}

static void assert_no_events(struct scene *scene)
{
    struct bb_event event;
    assert_int_equal(bb_worker_event(scene->host->worker, &event), BB_AGAIN);
}

static void test_a_set_that_cannot_be_watched_is_reported(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    fail_socket.watch_poller_error = ENOSPC;
    scene->host->lane->watched.unheard = true;
    look(scene);
    assert_events(scene, "the poller failed: clients", ENOSPC, 0);
    for (int i = 0; i < 3; i++) look(scene);
    assert_no_events(scene);
    fake_clock_advance(1000);
    look(scene);
    assert_events(scene, "the poller failed: clients", ENOSPC, 3);
    fail_socket.watch_poller_error = 0;
    look(scene);
    assert_false(scene->host->lane->watched.unheard);
    assert_no_events(scene);
    end(scene);
}

static void test_a_connection_that_cannot_be_watched_is_closed(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    bb__conn_set_unwatch(&scene->host->lane->set, scene->conn);
    fail_socket.watch_error = ENOSPC;
    bb__io_settle(&scene->io, scene->host->lane, scene->conn, BB_CONN_WAIT);
    fail_socket.watch_error = 0;
    bb__io_tell(&scene->io);
    assert_events(scene, "the poller failed: a connection", ENOSPC, 0);
    assert_int_equal(host_connections(scene->host), 0);
    end(scene);
}

static void test_a_failure_of_the_shared_queue_is_reported(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    fail_shared_queue.error = EBADF;
    fail_shared_queue.failures = 3;
    fail_shared_queue.tries = 0;
    client_say(scene->client, "GET /more HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 3; i++) look(scene);
    assert_int_equal(fail_shared_queue.tries, 3);
    assert_events(scene, "shared queue: a request", EBADF, 0);
    look(scene);
    assert_int_equal(host_connections(scene->host), 0);
    fail_shared_queue.error = 0;
    fake_clock_advance(1000);
    look(scene);
    assert_events(scene, "shared queue: a request", EBADF, 1);
    end(scene);
}

/* Replaces a descriptor of the core, as if the application had closed it by mistake and the kernel had used
 * its number again. */
static void take_the_number(int number)
{
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(other, number), number);
    close(other);
}

static void test_a_lane_that_cannot_poll_pauses(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_UNIX);
    struct bb_event event;
    take_the_number(host->lane->set.poller.fd);
    for (int i = 0; i < 3; i++) {
        const struct bb_request *request;
        uint64_t since = real_ms();
        assert_int_equal(bb_lane_wait(host->lane), BB_OK);
        assert_true(real_ms() - since >= BB_RETRY - 1);
        assert_int_equal(bb_lane_next(host->lane, &request), i == 0 ? BB_EVENT : BB_AGAIN);
        if (i > 0) continue;
        assert_int_equal(bb_lane_event(host->lane, &event), BB_OK);
        assert_int_equal(event.error, EINVAL);
    }
    host_free(host);
}

/* ---- the access log ---- */

static void test_lost_log_lines_are_counted(void **state)
{
    (void)state;
    struct scene *scene = begin("/dev/null");
    struct bb__access_log *log = scene->io.context.log;
    log->lost = 3;
    log->error = EPIPE;
    look(scene);
    assert_events(scene, "a line is lost", EPIPE, 2);
    log->lost = 2;
    look(scene);
    assert_no_events(scene);
    fake_clock_advance(1000);
    look(scene);
    assert_events(scene, "a line is lost", EPIPE, 1);
    end(scene);
}

static void test_a_log_that_takes_nothing_is_tried_again_after_a_pause(void **state)
{
    (void)state;
    struct scene *scene = begin("/dev/full");
    struct bb__access_log *log = scene->io.context.log;
    memcpy(log->lines, "a line\n", 7);
    log->len = 7;
    look(scene);
    assert_true(log->stuck);
    uint64_t tried = log->tried;
    fake_clock_advance(1);
    look(scene);
    assert_int_equal(log->tried, tried);
    fake_clock_advance(100);
    look(scene);
    assert_int_not_equal(log->tried, tried);
    bb__access_log_drop(log);
    end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_set_that_cannot_be_watched_is_reported),
        cmocka_unit_test(test_a_connection_that_cannot_be_watched_is_closed),
        cmocka_unit_test(test_a_failure_of_the_shared_queue_is_reported),
        cmocka_unit_test(test_a_lane_that_cannot_poll_pauses),
        cmocka_unit_test(test_lost_log_lines_are_counted),
        cmocka_unit_test(test_a_log_that_takes_nothing_is_tried_again_after_a_pause),
    };
    return cmocka_run_group_tests_name("io_fault", tests, NULL, NULL);
}
