/* set_owner.h: whose a lane's set of connections is: the lane's, or, while the lane is busy, the I/O
 * thread's. One atomic word; each step is one instruction on it, so what one has written the other one sees.
 * Used by lane and I/O thread. Knows no set.
 *
 *      IDLE    the lane's: it looks, reads, closes
 *      |  ^
 *      v  |    the lane: begin, end
 *      BUSY    nobody's: the lane has its one request, which is no business of the set,
 *      |       or was woken, and its host still waits for a lock
 *      |       the I/O thread, when that takes long: take
 *      v                  hold
 *      WORK -----------------------> HELD    the I/O thread's, which sleeps and touches nothing
 *      ^  |                          |  |
 *      |  |         rouse            |  |    the lane is back: the set is its own at once
 *      +--|--------------------------+  +--> IDLE
 *         |    the lane is back: it has to wait, and the host's other threads do not
 *         v
 *         WANT --------------------> IDLE    the I/O thread, as soon as it can: give
 *
 * ALONE is BUSY of a lane that leaves nothing behind: nobody has to be told, and the I/O thread takes the set
 * only if it finds the same request some time later.
 *
 * WORK and WANT: the I/O thread's. The number of the request stands beside the state: the I/O thread takes
 * the request that it has looked at, or none. */
#ifndef BB_OWNER_H
#define BB_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>

enum bb__owner_state {
    BB_OWNER_IDLE,
    BB_OWNER_BUSY,
    BB_OWNER_WORKING,
    BB_OWNER_PARKED,
    BB_OWNER_RECLAIMED,
    BB_OWNER_ALONE
};

#define BB_OWNER_STATE_BITS 3

struct bb__owner {
    atomic_uint word; /* number of the request, then the state; all zero: IDLE */
};

static inline enum bb__owner_state bb__owner_state_of(unsigned word)
{
    return (enum bb__owner_state)(word & ((1U << BB_OWNER_STATE_BITS) - 1));
}

static inline unsigned bb__owner_with_state(unsigned word, enum bb__owner_state state)
{
    return (word >> BB_OWNER_STATE_BITS << BB_OWNER_STATE_BITS) | state;
}

/* ---- the lane's side ---- */

/* IDLE, to BUSY with the next number. Sequentially consistent: who announces his sleep and then looks here
 * either sees it, or is seen. */
static inline void bb__owner_begin(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed);
    atomic_store(&owner->word, bb__owner_with_state(word + (1U << BB_OWNER_STATE_BITS), BB_OWNER_BUSY));
}

/* IDLE, to ALONE with the next number. */
static inline void bb__owner_begin_alone(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed) + (1U << BB_OWNER_STATE_BITS);
    atomic_store_explicit(&owner->word, bb__owner_with_state(word, BB_OWNER_ALONE), memory_order_release);
}

/* IDLE to BUSY with the next number, or ALONE to BUSY: the lane was alone, and the I/O thread is to look at
 * it.
 */
static inline void bb__owner_join(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed);
    if (bb__owner_state_of(word) == BB_OWNER_IDLE) bb__owner_begin(owner);
    if (bb__owner_state_of(word) == BB_OWNER_ALONE)
        (void)atomic_compare_exchange_strong(&owner->word, &word, bb__owner_with_state(word, BB_OWNER_BUSY));
}

/* BUSY or ALONE to IDLE, or it is that. False: the I/O thread has it, bb__owner_return() is due. */
static inline bool bb__owner_end(struct bb__owner *owner)
{
    unsigned busy = atomic_load_explicit(&owner->word, memory_order_relaxed);
    if (bb__owner_state_of(busy) != BB_OWNER_BUSY && bb__owner_state_of(busy) != BB_OWNER_ALONE)
        return bb__owner_state_of(busy) == BB_OWNER_IDLE;
    return atomic_compare_exchange_strong_explicit(&owner->word, &busy,
                                                   bb__owner_with_state(busy, BB_OWNER_IDLE),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* To IDLE, from what the I/O thread has made of it. False: the I/O thread is in the middle of a step. The
 * state is WANT; the lane calls again when the I/O thread has given the set back. */
bool bb__owner_return(struct bb__owner *owner);

/* ---- the I/O thread's side ---- */

static inline unsigned bb__owner_look(struct bb__owner *owner)
{
    return atomic_load(&owner->word);
}

/* BUSY or ALONE to WORK, if it is still the request that was looked at. */
bool bb__owner_take(struct bb__owner *owner, unsigned looked_at);

/* WORK to HELD. False: it is WANT. */
bool bb__owner_park(struct bb__owner *owner);

/* HELD to WORK. False: the lane has taken it back. */
bool bb__owner_unpark(struct bb__owner *owner);

/* WANT to IDLE: the I/O thread touches nothing of it any more. */
void bb__owner_give(struct bb__owner *owner);

#endif
