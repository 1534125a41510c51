/* taking.h: test support: measures how many ms pass until the core drops a connection whose client does not
 * read its response. The time begins when the client's kernel last took bytes. Over TCP the client's kernel
 * takes bytes in real time, for example after a delayed ACK. On a slow machine this may happen in the middle
 * of a test. */
#ifndef BB_TEST_TAKING_H
#define BB_TEST_TAKING_H

#include "support/client.h"
#include "support/fake_clock.h"

#define TAKING_STEP 500 /* ms */

/* The client reads until the host's kernel reports a lower number of untaken bytes. */
static inline void take_some(struct client *client, const struct bb__conn *conn)
{
    char bytes[1000];
    int untaken = bb__sock_untaken(conn->fd);
    uint64_t since = real_ms();
    while (bb__sock_untaken(conn->fd) == untaken)
        if (recv(client->fd, bytes, sizeof bytes, 0) < 0) client_wait(client, POLLIN, since);
}

/* Advances the clock until the host's only connection is dropped. Returns the ms since the client's kernel
 * last took bytes. */
static inline uint64_t ms_until_dropped(struct host *host)
{
    int fd = host->lane->set.conns->fd, untaken = bb__sock_untaken(fd);
    uint64_t passed = 0, since = real_ms();
    while (host_connections(host) > 0) {
        int before = untaken;
        assert_true(real_ms() - since < WAIT_LIMIT);
        fake_clock_advance(TAKING_STEP);
        host_settle(host);
        untaken = bb__sock_untaken(fd);
        passed = untaken >= 0 && untaken < before ? 0 : passed + TAKING_STEP;
    }
    return passed;
}

/* The host checks the socket at intervals. One check notices that bytes were taken, the next check notices
 * that no more bytes were taken. So the upper limit includes two intervals. The lower limit is one step less,
 * because the host may notice the bytes before the test does. */
static inline void assert_dropped_after(struct host *host, uint64_t write_timeout)
{
    uint64_t look = bb__conn_write_tick(write_timeout);
    assert_in_range(ms_until_dropped(host), write_timeout - TAKING_STEP,
                    write_timeout + 2 * look + TAKING_STEP);
}

#endif
