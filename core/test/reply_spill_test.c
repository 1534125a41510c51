/* reply_spill_test.c: answers that the client does not take leave the lane all the same, for a file: every
 * byte arrives, the lane goes on, and what a client leaves untaken is gone with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"
#include "fail_file.h"
#include "fake_clock.h"
#include "fake_wait.h"

#define REQUEST       "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define BUFFER        (256 * 1024)
#define LARGE         (8 << 20)
#define WRITE_TIMEOUT 60000

static char letters[LARGE];

static struct bb_settings spill_settings(void)
{
    struct bb_settings settings = host_settings();
    settings.response_buffer = BUFFER;
    settings.write_timeout = WRITE_TIMEOUT;
    return settings;
}

static struct host *new_host(int family, host_app app)
{
    struct bb_settings settings = spill_settings();
    struct host *host = host_new(&settings, family);
    host->app = app;
    return host;
}

static uint64_t used(const struct host *host)
{
    return atomic_load(&host->worker->spool_budget.used);
}

/* ---- without waiting ---- */

static bool until_close;
static struct bb__conn *answered;

/* All at once; asked by HEAD, nothing. */
static void app_never_waits(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb_slice parts[] = {
        {letters, 100}, {letters + 100, LARGE - 200}, {letters + LARGE - 100, 100}};
    uint64_t taken = 0;
    answered = host->lane->current;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, until_close ? BB_LENGTH_UNKNOWN : LARGE), BB_OK);
    if (!bb_reply_bodyless(host->lane)) {
        assert_int_equal(bb_reply_write(host->lane, parts, 3, false, &taken), BB_OK);
        assert_int_equal(taken, LARGE);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

/* A client that has asked, and takes nothing. */
static struct client *lazy_client(struct host *host)
{
    struct client *client = client_new(host);
    unsigned served = host->served;
    client_say(client, REQUEST);
    for (int turn = 0; host->served == served && turn < 1000; turn++) host_turn(host);
    assert_int_equal(host->served, served + 1);
    return client;
}

static void assert_all_letters(struct client *client)
{
    assert_answer(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), LARGE + 1);
    assert_memory_equal(bb__buf_bytes(&client->body), letters, LARGE);
}

static void test_who_takes_nothing_keeps_no_lane(void **state)
{
    (void)state;
    static const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 2; i++) {
        struct host *host = new_host(families[i], app_never_waits);
        struct client *lazy[5], *other = client_new(host);
        for (int n = 0; n < 5; n++) {
            lazy[n] = lazy_client(host);
            assert_in_range(bb__buf_len(&answered->out), 1, BUFFER);
            assert_true(answered->spill.fd >= 0);
            assert_int_equal(bb__buf_len(&answered->spill.tail), 0);
        }
        assert_in_range(used(host), 5 << 20, 5 * LARGE);
        for (int n = 0; n < 2; n++) {
            client_say(other, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
            assert_true(client_read(other, false));
        }
        for (int n = 0; n < 5; n++) assert_all_letters(lazy[n]);
        assert_int_equal(used(host), 0);
        client_say(lazy[0], REQUEST); /* kept alive */
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

static void test_what_nobody_takes_is_dropped_in_time(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_never_waits);
    struct client *client = lazy_client(host);
    pass(host, WRITE_TIMEOUT - 1);
    while (client_receive(client)) continue; /* it is there */
    host_settle(host);
    pass(host, WRITE_TIMEOUT - 1);
    assert_int_equal(host_connections(host), 1);
    assert_true(used(host) > 0);
    pass(host, WRITE_TIMEOUT); /* what the kernel had was taken a little later */
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(used(host), 0);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void test_who_leaves_takes_it_along(void **state)
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

/* What ends with the connection must not look whole. */
static void test_a_file_that_cannot_be_read_is_no_end(void **state)
{
    (void)state;
    until_close = true;
    struct host *host = new_host(AF_INET, app_never_waits);
    host->worker->settings.chunked_transfer = 0;
    struct client *client = lazy_client(host);
    assert_int_equal(ftruncate(answered->spill.fd, 100000), 0);
    assert_false(client_read(client, true));
    assert_int_equal(client->end, CLIENT_RESET);
    assert_int_equal(host_connections(host), 0);
    assert_int_equal(used(host), 0);
    until_close = false;
    client_free(client);
    host_free(host);
}

/* Who takes all that he gets does not keep the lane from others. */
static void test_a_quick_client_is_one_of_many(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_never_waits);
    struct client *client = lazy_client(host);
    bool more = true;
    while (more) {
        while (client_receive(client)) continue;
        uint64_t owed = bb__conn_owes(answered);
        more = bb__conn_flush(answered) == BB_AGAIN;
        assert_true(owed - bb__conn_owes(answered) <= BUFFER + 4 * BB_SPILL_WINDOW);
        assert_int_equal(bb__buf_len(&answered->out) > 0, more);
    }
    while (client_receive(client)) continue;
    assert_int_equal(bb__conn_owes(answered), 0);
    assert_true(bb__buf_len(&client->in) > LARGE);
    client_free(client);
    host_settle(host);
    host_free(host);
}

static struct client *reader;

/* What the client can take while a large part is written does not go to the file. */
static void app_writes_two_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    const struct bb_slice most = {letters, LARGE - (2 << 20)}, rest = {letters + most.len, 2 << 20};
    assert_int_equal(bb_reply_write(host->lane, &most, 1, false, &taken), BB_OK);
    while (client_receive(reader)) continue;
    int64_t given = host->lane->reply.given;
    assert_int_equal(bb_reply_write(host->lane, &rest, 1, false, &taken), BB_OK);
    assert_true(host->lane->reply.given - given > 2 * (BUFFER + 4 * BB_SPILL_WINDOW));
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_the_client_is_asked_between_runs(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, app_writes_two_parts);
    reader = client_new(host);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    client_free(reader);
    host_free(host);
}

