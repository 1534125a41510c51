/* proxy_time_test.c: how long ago a proxy received a request, as the field X-Request-Start says. Tests which
 * proxies and which times the core believes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define SECOND    INT64_C(1000000)
#define TOLERANCE (30 * SECOND) /* us, tolerance for slow machines */

static uint64_t proxy_time;

static void app_notes_time(struct host *host, const struct bb_request *request)
{
    proxy_time = request->proxy_time;
    host_respond(host, 200, "", 0);
}

static struct host *new_host(int family, const char *trusted)
{
    struct bb_settings settings = host_settings();
    if (trusted) strcpy(settings.trusted_proxies, trusted);
    struct host *host = host_new(&settings, family);
    host->app = app_notes_time;
    return host;
}

/* Sends a request. ago: how many microseconds the time in X-Request-Start is before now; negative: after now.
 * Returns the proxy time that the host gets, in us. */
static uint64_t time_of(struct client *client, int64_t ago)
{
    char request[128];
    uint64_t start = bb__clock_real_us() - (uint64_t)ago;
    (void)snprintf(request, sizeof request,
                   "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Start: t=%llu.%06llu\r\n\r\n",
                   (unsigned long long)(start / SECOND), (unsigned long long)(start % SECOND));
    proxy_time = 4711;
    client_say(client, request);
    assert_response(client, 200, NULL);
    return proxy_time;
}

static void test_only_trusted_proxies_are_believed(void **state)
{
    (void)state;
    static const struct {
        int family;
        const char *trusted; /* NULL: the default */
        bool believed;
    } cases[] = {
        {AF_UNIX, NULL, true},          {AF_INET, NULL, true},          {AF_UNIX, "", false},
        {AF_INET, "", false},           {AF_UNIX, "127.0.0.1", false},  {AF_INET, "unix", false},
        {AF_INET, "127.0.0.0/8", true}, {AF_INET, "10.0.0.0/8", false}, {AF_UNIX, "10.0.0.1 unix", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = new_host(cases[i].family, cases[i].trusted);
        struct client *client = client_new(host);
        uint64_t time = time_of(client, 100 * SECOND);
        if (cases[i].believed)
            assert_in_range(time, 100 * SECOND, 100 * SECOND + TOLERANCE);
        else
            assert_int_equal(time, 0);
        client_free(client);
        host_free(host);
    }
}

static void test_only_times_of_the_last_hour_are_believed(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, NULL);
    struct client *client = client_new(host);
    assert_in_range(time_of(client, 1), 1, TOLERANCE);
    assert_int_equal(time_of(client, -TOLERANCE), 0); /* in the future */
    assert_in_range(time_of(client, 3600 * SECOND - TOLERANCE), 3600 * SECOND - TOLERANCE, 3600 * SECOND);
    assert_int_equal(time_of(client, 3600 * SECOND + 1), 0);

    proxy_time = 4711;
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, NULL);
    assert_int_equal(proxy_time, 0);
    client_free(client);
    host_free(host);
}

static void test_a_wrong_list_of_proxies_is_rejected(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    struct bb_worker *worker;
    strcpy(settings.trusted_proxies, "everybody");
    assert_int_equal(bb_worker_new(&worker, &settings), BB_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_trusted_proxies_are_believed),
        cmocka_unit_test(test_only_times_of_the_last_hour_are_believed),
        cmocka_unit_test(test_a_wrong_list_of_proxies_is_rejected),
    };
    return cmocka_run_group_tests_name("proxy_time", tests, NULL, NULL);
}
