/* reply_buffer_test.c: responses that are too large for one send. Tests how many bytes stay in memory, when
 * the host (the program that calls the core) waits, and that each byte arrives. reply_spool_test.c tests
 * responses that go to a file. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define BUFFER  (256 * 1024)

/* bytes; one send (a run) has at most this many */
#define RUN (256 * 1024 + 32 * 1024)

/* Bytes that may be in memory in addition to response_buffer: the run that has filled this buffer, and one
 * run that could not be written to a file. */
#define RUNS (2 * RUN)

static char letter_at(size_t position)
{
    return (char)('a' + position * 31 % 26);
}

/* ---- responses ---- */

#define LARGEST (8 << 20)

static char letters[LARGEST];

static struct {
    struct bb_slice *parts;
    size_t count, total;
    bool chunked;
    int ended_as;
    unsigned waits;
    uint64_t most_pending;
    sem_t held_up; /* posted when the host first has to wait, and when the response has ended */
} response;

/* Cuts `total` letters into parts of `size` bytes, with an empty part behind each. */
static void cut_response(size_t total, size_t size, bool chunked)
{
    response.count = 2 * ((total + size - 1) / size);
    response.parts = calloc(response.count, sizeof *response.parts);
    response.total = total;
    response.chunked = chunked;
    response.waits = 0;
    response.most_pending = 0;
    sem_init(&response.held_up, 0, 0);
    for (size_t i = 0; i < response.count; i += 2) {
        size_t at = i / 2 * size;
        response.parts[i] = (struct bb_slice){letters + at, total - at < size ? total - at : size};
        response.parts[i + 1] = (struct bb_slice){letters, 0};
    }
}

/* Removes `taken` bytes from the front of the parts. Also removes the empty parts behind a part that is
 * removed. */
static void drop_taken(struct bb_slice **parts, size_t *count, uint64_t taken)
{
    while (*count > 0 && (*parts)->len <= taken) {
        taken -= (*parts)->len;
        ++*parts;
        --*count;
    }
    if (*count > 0) {
        (*parts)->at += taken;
        (*parts)->len -= taken;
    }
}

static size_t bytes_of(const struct bb_slice *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += parts[i].len;
    return bytes;
}

/* Writes the whole response, and waits whenever bb_reply_write() returns BB_AGAIN. */
static void app_large(struct host *host, const struct bb_request *request)
{
    (void)request;
    struct bb_slice *parts = response.parts;
    size_t count = response.count;
    uint64_t taken;
    int code;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, response.chunked ? BB_LENGTH_UNKNOWN : response.total), BB_OK);
    while ((code = bb_reply_write(host->lane, parts, count, true, &taken)) == BB_AGAIN) {
        drop_taken(&parts, &count, taken);
        uint64_t pending = bb__conn_unsent(host->lane->current);
        if (pending > response.most_pending) response.most_pending = pending;
        if (!host->lane->reply.spools && bytes_of(parts, count) > BUFFER)
            assert_true(pending <= RUN); /* bytes that memory has no room for are not copied */
        if (host->lane->reply.spools && response.waits++ == 0) sem_post(&response.held_up);
        if ((code = bb_reply_wait(host->lane)) < 0) break;
        assert_true(code == BB_AGAIN || !bb__response_spool_is_full(&host->lane->current->response_spool));
    }
    response.ended_as = code;
    code < 0 ? bb_reply_abort(host->lane) : assert_int_equal(bb_reply_end(host->lane), BB_OK);
    sem_post(&response.held_up);
    free(response.parts);
}

static struct host *new_host(int family, uint64_t write_timeout)
{
    struct bb_settings settings = host_settings();
    settings.response_buffer = BUFFER;
    settings.spool_max = 1; /* no file */
    settings.write_timeout = write_timeout;
    struct host *host = host_new(&settings, family);
    host->app = app_large;
    return host;
}

/* ---- a client in its own thread, because a host that waits blocks its thread ---- */

struct reader {
    struct client *client;
    pthread_t thread;
    size_t piece; /* bytes per read */
    bool late;    /* reads nothing until the host has to wait */
};

static void *read_on(void *argument)
{
    struct reader *reader = argument;
    struct client *client = reader->client;
    struct pollfd watched = {.fd = client->fd, .events = POLLIN};
    char *bytes = malloc(reader->piece);
    if (reader->late) sem_wait(&response.held_up);
    while (poll(&watched, 1, WAIT_LIMIT) > 0) {
        ssize_t got = recv(client->fd, bytes, reader->piece, 0);
        if (got <= 0) break;
        if (bb__buf_append(&client->in, bytes, (size_t)got) != BB_OK) break;
        if (memmem(bytes, (size_t)got, "0\r\n\r\n", 5)) break;
    }
    shutdown(client->fd, SHUT_WR); /* the client has read the response, so the connection need not linger */
    free(bytes);
    return NULL;
}

/* Sends a request. read_on() reads the response, in a thread of its own. */
static struct reader start_reader(struct host *host, size_t piece, bool late)
{
    struct reader reader = {.client = client_new(host), .piece = piece, .late = late};
    client_say(reader.client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    return reader;
}

static void assert_every_byte(struct reader *reader)
{
    struct client *client = reader->client;
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), response.total + 1);
    assert_memory_equal(bb__buf_bytes(&client->body), letters, response.total);
    assert_int_equal(response.ended_as, BB_OK);
    assert_end(client);
    client_free(client);
}

