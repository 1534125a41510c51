/* stopped_test.c: the process is frozen (SIGSTOP), or its machine is suspended, while a lane waits. This time
 * does not count towards the timeouts of clients. io_stopped_test.c has the tests for the I/O thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/taking.h"
#include "conn/time_case.h"
#include "support/cold_file.h"
#include "support/fake_clock.h"

#define UPLOAD "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"
#define LARGE  (8 << 20)

/* Simulates a freeze: the clock advances during the lane's wait. */
static void stop(struct host *host, uint64_t milliseconds)
{
    host_settle(host);
    bb_lane_wake(host->lane);
    bb_lane_wait(host->lane);
    fake_clock_advance(milliseconds);
    host_serve(host);
}

/* If the freeze counted, the rate would be far below min_body_rate. */
static void test_a_stop_does_not_count_for_an_upload(void **state)
{
    (void)state;
    static char bytes[10000];
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new_saying(host, UPLOAD);
    for (int second = 0; second < 30; second++) {
        client_send(client, bytes, 600);
        if (second == 5)
            stop(host, 600 * 1000);
        else
            pass(host, 1000);
        assert_silence(client);
    }
    pass(host, 30000); /* ms; a client that sends nothing for this time is late */
    assert_late(client);
    client_free(client);
    host_free(host);
}

static void test_a_stop_does_not_count_for_half_a_head(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *client = client_new_saying(host, "GET / HTTP/1.1\r\n");
    pass(host, 20000);
    stop(host, 40000);
    assert_silence(client);
    pass(host, 9000);
    assert_silence(client);
    client_say(client, "Host: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

static void app_large(struct host *host, const struct bb_request *request)
{
    static char text[LARGE];
    (void)request;
    host_respond(host, 200, text, sizeof text);
}

static void test_a_stop_does_not_count_for_a_client_that_reads(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.response_buffer = 2 * LARGE;
    struct host *host = host_new(&settings, AF_INET);
    host->app = app_large;
    struct client *client = client_new_saying(host, REQUEST);
    while (host->served == 0) host_turn(host);
    pass(host, 30000);
    stop(host, 50000);
    pass(host, 20000);
    assert_int_equal(host_connections(host), 1);
    (void)ms_until_dropped(host);
    client_free(client);
    host_free(host);
}

static void app_file(struct host *host, const struct bb_request *request)
{
    int fd;
    uint64_t size;
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_file_open(host->lane, "/proc/self/exe", &fd, &size), BB_OK);
    assert_true(bb_reply_takes_file(host->lane, size));
    assert_int_equal(bb_reply_file(host->lane, fd, size), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_stop_does_not_count_for_the_disk(void **state)
{
    LINUX_ONLY;
    struct bb_settings settings = host_settings();
    settings.write_timeout = 1000;
    struct host *host = host_new(&settings, AF_INET);
    host->app = app_file;
    cold_file.cold = true;
    struct client *client = client_new_saying(host, REQUEST);
    host_settle(host);
    stop(host, 60000);
    pass(host, 900);
    assert_int_equal(host_connections(host), 1);
    cold_file.cold = false;
    fake_clock_advance(BB_DISK_TICK);
    assert_response(client, 200, NULL);
    client_free(client);
    host_free(host);
}

/* A lane notices a freeze only if the freeze lasts longer than the rest of the wait. So a lane waits for at
 * most 1 s in the middle of a request. Idle connections need no short waits. */
static void test_waits_are_short_in_the_middle_of_a_request(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        int wait;
    } clients[] = {{"", 30000}, {"GET / HT", 1000}, {UPLOAD, 1000}, {REQUEST, 75000}};
    for (int i = 0; i < 4; i++) {
        struct host *host = host_new_default(AF_UNIX);
        struct client *client = client_new_saying(host, clients[i].says);
        host_settle(host);
        assert_int_equal(bb__timeout_wait(&host->lane->set.timeouts, fake_clock), clients[i].wait);
        client_free(client);
        host_free(host);
    }
}

/* The host needs 40 s for one request. During this time no thread reads from the other connections. */
static void app_away(struct host *host, const struct bb_request *request)
{
    fake_clock_advance(40000);
    app_echo(host, request);
}

static void test_the_time_of_a_busy_host_does_not_count_for_half_a_head(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    struct client *half = client_new_saying(host, "GET / HTTP/1.1\r\n"), *other = client_new(host);
    host_settle(host);
    host->app = app_away;
    client_say(other, REQUEST);
    assert_response(other, 200, "GET / ");
    assert_silence(half);
    pass(host, 29000);
    assert_silence(half);
    pass(host, 1000);
    assert_late(half);
    client_free(half);
    client_free(other);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_does_not_count_for_an_upload),
        cmocka_unit_test(test_a_stop_does_not_count_for_half_a_head),
        cmocka_unit_test(test_a_stop_does_not_count_for_a_client_that_reads),
        cmocka_unit_test(test_a_stop_does_not_count_for_the_disk),
        cmocka_unit_test(test_waits_are_short_in_the_middle_of_a_request),
        cmocka_unit_test(test_the_time_of_a_busy_host_does_not_count_for_half_a_head),
    };
    return cmocka_run_group_tests_name("stopped", tests, NULL, NULL);
}
