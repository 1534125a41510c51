/* stream_end_test.c: the end of a large response that was sent by a stream, and a stream of a process that
 * has forked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "stream_case.h"

#define LARGE (100 * 1024)

static struct client *client_with_little_room(struct host *host)
{
    int little = 4096;
    struct client *client = client_new(host);
    assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
    return client;
}

static void app_rejoins(struct host *host, const struct bb_request *request)
{
    static const char large[LARGE];
    uint64_t taken;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    assert_int_equal(put(large, LARGE, true, &taken), BB_OK);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    bb_stream_free(stream);
}

/* The client sends an empty line behind its request. Without a linger, these bytes would reset the connection
 * while the client still reads. */
static void test_a_rejoined_connection_lingers(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    host->app = app_rejoins;
    struct client *client = client_with_little_room(host);
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    while (host->served == 0) host_turn(host);
    assert_int_equal(host_connections(host), 1);
    client_say(client, "\r\n");
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), LARGE + 1);
    client_free(client);
    host_free(host);
}

/* A child that waits for the stream of its parent. */
static void app_forks(struct host *host, const struct bb_request *request)
{
    (void)request;
    struct pollfd wake = {.fd = host->lane->intake.wakeup.fd, .events = POLLIN};
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, 3), BB_OK);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    bb_lane_wake(host->lane);
    atomic_store(&host->lane->intake.slot->taking, 77);
    pid_t pid = fork();
    if (pid == 0) {
        bb_lane_wait_for_stream(host->lane, stream, BB_STREAM_WRITABLE);
        bb_lane_wait_for_stream(host->lane, stream, BB_STREAM_READABLE);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(atomic_load(&host->lane->intake.slot->taking), 77);
    assert_int_equal(poll(&wake, 1, 0), 1);
    put_text("abc", true);
    bb_lane_rejoin(host->lane, stream);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
    bb_stream_free(stream);
}

static void test_a_forked_child_that_waits_changes_nothing(void **state)
{
    LINUX_ONLY; /* the scoreboard is shared memory */
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    struct host *host = host_new_default(AF_INET);
    host_enter_scoreboard(host, scoreboard);
    host->app = app_forks;
    struct client *client = client_new_saying(host, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "abc");
    client_free(client);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rejoined_connection_lingers),
        cmocka_unit_test(test_a_forked_child_that_waits_changes_nothing),
    };
    return cmocka_run_group_tests_name("stream_end", tests, NULL, NULL);
}
