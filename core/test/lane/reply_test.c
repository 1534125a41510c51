/* reply_test.c: the reply functions of bontebok.h. Tests what a client receives. h1_reply_test.c and
 * h1_framing_test.c test how heads and bodies are encoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static struct host *new_host(int family, host_app app)
{
    struct bb_settings settings = host_settings();
    struct host *host = host_new(&settings, family);
    host->app = app;
    return host;
}

/* ---- the steps of a response ---- */

static void begin(struct host *host, int status)
{
    assert_int_equal(bb_reply_begin(host->lane, status), BB_OK);
}

static int field(struct host *host, const char *name, const char *value)
{
    return bb_reply_field(host->lane, name, strlen(name), value, strlen(value));
}

static void head(struct host *host, uint64_t length)
{
    assert_int_equal(bb_reply_head(host->lane, length), BB_OK);
    assert_false(bb_reply_sent(host->lane));
}

static void put(struct host *host, const char *text, bool last)
{
    const struct bb_slice part = {text, strlen(text)};
    uint64_t taken;
    assert_int_equal(bb_reply_write(host->lane, &part, 1, last, &taken), BB_OK);
    assert_int_equal(taken, part.len);
    assert_true(bb_reply_sent(host->lane));
}

static void end(struct host *host)
{
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

/* ---- parts ---- */

static struct client *watcher;

/* Asserts that the bytes received so far end with `tail`. */
static void assert_has_come(const char *tail)
{
    while (client_receive(watcher)) continue;
    size_t len = strlen(tail);
    assert_true(bb__buf_len(&watcher->in) >= len);
    assert_memory_equal(bb__buf_bytes(&watcher->in) + bb__buf_len(&watcher->in) - len, tail, len);
}

static void app_in_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t taken;
    begin(host, 200);
    head(host, BB_LENGTH_UNKNOWN);
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    assert_has_come("\r\n\r\n"); /* a write without a part sends the head */
    put(host, "hello", false);
    assert_has_come("\r\n5\r\nhello\r\n");
    put(host, "", false); /* an empty part does not end the body */
    put(host, "world", false);
    assert_has_come("\r\n5\r\nworld\r\n");
    put(host, "", false);
    end(host);
    assert_has_come("\r\n0\r\n\r\n");
}

static void test_each_part_leaves_at_once(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_in_parts);
    watcher = client_new(host);
    client_say(watcher, REQUEST);
    assert_response(watcher, 200, "helloworld");
    assert_silence(watcher);
    client_free(watcher);
    host_free(host);
}

static void app_several_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    static const struct bb_slice parts[] = {{"a", 1}, {NULL, 0}, {"", 0}, {"bcd", 3}, {"e", 1}};
    uint64_t taken;
    begin(host, 200);
    head(host, BB_LENGTH_UNKNOWN);
    assert_int_equal(bb_reply_write(host->lane, parts, 5, true, &taken), BB_OK);
    assert_int_equal(taken, 5);
    end(host);
}

static void test_version_and_settings_decide_about_the_framing(void **state)
{
    (void)state;
    static const struct {
        const char *request, *coding;
        uint64_t chunked_transfer;
        bool lives;
    } cases[] = {
        {REQUEST, "chunked", 1, true},
        {REQUEST, NULL, 0, false},
        {"GET / HTTP/1.0\r\n\r\n", NULL, 1, false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", NULL, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bb_settings settings = host_settings();
        settings.chunked_transfer = cases[i].chunked_transfer;
        struct host *host = host_new(&settings, AF_UNIX);
        struct client *client = client_new(host);
        host->app = app_several_parts;
        client_say(client, cases[i].request);
        assert_response(client, 200, "abcde");
        assert_int_equal(client_field(client, "Transfer-Encoding") != NULL, cases[i].coding != NULL);
        assert_null(client_field(client, "Content-Length"));
        assert_int_equal(client_field(client, "Connection") == NULL, cases[i].lives);
        cases[i].lives ? assert_silence(client) : assert_end(client);
        client_free(client);
        host_free(host);
    }
}

static void app_nothing(struct host *host, const struct bb_request *request)
{
    begin(host, 200);
    head(host, request->head.target.len == 1 ? BB_LENGTH_UNKNOWN : 0);
    end(host);
}

static void test_a_response_without_a_part_is_complete(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_nothing);
    struct client *client = client_new(host);
    client_say(client, REQUEST "GET /0 HTTP/1.1\r\nHost: x\r\n\r\n" REQUEST);
    assert_response(client, 200, "");
    assert_string_equal(client_field(client, "Transfer-Encoding"), "chunked");
    assert_response(client, 200, "");
    assert_string_equal(client_field(client, "Content-Length"), "0");
    assert_response(client, 200, "");
    assert_silence(client);
    client_free(client);
    host_free(host);
}

