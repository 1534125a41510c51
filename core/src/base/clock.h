/* clock.h: the clocks of the core, all without a system call. */
#ifndef BB_CLOCK_H
#define BB_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC, at the kernel's tick (1 to 4 ms): for deadlines. */
uint64_t bb__clock_ms(void);

/* Microseconds of CLOCK_MONOTONIC, and since 1970: for the access log. */
uint64_t bb__clock_us(void);
uint64_t bb__clock_real_us(void);

#define BB_DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT", RFC 9110 5.6.7 */

/* The Date field's value, rendered anew only when the second changes; one per lane. */
struct bb__date {
    int64_t second; /* 0: never rendered */
    char text[BB_DATE_LEN];
};

const char *bb__date_now(struct bb__date *date);

/* For tests: the value of a given second. */
void bb__date_render(int64_t unix_seconds, char text[BB_DATE_LEN]);

#endif
