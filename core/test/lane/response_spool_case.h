/* response_spool_case.h: support for tests of unsent responses in memory and in files: large responses, and
 * clients that read late. */
#ifndef BB_TEST_RESPONSE_SPOOL_CASE_H
#define BB_TEST_RESPONSE_SPOOL_CASE_H

#include "support/client.h"

#define REQUEST       "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define BUFFER        (256 * 1024)
#define LARGE         (8 << 20)
#define WRITE_TIMEOUT 60000

/* Bytes that may be in memory in addition to response_buffer: the bytes of one send. */
#define RUN (256 * 1024 + 32 * 1024)

static char letters[LARGE];
static struct client *reader;

static inline struct bb_settings response_spool_settings(void)
{
    struct bb_settings settings = host_settings();
    settings.response_buffer = BUFFER;
    settings.write_timeout = WRITE_TIMEOUT;
    return settings;
}

static inline struct host *new_host(int family, host_app app)
{
    struct bb_settings settings = response_spool_settings();
    struct host *host = host_new(&settings, family);
    host->app = app;
    return host;
}

static inline uint64_t used(const struct host *host)
{
    return atomic_load(&host->worker->spool_budget.used);
}

/* Writes all bytes. If the response goes to the spool, the host must not wait. */
static inline void write_all(struct host *host, const char *bytes, size_t len)
{
    uint64_t taken;
    for (size_t at = 0; at < len; at += taken) {
        const struct bb_slice part = {bytes + at, len - at};
        if (bb_reply_write(host->lane, &part, 1, false, &taken) == BB_OK) continue;
        assert_false(host->lane->reply.spools);
        assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    }
}

/* Sends a request and lets the host serve it. The client reads nothing of the response. */
static inline void ask_lazily(struct client *client)
{
    struct host *host = client->host;
    unsigned served = host->served;
    client_say(client, REQUEST);
    for (int turn = 0; host->served == served && turn < 1000; turn++) host_turn(host);
    assert_int_equal(host->served, served + 1);
}

static inline struct client *lazy_client(struct host *host)
{
    struct client *client = client_new(host);
    ask_lazily(client);
    return client;
}

/* Keeps the client's receive buffer small. Otherwise TCP makes it larger while the client reads. */
static inline void leave_little_room(struct client *client)
{
    int little = 64 * 1024;
    assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
}

/* Makes the server's send buffer too small for a whole response. */
static inline void keep_little(const struct bb__conn *conn)
{
    int little = 64 * 1024;
    assert_int_equal(setsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
}

static inline void assert_all_letters(struct client *client)
{
    assert_response(client, 200, NULL);
    assert_int_equal(bb__buf_len(&client->body), LARGE + 1);
    assert_memory_equal(bb__buf_bytes(&client->body), letters, LARGE);
}

static inline int make_letters(void **state)
{
    (void)state;
    for (size_t i = 0; i < LARGE; i++) letters[i] = (char)('a' + (i * 31 + i / 1000) % 26);
    return 0;
}

#endif
