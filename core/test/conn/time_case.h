/* time_case.h: shared by the tests of a client's timeouts, which use a fake clock. Each test includes
 * fake_clock.h itself, because the Makefile searches the test file for this name. */
#ifndef BB_TEST_TIME_CASE_H
#define BB_TEST_TIME_CASE_H

#include "support/client.h"
#include "support/fake_clock.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static inline void pass(struct host *host, uint64_t milliseconds)
{
    fake_clock_advance(milliseconds);
    host_settle(host);
}

static inline void assert_late(struct client *client)
{
    assert_response(client, 408, NULL);
    assert_string_equal(client_field(client, "Connection"), "close");
    assert_end(client);
}

#endif
