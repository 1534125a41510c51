/* access_log_watched_test.c: the log line of an aborted request. The request took so long that the I/O thread
 * has taken the connection set of its lane. A lane is a thread that serves requests. The connection set has
 * all connections of the lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access_log_case.h"
#include "io_thread/io_work.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

#define HOUR  (3600 * 1000) /* ms */
#define NEVER (100 * (uint64_t)HOUR)

static struct bb__io_thread io;

/* No I/O thread runs in this test. app_is_watched() calls the functions that an I/O thread would call. */
static struct host *new_watched(const char *format)
{
    struct host *host = new_host(format, AF_UNIX);
    host->worker->settings.request_timeout = NEVER;
    host->worker->limits.counts_time = true;
    io = (struct bb__io_thread){.worker = host->worker, .link.kick.fd = -1, .link.queue.fd = -1};
    assert_int_equal(bb__conn_context_open(&io.context, host->worker), BB_OK);
    (void)pthread_mutex_init(&io.link.lock, NULL);
    host->worker->io = &io.link;
    return host;
}

static void free_watched(struct host *host)
{
    bb__io_tell(&io);
    bb__conn_context_close(&io.context);
    host->worker->io = NULL;
    host_free(host);
}

/* The I/O thread takes the set. An hour later the response is aborted. */
static void app_is_watched(struct host *host, const struct bb_request *request)
{
    struct bb_lane *lane = host->lane;
    (void)request;
    lane->watched.word = bb__owner_look(&lane->owner);
    lane->watched.since = bb__clock_us();
    lane->watched.overdue = false;
    assert_true(bb__owner_take(&lane->owner, lane->watched.word));
    fake_clock_advance(HOUR);
    io.context.now = bb__clock_ms();
    bb__io_begin(&io, lane);
    bb_reply_abort(lane);
}

static void test_the_logged_time_is_when_the_request_came(void **state)
{
    (void)state;
    struct host *host = new_watched("%s %{sec}t");
    struct client *client = client_new(host);
    unsigned long at, before = (unsigned long)time(NULL);
    host->app = app_is_watched;
    client_say(client, GET);
    assert_false(client_read(client, true));
    client_free(client);
    free_watched(host);
    assert_int_equal(sscanf(content(path), "- %lu\n", &at), 1);
    struct timespec after; /* time() may be a tick behind the log's clock */
    clock_gettime(CLOCK_REALTIME, &after);
    assert_in_range(at + HOUR / 1000, before, (unsigned long)after.tv_sec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_logged_time_is_when_the_request_came),
    };
    return cmocka_run_group_tests_name("access_log_watched", tests, NULL, NULL);
}
