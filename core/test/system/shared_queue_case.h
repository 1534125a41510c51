/* shared_queue_case.h: shared by the tests of the shared queue. */
#ifndef BB_TEST_SHARED_QUEUE_CASE_H
#define BB_TEST_SHARED_QUEUE_CASE_H

#include <string.h>
#include <unistd.h>

#include "bontebok.h"
#include "support/descriptors.h"
#include "system/shared_queue.h"

static char taken[BB_SHARED_QUEUE_BYTES];

static int open_before;

static inline struct bb__shared_queue new_shared_queue(void)
{
    struct bb__shared_queue shared_queue;
    open_before = open_descriptors();
    assert_int_equal(bb__shared_queue_open(&shared_queue), BB_OK);
    return shared_queue;
}

static inline void end_shared_queue(struct bb__shared_queue *shared_queue)
{
    bb__shared_queue_close(shared_queue);
    assert_int_equal(open_descriptors(), open_before);
}

static inline int send_bytes(const struct bb__shared_queue *shared_queue, const void *bytes, size_t len)
{
    const struct iovec part = {(void *)bytes, len};
    return bb__shared_queue_send(shared_queue, 0, &part, 1, NULL, 0);
}

static inline int send_with(const struct bb__shared_queue *shared_queue, const char *text, const int *fds,
                            size_t count)
{
    const struct iovec part = {(void *)text, strlen(text)};
    return bb__shared_queue_send(shared_queue, 0, &part, 1, fds, count);
}

static inline void assert_take(const struct bb__shared_queue *shared_queue, const char *text, size_t fd_count)
{
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(shared_queue, taken, &message), BB_OK);
    assert_int_equal(message.len, strlen(text));
    assert_memory_equal(taken, text, message.len);
    assert_int_equal(message.fd_count, fd_count);
    while (message.fd_count > 0) close(message.fds[--message.fd_count]);
}

static inline void assert_empty(const struct bb__shared_queue *shared_queue)
{
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(shared_queue, taken, &message), BB_AGAIN);
}

#endif
