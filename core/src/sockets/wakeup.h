/* wakeup.h: a descriptor that one thread makes readable to wake another thread. An eventfd, or a pipe where
 * the switch BB_PORTABLE is set. Used by lanes, the I/O thread and the host. */
#ifndef BB_WAKEUP_H
#define BB_WAKEUP_H

struct bb__wakeup {
    int fd; /* readable while raised; -1: not open */
#ifdef BB_PORTABLE
    int in; /* the end of the pipe that is written to */
#endif
};

/* BB_OK or BB_ESYSTEM. On BB_ESYSTEM the wakeup is not open. */
int bb__wakeup_open(struct bb__wakeup *wakeup);

/* A second call has no effect. */
void bb__wakeup_close(struct bb__wakeup *wakeup);

/* Makes wakeup->fd readable: there are 8 bytes to read. Any thread and any signal handler may call this,
 * because errno is restored. */
void bb__wakeup_raise(const struct bb__wakeup *wakeup);
void bb__wakeup_clear(const struct bb__wakeup *wakeup);

#endif
