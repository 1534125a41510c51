/* io_case.h: support for tests of the I/O thread. Starts lanes with connections. One lane is busy until the
 * test calls unblock(). */
#ifndef BB_TEST_IO_CASE_H
#define BB_TEST_IO_CASE_H

#include "support/lanes.h"

#define CONNECTIONS 8

/* Opens CONNECTIONS connections and gets a response on each. Each connection can be on any lane. */
static inline void connect_all(struct lanes *lanes, int fds[CONNECTIONS])
{
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = lanes_connect(lanes);
        assert_true(lanes_ask(fds[i], "/first", "", ""));
    }
}

static inline void close_all(int fds[CONNECTIONS])
{
    for (int i = 0; i < CONNECTIONS; i++) close(fds[i]);
}

/* Sends a request on this connection. The request keeps its lane busy until unblock(). */
static inline void block(struct lanes *lanes, int fd)
{
    say(fd, "POST /block HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(sem_wait(&lanes->entered), 0);
}

static inline void unblock(struct lanes *lanes, int fd)
{
    sem_post(&lanes->leave);
    assert_true(lanes_read(fd, "/block 0"));
}

static inline unsigned finish(struct lanes *lanes)
{
    bb_worker_drain(lanes->worker, BB_QUEUE_TAKE);
    return lanes_finish(lanes);
}

/* Lanes and their connections. The lane of the first connection is busy until disperse(). */
struct crowd {
    struct lanes lanes;
    int fds[CONNECTIONS];
};

static inline void gather(struct crowd *crowd, int lanes, const struct bb_settings *settings)
{
    lanes_start(&crowd->lanes, lanes, settings);
    connect_all(&crowd->lanes, crowd->fds);
    block(&crowd->lanes, crowd->fds[0]);
}

/* served: the number of requests that the test has sent after gather(). */
static inline void disperse(struct crowd *crowd, unsigned served)
{
    unblock(&crowd->lanes, crowd->fds[0]);
    close_all(crowd->fds);
    assert_int_equal(finish(&crowd->lanes), CONNECTIONS + 1 + served);
}

#endif
