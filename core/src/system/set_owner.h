/* set_owner.h: who owns a lane's set of connections: the lane or, while the lane has a long request, the I/O
 * thread. The state is in one atomic word. Each change of the word is one atomic operation, so the new owner
 * sees all writes of the previous owner. Used by lanes and the I/O thread. This file does not use the set
 * itself. The host is the program that calls the core.
 *
 *     state      owner of the set                              next state (thread: function)
 *     IDLE       the lane                                      BUSY (lane: begin, join),
 *                                                              ALONE (lane: begin_alone)
 *     BUSY       nobody. The lane has a request, or it was     IDLE (lane: end),
 *                woken and waits for the host's global lock    WORKING (I/O thread: take, if BUSY lasts long)
 *     ALONE      nobody, see below                             IDLE (lane: end), BUSY (lane: join),
 *                                                              WORKING (I/O thread: take)
 *     WORKING    the I/O thread, which uses the set            PARKED (I/O thread: park),
 *                                                              RECLAIMED (lane: return)
 *     PARKED     the I/O thread, which does not use the        WORKING (I/O thread: unpark),
 *                set now                                       IDLE (lane: return)
 *     RECLAIMED  the I/O thread, which ends its step. The      IDLE (I/O thread: give)
 *                lane waits, the host's other threads do not
 *
 * ALONE: no connection of the set needs the I/O thread, so the lane does not wake the I/O thread. The I/O
 * thread takes the set only if the lane still has the same request after bb__io_watch_time() (io_work.h).
 *
 * The word also has the number of the lane's request. The I/O thread takes the set only if the number has not
 * changed since the I/O thread read the word. */
#ifndef BB_SET_OWNER_H
#define BB_SET_OWNER_H

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
    atomic_uint word; /* high bits: number of the request; low bits: the state; 0: IDLE */
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

/* IDLE to BUSY, with the next number. The store is sequentially consistent. The I/O thread sets
 * bb__io_link.asleep and then reads this word. The lane sets BUSY and then reads `asleep`. So either the I/O
 * thread sees BUSY, or the lane sees `asleep`. */
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

/* IDLE to BUSY with the next number, or ALONE to BUSY. The I/O thread watches the lane from now on. */
static inline void bb__owner_join(struct bb__owner *owner)
{
    unsigned word = atomic_load_explicit(&owner->word, memory_order_relaxed);
    if (bb__owner_state_of(word) == BB_OWNER_IDLE) bb__owner_begin(owner);
    if (bb__owner_state_of(word) == BB_OWNER_ALONE)
        (void)atomic_compare_exchange_strong(&owner->word, &word, bb__owner_with_state(word, BB_OWNER_BUSY));
}

/* BUSY or ALONE to IDLE. True also if the state is IDLE already. False: the I/O thread has the set; call
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

/* Takes the set back from the I/O thread. True: the state is IDLE. False: the state is RECLAIMED, because the
 * I/O thread is still using the set. The lane calls this function again after bb__owner_give(). */
bool bb__owner_return(struct bb__owner *owner);

/* ---- the I/O thread's side ---- */

static inline unsigned bb__owner_look(struct bb__owner *owner)
{
    return atomic_load(&owner->word);
}

/* BUSY or ALONE to WORKING. looked_at: a result of bb__owner_look(). False: looked_at has another state, or
 * the word has changed since bb__owner_look(). */
bool bb__owner_take(struct bb__owner *owner, unsigned looked_at);

/* WORKING to PARKED. False: the state is RECLAIMED. */
bool bb__owner_park(struct bb__owner *owner);

/* PARKED to WORKING. False: the lane has taken the set back. */
bool bb__owner_unpark(struct bb__owner *owner);

/* RECLAIMED to IDLE. The I/O thread does not touch the set after this call. */
void bb__owner_give(struct bb__owner *owner);

#endif