static int bodyless_status;

static void app_bodyless(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, bodyless_status);
    assert_false(bb_reply_has_length(host->lane));
    if (bodyless_status == 200) assert_int_equal(field(host, "Content-Length", "12345"), BB_OK);
    assert_int_equal(bb_reply_has_length(host->lane), bodyless_status == 200);
    head(host, BB_LENGTH_UNKNOWN);
    assert_true(bb_reply_bodyless(host->lane));
    put(host, "not wanted", true);
    end(host);
}

static void test_a_response_without_a_body_ends_with_its_head(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {{"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 200}, {REQUEST, 204}, {REQUEST, 205}, {REQUEST, 304}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host *host = new_host(AF_UNIX, app_bodyless);
        struct client *client = client_new(host);
        bodyless_status = cases[i].status;
        for (int round = 0; round < 2; round++) {
            client_say(client, cases[i].request);
            assert_true(client_read(client, false));
            assert_int_equal(client->status, cases[i].status);
            assert_null(client_field(client, "Transfer-Encoding"));
            assert_silence(client);
        }
        client_free(client);
        host_free(host);
    }
}

/* ---- a response that is begun again ---- */

static void app_thinks_twice(struct host *host, const struct bb_request *request)
{
    (void)request;
    assert_int_equal(bb_reply_begin(host->lane, 99), BB_ESTATUS);
    begin(host, 200);
    assert_int_equal(field(host, "X-First", "thought"), BB_OK);
    assert_int_equal(field(host, "Content-Length", "100"), BB_OK);
    assert_int_equal(field(host, "Connection", "close"), BB_OK);
    assert_int_equal(field(host, "not a name", "x"), BB_ENAME);
    begin(host, 200);
    assert_int_equal(field(host, "X-Second", "a\rb"), BB_EVALUE);
    begin(host, 200);
    head(host, 100);
    begin(host, 500);
    assert_int_equal(field(host, "X-Third", "one"), BB_OK);
    assert_int_equal(field(host, "X-Third", "two\nthree"), BB_EVALUE);
    assert_int_equal(field(host, "X-Third", "four"), BB_OK); /* the head is as before the error */
    head(host, 5);
    put(host, "sorry", true);
    assert_int_equal(bb_reply_begin(host->lane, 200), BB_EGONE);
    end(host);
}

static void test_a_response_that_is_begun_again_forgets_the_first(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_thinks_twice);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_response(client, 500, "sorry");
    assert_null(client_field(client, "X-First"));
    assert_null(client_field(client, "X-Second"));
    assert_null(client_field(client, "Connection"));
    assert_non_null(strstr(client->head, "X-Third: one\r\nX-Third: four\r\n"));
    assert_silence(client);
    client_free(client);
    host_free(host);
}

/* ---- bodies that differ from their length ---- */

static void app_announces_too_much(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, 200);
    head(host, 10);
    put(host, "short", true);
    assert_int_equal(bb_reply_end(host->lane), BB_ESHORT);
}

static void app_announces_too_little(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, 200);
    assert_int_equal(field(host, "Content-Length", "3"), BB_OK);
    head(host, BB_LENGTH_UNKNOWN);
    put(host, "too ", false);
    put(host, "much", true);
    end(host);
}