/* ---- where the lane waits ---- */

static unsigned waits;

static unsigned random_below(unsigned limit)
{
    static uint64_t seed = 5;
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % limit;
}

static void read_some(void)
{
    for (unsigned times = random_below(20); times > 0 && client_receive(reader); times--) continue;
}

/* Parts of all sizes, for a client that reads now and then, and while it is waited for. */
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
        waits++;
        assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    }
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void serve_at_random(struct host *host)
{
    waits = 0;
    fake_wait_client = read_some;
    reader = client_new(host);
    int little = 64 * 1024;
    assert_int_equal(setsockopt(reader->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
    client_say(reader, REQUEST);
    assert_all_letters(reader);
    fake_wait_client = NULL;
    assert_int_equal(used(host), 0);
    client_free(reader);
}

static void test_every_byte_arrives_whatever_there_is_room_for(void **state)
{
    (void)state;
    static const uint64_t buffers[] = {0, 100 * 1000, 1 << 20};
    static const uint64_t budgets[] = {1, 100 * 1000, 1 << 20, 0};
    for (int i = 0; i < 12; i++) {
        struct bb_settings settings = spill_settings();
        settings.response_buffer = buffers[i % 3];
        settings.spool_max = budgets[i / 3];
        struct host *host = host_new(&settings, i % 2 ? AF_INET : AF_UNIX);
        host->app = app_writes_at_random;
        serve_at_random(host);
        if (settings.spool_max == 0) assert_int_equal(waits, 0);
        if (settings.spool_max == 1) assert_true(waits > 0);
        host_free(host);
    }
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

/* Room that others give back ends the wait, whether the client has taken something or not. */
static void app_waits_for_others(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb_slice part = {letters, LARGE};
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGE), BB_OK);
    assert_int_equal(bb_reply_write(host->lane, &part, 1, true, &taken), BB_AGAIN);
    assert_true(taken < LARGE);
    atomic_store(&host->worker->spool_budget.used, 0);
    assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    const struct bb_slice rest = {letters + taken, LARGE - taken};
    assert_int_equal(bb_reply_write(host->lane, &rest, 1, true, &taken), BB_OK);
    assert_int_equal(bb_reply_end(host->lane), BB_OK);
}

static void test_room_that_others_give_back(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, app_waits_for_others);
    atomic_store(&host->worker->spool_budget.used, host->worker->spool_budget.max);
    struct client *client = lazy_client(host);
    assert_all_letters(client);
    assert_int_equal(used(host), 0);
    client_free(client);
    host_free(host);
}

static int make_letters(void **state)
{
    (void)state;
    for (size_t i = 0; i < LARGE; i++) letters[i] = (char)('a' + (i * 31 + i / 1000) % 26);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_takes_nothing_keeps_no_lane),
        cmocka_unit_test(test_what_nobody_takes_is_dropped_in_time),
        cmocka_unit_test(test_who_leaves_takes_it_along),
        cmocka_unit_test(test_a_file_that_cannot_be_read_is_no_end),
        cmocka_unit_test(test_a_quick_client_is_one_of_many),
        cmocka_unit_test(test_the_client_is_asked_between_runs),
        cmocka_unit_test(test_every_byte_arrives_whatever_there_is_room_for),
        cmocka_unit_test(test_a_full_disk_makes_the_lane_wait),
        cmocka_unit_test(test_room_that_others_give_back),
    };
    return cmocka_run_group_tests_name("reply_spill", tests, make_letters, NULL);
}
