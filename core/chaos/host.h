/* host.h: shared by host.c, response.c and rest.c. See host.c. */
#ifndef BB_CHAOS_HOST_H
#define BB_CHAOS_HOST_H

#include "chaos.h"

#include <pthread.h>
#include <unistd.h>

#define WRITERS 2 /* threads that write the rest of streams and of hijacked sockets */

struct thread {
    struct chaos_host *host;
    struct bb_lane *lane;
    struct chaos_random random;
    pthread_t thread;
    pthread_mutex_t lock; /* held while the lane's thread ends its request (bontebok_time.h) */
    unsigned served;
    bool reads; /* the request has an unbuffered body that may have more bytes */
};

/* A response that has left its lane. */
struct rest {
    struct rest *next;
    struct bb_stream *stream; /* NULL: `fd` is a hijacked socket */
    int fd;
    size_t at, length;
};

struct chaos_host {
    struct bb_worker *worker;
    char file[64];
    struct thread lanes[LANES], writers[WRITERS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rest *rests; /* under `lock`, like `ends` */
    bool ends;
};

/* Reads some bytes of the request's unbuffered body, if there are any. A client that has a whole response may
 * have sent its next request instead of the rest of its body. */
void chaos_read_some(struct thread *self);

/* ---- response.c ---- */

/* Responds to the request of the thread's lane in a random way, and ends the request. */
void chaos_respond(struct thread *self, bool upgrade);

/* Ends the request. chaos_give_up() aborts it. chaos_finish() aborts it if `code` is an error, or at random.
 */
void chaos_end(struct thread *self);
void chaos_give_up(struct thread *self);
void chaos_finish(struct thread *self, int code);

int chaos_begin(struct thread *self, int status);
int chaos_begin_body(struct thread *self, size_t length);
size_t chaos_length(struct thread *self);
void chaos_reply_whole(struct thread *self);

static inline void pause_a_little(struct thread *self)
{
    if (one_in(&self->random, 8)) usleep(below(&self->random, 3000));
}

/* ---- rest.c: responses that leave their lane ---- */

void chaos_reply_by_stream(struct thread *self);
void chaos_upgrade(struct thread *self);
void chaos_hijack(struct thread *self);
void chaos_hijack_after_head(struct thread *self);

/* The thread that writes rests. argument: a struct thread. */
void *chaos_write_rests(void *argument);

#endif
