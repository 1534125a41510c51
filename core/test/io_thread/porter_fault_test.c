/* porter_fault_test.c: what fails in the porter is told, once per second, and is not tried again without a
 * pause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/access_log.h"
#include <fcntl.h>

#include "io_thread/porter_work.h"
#include "support/client.h"
#include "support/fail_relay.h"
#include "support/fail_socket.h"
#include "support/fake_clock.h"

/* A lane that is busy, one connection of it, and the porter without its thread. */
struct scene {
    struct host *host;
    struct bb__porter porter;
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
    assert_answer(scene->client, 200, "GET /first ");
    scene->conn = host->lane->set.conns;
    scene->porter = (struct bb__porter){.worker = host->worker, .link.kick_fd = -1};
    assert_int_equal(bb__poller_open(&scene->porter.link.queue), BB_OK);
    assert_int_equal(bb__context_open(&scene->porter.context, host->worker), BB_OK);
    scene->porter.context.deadlines = &host->lane->set.deadlines;
    bb__own_begin(&host->lane->own);
    assert_true(bb__own_take(&host->lane->own, bb__own_look(&host->lane->own)));
    return scene;
}

static void end(struct scene *scene)
{
    assert_true(bb__own_hold(&scene->host->lane->own));
    assert_true(bb__own_return(&scene->host->lane->own));
    bb__context_close(&scene->porter.context);
    bb__poller_close(&scene->porter.link.queue);
    client_free(scene->client);
    host_free(scene->host);
    free(scene);
}

static void look(struct scene *scene)
{
    struct bb_lane *lane = scene->host->lane;
    scene->porter.context.now = bb__clock_ms();
    bb__porter_go_on(&scene->porter, lane);
    assert_true(lane->minded.due > scene->porter.context.now); /* there is a pause */
    assert_true(bb__own_rouse(&lane->own));
    bb__porter_tell(&scene->porter);
}

static void assert_news(struct scene *scene, const char *text, int error, unsigned left_out)
{
    struct bb_news news;
    assert_int_equal(bb_worker_news(scene->host->worker, &news), BB_OK);
    assert_non_null(strstr(news.text, text));
    assert_int_equal(news.error, error);
    assert_int_equal(news.left_out, left_out);
    assert_int_equal(bb_worker_news(scene->host->worker, &news), BB_AGAIN);
}

static void assert_no_news(struct scene *scene)
{
    struct bb_news news;
    assert_int_equal(bb_worker_news(scene->host->worker, &news), BB_AGAIN);
}

static void test_a_set_that_cannot_be_watched(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    fail_socket.watch_error = ENOSPC;
    fail_socket.watch_events = EPOLLET;
    scene->host->lane->minded.unheard = true;
    look(scene);
    assert_news(scene, "epoll: ", ENOSPC, 0);
    for (int i = 0; i < 3; i++) look(scene);
    assert_no_news(scene);
    fake_clock_advance(1000);
    look(scene);
    assert_news(scene, "epoll: ", ENOSPC, 3);
    fail_socket.watch_error = 0;
    look(scene);
    assert_false(scene->host->lane->minded.unheard);
    assert_no_news(scene);
    end(scene);
}

static void test_a_connection_that_cannot_be_watched(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    bb__set_unwatch(&scene->host->lane->set, scene->conn);
    fail_socket.watch_error = ENOSPC;
    fail_socket.watch_events = 0;
    bb__porter_settle(&scene->porter, scene->host->lane, scene->conn, BB_CONN_WAIT);
    fail_socket.watch_error = 0;
    bb__porter_tell(&scene->porter);
    assert_news(scene, "epoll: ", ENOSPC, 0);
    assert_int_equal(host_connections(scene->host), 0);
    end(scene);
}

static void test_a_relay_that_fails(void **state)
{
    (void)state;
    struct scene *scene = begin("");
    fail_relay.error = EBADF;
    fail_relay.failures = 3;
    fail_relay.tries = 0;
    client_say(scene->client, "GET /more HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int i = 0; i < 3; i++) look(scene);
    assert_int_equal(fail_relay.tries, 3);
    assert_news(scene, "relay: ", EBADF, 0);
    look(scene);
    assert_int_equal(host_connections(scene->host), 0);
    fail_relay.error = 0;
    fake_clock_advance(1000);
    look(scene);
    assert_news(scene, "relay: ", EBADF, 1);
    end(scene);
}

/* The application has closed a descriptor that was not its own, and somebody has got the number. */
static void take_the_number(int number)
{
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(other, number), number);
    close(other);
}

static void test_a_lane_that_hears_of_nothing_pauses(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, AF_UNIX);
    struct bb_news news;
    take_the_number(host->lane->set.poller.fd);
    for (int i = 0; i < 3; i++) {
        const struct bb_request *request;
        uint64_t since = real_ms();
        assert_int_equal(bb_lane_wait(host->lane), BB_OK);
        assert_true(real_ms() - since >= BB_RETRY - 1);
        assert_int_equal(bb_lane_next(host->lane, &request), i == 0 ? BB_NEWS : BB_AGAIN);
        if (i > 0) continue;
        assert_int_equal(bb_lane_news(host->lane, &news), BB_OK);
        assert_int_equal(news.error, EINVAL);
    }
    host_free(host);
}

/* ---- the access log ---- */

static void test_lost_lines_are_counted(void **state)
{
    (void)state;
    struct scene *scene = begin("/dev/null");
    struct bb__access_log *log = scene->porter.context.log;
    log->lost = 3;
    log->error = EPIPE;
    look(scene);
    assert_news(scene, "a line is lost", EPIPE, 2);
    log->lost = 2;
    look(scene);
    assert_no_news(scene);
    fake_clock_advance(1000);
    look(scene);
    assert_news(scene, "a line is lost", EPIPE, 1);
    end(scene);
}

static void test_a_log_that_is_stuck_is_left_alone_for_a_while(void **state)
{
    (void)state;
    struct scene *scene = begin("/dev/full");
    struct bb__access_log *log = scene->porter.context.log;
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
        cmocka_unit_test(test_a_set_that_cannot_be_watched),
        cmocka_unit_test(test_a_connection_that_cannot_be_watched),
        cmocka_unit_test(test_a_relay_that_fails),
        cmocka_unit_test(test_a_lane_that_hears_of_nothing_pauses),
        cmocka_unit_test(test_lost_lines_are_counted),
        cmocka_unit_test(test_a_log_that_is_stuck_is_left_alone_for_a_while),
    };
    return cmocka_run_group_tests_name("porter_fault", tests, NULL, NULL);
}
