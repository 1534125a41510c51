/* clock.h: the clocks of the core and the value of the Date field. All layers use them. No function here
 * makes a system call (vDSO). */
#ifndef BB_CLOCK_H
#define BB_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC, at the resolution of the kernel's tick (1 to 4 ms). For timeouts. */
uint64_t bb__clock_ms(void);

/* Microseconds of CLOCK_MONOTONIC. For measuring how long something takes. */
uint64_t bb__clock_us(void);

/* Microseconds since 1970. For the access log and X-Request-Start. */
uint64_t bb__clock_real_us(void);

/* The time from `since` to `now`, in their unit. 0 if `since` is later than `now`: another thread or process
 * may have set `since` after this thread has read its clock. No other subtraction of times is allowed
 * (test/lint/times_test.rb), because its result would then be huge. */
static inline uint64_t bb__elapsed(uint64_t now, uint64_t since)
{
    return now > since ? now - since : 0;
}

/* Returns `time` plus the part of the absence (`from` to `now`) that is later than `time`. For a time from
 * which a client is measured: the absence of the server does not count against the client. */
static inline uint64_t bb__excused(uint64_t time, uint64_t from, uint64_t now)
{
    return time + bb__elapsed(now, time > from ? time : from);
}

#define BB_DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT", RFC 9110 5.6.7 */

/* The value of the Date field. bb__date_now() renders it only when the second has changed. Each thread needs
 * a struct of its own. */
struct bb__date {
    int64_t second; /* 0: never rendered */
    char text[BB_DATE_LEN];
};

const char *bb__date_now(struct bb__date *date);

/* Renders the Date of a given second. Called by bb__date_now() and by tests. */
void bb__date_render(int64_t unix_seconds, char text[BB_DATE_LEN]);

#endif
