/* conn_body_test.c: request bodies: how they are read, where they are stored, and their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"

static struct host *new_host(uint64_t max_body)
{
    struct bb_settings settings = host_settings();
    settings.max_body = max_body;
    settings.spool_threshold = 100 * 1000;
    settings.spool_max = 500 * 1000;
    return host_new(&settings, AF_UNIX);
}

static uint64_t spooled(const struct host *host)
{
    return atomic_load(&host->worker->spool_budget.used);
}

static char letter_at(size_t position)
{
    return (char)('a' + position * 31 % 26);
}

static void say_length_head(struct client *client, uint64_t length)
{
    char head[128];
    snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %llu\r\n\r\n",
             (unsigned long long)length);
    client_say(client, head);
}

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
#define NEXT    "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"

/* Sends letters, plain or in chunks of 1000. */
static void say_letters(struct client *client, size_t from, size_t to, bool chunked)
{
    char piece[1024];
    while (from < to) {
        size_t len = to - from < 1000 ? to - from : 1000, start = 0;
        if (chunked) start = (size_t)snprintf(piece, sizeof piece, "%zx\r\n", len);
        for (size_t i = 0; i < len; i++) piece[start + i] = letter_at(from + i);
        if (chunked) memcpy(piece + start + len, "\r\n", 2);
        client_send(client, piece, start + len + (chunked ? 2 : 0));
        from += len;
    }
}

/* Reads a response with an echo of `len` letters. */
static void assert_letters(struct client *client, size_t len)
{
    static const char prefix[] = "POST / ";
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), sizeof prefix - 1 + len + 1);
    const char *letters = bb__buf_bytes(&client->body) + sizeof prefix - 1;
    assert_memory_equal(bb__buf_bytes(&client->body), prefix, sizeof prefix - 1);
    for (size_t i = 0; i < len; i++)
        if (letters[i] != letter_at(i)) fail_msg("byte %zu of %zu is wrong", i, len);
}

/* ---- where a body is stored ---- */

static int kept_in_file;

static void app_notes_where(struct host *host, const struct bb_request *request)
{
    kept_in_file = request->body_fd >= 0;
    assert_true(kept_in_file ? request->body == NULL : request->body != NULL);
    app_echo(host, request);
}

static void test_a_small_body_is_in_memory_a_large_one_in_a_file(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 1000, BB_BUF_POOL_SIZE, 99999, 100 * 1000, 100 * 1000 + 1, 400 * 1000};
    struct host *host = new_host(0);
    host->app = app_notes_where;
    for (int chunked = 0; chunked < 2; chunked++) {
        struct client *client = client_new(host);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (chunked)
                client_say(client, CHUNKED);
            else
                say_length_head(client, sizes[i]);
            say_letters(client, 0, sizes[i], chunked);
            if (chunked) client_say(client, "0\r\n\r\n");
            assert_letters(client, sizes[i]);
            assert_int_equal(kept_in_file, sizes[i] > 100 * 1000);
            assert_int_equal(spooled(host), 0);
        }
        assert_silence(client);
        client_free(client);
    }
    host_free(host);
}

static void app_expects_no_body(struct host *host, const struct bb_request *request)
{
    assert_int_equal(request->body_length, 0);
    assert_null(request->body);
    assert_int_equal(request->body_fd, -1);
    assert_int_equal(request->listener, 7);
    assert_int_equal(request->peer.len, strlen("127.0.0.1"));
    assert_memory_equal(request->peer.at, "127.0.0.1", request->peer.len);
    assert_int_equal(request->peer_port, 0);
    assert_true(request->peer_is_unix);
    app_echo(host, request);
}

static void test_an_empty_body_looks_the_same_in_each_framing(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *client = client_new(host);
    host->app = app_expects_no_body;
    client_say(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "GET / ");
    say_length_head(client, 0);
    assert_response(client, 200, "POST / ");
    client_say(client, CHUNKED "0\r\n\r\n");
    assert_response(client, 200, "POST / ");
    client_say(client, CHUNKED);
    host_turn(host);
    client_say(client, "0\r\n\r\n");
    assert_response(client, 200, "POST / ");
    client_free(client);
    host_free(host);
}

