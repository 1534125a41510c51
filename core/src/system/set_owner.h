/* set_owner.h: who owns a lane's set of connections: the lane or, while the lane is busy, the I/O thread. The
 * state is one atomic word, and each change of it is one instruction. So each owner sees all that the
 * previous owner has written. Used by lanes and the I/O thread. Knows no set.
 *
 *     state      the set                                       next state (who: function)
 *     IDLE       the lane's: it looks, reads, closes           BUSY (lane: begin, join),
 *                                                              ALONE (lane: begin_alone)
 *     BUSY       nobody's: the lane has a request, or was      IDLE (lane: end),
 *                woken, and its host still waits for a lock    WORKING (I/O thread, if it takes long: take)
 *     ALONE      as BUSY, see below                            IDLE (lane: end), BUSY (lane: join),
 *                                                              WORKING (I/O thread: take)
 *     WORKING    the I/O thread's: it looks, reads, closes     PARKED (I/O thread: park),
 *                                                              RECLAIMED (lane: return)
 *     PARKED     the I/O thread's, which sleeps and does       WORKING (I/O thread: unpark),
 *                not touch it                                  IDLE (lane, at once: return)
 *     RECLAIMED  the I/O thread's. The lane waits for it,      IDLE (I/O thread, as soon as it can: give)
 *                but the host's other threads do not wait
 *
 * ALONE: no connection in the set needs the I/O thread, so the lane does not wake it. The I/O thread takes
 * the set only if the lane still has the same request some time later.
 *
 * The word also holds the number of the lane's request. The I/O thread takes the set only if this number has
 * not changed since it looked. */
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

/* IDLE to BUSY, with the next number. Sequentially consistent: the I/O thread announces that it sleeps and
 * then reads this word. So either the I/O thread sees BUSY, or the lane sees the announcement. */
static inline void bb__owner_begin(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed);
    atomic_store(&owner->word, bb__owner_with_state(word + (1U << BB_OWNER_STATE_BITS), BB_OWNER_BUSY));
}

/* IDLE to ALONE, with the next number. */
static inline void bb__owner_begin_alone(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed) + (1U << BB_OWNER_STATE_BITS);
    atomic_store_explicit(&owner->word, bb__owner_with_state(word, BB_OWNER_ALONE), memory_order_release);
}

/* IDLE to BUSY with the next number, or ALONE to BUSY: from now on the I/O thread is to look at the lane. */
static inline void bb__owner_join(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed);
    if (bb__owner_state_of(word) == BB_OWNER_IDLE) bb__owner_begin(owner);
    if (bb__owner_state_of(word) == BB_OWNER_ALONE)
        (void)atomic_compare_exchange_strong(&owner->word, &word, bb__owner_with_state(word, BB_OWNER_BUSY));
}

/* BUSY or ALONE to IDLE. Also true if it is IDLE already. False: the I/O thread has the set; call
 * bb__owner_return(). */
static inline bool bb__owner_end(struct bb__owner *owner)
{
    unsigned busy = atomic_load_explicit(&owner->word, memory_order_relaxed);
    if (bb__owner_state_of(busy) != BB_OWNER_BUSY && bb__owner_state_of(busy) != BB_OWNER_ALONE)
        return bb__owner_state_of(busy) == BB_OWNER_IDLE;
    return atomic_compare_exchange_strong_explicit(&owner->word, &busy,
                                                   bb__owner_with_state(busy, BB_OWNER_IDLE),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Takes the set back from the I/O thread: to IDLE. False: the I/O thread is still using the set, and the
 * state is RECLAIMED. The lane calls again when the I/O thread has given the set back. */
bool bb__owner_return(struct bb__owner *owner);

/* ---- the I/O thread's side ---- */

static inline unsigned bb__owner_look(struct bb__owner *owner)
{
    return atomic_load(&owner->word);
}

/* BUSY or ALONE to WORKING, if the lane still has the request that was looked at. */
bool bb__owner_take(struct bb__owner *owner, unsigned looked_at);

/* WORKING to PARKED. False: the state is RECLAIMED. */
bool bb__owner_park(struct bb__owner *owner);

/* PARKED to WORKING. False: the lane has taken the set back. */
bool bb__owner_unpark(struct bb__owner *owner);

/* RECLAIMED to IDLE. The I/O thread does not touch the set after this. */
void bb__owner_give(struct bb__owner *owner);

#endif
