/* own.c: see own.h. */
#include "own.h"

#include <time.h>

#if defined __linux__ && __has_include(<linux/futex.h>)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_while(struct bb__own *own, unsigned word)
{
    (void)syscall(SYS_futex, &own->word, FUTEX_WAIT_PRIVATE, word, NULL, NULL, 0);
}

static void wake(struct bb__own *own)
{
    (void)syscall(SYS_futex, &own->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
#else
/* Where there is no futex a short sleep does: the porter is quick. */
static void wait_while(struct bb__own *own, unsigned word)
{
    static const struct timespec moment = {.tv_nsec = 50000};
    if (atomic_load(&own->word) == word) (void)nanosleep(&moment, NULL);
}

static void wake(struct bb__own *own)
{
    (void)own;
}
#endif

/* The porter is in the middle of one connection, for some microseconds as a rule. */
#define SPINS 200

static bool step(struct bb__own *own, unsigned from, enum bb__own_state to)
{
    return atomic_compare_exchange_strong(&own->word, &from, bb__own_with_state(from, to));
}

/* From that state, whatever the number is: it cannot change meanwhile. */
static bool step_from(struct bb__own *own, enum bb__own_state from, enum bb__own_state to)
{
    return step(own, bb__own_with_state(bb__own_look(own), from), to);
}

static bool is(struct bb__own *own, enum bb__own_state state)
{
    return bb__own_state_of(bb__own_look(own)) == state;
}

static void await_give(struct bb__own *own)
{
    for (int spin = 0; spin < SPINS; spin++)
        if (!is(own, BB_OWN_WANT)) return;
    unsigned word;
    while (bb__own_state_of(word = bb__own_look(own)) == BB_OWN_WANT) wait_while(own, word);
}

void bb__own_return(struct bb__own *own)
{
    for (;;) {
        if (step_from(own, BB_OWN_HELD, BB_OWN_IDLE)) return;
        if (step_from(own, BB_OWN_WORK, BB_OWN_WANT)) {
            await_give(own);
            return;
        }
    }
}

bool bb__own_take(struct bb__own *own, unsigned looked_at)
{
    return bb__own_state_of(looked_at) == BB_OWN_BUSY && step(own, looked_at, BB_OWN_WORK);
}

bool bb__own_hold(struct bb__own *own)
{
    return step_from(own, BB_OWN_WORK, BB_OWN_HELD);
}

bool bb__own_rouse(struct bb__own *own)
{
    return step_from(own, BB_OWN_HELD, BB_OWN_WORK);
}

void bb__own_give(struct bb__own *own)
{
    atomic_store(&own->word, bb__own_with_state(bb__own_look(own), BB_OWN_IDLE));
    wake(own);
}