static void test_requests_behind_a_large_body_are_served(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    for (int chunked = 0; chunked < 2; chunked++) {
        struct client *client = client_new(host);
        if (chunked)
            client_say(client, CHUNKED);
        else
            say_length_head(client, 150 * 1000);
        host_turn(host);
        say_letters(client, 0, 150 * 1000, chunked);
        client_say(client, chunked ? "0\r\n\r\n" NEXT NEXT "GET /half" : NEXT NEXT "GET /half");
        assert_letters(client, 150 * 1000);
        assert_response(client, 200, "GET /next ");
        assert_response(client, 200, "GET /next ");
        assert_silence(client);
        client_say(client, " HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_response(client, 200, "GET /half ");
        client_free(client);
    }
    host_free(host);
}

static void app_knows_its_fields(struct host *host, const struct bb_request *request)
{
    const struct bb_field *last = &request->head.fields[request->head.field_count - 1];
    assert_int_equal(last->value_len, 1);
    assert_int_equal(last->value[0], request->head.target.at[1]);
    app_echo(host, request);
}

static void test_two_uploads_at_a_time_keep_their_heads(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *first = client_new(host), *second = client_new(host), *other = client_new(host);
    host->app = app_knows_its_fields;
    client_say(first, "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nX-First: 1\r\n\r\nbo");
    client_say(second,
               "PUT /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: x\r\nX-Second: 2\r\n\r\n4\r\nbo");
    host_settle(host);
    client_say(other, "GET /3 HTTP/1.1\r\nHost: x\r\nX-Third: 3\r\n\r\n");
    assert_response(other, 200, "GET /3 ");
    client_say(second, "dy\r\n0\r\n\r\n");
    assert_response(second, 200, "PUT /2 body");
    client_say(first, "dy");
    assert_response(first, 200, "POST /1 body");
    client_free(first);
    client_free(second);
    client_free(other);
    host_free(host);
}

/* ---- limits ---- */

static void assert_refused(struct client *client, int status)
{
    assert_response(client, status, NULL);
    assert_end(client);
    assert_int_equal(client->host->served, 0);
    assert_int_equal(spooled(client->host), 0);
    client_free(client);
}

static void test_max_body_limits_both_framings(void **state)
{
    (void)state;
    struct host *host = new_host(1000);
    struct client *client = client_new(host);
    say_length_head(client, 1001);
    assert_refused(client, 413); /* before a byte of the body has come */

    client = client_new(host);
    client_say(client, CHUNKED "3e9\r\n");
    assert_refused(client, 413);

    client = client_new(host);
    client_say(client, CHUNKED);
    host_turn(host);
    say_letters(client, 0, 1000, true);
    client_say(client, "1\r\n");
    assert_refused(client, 413);

    client = client_new(host);
    client_say(client, CHUNKED "ffffffffffffffff\r\n");
    assert_refused(client, 413);

    client = client_new(host);
    say_length_head(client, 1000);
    say_letters(client, 0, 1000, false);
    assert_letters(client, 1000);
    client_say(client, CHUNKED);
    say_letters(client, 0, 1000, true);
    client_say(client, "0\r\n\r\n");
    assert_letters(client, 1000);
    client_free(client);
    host_free(host);
}

static void assert_one_events(struct host *host, int status, int error)
{
    assert_int_equal(host->event_count, 1);
    assert_int_equal(host->events[0].status, status);
    assert_int_equal(host->events[0].error, error);
    assert_string_equal(host->events[0].peer, "127.0.0.1");
    host->event_count = 0;
    fake_clock_advance(1000); /* ms; at most one event is reported per second */
}

static void test_spool_max_limits_all_bodies_together(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *first = client_new(host), *second;
    say_length_head(first, 400 * 1000);
    say_letters(first, 0, 300 * 1000, false);
    host_settle(host);
    assert_int_equal(spooled(host), 300 * 1000);

    second = client_new(host);
    say_length_head(second, 200 * 1000 + 1); /* Content-Length alone exceeds spool_max */
    assert_response(second, 507, NULL);
    assert_end(second);
    assert_one_events(host, 507, 0);
    client_free(second);

    second = client_new(host);
    client_say(second, CHUNKED);
    say_letters(second, 0, 250 * 1000, true);
    assert_response(second, 507, NULL);
    assert_end(second);
    assert_one_events(host, 507, 0);
    client_free(second);

    second = client_new(host);
    client_say(second, CHUNKED "ffffffffffffffff\r\n"); /* the size of the chunk alone exceeds spool_max */
    assert_response(second, 507, NULL);
    assert_end(second);
    assert_one_events(host, 507, 0);
    client_free(second);

    assert_int_equal(host->served, 0);
    assert_int_equal(spooled(host), 300 * 1000);
    say_letters(first, 300 * 1000, 400 * 1000, false);
    assert_letters(first, 400 * 1000);
    assert_int_equal(spooled(host), 0);
    client_free(first);
    host_free(host);
}

static void test_a_body_is_rejected_if_the_disk_is_full(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    for (int chunked = 0; chunked < 2; chunked++) {
        struct client *client = client_new(host);
        fail_file_full(150 * 1000, ENOSPC);
        if (chunked)
            client_say(client, CHUNKED);
        else
            say_length_head(client, 400 * 1000);
        say_letters(client, 0, 400 * 1000, chunked);
        assert_refused(client, 507);
        assert_one_events(host, 507, ENOSPC);
        fail_file_off();
    }
    struct client *client = client_new(host); /* the disk has space again */
    say_length_head(client, 400 * 1000);
    say_letters(client, 0, 400 * 1000, false);
    assert_letters(client, 400 * 1000);
    client_free(client);
    host_free(host);
}

static void test_a_body_is_rejected_if_no_file_can_be_created(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *client = client_new(host);
    fail_file.tmpfile_error = EMFILE;
    say_length_head(client, 200 * 1000);
    say_letters(client, 0, 200 * 1000, false);
    assert_refused(client, 503);
    assert_one_events(host, 503, EMFILE);
    fail_file_off();
    host_free(host);
}

static void test_trailers_and_chunk_extensions_are_limited(void **state)
{
    (void)state;
    struct host *host = new_host(0);
    struct client *client = client_new(host);
    client_say(client, CHUNKED "0\r\n");
    for (int i = 0; i < 129; i++) client_say(client, "Trailer: x\r\n");
    assert_refused(client, 431);

    client = client_new(host);
    client_say(client, CHUNKED "1;");
    for (int i = 0; i < 110; i++) client_say(client, "0123456789");
    assert_refused(client, 400);
    host_free(host);
}

/* ---- clients that close the connection ---- */

static void test_an_upload_that_breaks_off_leaves_nothing_behind(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    struct host *host = host_new(&settings, AF_INET);
    static const size_t stages[] = {0, 1, 500, 1500, 100 * 1000};
    for (int how = 0; how < 4; how++) {
        bool chunked = how & 1, reset = how & 2;
        for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
            struct client *client = client_new(host);
            if (chunked)
                client_say(client, CHUNKED);
            else
                say_length_head(client, 200 * 1000);
            say_letters(client, 0, stages[i], chunked);
            host_settle(host);
            assert_int_equal(host_connections(host), 1);
            if (reset) bb__sock_reset(client->fd), client->fd = -1;
            client_free(client);
            host_settle_to(host, 0);
            assert_int_equal(spooled(host), 0);
        }
    }
    assert_int_equal(host->served, 0);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_body_is_in_memory_a_large_one_in_a_file),
        cmocka_unit_test(test_an_empty_body_looks_the_same_in_each_framing),
        cmocka_unit_test(test_requests_behind_a_large_body_are_served),
        cmocka_unit_test(test_two_uploads_at_a_time_keep_their_heads),
        cmocka_unit_test(test_max_body_limits_both_framings),
        cmocka_unit_test(test_spool_max_limits_all_bodies_together),
        cmocka_unit_test(test_a_body_is_rejected_if_the_disk_is_full),
        cmocka_unit_test(test_a_body_is_rejected_if_no_file_can_be_created),
        cmocka_unit_test(test_trailers_and_chunk_extensions_are_limited),
        cmocka_unit_test(test_an_upload_that_breaks_off_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("conn_body", tests, NULL, NULL);
}
