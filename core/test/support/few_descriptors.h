/* few_descriptors.h: lets the process open only a few more descriptors. */
#ifndef BB_TEST_FEW_DESCRIPTORS_H
#define BB_TEST_FEW_DESCRIPTORS_H

#include <sys/resource.h>
#include <unistd.h>

static struct rlimit descriptors_before;

/* Lets the process open only `more` more descriptors (0 to 31). Returns the new limit. */
static inline int limit_descriptors(int more)
{
    int fds[32];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &descriptors_before), 0);
    for (int i = 0; i <= more; i++) fds[i] = dup(0);
    struct rlimit few = {.rlim_cur = (rlim_t)fds[more], .rlim_max = descriptors_before.rlim_max};
    for (int i = 0; i <= more; i++) close(fds[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    return (int)few.rlim_cur;
}

static inline void unlimit_descriptors(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &descriptors_before), 0);
}

#endif
