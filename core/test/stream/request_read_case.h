/* request_read_case.h: support for tests of request bodies that the host reads while they come
 * (unbuffered_bodies). The paths that begin with /in/ are unbuffered. */
#ifndef BB_TEST_REQUEST_READ_CASE_H
#define BB_TEST_REQUEST_READ_CASE_H

#include "support/client.h"

#define POST     "POST /in/x HTTP/1.1\r\nHost: x\r\n"
#define LENGTH   POST "Content-Length: 6\r\n"
#define CHUNKED  POST "Transfer-Encoding: chunked\r\n"
#define EXPECT   "Expect: 100-continue\r\n"
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define NEXT     "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"

static struct client *client;
#define MOST 200

static char bytes[MOST + 1];
static size_t got;

static inline int read_some(struct host *host, size_t len)
{
    int code = bb_request_read(host->lane, bytes, len, &got);
    if (code == BB_OK) bytes[got] = '\0';
    return code;
}

static inline void assert_read(struct host *host, const char *text)
{
    assert_int_equal(read_some(host, MOST), BB_OK);
    assert_int_equal(got, strlen(text));
    assert_string_equal(bytes, text);
}

static inline void say(const char *text)
{
    assert_int_equal(write(client->fd, text, strlen(text)), strlen(text));
}

static inline void say_and_wait(struct host *host, const char *text)
{
    say(text);
    bb_request_wait(host->lane);
}

static inline struct host *new_host(int family, host_app app)
{
    struct bb_settings settings = host_settings();
    strcpy(settings.unbuffered_bodies, "/upload /in/");
    settings.max_body = 1000;
    struct host *host = host_new(&settings, family);
    host->app = app;
    return host;
}

static inline struct host *new_client(int family, host_app app, const char *text)
{
    struct host *host = new_host(family, app);
    client = client_new_saying(host, text);
    return host;
}

static inline void finish(void)
{
    struct host *host = client->host;
    client_free(client);
    host_free(host);
}

#endif