/* Nothing was sent, so the host may respond in another way. */
static void app_has_no_chunks(struct host *host, const struct bb_request *request)
{
    const struct bb_slice parts[] = {{"1\r\na\r\n", 6}, {"no chunk", 8}};
    uint64_t taken;
    begin(host, 200);
    assert_int_equal(field(host, "Transfer-Encoding", "chunked"), BB_OK);
    head(host, BB_LENGTH_UNKNOWN);
    assert_int_equal(bb_reply_write(host->lane, parts, 2, true, &taken), BB_ECHUNKS);
    app_announces_too_little(host, request);
}

static void test_a_short_body_is_reset_a_long_body_is_cut(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_announces_too_much);
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_reset(client);
    client_free(client);
    host->app = app_announces_too_little;
    for (int i = 0; i < 2; i++, host->app = app_has_no_chunks) {
        client = client_new(host);
        client_say(client, REQUEST REQUEST);
        assert_response(client, 200, "too");
        assert_end(client);
        client_free(client);
    }
    host_settle_to(host, 0);
    host_free(host);
}

/* ---- aborting ---- */

static unsigned abort_after;

static void app_aborts(struct host *host, const struct bb_request *request)
{
    (void)request;
    if (abort_after > 0) begin(host, 200);
    if (abort_after > 1) head(host, BB_LENGTH_UNKNOWN);
    if (abort_after > 2) put(host, "begun", false);
    bb_reply_abort(host->lane);
    bb_reply_abort(host->lane); /* the second call has no effect */
    assert_int_equal(bb_reply_end(host->lane), BB_EGONE);
}

static void test_a_response_is_aborted_at_each_step(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_aborts);
    for (abort_after = 0; abort_after < 4; abort_after++) {
        struct client *client = client_new(host);
        client_say(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" REQUEST);
        assert_reset(client);
        client_free(client);
        assert_int_equal(host_connections(host), 0);
    }
    host->app = app_echo; /* an aborted response does not change the next response */
    struct client *client = client_new(host);
    client_say(client, REQUEST);
    assert_response(client, 200, "GET / ");
    client_free(client);
    host_free(host);
}

static void app_closes(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, 200);
    assert_int_equal(field(host, "connection", "close"), BB_OK);
    head(host, 2);
    put(host, "ok", true);
    end(host);
}

static void test_the_application_may_close_the_connection(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_closes);
    struct client *client = client_new(host);
    client_say(client, REQUEST REQUEST);
    assert_response(client, 200, "ok");
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    assert_int_equal(host->served, 1);
    client_free(client);
    host_free(host);
}

/* A head may be larger than the buffer that a lane keeps for heads. */
static void app_large_head(struct host *host, const struct bb_request *request)
{
    (void)request;
    static char value[100 * 1000];
    memset(value, 'v', sizeof value - 1);
    begin(host, 200);
    assert_int_equal(field(host, "X-Large", value), BB_OK);
    head(host, 2);
    put(host, "ok", true);
    end(host);
    assert_null(host->lane->reply.staged.data);
}

static void test_a_head_larger_than_the_buffer_is_sent(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_large_head);
    struct client *client = client_new(host);
    client_say(client, REQUEST REQUEST);
    for (int i = 0; i < 2; i++) {
        assert_response(client, 200, "ok");
        assert_true(strlen(client->head) > 100 * 1000);
    }
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_part_leaves_at_once),
        cmocka_unit_test(test_version_and_settings_decide_about_the_framing),
        cmocka_unit_test(test_a_response_without_a_part_is_complete),
        cmocka_unit_test(test_a_response_without_a_body_ends_with_its_head),
        cmocka_unit_test(test_a_response_that_is_begun_again_forgets_the_first),
        cmocka_unit_test(test_a_short_body_is_reset_a_long_body_is_cut),
        cmocka_unit_test(test_a_response_is_aborted_at_each_step),
        cmocka_unit_test(test_the_application_may_close_the_connection),
        cmocka_unit_test(test_a_head_larger_than_the_buffer_is_sent),
    };
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
