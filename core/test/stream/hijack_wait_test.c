/* hijack_wait_test.c: a hijack behind a head for which the socket has no room. The lane sleeps until the
 * client has taken the head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"
#include "support/fake_wait.h"

#define GET  "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define LONG (1 << 20) /* bytes; the kernel buffers only a part of them */

static struct client *client;
static unsigned seconds; /* of waits, since the head was written */
static bool waits_first;
static unsigned reads_after; /* the client reads nothing in these seconds */

static void read_late(void)
{
    if (seconds++ < reads_after) return;
    while (client_receive(client)) continue;
}

static void begin(struct host *host)
{
    static char value[LONG];
    uint64_t taken;
    memset(value, 'a', sizeof value);
    host_fields(host, 200);
    assert_int_equal(bb_reply_field(host->lane, "x-long", 6, value, sizeof value), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_RAW), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    seconds = 0;
    fake_wait_passed = 0;
    fake_wait_client = read_late;
}

static int hijack(struct host *host)
{
    struct bb_slice unread;
    int fd, code = bb_lane_hijack(host->lane, &fd, &unread);
    if (code == BB_OK) close(fd);
    return code;
}

/* One wait is enough, however long it takes. */
static void app_waits(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    assert_int_equal(hijack(host), BB_AGAIN);
    assert_int_equal(bb_reply_wait_until_sent(host->lane), BB_OK);
    fake_wait_client = NULL;
    assert_true(seconds > reads_after);
    assert_int_equal(hijack(host), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void serve(host_app app)
{
    struct host *host = host_new_default(AF_UNIX);
    host->app = app;
    client = client_new_saying(host, GET);
    while (host->served == 0) client_wait(client, 0, real_ms());
    if (app == app_waits) {
        assert_true(client_read_head(client));
        assert_true(strlen(client->head) > LONG);
        assert_end(client);
    }
    client_free(client);
    host_free(host);
}

static void test_one_wait_lasts_until_the_client_has_the_head(void **state)
{
    (void)state;
    static const unsigned late[] = {0, 1, 30};
    for (int i = 0; i < 3; i++) {
        reads_after = late[i];
        serve(app_waits);
    }
}

static void app_loses_its_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    assert_int_equal(hijack(host), BB_AGAIN);
    bb_lane_wake(host->lane);
    assert_int_equal(bb_reply_wait_until_sent(host->lane), BB_AGAIN);
    assert_int_equal(bb_reply_wait_until_sent(host->lane), BB_EGONE);
    fake_wait_client = NULL;
    assert_in_range(seconds, 60, 62); /* write_timeout */
    bb_reply_abort(host->lane);
}

static void test_the_wait_ends_if_the_client_takes_nothing(void **state)
{
    (void)state;
    reads_after = 1000;
    serve(app_loses_its_client);
}

/* The client takes bytes. Before the lane sends more, another thread reads the body. */
static void read_beside(void)
{
    struct bb_lane *lane = client->host->lane;
    uint64_t unsent = bb__conn_unsent(lane->current);
    char bytes[10];
    size_t got;
    while (client_receive(client)) continue;
    assert_int_equal(bb_request_read(lane, bytes, sizeof bytes, &got), seconds++ == 0 ? BB_OK : BB_AGAIN);
    assert_int_equal(bb__conn_unsent(lane->current), unsent);
}

static void app_waits_beside_a_reader(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    assert_int_equal(hijack(host), BB_AGAIN);
    fake_wait_client = read_beside;
    assert_int_equal(bb_reply_wait_until_sent(host->lane), BB_OK);
    fake_wait_client = NULL;
    assert_true(seconds > 0);
    assert_int_equal(hijack(host), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_thread_that_reads_the_body_leaves_the_head_to_the_wait(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.unbuffered_bodies, "/");
    struct host *host = host_new(&settings, AF_UNIX);
    host->app = app_waits_beside_a_reader;
    client = client_new_saying(host, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    assert_true(client_read_head(client));
    assert_true(strlen(client->head) > LONG);
    assert_end(client);
    client_free(client);
    host_free(host);
}

/* The parts follow each other at once, so the second one is gathered. */
static void app_hijacks_behind_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb_slice parts[] = {{"first ", 6}, {"second ", 7}};
    struct bb_slice unread;
    uint64_t taken;
    int fd;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_RAW), BB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(bb_reply_write(host->lane, &parts[i], 1, false, &taken), BB_OK);
    if (waits_first) assert_int_equal(bb_reply_wait_until_sent(host->lane), BB_OK);
    assert_int_equal(bb_lane_hijack(host->lane, &fd, &unread), BB_OK);
    assert_int_equal(send(fd, "third", 5, 0), 5);
    close(fd);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_gathered_parts_are_sent_before_the_hijack(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        waits_first = how;
        struct host *host = host_new_default(AF_UNIX);
        bb_lane_free(host->lane);
        assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
        assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
        host->app = app_hijacks_behind_parts;
        client = client_new_saying(host, GET);
        assert_response(client, 200, "first second third");
        client_free(client);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_wait_lasts_until_the_client_has_the_head),
        cmocka_unit_test(test_the_wait_ends_if_the_client_takes_nothing),
        cmocka_unit_test(test_a_thread_that_reads_the_body_leaves_the_head_to_the_wait),
        cmocka_unit_test(test_gathered_parts_are_sent_before_the_hijack),
    };
    return cmocka_run_group_tests_name("hijack_wait", tests, NULL, NULL);
}
