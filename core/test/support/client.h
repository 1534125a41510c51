/* client.h: a client for the host of host.h. It sends bytes and reads responses as RFC 9112 6.3 says. While
 * the client waits, the host serves. After WAIT_LIMIT the test fails; a test that passes never waits that
 * long. lanes.h has clients for hosts with threads. */
#ifndef BB_TEST_CLIENT_H
#define BB_TEST_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <strings.h>

#include "host.h"
#include "real_clock.h"

#define WAIT_LIMIT 60000 /* ms */

enum client_end { CLIENT_OPEN, CLIENT_ENDED, CLIENT_RESET };

struct client {
    struct host *host;
    int fd;
    enum client_end end; /* how the connection has ended, if the client has read its end */
    struct bb__buf in;   /* received bytes that are not yet read as a response */
    /* The last response. */
    int status;
    char *head; /* NUL-terminated, like the body */
    struct bb__buf body;
};

static inline struct client *client_new(struct host *host)
{
    struct client *client = calloc(1, sizeof *client);
    client->host = host;
    client->fd = socket(host->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client->fd, &host->address.any, host->address_len), 0);
    assert_int_equal(fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
    host->clients++;
    return client;
}

static inline void client_free(struct client *client)
{
    if (client->fd >= 0) close(client->fd);
    client->host->clients--;
    bb__buf_free(&client->in);
    bb__buf_free(&client->body);
    free(client->head);
    free(client);
}

/* ---- waiting ---- */

/* Lets the host serve, then waits until the host has something to do or the client's descriptor is ready.
 * since: ms, the time when the caller began to wait. */
static inline void client_wait(struct client *client, short events, uint64_t since)
{
    if (real_ms() - since > WAIT_LIMIT) fail_msg("the host does not answer");
    host_turn(client->host);
    struct pollfd watched[2] = {{.fd = client->fd, .events = events},
                                {.fd = client->host->lane->set.poller.fd, .events = POLLIN}};
#ifdef BB_PORTABLE /* the descriptor does not show whether the lane has events */
    poll(watched, 1, would_wait(client->host));
#else
    poll(watched, 2, 100);
#endif
}

/* ---- sending ---- */

static inline void client_send(struct client *client, const char *bytes, size_t len)
{
    uint64_t since = real_ms();
    while (len > 0) {
        ssize_t sent = send(client->fd, bytes, len, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
        } else {
            assert_int_equal(errno, EAGAIN);
            client_wait(client, POLLOUT, since);
        }
    }
}

static inline void client_say(struct client *client, const char *text)
{
    client_send(client, text, strlen(text));
}

static inline struct client *client_new_saying(struct host *host, const char *text)
{
    struct client *client = client_new(host);
    client_say(client, text);
    return client;
}

/* ---- receiving ---- */

/* Receives the bytes that have come. Returns true if there were bytes or the end of the connection. */
static inline bool client_receive(struct client *client)
{
    if (client->end != CLIENT_OPEN) return false;
    assert_int_equal(bb__buf_reserve(&client->in, 64 * 1024), BB_OK);
    ssize_t got = recv(client->fd, client->in.data + client->in.end, bb__buf_room(&client->in), 0);
    if (got > 0) {
        client->in.end += (size_t)got;
        return true;
    }
    if (got < 0 && errno == EAGAIN) return false;
    client->end = got == 0 ? CLIENT_ENDED : CLIENT_RESET;
    return true;
}

/* Waits for more bytes. Returns false if the connection has ended instead. */
static inline bool client_more(struct client *client)
{
    uint64_t since = real_ms();
    size_t had = bb__buf_len(&client->in); /* the test's application can call client_receive(), too */
    while (client->end == CLIENT_OPEN && bb__buf_len(&client->in) == had)
        if (!client_receive(client)) client_wait(client, POLLIN, since);
    return bb__buf_len(&client->in) > had;
}

/* Returns the value of a field of the last response, in a static buffer. Returns NULL if the response does
 * not have this field. */
static inline const char *client_field(const struct client *client, const char *name)
{
    static char value[256];
    size_t len = strlen(name);
    for (const char *line = strstr(client->head, "\r\n"); line && line[2] != '\r';
         line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, len) != 0 || line[len] != ':') continue;
        const char *at = line + len + 1 + strspn(line + len + 1, " ");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
        return value;
    }
    return NULL;
}