static void serve_and_read(struct host *host, size_t piece, bool late)
{
    struct reader reader = start_reader(host, piece, late);
    pthread_create(&reader.thread, NULL, read_on, &reader);
    while (host->served == 0) {
        bb_lane_wait(host->lane);
        host_serve(host);
    }
    while (host_connections(host) > 0) {
        bb_lane_wait(host->lane);
        host_serve(host);
    }
    pthread_join(reader.thread, NULL);
    assert_every_byte(&reader);
    host->served = 0;
}

static void test_each_byte_of_a_large_response_arrives(void **state)
{
    (void)state;
    static const struct {
        size_t total, size;
    } cases[] = {
        {LARGEST, LARGEST},     /* one huge part */
        {LARGEST, 1000 * 1000}, /* parts larger than a run */
        {4 << 20, 20 * 1000},   /* parts that are too large to be copied */
        {1000 * 1000, 5},       /* 200,000 tiny parts */
        {200 * 1000, 1},        /* parts of one byte */
        {0, 1},
    };
    static const int families[] = {AF_UNIX, AF_INET};
    for (int family = 0; family < 2; family++) {
        struct host *host = new_host(families[family], WAIT_LIMIT);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            for (int chunked = 0; chunked < 2; chunked++) {
                cut_response(cases[i].total, cases[i].size, chunked);
                serve_and_read(host, 64 * 1024, false);
                assert_true(response.most_pending <= BUFFER + RUNS);
            }
        }
        host_free(host);
    }
}

static void test_a_slow_reader_gets_each_byte(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        struct host *host = new_host(AF_UNIX, WAIT_LIMIT);
        cut_response(4 << 20, 3000, chunked);
        serve_and_read(host, 700, true);
        assert_true(response.waits > 0);
        assert_true(response.most_pending >= BUFFER && response.most_pending <= BUFFER + RUNS);
        host_free(host);
    }
}

/* The timeout in ms does not fit into an int, the type of poll()'s timeout. */
static void test_a_write_timeout_of_fifty_days_does_not_overflow(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, 1ULL << 32);
    cut_response(4 << 20, 3000, true);
    serve_and_read(host, 700, true);
    assert_true(response.waits > 0);
    host_free(host);
}

/* ---- clients that do not read ---- */

static void test_a_client_that_reads_nothing_is_reset_after_write_timeout(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, 30);
    struct client *client = client_new(host);
    cut_response(LARGEST, 10000, true);
    client_say(client, REQUEST);
    uint64_t since = real_ms();
    while (host->served == 0) host_turn(host);
    assert_int_equal(response.ended_as, BB_EGONE);
    assert_true(real_ms() - since >= 25);
    assert_true(response.most_pending <= BUFFER + RUNS);
    assert_int_equal(host_connections(host), 0);
    assert_reset(client);
    client_free(client);
    host_free(host);
}

static void test_a_client_that_is_gone_ends_the_wait(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct host *host = new_host(how ? AF_UNIX : AF_INET, WAIT_LIMIT);
        struct client *client = client_new(host);
        cut_response(LARGEST, 10000, true);
        client_say(client, REQUEST);
        bb__sock_reset(client->fd);
        client->fd = -1;
        while (host->served == 0) host_turn(host);
        assert_int_equal(response.ended_as, BB_EGONE);
        client_free(client);
        host_free(host);
    }
}

/* ---- waking ---- */

static void app_is_woken(struct host *host, const struct bb_request *request)
{
    (void)request;
    struct bb_slice rest = {letters, LARGEST};
    uint64_t taken;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGEST), BB_OK);
    while (!bb__response_spool_is_full(&host->lane->current->response_spool)) {
        assert_int_equal(bb_reply_write(host->lane, &rest, 1, true, &taken), BB_AGAIN);
        assert_true(taken > 0 && taken < rest.len);
        rest = (struct bb_slice){rest.at + taken, rest.len - taken};
        if (!host->lane->reply.spools) assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    }
    for (int i = 0; i < 3; i++) {
        bb_lane_wake(host->lane);
        assert_int_equal(bb_reply_wait(host->lane), BB_AGAIN);
    }
    assert_int_equal(bb_reply_write(host->lane, &rest, 1, true, &taken), BB_AGAIN);
    assert_int_equal(taken, 0);
    assert_int_equal(bb_reply_wait(host->lane), BB_EGONE); /* a wake-up ends one wait only */
    assert_int_equal(bb_reply_end(host->lane), BB_ESHORT);
}

static void test_a_wake_up_ends_the_wait(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, 20);
    struct client *client = client_new(host);
    host->app = app_is_woken;
    client_say(client, REQUEST);
    while (host->served == 0) host_turn(host);
    client_free(client);
    host_free(host);
}

/* ---- without a buffer ---- */

static void test_hardly_any_bytes_wait_in_memory_without_a_buffer(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, WAIT_LIMIT);
    host->worker->settings.response_buffer = 0;
    cut_response(4 << 20, 3000, true);
    serve_and_read(host, 64 * 1024, false);
    assert_true(response.most_pending <= RUNS);
    host_free(host);
}

static int make_letters(void **state)
{
    (void)state;
    for (size_t i = 0; i < LARGEST; i++) letters[i] = letter_at(i);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_byte_of_a_large_response_arrives),
        cmocka_unit_test(test_a_slow_reader_gets_each_byte),
        cmocka_unit_test(test_a_client_that_reads_nothing_is_reset_after_write_timeout),
        cmocka_unit_test(test_a_client_that_is_gone_ends_the_wait),
        cmocka_unit_test(test_a_write_timeout_of_fifty_days_does_not_overflow),
        cmocka_unit_test(test_a_wake_up_ends_the_wait),
        cmocka_unit_test(test_hardly_any_bytes_wait_in_memory_without_a_buffer),
    };
    return cmocka_run_group_tests_name("reply_buffer", tests, make_letters, NULL);
}
