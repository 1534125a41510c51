/* drain_case.h: shared by the tests of lanes that end gracefully. */
#ifndef BB_TEST_DRAIN_CASE_H
#define BB_TEST_DRAIN_CASE_H

#include "support/client.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

/* Asserts that the client gets a response with "Connection: close", and that the server closes the
 * connection. */
static inline void assert_last_response(struct client *client, const char *body)
{
    assert_response(client, 200, body);
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
    client_free(client);
}

static inline void assert_drained(struct host *host)
{
    host_settle_to(host, 0);
    assert_int_equal(host->last, BB_DRAINED);
    host_free(host);
}

#endif
