/* relay_case.h: what the tests of the queue between processes share. */
#ifndef BB_TEST_RELAY_CASE_H
#define BB_TEST_RELAY_CASE_H

#include <string.h>
#include <unistd.h>

#include "bontebok.h"
#include "support/descriptors.h"
#include "system/relay.h"

static char taken[BB_RELAY_BYTES];

static int open_before;

static inline struct bb__relay new_relay(void)
{
    struct bb__relay relay;
    open_before = open_descriptors();
    assert_int_equal(bb__relay_open(&relay), BB_OK);
    return relay;
}

static inline void end_relay(struct bb__relay *relay)
{
    bb__relay_close(relay);
    assert_int_equal(open_descriptors(), open_before);
}

static inline int send_bytes(const struct bb__relay *relay, const void *bytes, size_t len)
{
    const struct iovec part = {(void *)bytes, len};
    return bb__relay_send(relay, 0, &part, 1, NULL, 0);
}

static inline int send_with(const struct bb__relay *relay, const char *text, const int *fds, size_t count)
{
    const struct iovec part = {(void *)text, strlen(text)};
    return bb__relay_send(relay, 0, &part, 1, fds, count);
}

static inline void assert_take(const struct bb__relay *relay, const char *text, size_t fd_count)
{
    struct bb__relayed relayed;
    assert_int_equal(bb__relay_take(relay, taken, &relayed), BB_OK);
    assert_int_equal(relayed.len, strlen(text));
    assert_memory_equal(taken, text, relayed.len);
    assert_int_equal(relayed.fd_count, fd_count);
    while (relayed.fd_count > 0) close(relayed.fds[--relayed.fd_count]);
}

static inline void assert_empty(const struct bb__relay *relay)
{
    struct bb__relayed relayed;
    assert_int_equal(bb__relay_take(relay, taken, &relayed), BB_AGAIN);
}

#endif
