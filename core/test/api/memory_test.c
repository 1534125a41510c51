/* memory_test.c: each memory allocation of a worker, of a lane and of a request fails once. Nothing crashes
 * or leaks, no client gets a wrong response, and the lane serves the next client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_alloc.h"
#include "support/fake_clock.h"

static struct bb_settings small_settings(void)
{
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 2000;
    settings.spool_max = 1 << 20;
    settings.response_buffer = 1 << 20;
    strcpy(settings.access_log, "/dev/null");
    strcpy(settings.access_log_format, "ltsv");
    strcpy(settings.unbuffered_bodies, "/in");
    return settings;
}

#ifdef BB_PORTABLE
#define ALLOCATIONS_OF_A_WORKER 2 /* the worker, its shared queue */
#else
#define ALLOCATIONS_OF_A_WORKER 1
#endif

static void test_each_allocation_of_a_worker_and_its_lane_fails_once(void **state)
{
    (void)state;
    struct bb_settings settings = small_settings();
    struct host host = {.family = AF_UNIX, .descriptors = open_descriptors()};
    int listener = host_bind(&host), code;
    unsigned n = 1;
    for (; fail_alloc_at(n), code = bb_worker_new(&host.worker, &settings), fail_alloc_off(); n++)
        assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(n, 1 + ALLOCATIONS_OF_A_WORKER);
    assert_int_equal(code, BB_OK);
    assert_int_equal(bb_worker_listen(host.worker, listener, 0), BB_OK);

    int descriptors = open_descriptors();
    for (n = 1; fail_alloc_at(n), code = bb_lane_new(&host.lane, host.worker), fail_alloc_off(); n++) {
        assert_int_equal(code, BB_ENOMEM);
        assert_int_equal(open_descriptors(), descriptors);
    }
    assert_true(n > 3);
    assert_int_equal(code, BB_OK);
    bb_lane_free(host.lane);
    bb_worker_free(host.worker);
    assert_int_equal(open_descriptors(), host.descriptors);
}

/* ---- requests ---- */

static int app_code;

/* Reads the body, if it is unbuffered. After a failure, tries once more. */
static void read_all(struct host *host)
{
    char bytes[1500];
    size_t got;
    for (int code = BB_OK, failures = 0; failures < 2 && code != BB_EOF && code != BB_AGAIN;) {
        code = bb_request_read(host->lane, bytes, sizeof bytes, &got);
        failures += code < 0;
    }
}

/* Makes two attempts: if the first response fails before any byte is sent, the application begins the
 * response again. */
static void app_tries_again(struct host *host, const struct bb_request *request)
{
    static char value[3000], body[600 * 1000];
    const struct bb_slice parts[] = {{body, 10}, {body, sizeof body}, {body, 10}};
    bool large = request->head.target.len > 1;
    uint64_t taken;
    memset(value, 'v', sizeof value);
    memset(body, 'x', sizeof body);
    read_all(host);
    for (int attempt = 0; attempt < 2; attempt++) {
        int code = bb_reply_begin(host->lane, 200);
        if (code == BB_OK) code = bb_reply_field(host->lane, "X-Large", 7, value, sizeof value);
        if (code == BB_OK) code = bb_reply_head(host->lane, BB_LENGTH_UNKNOWN);
        if (code == BB_OK) code = bb_reply_write(host->lane, parts, large ? 3 : 1, true, &taken);
        app_code = code;
        if (code >= 0 || bb_reply_sent(host->lane)) break;
    }
    if (app_code == BB_AGAIN) app_code = bb_reply_wait(host->lane);
    int end_code = bb_reply_end(host->lane); /* bb_reply_end() must not make a failed response look whole */
    assert_int_equal(end_code, app_code);
}

/* Asserts that all responses of the client are whole. Only the last response may be cut, but its connection
 * must be closed, so that the client notices the cut. */
