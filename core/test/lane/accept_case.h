/* accept_case.h: shared by the tests of new connections. */
#ifndef BB_TEST_ACCEPT_CASE_H
#define BB_TEST_ACCEPT_CASE_H

#include "support/client.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define UPLOAD  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" /* the head only */

static inline struct host *new_host(uint64_t max_connections)
{
    struct bb_settings settings = host_settings();
    settings.max_connections = max_connections;
    return host_new(&settings, AF_UNIX);
}

static inline struct client *new_served(struct host *host)
{
    struct client *client = client_new_saying(host, REQUEST);
    assert_response(client, 200, "GET / ");
    return client;
}

/* Reads the request of `conn`, and puts the connection into the shared queue, as the I/O thread or another
 * process does. */
static inline void pass_on(struct host *host, struct bb__conn *conn)
{
    struct bb_lane *lane = host->lane;
    assert_int_equal(bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ), BB_CONN_REQUEST);
    bb__conn_set_pass(&lane->set, &lane->context, conn, &host->worker->shared.queue);
}

#endif
