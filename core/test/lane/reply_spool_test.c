/* reply_spool_test.c: if a client does not read its response, the core writes the response to a file, and the
 * lane serves other clients. Each byte must arrive. If the client closes the connection, the core frees the
 * file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/taking.h"
#include "response_spool_case.h"
#include "support/client.h"
#include "support/fake_clock.h"
#include "support/fake_wait.h"

/* ---- without a wait ---- */

static bool until_close;
static struct bb__conn *answered;

/* Writes the whole response without a wait. A HEAD request gets no body. */
static void app_never_waits(struct host *host, const struct bb_request *request)
{
    (void)request;
    answered = host->lane->current;
    assert_false(host->lane->reply.spools); /* the flag of the last response is reset */
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, until_close ? BB_LENGTH_UNKNOWN : LARGE), BB_OK);
    if (!bb_reply_bodyless(host->lane)) write_all(host, letters, LARGE);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_a_client_that_takes_nothing_keeps_no_lane(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 2; i++) {
        struct host *host = new_host(families[i], app_never_waits);
        struct client *lazy[5], *other = client_new(host);
        for (int n = 0; n < 5; n++) {
            lazy[n] = lazy_client(host);
            assert_in_range(bb__buf_len(&answered->out), 1, BUFFER + RUN);
            assert_true(answered->response_spool.fd >= 0);
            assert_int_equal(bb__buf_len(&answered->response_spool.tail), 0);
        }
        assert_in_range(used(host), 5 << 20, 5 * LARGE);
        for (int n = 0; n < 2; n++) {
            client_say(other, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
            assert_true(client_read(other, false));
        }
        for (int n = 0; n < 5; n++) assert_all_letters(lazy[n]);
        assert_int_equal(used(host), 0);
        client_say(lazy[0], REQUEST); /* the connection is kept alive */
        assert_all_letters(lazy[0]);
        for (int n = 0; n < 5; n++) client_free(lazy[n]);
        client_free(other);
        host_free(host);
    }
}

static void pass(struct host *host, uint64_t time)
{
    uint64_t tick = bb__conn_write_tick(WRITE_TIMEOUT);
    for (uint64_t step; time > 0; time -= step) {
        step = time < tick ? time : tick;
        fake_clock_advance(step);
        host_settle(host);
    }
}

static void test_a_response_that_is_not_taken_is_dropped_after_write_timeout(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_never_waits);
    struct client *client = client_new(host);
    leave_little_room(client);
    host_settle(host);
    keep_little(host->lane->set.conns);
    ask_lazily(client);
    pass(host, WRITE_TIMEOUT - 1);
    take_some(client, answered); /* write_timeout begins again */
    assert_int_equal(host_connections(host), 1);
    assert_true(used(host) > 0);
    assert_dropped_after(host, WRITE_TIMEOUT);
    assert_int_equal(used(host), 0);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void test_a_client_that_leaves_frees_its_file(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct host *host = new_host(how ? AF_UNIX : AF_INET, app_never_waits);
        struct client *client = lazy_client(host);
        bb__sock_reset(client->fd);
        client->fd = -1;
        host_settle_to(host, 0);
        assert_int_equal(used(host), 0);
        client_free(client);
        host_free(host);
    }
}

/* The body ends when the connection is closed. So only a reset shows that bytes are missing. */
static void test_a_file_that_cannot_be_read_resets_the_connection(void **state)
{
    (void)state;
    until_close = true;
    struct host *host = new_host(AF_INET, app_never_waits);
    host->worker->settings.chunked_transfer = 0;
    struct client *client = lazy_client(host);
    assert_int_equal(ftruncate(answered->response_spool.fd, 100000), 0);
    assert_false(client_read(client, true));
    assert_int_equal(client->end, CLIENT_RESET);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(used(host), 0);
    until_close = false;
    client_free(client);
    host_free(host);
}

/* One flush sends a limited number of bytes, even to a client that reads quickly. */
static void test_a_quick_client_does_not_keep_the_lane_from_others(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_never_waits);
    struct client *client = lazy_client(host);
    bool more = true;
    while (more) {
        while (client_receive(client)) continue;
        uint64_t owed = bb__conn_unsent(answered);
        more = bb__conn_flush(answered, &host->lane->context) == BB_AGAIN;
        assert_true(owed - bb__conn_unsent(answered) <= BUFFER + RUN + 4 * BB_RESPONSE_SPOOL_WINDOW);
        assert_int_equal(bb__buf_len(&answered->out) > 0, more);
    }
    while (client_receive(client)) continue;
    assert_int_equal(bb__conn_unsent(answered), 0);
    assert_true(bb__buf_len(&client->in) > LARGE);
    client_free(client);
    host_settle(host);
    host_free(host);
}

