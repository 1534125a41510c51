/* reply_full_test.c: responses that neither memory nor the spool (temporary files) has room for. The lane
 * waits for the client. No byte may be lost or sent twice. If memory cannot be allocated, a response that the
 * client has begun to read must not look whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/between_parts.h"
#include "response_spool_case.h"
#include "support/client.h"
#include "support/fail_alloc.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"
#include "support/fake_wait.h"

static unsigned waits;
static bool elsewhere; /* the host waits for its client outside of the core */

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 5;
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % limit;
}

static void read_some(void)
{
    bool soon = reader->host->lane->reply.spools || random_below(8) == 0;
    for (unsigned times = soon ? random_below(20) : 0; times > 0 && client_receive(reader); times--) continue;
}

static void await_client(struct host *host)
{
    if (!elsewhere) {
        assert_int_equal(bb_reply_wait(host->lane), BB_OK);
        return;
    }
    int code = bb_reply_spool(host->lane);
    assert_in_range(code, BB_OK, BB_AGAIN);
    assert_true(host->lane->reply.spools);
    if (code == BB_AGAIN) read_some();
}

/* Writes parts of random sizes. The client reads at random times, and while the host waits. */
static void app_writes_at_random(struct host *host, const struct bb_request *request)
{
    (void)request;
    size_t at = 0;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    while (at < LARGE) {
        size_t len = random_below(4) ? random_below(5000) : random_below(1 << 20);
        struct bb_slice part = {letters + at, len < LARGE - at ? len : LARGE - at};
        uint64_t taken;
        int code = bb_reply_write(host->lane, &part, 1, false, &taken);
        at += taken;
        if (random_below(50) == 0) read_some();
        if (code == BB_OK) continue;
        assert_int_equal(code, BB_AGAIN);
        if (host->lane->reply.spools) waits++;
        await_client(host);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void serve_at_random(struct host *host)
{
    waits = 0;
    fake_wait_client = read_some;
    reader = client_new(host);
    leave_little_room(reader);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    fake_wait_client = NULL;
    assert_int_equal(used(host), 0);
    client_free(reader);
}

static void test_each_byte_arrives_whatever_room_there_is(void **state)
{
    (void)state;
    static const uint64_t buffers[] = {0, 100 * 1000, 1 << 20};
    static const uint64_t budgets[] = {1, 100 * 1000, 1 << 20, 0};
    for (int i = 0; i < 24; i++) {
        struct bb_settings settings = response_spool_settings();
        elsewhere = i >= 12;
        settings.response_buffer = buffers[i % 3];
        settings.spool_max = budgets[i / 3 % 4];
        struct host *host = host_new(&settings, i % 2 ? AF_INET : AF_UNIX);
        host->app = app_writes_at_random;
        serve_at_random(host);
        if (settings.spool_max == 0) assert_int_equal(waits, 0);
        if (settings.spool_max == 1) assert_true(waits > 0);
        host_free(host);
    }
    elsewhere = false;
}

static void test_a_full_disk_makes_the_lane_wait(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EIO};
    for (int i = 0; i < 4; i++) {
        struct host *host = new_host(i % 2 ? AF_INET : AF_UNIX, app_writes_at_random);
        fail_file_full(i < 2 ? 1000000 : 0, errors[i % 2]);
        serve_at_random(host);
        assert_true(waits > 0);
        fail_file_off();
        fail_file.tmpfile_error = EMFILE;
        serve_at_random(host);
        assert_true(waits > 0);
        fail_file_off();
        host_free(host);
    }
}

/* The wait ends when other responses free room in the spool, even if the client reads nothing. Then the lane
 * does not count as waiting. */
static void app_waits_for_others(struct host *host, const struct bb_request *request)
{
    (void)request;
    size_t at = 0;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    while (!bb__response_spool_is_full(&host->lane->current->response_spool)) {
        const struct bb_slice part = {letters + at, LARGE - at};
        uint64_t taken;
        assert_int_equal(bb_reply_write(host->lane, &part, 1, false, &taken), BB_AGAIN);
        at += taken;
        if (!host->lane->reply.spools) assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    }
    atomic_store(&host->worker->spool_budget.used, 0);
    assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    assert_int_equal(atomic_load(&host->lane->intake.slot->taking), 0);
    write_all(host, letters + at, LARGE - at);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_room_that_others_give_back_ends_the_wait(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 1), BB_OK);
    struct host *host = new_host(AF_UNIX, app_waits_for_others);
    host_enter_scoreboard(host, scoreboard);
    atomic_store(&host->worker->spool_budget.used, host->worker->spool_budget.max);
    struct client *client = lazy_client(host);
    assert_all_letters(client);
    assert_int_equal(used(host), 0);
    client_free(client);
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

/* ---- memory that others fill meanwhile ---- */

static bool until_close;
static struct host *filled;

static void fill_memory(void)
{
    atomic_fetch_add(&filled->worker->spool_budget.unsent, filled->worker->spool_budget.unsent_max);
}

/* Other lanes fill the memory while the host writes several large parts. */
static void app_writes_while_others_fill(struct host *host, const struct bb_request *request)
{
    (void)request;
    const size_t len = 40 * 1024;
    size_t at = 0;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, until_close ? BB_LENGTH_UNKNOWN : LARGE), BB_OK);
    while (!bb__conn_has_unsent(host->lane->current)) {
        write_all(host, letters + at, len);
        at += len;
    }
    uint64_t taken;
    const struct bb_slice parts[] = {{letters + at, len}, {letters + at + len, len}};
    filled = host;
    between_parts = fill_memory;
    int code = bb_reply_write(host->lane, parts, 2, false, &taken);
    atomic_fetch_sub(&host->worker->spool_budget.unsent, host->worker->spool_budget.unsent_max);
    assert_in_range(code, BB_OK, BB_AGAIN);
    at += taken;
    while (at < LARGE) {
        const struct bb_slice rest = {letters + at, LARGE - at};
        code = bb_reply_write(host->lane, &rest, 1, false, &taken);
        at += taken;
        if (code == BB_AGAIN) assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_parts_are_sent_once_if_others_fill_the_memory(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        until_close = how;
        struct host *host = new_host(AF_UNIX, app_writes_while_others_fill);
        struct client *client = lazy_client(host);
        assert_all_letters(client);
        client_free(client);
        host_free(host);
    }
}

