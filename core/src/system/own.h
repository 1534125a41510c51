/* own.h: whose a lane's set of connections is: the lane's, or, while the lane is busy, the porter's. One
 * atomic word; each step is one instruction on it, so what one has written the other one sees. Used by lane
 * and porter. Knows no set.
 *
 *      IDLE    the lane's: it looks, reads, closes
 *      |  ^
 *      v  |    the lane: begin, end
 *      BUSY    nobody's: the lane has its one request, which is no business of the set,
 *      |       or was woken, and its host still waits for a lock
 *      |       the porter, when that takes long: take
 *      v                  hold
 *      WORK -----------------------> HELD    the porter's, which sleeps and touches nothing
 *      ^  |                          |  |
 *      |  |         rouse            |  |    the lane is back: the set is its own at once
 *      +--|--------------------------+  +--> IDLE
 *         |    the lane is back: it has to wait, and the host's other threads do not
 *         v
 *         WANT --------------------> IDLE    the porter, as soon as it can: give
 *
 * ALONE is BUSY of a lane that leaves nothing behind: nobody has to be told, and the porter takes the set
 * only if it finds the same request some time later.
 *
 * WORK and WANT: the porter's. The number of the request stands beside the state: the porter takes the
 * request that it has looked at, or none. */
#ifndef BB_OWN_H
#define BB_OWN_H

#include <stdatomic.h>
#include <stdbool.h>

enum bb__own_state { BB_OWN_IDLE, BB_OWN_BUSY, BB_OWN_WORK, BB_OWN_HELD, BB_OWN_WANT, BB_OWN_ALONE };

#define BB_OWN_STATE_BITS 3

struct bb__own {
    atomic_uint word; /* number of the request, then the state; all zero: IDLE */
};

static inline enum bb__own_state bb__own_state_of(unsigned word)
{
    return (enum bb__own_state)(word & ((1U << BB_OWN_STATE_BITS) - 1));
}

static inline unsigned bb__own_with_state(unsigned word, enum bb__own_state state)
{
    return (word >> BB_OWN_STATE_BITS << BB_OWN_STATE_BITS) | state;
}

/* ---- the lane's side ---- */

/* IDLE, to BUSY with the next number. Sequentially consistent: who announces his sleep and then looks here
 * either sees it, or is seen. */
static inline void bb__own_begin(struct bb__own *own)
{
    unsigned word = atomic_load_explicit(&own->word, memory_order_relaxed);
    atomic_store(&own->word, bb__own_with_state(word + (1U << BB_OWN_STATE_BITS), BB_OWN_BUSY));
}

/* IDLE, to ALONE with the next number. */
static inline void bb__own_begin_alone(struct bb__own *own)
{
    unsigned word = atomic_load_explicit(&own->word, memory_order_relaxed) + (1U << BB_OWN_STATE_BITS);
    atomic_store_explicit(&own->word, bb__own_with_state(word, BB_OWN_ALONE), memory_order_release);
}

/* IDLE to BUSY with the next number, or ALONE to BUSY: the lane was alone, and the porter is to look at it.
 */
static inline void bb__own_join(struct bb__own *own)
{
    unsigned word = atomic_load_explicit(&own->word, memory_order_relaxed);
    if (bb__own_state_of(word) == BB_OWN_IDLE) bb__own_begin(own);
    if (bb__own_state_of(word) == BB_OWN_ALONE)
        (void)atomic_compare_exchange_strong(&own->word, &word, bb__own_with_state(word, BB_OWN_BUSY));
}

/* BUSY or ALONE to IDLE, or it is that. False: the porter has it, bb__own_return() is due. */
static inline bool bb__own_end(struct bb__own *own)
{
    unsigned busy = atomic_load_explicit(&own->word, memory_order_relaxed);
    if (bb__own_state_of(busy) != BB_OWN_BUSY && bb__own_state_of(busy) != BB_OWN_ALONE)
        return bb__own_state_of(busy) == BB_OWN_IDLE;
    return atomic_compare_exchange_strong_explicit(&own->word, &busy, bb__own_with_state(busy, BB_OWN_IDLE),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* To IDLE, from what the porter has made of it. False: the porter is in the middle of a step. The state is
 * WANT; the lane calls again when the porter has given the set back. */
bool bb__own_return(struct bb__own *own);

/* ---- the porter's side ---- */

static inline unsigned bb__own_look(struct bb__own *own)
{
    return atomic_load(&own->word);
}

/* BUSY or ALONE to WORK, if it is still the request that was looked at. */
bool bb__own_take(struct bb__own *own, unsigned looked_at);

/* WORK to HELD. False: it is WANT. */
bool bb__own_hold(struct bb__own *own);

/* HELD to WORK. False: the lane has taken it back. */
bool bb__own_rouse(struct bb__own *own);

/* WANT to IDLE: the porter touches nothing of it any more. */
void bb__own_give(struct bb__own *own);

#endif
