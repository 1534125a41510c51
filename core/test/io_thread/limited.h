/* limited.h: support for tests of time limits of requests. Lanes whose requests have a limit, and a client
 * whose request blocks a lane. */
#ifndef BB_TEST_LIMITED_H
#define BB_TEST_LIMITED_H

#include <sched.h>

#include "io_thread/io_work.h"
#include "support/lanes.h"
#include "support/later_clock.h"
#include "support/real_clock.h"

static inline struct bb_settings limited(uint64_t request_timeout)
{
    struct bb_settings settings = lanes_settings();
    settings.request_timeout = request_timeout;
    return settings;
}

/* Sends a request and waits until the application has it. The clocks stand still until then, because the time
 * of a request begins when the application gets it. */
static inline int blocked_with(struct lanes *lanes, const char *request)
{
    hold_clocks();
    int fd = lanes_connect(lanes);
    say(fd, request);
    assert_int_equal(sem_wait(&lanes->entered), 0);
    let_clocks_go_on();
    return fd;
}

/* Sends a request and waits until it is served. The worker must have only one lane. The clocks stand still,
 * so the request reaches no limit. */
static inline bool is_served_at_once(const struct lanes *lanes, int fd, const char *target)
{
    hold_clocks();
    bool answered = lanes_ask(fd, target, "", "");
    while (bb__owner_state_of(bb__owner_look(&lanes->threads[0].lane->owner)) != BB_OWNER_IDLE) sched_yield();
    let_clocks_go_on();
    return answered;
}

/* Reads until the server closes the connection. */
static inline const char *read_to_end(int fd)
{
    static char text[1024];
    size_t len = 0;
    for (ssize_t got; (got = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0;) len += (size_t)got;
    text[len] = '\0';
    return text;
}

#endif