static void assert_nothing_wrong(struct client *client)
{
    static char all[1 << 20];
    size_t len = bb__buf_len(&client->in);
    assert_true(len < sizeof all);
    if (len > 0) memcpy(all, bb__buf_bytes(&client->in), len);
    all[len] = '\0';
    const char *last_end = all;
    for (const char *at = all; *at != '\0';) {
        assert_int_equal(strncmp(at, "HTTP/1.1 ", 9), 0);
        int status = atoi(at + 9);
        assert_true(status == 200 || status == 100 || status == 503 || status == 507);
        const char *end = strstr(at, "\r\n\r\n");
        if (!end) break;
        bool chunked = memmem(at, (size_t)(end - at), "chunked", 7) != NULL;
        const char *length = strstr(at, "Content-Length: ");
        end += 4;
        if (chunked) {
            const char *last = strstr(end, "0\r\n\r\n");
            if (!last) break;
            end = last + 5;
        } else if (length && length < end) {
            end += atoi(length + 16);
            if (end > all + len) break;
        }
        at = last_end = end;
    }
    if (last_end < all + len) assert_int_not_equal(client->end, CLIENT_OPEN);
}

struct scenario {
    const char *name, *says;
    size_t body; /* bytes of body, in chunks of 1000; 0: no body is sent */
};

static const struct scenario scenarios[] = {
    {"small", "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 0},
    {"large response", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", 0},
    {"upload", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 60 * 1000},
    {"unbuffered", "POST /in HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 3000},
    {"expects", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n", 0},
    {"refused", "nonsense\r\n\r\n", 0},
};

static void say(struct client *client, const struct scenario *scenario)
{
    static char chunk[1024] = "3e8\r\n";
    memset(chunk + 5, 'y', 1000);
    memcpy(chunk + 1005, "\r\n", 2);
    client_say(client, scenario->says);
    for (size_t sent = 0; sent < scenario->body; sent += 1000) client_send(client, chunk, 1007);
    if (scenario->body > 0) client_say(client, "0\r\n\r\n");
}

/* Runs a scenario in which the nth allocation fails. Returns false if the scenario has fewer than n
 * allocations. */
static bool run_with_failure(const struct scenario *scenario, unsigned n)
{
    struct bb_settings settings = small_settings();
    settings.write_timeout = 1;
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    host->app = app_tries_again;
    say(client, scenario);
    fail_alloc_at(n);
    host_settle(host);
    host_settle(host);
    bool failed = fail_alloc_off();
    for (int round = 0; round < 10; round++) { /* lets the host send the rest of the responses */
        while (client_receive(client)) continue;
        host_settle(host);
    }
    if (strcmp(scenario->name, "refused") != 0) assert_nothing_wrong(client);
    client_free(client);

    client = client_new(host); /* the next client is always served */
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "xxxxxxxxxx");
    client_free(client);
    host_settle_to(host, 0);
    assert_int_equal(atomic_load(&host->worker->spool_budget.used), 0);
    assert_int_equal(atomic_load(&host->worker->room.connections), 0);
    host_free(host);
    return failed;
}

static void test_each_allocation_of_a_request_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        unsigned n = 1;
        while (run_with_failure(&scenarios[i], n)) n++;
        assert_true(n > 2);
    }
}

/* The memory for the last chunk cannot be allocated. The host begins the response again, and no byte of the
 * first attempt is sent. */
static void app_fails_at_the_end(struct host *host, const struct bb_request *request)
{
    (void)request;
    struct bb_slice part = {"0123456789", 10};
    uint64_t taken;
    for (int attempt = 0; attempt < 2; attempt++) {
        static char large[4096];
        assert_int_equal(bb_reply_begin(host->lane, 200), BB_OK);
        assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
        if (attempt == 0) {
            size_t room = bb__buf_room(&host->lane->reply.staged);
            assert_true(room > 0x100 && room < 0x1000);
            fail_alloc_at(1); /* the buffer has room for this chunk, but not for the last chunk */
            const struct bb_slice filling = {large, room - strlen("xxx\r\n\r\n") - 1};
            assert_int_equal(bb_reply_write(host->lane, &filling, 1, true, &taken), BB_ENOMEM);
            assert_true(fail_alloc_off());
            assert_true(host->lane->reply.ended);
        } else {
            assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_OK);
        }
        assert_int_equal(bb_reply_sent(host->lane), attempt == 1);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_reply_that_fails_at_its_end_is_begun_again(void **state)
{
    (void)state;
    struct bb_settings settings = small_settings();
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new(host);
    host->app = app_fails_at_the_end;
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "0123456789");
    assert_silence(client);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_of_a_worker_and_its_lane_fails_once),
        cmocka_unit_test(test_each_allocation_of_a_request_fails_once),
        cmocka_unit_test(test_a_reply_that_fails_at_its_end_is_begun_again),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
