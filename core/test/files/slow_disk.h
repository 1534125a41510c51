/* slow_disk.h: a disk that the kernel knows nothing of, so a look-up has to wait. A test that includes this
 * header is linked with --wrap (see the Makefile). While `slow` is true, look-ups that may not wait find
 * nothing, and look-ups that wait do so until slow_disk_set(false). */
#ifndef BB_TEST_SLOW_DISK_H
#define BB_TEST_SLOW_DISK_H

#include "files/file_read.h"
#include "system/file_source.h"

#include <pthread.h>

int __real_bb__file_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                            struct bb__file_stamp *stamp);
int __wrap_bb__file_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                            struct bb__file_stamp *stamp);
int __real_bb__directory_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                                 struct bb__file_stamp *stamp);
int __wrap_bb__directory_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                                 struct bb__file_stamp *stamp);

void __real_bb__file_close(int fd);
void __wrap_bb__file_close(int fd);
void __real_bb__file_read_now(struct bb__file_read *read);
void __wrap_bb__file_read_now(struct bb__file_read *read);
bool __real_bb__file_source_can_tell(int fd);
bool __wrap_bb__file_source_can_tell(int fd);

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changes;
    bool slow;
    bool unknown;        /* look-ups that may not wait find nothing, and the others do not take long */
    bool closes;         /* to close a file takes as long as a look-up that waits */
    bool reads;          /* the same for reading, and nobody can tell before */
    void (*works)(void); /* is called by each look-up that waits; NULL: none */
    unsigned waiting, waited;
} slow_disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changes = PTHREAD_COND_INITIALIZER};

static inline void slow_disk_set(bool slow)
{
    pthread_mutex_lock(&slow_disk.lock);
    slow_disk.slow = slow;
    pthread_cond_broadcast(&slow_disk.changes);
    pthread_mutex_unlock(&slow_disk.lock);
}

/* Waits until a thread waits for the disk. */
static inline void slow_disk_await(void)
{
    pthread_mutex_lock(&slow_disk.lock);
    while (slow_disk.waiting == 0) pthread_cond_wait(&slow_disk.changes, &slow_disk.lock);
    pthread_mutex_unlock(&slow_disk.lock);
}

/* Returns false if the call may not wait. */
static inline bool wait_for_disk(enum bb__find_mode mode)
{
    pthread_mutex_lock(&slow_disk.lock);
    bool fails = (slow_disk.slow || slow_disk.unknown) && mode == BB_FIND_AT_ONCE;
    if (slow_disk.slow && !fails) {
        slow_disk.waiting++;
        slow_disk.waited++;
        pthread_cond_broadcast(&slow_disk.changes);
        while (slow_disk.slow) pthread_cond_wait(&slow_disk.changes, &slow_disk.lock);
        slow_disk.waiting--;
    }
    pthread_mutex_unlock(&slow_disk.lock);
    if (mode == BB_FIND_WAITING && slow_disk.works) slow_disk.works();
    return !fails;
}

int __wrap_bb__file_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                            struct bb__file_stamp *stamp)
{
    return wait_for_disk(mode) ? __real_bb__file_open_at(at, name, mode, fd, stamp) : BB_AGAIN;
}

int __wrap_bb__directory_open_at(int at, const char *name, enum bb__find_mode mode, int *fd,
                                 struct bb__file_stamp *stamp)
{
    return wait_for_disk(mode) ? __real_bb__directory_open_at(at, name, mode, fd, stamp) : BB_AGAIN;
}

void __wrap_bb__file_close(int fd)
{
    if (slow_disk.closes) (void)wait_for_disk(BB_FIND_WAITING);
    __real_bb__file_close(fd);
}

void __wrap_bb__file_read_now(struct bb__file_read *read)
{
    if (slow_disk.reads) (void)wait_for_disk(BB_FIND_WAITING);
    __real_bb__file_read_now(read);
}

bool __wrap_bb__file_source_can_tell(int fd)
{
    return !slow_disk.reads && __real_bb__file_source_can_tell(fd);
}

#endif