static inline bool client_read_head(struct client *client)
{
    char *end;
    while (bb__buf_len(&client->in) == 0 ||
           !(end = memmem(bb__buf_bytes(&client->in), bb__buf_len(&client->in), "\r\n\r\n", 4)))
        if (!client_more(client)) return false;
    size_t len = (size_t)(end - bb__buf_bytes(&client->in)) + 4;
    free(client->head);
    client->head = strndup(bb__buf_bytes(&client->in), len);
    bb__buf_consume(&client->in, len);
    assert_int_equal(strncmp(client->head, "HTTP/1.1 ", 9), 0);
    client->status = atoi(client->head + 9);
    return true;
}

/* Decodes body bytes until the decoder finds the end of the body. Returns false if the connection ends
 * earlier. */
static inline bool client_decode(struct client *client, struct bb__body *decoder)
{
    for (;;) {
        struct bb_slice run;
        size_t used = 0, len = bb__buf_len(&client->in);
        int code = bb__body_done(decoder) ? BB_OK : BB_AGAIN;
        if (len > 0) code = bb__body_decode(decoder, bb__buf_bytes(&client->in), len, &used, &run);
        if (len > 0 && run.len > 0) assert_int_equal(bb__buf_append(&client->body, run.at, run.len), BB_OK);
        if (len > 0) bb__buf_consume(&client->in, used);
        if (code == BB_OK) return true;
        assert_int_equal(code, BB_AGAIN);
        if (used == len && !client_more(client)) return false;
    }
}

static inline bool client_read_body(struct client *client)
{
    struct bb__body decoder;
    const char *field;
    if ((field = client_field(client, "Transfer-Encoding"))) {
        assert_string_equal(field, "chunked");
        bb__body_start_chunked(&decoder, 1000, 10);
        return client_decode(client, &decoder);
    }
    if ((field = client_field(client, "Content-Length"))) {
        bb__body_start_length(&decoder, strtoull(field, NULL, 10));
        return client_decode(client, &decoder);
    }
    do {
        assert_int_equal(bb__buf_append(&client->body, bb__buf_bytes(&client->in), bb__buf_len(&client->in)),
                         BB_OK);
        bb__buf_clear(&client->in);
    } while (client_more(client));
    return client->end == CLIENT_ENDED;
}

/* Reads the next response, which can be an interim response. Returns false if the connection ends before the
 * response is whole. */
static inline bool client_read(struct client *client, bool has_body)
{
    bb__buf_clear(&client->body);
    if (!client_read_head(client)) return false;
    bool bodyless = !has_body || client->status < 200 || client->status == 204 || client->status == 304;
    bool whole = bodyless || client_read_body(client);
    assert_int_equal(bb__buf_append(&client->body, "", 1), BB_OK);
    return whole;
}

/* ---- assertions ---- */

static inline void assert_response(struct client *client, int status, const char *body)
{
    assert_true(client_read(client, true));
    assert_int_equal(client->status, status);
    if (body) assert_string_equal(bb__buf_bytes(&client->body), body);
}

/* Asserts that only an orderly close of the connection is left to read. */
static inline void assert_end(struct client *client)
{
    while (client_more(client)) continue;
    assert_int_equal(client->end, CLIENT_ENDED);
    assert_int_equal(bb__buf_len(&client->in), 0);
}

static inline void assert_reset(struct client *client)
{
    while (client_more(client)) continue;
    assert_int_equal(client->end, CLIENT_RESET);
}

/* Asserts that a whole response and an orderly close have come. The host does not serve during this call. */
static inline void assert_response_was_left(struct client *client, int status)
{
    while (client_receive(client)) continue;
    assert_int_equal(client->end, CLIENT_ENDED);
    assert_response(client, status, NULL);
    assert_int_equal(bb__buf_len(&client->in), 0);
}

/* Asserts that the host sends nothing, and that the connection stays open. */
static inline void assert_silence(struct client *client)
{
    host_settle(client->host);
    while (client_receive(client)) continue;
    assert_int_equal(bb__buf_len(&client->in), 0);
    assert_int_equal(client->end, CLIENT_OPEN);
}

#endif
