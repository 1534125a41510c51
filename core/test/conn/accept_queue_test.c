/* accept_queue_test.c: the queue time of a request includes its connection's wait in the listener's accept
 * queue. The tests run in real time, because the kernel measures this wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define GET        "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define CLIENTS    4
#define EACH_TAKES 300 /* ms */
#define TICK       150 /* ms, tolerance; 10 is enough on a machine that handles each clock tick in time */

static uint64_t times[CLIENTS];
static struct client *late;

/* The first request takes EACH_TAKES ms. Then the client `late` sends a request. */
static void app_takes_its_time(struct host *host, const struct bb_request *request)
{
    uint64_t since = real_ms();
    times[host->served - 1] = request->queue_time;
    while (host->served == 1 && real_ms() - since < EACH_TAKES) continue;
    if (host->served == 1 && late) client_say(late, GET);
    host_respond(host, 200, "", 0);
}

static struct host *new_host(int family)
{
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, family);
    host->app = app_takes_its_time;
    late = NULL;
    return host;
}

static void test_the_time_in_the_queue_of_a_tcp_listener_counts(void **state)
{
    LINUX_ONLY;
    struct client *clients[CLIENTS];
    uint64_t began = real_ms();
    struct host *host = new_host(AF_INET);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_new(host);
        client_say(clients[i], GET);
    }
    while (host->served < CLIENTS) host_turn(host);
    uint64_t most = (real_ms() - began + TICK) * 1000;
    for (int i = 1; i < CLIENTS; i++) assert_in_range(times[i], (EACH_TAKES - TICK) * 1000, most);
    for (int i = 0; i < CLIENTS; i++) client_free(clients[i]);
    host_free(host);
}

/* The connection of `late` waits in the accept queue. The client sends its request only after this wait. */
static void test_a_request_that_comes_late_has_not_waited(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET);
    struct client *first = client_new(host);
    client_say(first, GET);
    late = client_new(host);
    uint64_t ready_at = 0;
    while (host->served < 2) {
        if (host->served == 0) ready_at = real_ms() + EACH_TAKES;
        host_turn(host);
    }
    assert_in_range(times[1], 0, (real_ms() - ready_at + TICK) * 1000);
    client_free(first);
    client_free(late);
    host_free(host);
}

static void test_the_time_in_the_queue_of_a_unix_listener_is_not_known(void **state)
{
    (void)state;
    struct client *clients[2];
    struct host *host = new_host(AF_UNIX);
    for (int i = 0; i < 2; i++) {
        clients[i] = client_new(host);
        client_say(clients[i], GET);
    }
    while (host->served < 2) host_turn(host);
    assert_int_equal(times[1], 0);
    for (int i = 0; i < 2; i++) client_free(clients[i]);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_time_in_the_queue_of_a_tcp_listener_counts),
        cmocka_unit_test(test_a_request_that_comes_late_has_not_waited),
        cmocka_unit_test(test_the_time_in_the_queue_of_a_unix_listener_is_not_known),
    };
    return cmocka_run_group_tests_name("accept_queue", tests, NULL, NULL);
}