/* While a large part is written, the bytes that the client can take go to the socket, not to the file. */
static void app_writes_two_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    const size_t rest = 2 << 20;
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    write_all(host, letters, LARGE - rest);
    while (client_receive(reader)) continue;
    int64_t given = host->lane->reply.given;
    const struct bb_slice part = {letters + LARGE - rest, rest};
    assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    assert_true(host->lane->reply.given - given > BUFFER + RUN + 5 * BB_RESPONSE_SPOOL_WINDOW);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_bytes_that_the_client_takes_between_runs_need_no_file(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_writes_two_parts);
    reader = client_new(host);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    client_free(reader);
    host_free(host);
}

/* The client reads until the last bytes of the file are in `out`. */
static void read_to_the_last_window(struct host *host)
{
    const struct bb__conn *conn = host->lane->current;
    while (bb__response_spool_len(&conn->response_spool) > 0) {
        uint64_t taken;
        assert_int_equal(bb__buf_reserve(&reader->in, 1000), BB_OK);
        ssize_t got = recv(reader->fd, reader->in.data + reader->in.end, 1000, 0);
        assert_true(got > 0);
        reader->in.end += (size_t)got;
        assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    }
    assert_true(conn->response_spool.fd >= 0 && bb__buf_len(&conn->out) > 0);
}

/* The next bytes are kept in memory behind the last bytes of the file. Then the memory of the worker is full,
 * and the client takes nothing. */
static void app_writes_behind_the_file(struct host *host, const struct bb_request *request)
{
    (void)request;
    const size_t rest = 5000;
    struct bb__conn *conn = host->lane->current;
    atomic_uint_fast64_t *unsent = &host->worker->spool_budget.unsent;
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    write_all(host, letters, LARGE - rest);
    read_to_the_last_window(host);
    const struct bb_slice parts[] = {{letters + LARGE - rest, rest - 1}, {letters + LARGE - 1, 1}};
    assert_int_equal(bb_reply_write(host->lane, parts, 1, false, &taken), BB_OK);
    assert_int_equal(bb__response_spool_len(&conn->response_spool), 0);
    atomic_fetch_add(unsent, host->worker->spool_budget.unsent_max);
    assert_int_equal(bb_reply_write(host->lane, parts + 1, 1, false, &taken), BB_OK);
    atomic_fetch_sub(unsent, host->worker->spool_budget.unsent_max);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_bytes_in_memory_behind_a_file_are_sent_once(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_writes_behind_the_file);
    reader = client_new(host);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    client_free(reader);
    host_free(host);
}

static void take_all(void)
{
    while (client_receive(reader)) continue;
}

static void take_one(void)
{
    (void)client_receive(reader);
}

static void app_has_a_quick_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    fake_wait_client = take_all;
    /* As if the client had read 16 GiB. The core then waits for the client for up to 16 s before it writes
     * the response to a file (BB_MOMENT_PER_MIB). This is enough on a slow machine, too. */
    host->lane->reply.given += 1LL << 34;
    write_all(host, letters, LARGE);
    assert_int_equal(used(host), 0);
    assert_false(host->lane->reply.spools);
    host->lane->reply.moments = 20000000; /* as if the lane had waited 20 s for the client */
    fake_wait_client = take_one;
    assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    fake_wait_client = NULL;
    assert_true(host->lane->reply.spools);
    while (bb__conn_unsent(host->lane->current) > 0) {
        uint64_t taken;
        take_all();
        assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    }
    assert_false(host->lane->reply.spools); /* all bytes are sent, so the next bytes do not go to a file */
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

/* The unsent bytes fill response_buffer. bb_reply_end() adds only the last chunk. */
static void app_ends_behind(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    while (!bb__conn_is_behind(host->lane->current, &host->lane->context)) {
        const struct bb_slice part = {letters, 1000};
        uint64_t taken;
        assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_OK);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_end_of_a_response_needs_no_file(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_ends_behind);
    struct client *client = lazy_client(host);
    assert_int_equal(used(host), 0);
    assert_response(client, 200, NULL);
    client_free(client);
    host_free(host);
}

static void test_a_client_that_takes_all_at_once_needs_no_file(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_has_a_quick_client);
    reader = client_new(host);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    client_free(reader);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_takes_nothing_keeps_no_lane),
        cmocka_unit_test(test_a_response_that_is_not_taken_is_dropped_after_write_timeout),
        cmocka_unit_test(test_a_client_that_leaves_frees_its_file),
        cmocka_unit_test(test_a_file_that_cannot_be_read_resets_the_connection),
        cmocka_unit_test(test_a_quick_client_does_not_keep_the_lane_from_others),
        cmocka_unit_test(test_bytes_that_the_client_takes_between_runs_need_no_file),
        cmocka_unit_test(test_bytes_in_memory_behind_a_file_are_sent_once),
        cmocka_unit_test(test_a_client_that_takes_all_at_once_needs_no_file),
        cmocka_unit_test(test_the_end_of_a_response_needs_no_file),
    };
    return cmocka_run_group_tests_name("reply_spool", tests, make_letters, NULL);
}
