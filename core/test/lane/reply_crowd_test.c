/* reply_crowd_test.c: responses to many clients that read slowly or not at all. Tests how much memory these
 * responses take together, and how slow a client may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "response_spool_case.h"
#include "support/client.h"
#include "support/fake_clock.h"

#define CROWD      40
#define TOTAL      (64 * 1024 * 64)
#define WHOLE_PART (1 << 20)

static uint64_t unsent(const struct host *host)
{
    return atomic_load(&host->worker->spool_budget.unsent);
}

/* Writes one response as a single part, the next response in small parts, and so on. */
static void app_responds(struct host *host, const struct bb_request *request)
{
    (void)request;
    size_t step = host->served % 2 ? 20000 : WHOLE_PART;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, WHOLE_PART), BB_OK);
    for (size_t at = 0, len; at < WHOLE_PART; at += len) {
        len = WHOLE_PART - at < step ? WHOLE_PART - at : step;
        write_all(host, letters + at, len);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_all_responses_share_the_memory(void **state)
{
    (void)state;
    struct bb_settings settings = response_spool_settings();
    settings.response_buffer = 64 * 1024;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *clients[CROWD];
    host->app = app_responds;
    for (int i = 0; i < CROWD; i++) {
        clients[i] = lazy_client(host);
        assert_true(unsent(host) <= TOTAL + RUN);
    }
    assert_true(unsent(host) > TOTAL / 2);
    for (int i = 0; i < CROWD; i++) {
        assert_response(clients[i], 200, NULL);
        assert_memory_equal(bb__buf_bytes(&clients[i]->body), letters, WHOLE_PART);
        assert_true(unsent(host) <= TOTAL + RUN);
        client_free(clients[i]);
    }
    assert_int_equal(unsent(host), 0);
    assert_int_equal(used(host), 0);
    host_free(host);
}

/* The core must not keep a part of each file in memory, because all parts together would need as much memory
 * as the responses. */
static void test_responses_in_files_take_no_memory(void **state)
{
    (void)state;
    struct bb_settings settings = response_spool_settings();
    settings.response_buffer = 1024;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *clients[CROWD];
    host->app = app_responds;
    for (int i = 0; i < CROWD; i++) clients[i] = lazy_client(host);
    for (int i = 0; i < CROWD; i++) {
        for (int reads = 0; reads < 5; reads++) {
            bb__buf_clear(&clients[i]->in);
            (void)client_receive(clients[i]);
        }
        host_settle(host);
        assert_true(unsent(host) <= RUN + 2 * BB_RESPONSE_SPOOL_WINDOW);
    }
    for (int i = 0; i < CROWD; i++) client_free(clients[i]);
    host_settle_to(host, 0);
    assert_int_equal(unsent(host), 0);
    host_free(host);
}

/* Serves a client that reads `rate` bytes per second. Returns the second in which the core closes the
 * connection, or 60 if the core does not close it. */
static int seconds_at(struct host *host, size_t rate)
{
    static char bytes[1 << 20];
    int second = 0;
    reader = lazy_client(host);
    for (; second < 60 && host_connections(host) > 0; second++) {
        for (size_t taken = 0; taken < rate;) {
            ssize_t got = recv(reader->fd, bytes, rate - taken, 0);
            if (got <= 0) break;
            taken += (size_t)got;
        }
        fake_clock_advance(1000);
        host_settle(host);
    }
    client_free(reader);
    host_settle_to(host, 0);
    return second;
}

static void app_is_done(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_respond(host, 200, letters, LARGE);
}

/* The host does not wait for this client, and no other limit ends the connection. */
static void test_a_client_that_reads_below_min_body_rate_is_ended(void **state)
{
    (void)state;
    static const uint64_t timeouts[] = {0, 60000};
    for (int i = 0; i < 2; i++) {
        struct bb_settings settings = response_spool_settings();
        settings.write_timeout = timeouts[i];
        settings.min_body_rate = 20000;
        settings.response_buffer = 2 * LARGE;
        struct host *host = host_new(&settings, AF_UNIX);
        host->app = app_is_done;
        assert_int_equal(seconds_at(host, 60000), 60);
        assert_in_range(seconds_at(host, 5000), 11, 30);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_responses_share_the_memory),
        cmocka_unit_test(test_responses_in_files_take_no_memory),
        cmocka_unit_test(test_a_client_that_reads_below_min_body_rate_is_ended),
    };
    return cmocka_run_group_tests_name("reply_crowd", tests, make_letters, NULL);
}
