/* fake_pause.h: nanosleep() of the code under test calls a function of the test instead. A test that includes
 * this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FAKE_PAUSE_H
#define BB_TEST_FAKE_PAUSE_H

#include <time.h>

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left);

static void (*in_the_pause)(void); /* NULL: no function is called */

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
    (void)duration, (void)left;
    if (in_the_pause) in_the_pause();
    return 0;
}

#endif
