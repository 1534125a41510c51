/* counting_cut_test.c: what a response counts if the client does not take all of it. The request has ended
 * before, and the connection sends the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counting_case.h"
#include "support/fake_clock.h"
#include "support/files.h"

#define LARGE (16 << 20) /* bytes; the kernel buffers only a part of them */

static char path[TEMPORARY_PATH];

static void app_file(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_send_file(host, path);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void app_memory(struct host *host, const struct bb_request *request)
{
    (void)request;
    char *body = calloc(1, LARGE);
    host_respond(host, 200, body, LARGE);
    free(body);
}

static struct host *new_host(host_app app)
{
    struct bb_settings settings = host_settings();
    settings.response_buffer = 2 * LARGE;
    struct host *host = counting_host(&settings, AF_UNIX, 1);
    host->app = app;
    int fd = mkostemp(temporary_path(path), O_CLOEXEC);
    assert_int_equal(ftruncate(fd, LARGE), 0);
    close(fd);
    return host;
}

static void free_all(struct host *host)
{
    counting_free(host);
    assert_int_equal(unlink(path), 0);
}

static uint64_t bytes_out(void)
{
    struct bb_metrics_sum sum;
    bb_metrics_sum(metrics, &sum);
    return sum.counters[BB_COUNT_BYTES_OUT];
}

static void test_bytes_of_a_file_count_when_they_are_sent(void **state)
{
    (void)state;
    struct host *host = new_host(app_file);
    struct client *client = client_new_saying(host, GET("/", ""));
    host_settle(host);
    uint64_t first = bytes_out();
    assert_in_range(first, 1, LARGE / 2);
    assert_true(client_receive(client));
    host_settle(host);
    assert_in_range(bytes_out(), first, LARGE / 2);
    assert_true(client_read(client, true));
    assert_totals("responses_2xx 1 bytes_out 16777216 accepted 1");
    client_free(client);
    free_all(host);
}

/* The host has given all of it. */
static void test_a_response_whose_client_leaves_counts_once(void **state)
{
    (void)state;
    static const host_app apps[] = {app_file, app_memory};
    for (int i = 0; i < 2; i++) {
        struct host *host = new_host(apps[i]);
        struct client *client = client_new_saying(host, GET("/", ""));
        host_settle(host);
        uint64_t sent = bytes_out();
        char expected[100];
        client_free(client);
        host_settle_to(host, 0);
        (void)snprintf(expected, sizeof expected, "responses_2xx 1 bytes_out %llu accepted 1",
                       (unsigned long long)sent);
        assert_totals(expected);
        if (apps[i] == app_file) assert_in_range(sent, 1, LARGE / 2);
        free_all(host);
    }
}

/* The socket is full of an earlier response, so the interim response is left out. */
static void app_hints(struct host *host, const struct bb_request *request)
{
    static const char bytes[LARGE / 16];
    (void)request;
    while (send(host->lane->current->fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0) continue;
    host_fields(host, 103);
    assert_int_equal(bb_reply_field(host->lane, "link", 4, "</a>", 4), BB_OK);
    assert_int_equal(bb_reply_interim(host->lane), BB_OK);
    assert_totals("accepted 1");
    bb_reply_abort(host->lane);
}

static void test_an_interim_response_that_is_not_sent_does_not_count(void **state)
{
    (void)state;
    struct host *host = new_host(app_hints);
    struct client *client = client_new_saying(host, GET("/", ""));
    host_settle_to(host, 0);
    assert_totals("aborted 1 accepted 1");
    client_free(client);
    free_all(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_file_count_when_they_are_sent),
        cmocka_unit_test(test_a_response_whose_client_leaves_counts_once),
        cmocka_unit_test(test_an_interim_response_that_is_not_sent_does_not_count),
    };
    return cmocka_run_group_tests_name("counting_cut", tests, NULL, NULL);
}
