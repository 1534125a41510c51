/* linux_only.h: for tests of what only the build for Linux does, or of what several processes do together. */
#ifndef BB_TEST_LINUX_ONLY_H
#define BB_TEST_LINUX_ONLY_H

#ifdef BB_PORTABLE
#define linux_only() skip()
#else
#define linux_only() (void)0
#endif

#endif
