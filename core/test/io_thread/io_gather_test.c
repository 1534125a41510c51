/* io_gather_test.c: small parts of a response that are gathered, and the I/O thread that sends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/atomic_micros.h"
#include "support/client.h"
#include "support/gathering.h"

#define GET   "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define PARTS 200
#define LONG  400000 /* bytes */

static struct client *client;

static struct host *new_host(host_app app)
{
    struct host *host = host_new_default(AF_UNIX);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_start_io_thread(host->worker), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
    host->app = app;
    atomic_store(&sends, 0);
    return host;
}

static void begin(struct host *host)
{
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
}

static void put(struct host *host, const char *text)
{
    const struct bb_slice part = {text, strlen(text)};
    uint64_t taken;
    assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    assert_int_equal(taken, part.len);
}

/* Waits until the client has received this text. The host makes no call meanwhile. */
static void await_text(const char *text)
{
    uint64_t since = real_ms();
    while (bb__buf_len(&client->in) == 0 ||
           !memmem(bb__buf_bytes(&client->in), bb__buf_len(&client->in), text, strlen(text))) {
        struct pollfd watched = {.fd = client->fd, .events = POLLIN};
        assert_int_equal(poll(&watched, 1, WAIT_LIMIT), 1);
        assert_true(client_receive(client));
        assert_true(real_ms() - since < WAIT_LIMIT);
    }
}

static void app_pauses(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    put(host, "first");
    assert_int_equal(sends, 1);
    await_text("first");
    put(host, "second");
    put(host, "third");
    assert_int_equal(sends, 1);
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    await_text("third");
    assert_int_equal(sends, 2);
    put(host, "fourth");
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_io_thread_sends_parts_while_the_host_pauses(void **state)
{
    (void)state;
    struct host *host = new_host(app_pauses);
    client = client_new_saying(host, GET);
    assert_response(client, 200, "firstsecondthirdfourth");
    client_free(client);
    host_free(host);
}

/* The I/O thread has looked for parts, and the next part comes before it decides how long it sleeps. */
static void app_is_as_fast_as_the_io_thread(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    put(host, "first");
    put(host, "second");
    stop_io_thread();
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    await_text("second");
    assert_int_equal(sem_wait(&io_look.stopped), 0);
    put(host, "third");
    put(host, "fourth");
    sem_post(&io_look.goes_on);
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    await_text("fourth");
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_io_thread_misses_no_part(void **state)
{
    (void)state;
    struct host *host = new_host(app_is_as_fast_as_the_io_thread);
    client = client_new_saying(host, GET);
    assert_response(client, 200, "firstsecondthirdfourth");
    client_free(client);
    host_free(host);
}

/* The I/O thread has found parts. Before it locks them, the lane sends them, and gathers a part that is newer
 * than the I/O thread's look at the clock. */
static void app_is_faster_than_the_io_thread(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    put(host, "first");
    put(host, "second");
    stop_io_thread_at_lock(host->lane);
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    put(host, "third");
    put(host, "fourth");
    assert_int_equal(sends, 2);
    unsigned before = atomic_load(&io_look.count);
    let_io_thread_lock();
    while (atomic_load(&io_look.count) < before + 2) sched_yield();
    assert_int_equal(sends, 2);
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    await_text("fourth");
    assert_int_equal(sends, 3);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_part_that_is_newer_than_the_look_waits(void **state)
{
    (void)state;
    struct host *host = new_host(app_is_faster_than_the_io_thread);
    client = client_new_saying(host, GET);
    assert_response(client, 200, "firstsecondthirdfourth");
    client_free(client);
    host_free(host);
}

/* Half of BB_GATHER_TIME is between two parts. */
static void app_goes_on(struct host *host, const struct bb_request *request)
{
    static const char *const texts[] = {"third", "fourth", "fifth", "sixth"};
    static const unsigned expected[] = {3, 3, 3, 4};
    (void)request;
    begin(host);
    put(host, "first");
    put(host, "second");
    stop_io_thread();
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME / 2);
    await_text("first");
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME / 2);
    await_text("second");
    assert_int_equal(sem_wait(&io_look.stopped), 0);
    assert_int_equal(sends, 2);
    for (int i = 0; i < 4; i++) {
        put(host, texts[i]);
        assert_int_equal(sends, expected[i]);
        atomic_fetch_add(&atomic_micros, BB_GATHER_TIME / 2);
    }
    sem_post(&io_look.goes_on);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_lane_sends_parts_that_have_waited(void **state)
{
    (void)state;
    struct host *host = new_host(app_goes_on);
    client = client_new_saying(host, GET);
    assert_response(client, 200, "firstsecondthirdfourthfifthsixth");
    client_free(client);
    host_free(host);
}

static void app_many(struct host *host, const struct bb_request *request)
{
    static char text[513];
    (void)request;
    memset(text, 'x', sizeof text - 1);
    begin(host);
    for (int i = 0; i < PARTS; i++) put(host, text);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_many_small_parts_need_few_sends(void **state)
{
    (void)state;
    struct host *host = new_host(app_many);
    client = client_new_saying(host, GET);
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), PARTS * 512 + 1);
    assert_in_range(sends, 2, 12);
    client_free(client);
    host_free(host);
}

/* The socket takes only a part of the bytes. */
static void app_pauses_after_a_long_part(struct host *host, const struct bb_request *request)
{
    static char text[LONG + 1];
    (void)request;
    memset(text, 'x', LONG - 4);
    memcpy(text + LONG - 4, "last", 4);
    begin(host);
    for (int i = 0; i < 2; i++) {
        bb__buf_clear(&client->in);
        put(host, text);
        await_text("last");
    }
    bb__buf_clear(&client->in);
    put(host, "next");
    await_text("next");
    bb_reply_abort(host->lane);
}

static void test_the_io_thread_sends_unsent_bytes_while_the_host_pauses(void **state)
{
    (void)state;
    struct host *host = new_host(app_pauses_after_a_long_part);
    client = client_new_saying(host, GET);
    while (client_more(client)) continue;
    client_free(client);
    host_free(host);
}

static void app_flushes(struct host *host, const struct bb_request *request)
{
    uint64_t taken;
    (void)request;
    begin(host);
    put(host, "first");
    put(host, "second");
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    await_text("second");
    atomic_fetch_add(&atomic_micros, BB_GATHER_TIME);
    put(host, "third");
    await_text("third");
    assert_int_equal(sends, 3);
    put(host, "lost");
    bb_reply_abort(host->lane);
}

static void test_a_flush_or_a_pause_sends_at_once_and_an_abort_drops(void **state)
{
    (void)state;
    struct host *host = new_host(app_flushes);
    client = client_new_saying(host, GET);
    while (client_more(client)) continue;
    assert_null(memmem(bb__buf_bytes(&client->in), bb__buf_len(&client->in), "lost", 4));
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_io_thread_sends_parts_while_the_host_pauses),
        cmocka_unit_test(test_the_io_thread_misses_no_part),
        cmocka_unit_test(test_a_part_that_is_newer_than_the_look_waits),
        cmocka_unit_test(test_the_lane_sends_parts_that_have_waited),
        cmocka_unit_test(test_many_small_parts_need_few_sends),
        cmocka_unit_test(test_the_io_thread_sends_unsent_bytes_while_the_host_pauses),
        cmocka_unit_test(test_a_flush_or_a_pause_sends_at_once_and_an_abort_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