/* ---- no memory ---- */

#define PART (1 << 20)

static unsigned failing; /* which allocation fails after the call of bb_reply_head(); 1: the first */
static bool failed;

/* Writes two parts. The socket does not take all bytes, so the core keeps the rest in memory. */
static void app_without_memory(struct host *host, const struct bb_request *request)
{
    const struct bb_slice parts[] = {{letters, PART}, {letters + PART, PART}};
    uint64_t taken;
    int little = 64 * 1024;
    (void)request;
    assert_int_equal(setsockopt(host->lane->current->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, until_close ? BB_LENGTH_UNKNOWN : 2 * PART), BB_OK);
    fail_alloc_at(failing);
    int code = bb_reply_write(host->lane, parts, 2, false, &taken);
    failed = fail_alloc_off();
    if (!failed) {
        assert_int_equal(code, BB_OK);
        assert_int_equal(bb_reply_end(host->lane), BB_OK);
        return;
    }
    assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, true, &taken), BB_ENOMEM); /* same error again */
    assert_int_equal(bb_reply_end(host->lane), BB_ENOMEM);
}

/* Tests a body with Content-Length, and a body that ends when the connection is closed. */
static void test_a_response_that_cannot_be_kept_breaks_off(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        unsigned failures = 0;
        until_close = how;
        for (failing = 1; failing == 1 || failed; failing++) {
            struct bb_settings settings = host_settings();
            settings.response_buffer = 4 * PART;
            settings.chunked_transfer = 0;
            struct host *host = host_new(&settings, AF_INET);
            struct client *client = client_new(host);
            host->app = app_without_memory;
            client_say(client, REQUEST);
            bool whole = client_read(client, true);
            assert_int_equal(whole, !failed);
            if (failed) {
                failures++;
                assert_int_equal(client->end, CLIENT_RESET);
                assert_int_equal(host_connections(host), 0);
            } else {
                assert_int_equal(bb__buf_len(&client->body), 2 * PART + 1);
            }
            client_free(client);
            host_free(host);
        }
        assert_true(failures > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_byte_arrives_whatever_room_there_is),
        cmocka_unit_test(test_a_full_disk_makes_the_lane_wait),
        cmocka_unit_test(test_room_that_others_give_back_ends_the_wait),
        cmocka_unit_test(test_parts_are_sent_once_if_others_fill_the_memory),
        cmocka_unit_test(test_a_response_that_cannot_be_kept_breaks_off),
    };
    return cmocka_run_group_tests_name("reply_full", tests, make_letters, NULL);
}
