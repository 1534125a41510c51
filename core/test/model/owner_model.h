/* owner_model.h: lanes, their I/O thread, a lane elsewhere, and clients, as one state: what lane.c,
 * lane_turn.c, io_thread.c and io_work.c do about a set and whose it is. The steps on the word are those of
 * set_owner.h itself. For owner_model_test.c; owner_model_steps.h and what it includes have the steps,
 * owner_search.h goes through all states.
 *
 * What is left to chance is chosen: how long a request takes, which event of several is looked at first, whom
 * a message wakes. A request of a conn that is `endless` ends when nothing else is left to do: so whoever
 * waits for its lane waits for ever. */
#ifndef BB_TEST_OWN_MODEL_H
#define BB_TEST_OWN_MODEL_H

#include <stdint.h>
#include <string.h>

#include "system/set_owner.h"

#define LANES_MAX   2
#define CONNS_MAX   4
#define RELAY_MAX   4
#define RELAY_CONNS 1 /* so many fit, beside words */
#define WORD        0xFF
#define NOBODY      0xFF
#define NUMBER_ONE  (1U << BB_OWNER_STATE_BITS)

enum mistake {
    NO_MISTAKE,
    NO_SECOND_LOOK,   /* the I/O thread announces that it sleeps, and does not look again */
    HELD_UNANNOUNCED, /* it does not announce it while it holds a set */
    RELAXED_BEGIN,    /* BUSY is seen by others later than what the lane does next */
    BATCH_KEPT,       /* the lane goes on with what it had found before its set was taken */
    CURRENT_LEFT,     /* the connection that the lane has stays in the set that is taken */
    TAKE_BY_STORE,    /* whatever the word is by now */
    HOLD_BY_STORE,
    NO_NUDGE,           /* a wake-up that the lane has consumed is lost with its sources */
    NO_WAKE,            /* the set is given back, and the lane that waits for it is not told */
    EVENTS_LEFT,        /* the I/O thread sleeps although it has not seen all that it was told of once */
    LATE_LIMIT,         /* the time is over of a request whose lane is back */
    CUT_WITHOUT_STEP,   /* the I/O thread cuts an answer that has begun, whatever the lane makes of it */
    END_WITHOUT_STEP,   /* the lane sends the end of an answer, whatever has become of it */
    DEAF_TO_WORDS,      /* who is nudged looks at what his set knows of, and no further */
    ANSWER_BY_STORE,    /* the I/O thread answers when nobody has begun to, whatever the lane does by then */
    ALONE_AND_UNTIMED,  /* a lane that leaves nothing behind is not taken, although its time is limited */
    ALONE_BY_STORE,     /* a lane that is alone takes its set back whatever the I/O thread has made of it */
    WITHDRAWN_UNTOLD,   /* lanes that stand back take wake-ups along */
    WORD_KEPT,          /* a nudge that such a lane has found before is for nobody else */
    WITHDRAWN_FOR_GOOD, /* they go on standing back when no lane is busy any more */
    FORGOTTEN_DEAD,     /* a lane that was killed takes its wake-up along */
    WOKEN_UNMARKED,     /* a lane that was woken has its set while its host waits for the lock */
    WOKEN_UNTOLD,       /* it has left its set, and the I/O thread sleeps on */
    WOKEN_WITHOUT_STEP, /* it goes on as if nobody could have taken its set */
    DRAINED_AT_ONCE,    /* a lane that drains ends while another one may still pass something on */
    DRAINED_UNLOOKED,   /* it ends without a look into the shared queue */
    DRAINED_LOOKED,     /* it looks there before it sees that the others are done */
    DRAINED_UNSHOWN,    /* it does not show that it is done */
    DRAINED_TOO_EARLY,  /* the I/O thread shows that a lane is done which has connections */
    DRAINED_KEPT        /* the I/O thread passes nothing on any more */
};

enum place { NEW, QUEUED, IN_SET, READY, IN_RELAY, CURRENT, ELSEWHERE, CLOSED }; /* QUEUED: to be accepted */

struct conn {
    uint8_t place, lane;             /* lane: whose, if it is IN_SET, READY, CURRENT */
    uint8_t registered;              /* in the kernel's set of that lane */
    uint8_t unsent, pending, served; /* requests: the client's, in the socket, answered */
    uint8_t endless;                 /* the next one served is */
};

enum lane_at {
    L_RUNS,
    L_SLEEPS,
    L_WAKES,
    L_LOCKED,
    L_LEAVES,
    L_NOTICES,
    L_KICKS,
    L_RAISES,
    L_SERVES,
    L_REPLIES,
    L_FINISHES,
    L_ENDS,
    L_RETURNS,
    L_WAITS,
    L_BACK,
    L_ANSWERED,
    L_SHOWS,
    L_CHECKS,
    L_LOOKS,
    L_GONE
};

struct lane {
    uint8_t at, current;
    uint8_t batch;   /* a bit for each conn, and for each of its sources */
    uint8_t sources; /* those that are in its set */
    uint8_t told;    /* and those that it knows something came to */
    uint8_t queued;  /* its set is in the I/O thread's queue */
    uint8_t edge;    /* which has heard of it */
    uint8_t woken;
    uint8_t response; /* enum bb__response_state */
    uint8_t overdue;  /* the I/O thread has seen that its request has had its time */
    uint8_t answers;  /* that the client has got to it */
    uint8_t is_cut;
    unsigned stored; /* its store to the word that nobody sees yet; 0: none */
};

enum source { RELAY = 1U << CONNS_MAX, LISTENER = RELAY << 1, SOURCES = RELAY | LISTENER };

enum io_thread_at {
    P_LOOKS,
    P_DECIDES,
    P_LEAVES,
    P_UNWATCHES,
    P_PASSES,
    P_POLLS,
    P_LIMITS,
    P_ANSWERS,
    P_HOLDS,
    P_GIVES,
    P_TELLS,
    P_WITHDRAWS,
    P_RESTS,
    P_CHECKS,
    P_SLEEPS,
    P_WAKES,
    P_CLEARS
};

struct io {
    uint8_t at, lane, asleep, kick, saw_kick, timed, no_hole[2];
    unsigned word;
    unsigned watched[LANES_MAX];
};

struct state {
    struct bb__owner owner[LANES_MAX];
    struct lane lanes[LANES_MAX];
    struct io io;
    struct conn conns[CONNS_MAX];
    uint8_t shared_queue[RELAY_MAX], shared_queue_len;
    uint8_t elsewhere_awake, elsewhere_told, elsewhere_life;
    uint8_t accept_paused, draining, done, no_hole; /* done: a bit for each lane */
};

enum life { IMMORTAL, MORTAL, DEAD, BURIED };

_Static_assert(sizeof(struct state) == LANES_MAX * (sizeof(struct bb__owner) + sizeof(struct lane)) +
                                           sizeof(struct io) + CONNS_MAX * sizeof(struct conn) + RELAY_MAX +
                                           8,
               "states are compared as bytes");

/* The lock of the lanes' host: nobody else wants it; others have it for some time; they have it until nothing
 * else is left to do. */
enum lock { LOCK_FREE, LOCK_SHARED, LOCK_HELD };

struct model {
    unsigned lanes, conns;
    bool limited; /* the time of requests */
    bool watched; /* the I/O thread looks from time to time, also at a lane that is alone */
    enum lock lock;
    bool withdraws; /* the worker stands back for a lane elsewhere that is idle */
    bool drains;    /* the worker does at some time; there is nobody elsewhere */
    enum mistake mistake;
    const char *violation;  /* what a step did that nobody may */
    unsigned left, options; /* choose() */
};

/* One of so many; all of them, one after the other: see owner_search.h. */
static inline unsigned choose(struct model *model, unsigned count)
{
    unsigned choice = model->left % count;
    model->left /= count;
    model->options *= count;
    return choice;
}

/* ---- connections and what is ready ---- */

static inline bool is_in_set(const struct conn *conn, unsigned lane)
{
    return conn->lane == lane && (conn->place == IN_SET || conn->place == READY);
}

/* What a look at a lane's set finds of its connections. */
static inline uint8_t events_of(const struct model *model, const struct state *state, unsigned lane)
{
    uint8_t events = 0;
    for (unsigned i = 0; i < model->conns; i++) {
        const struct conn *conn = &state->conns[i];
        if (conn->lane == lane && conn->registered && conn->pending > 0) events |= (uint8_t)(1U << i);
    }
    return events;
}

static inline unsigned first_of(uint8_t bits)
{
    return (unsigned)__builtin_ctz(bits);
}

static inline unsigned first_ready(const struct model *model, const struct state *state, unsigned lane)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == READY && state->conns[i].lane == lane) return i;
    return NOBODY;
}

static inline bool rests(const struct conn *conn)
{
    return conn->unsent == 0 && conn->pending == 0 &&
           (conn->place == IN_SET || conn->place == ELSEWHERE || conn->place == CLOSED);
}

/* All but what is behind an endless request, which has to wait for it. */
static inline bool rest_is_served(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++) {
        const struct conn *conn = &state->conns[i];
        if (!rests(conn) && !(conn->place == CURRENT && conn->endless)) return false;
    }
    return true;
}

/* Everybody has his answers, and every lane waits for more, new ones as well. */
static inline bool is_done(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (!rests(&state->conns[i])) return false;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (state->lanes[lane].at != (model->drains ? L_GONE : L_SLEEPS)) return false;
    return !state->accept_paused;
}

/* The lane waits for what the I/O thread has in its hands. */
static inline bool is_wanted(struct state *state)
{
    return bb__owner_state_of(bb__owner_look(&state->owner[state->io.lane])) == BB_OWNER_RECLAIMED;
}

/* Whoever finds his connection closed sends nothing more on it. */
static inline void close_conn(struct conn *conn)
{
    conn->place = CLOSED;
    conn->registered = false;
    conn->served += conn->unsent + conn->pending;
    conn->unsent = conn->pending = 0;
}

/* ---- the shared queue ---- */

static inline bool sleeps(const struct model *model, const struct state *state, unsigned lane)
{
    const struct lane *it = &state->lanes[lane];
    return it->at == L_SLEEPS && it->sources && !it->told && events_of(model, state, lane) == 0;
}

static inline unsigned asked_elsewhere(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == ELSEWHERE && state->conns[i].pending > 0) return i;
    return NOBODY;
}

static inline bool elsewhere_lives(const struct state *state)
{
    return state->elsewhere_life < DEAD;
}

static inline bool elsewhere_sleeps(const struct model *model, const struct state *state)
{
    return elsewhere_lives(state) && !state->elsewhere_awake && !state->elsewhere_told &&
           asked_elsewhere(model, state) == NOBODY;
}

/* What comes wakes one of those who sleep, and the sets of the others need not hear of it; if nobody sleeps
 * all of them hear of it (EPOLLEXCLUSIVE). */
static inline void tell(struct model *model, struct state *state, enum source source)
{
    unsigned sleepers[LANES_MAX + 1], count = 0;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (sleeps(model, state, lane)) sleepers[count++] = lane;
    if (elsewhere_sleeps(model, state)) sleepers[count++] = model->lanes;
    unsigned chosen = count > 0 ? sleepers[choose(model, count)] : NOBODY;
    bool heard_elsewhere = chosen == model->lanes || (chosen == NOBODY && elsewhere_lives(state));
    if (heard_elsewhere) state->elsewhere_told |= (uint8_t)source;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (chosen == NOBODY || chosen == lane)
            state->lanes[lane].told |= source & state->lanes[lane].sources;
}

static inline unsigned first_queued(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == QUEUED) return i;
    return NOBODY;
}

/* What somebody finds there who takes them out of his set and puts them in again. */
static inline uint8_t look_anew(const struct model *model, const struct state *state)
{
    return (uint8_t)((state->shared_queue_len > 0 ? RELAY : 0) |
                     (first_queued(model, state) != NOBODY ? LISTENER : 0));
}

static inline bool shared_queue_has_room(const struct state *state, uint8_t message)
{
    unsigned conns = 0;
    for (unsigned i = 0; i < state->shared_queue_len; i++) conns += state->shared_queue[i] != WORD;
    return state->shared_queue_len < RELAY_MAX && (message == WORD || conns < RELAY_CONNS);
}

static inline void shared_queue_send(struct model *model, struct state *state, uint8_t message)
{
    state->shared_queue[state->shared_queue_len++] = message;
    tell(model, state, RELAY);
}

static inline uint8_t shared_queue_take(struct state *state)
{
    uint8_t message = state->shared_queue[0];
    state->shared_queue_len--;
    memmove(state->shared_queue, state->shared_queue + 1, state->shared_queue_len);
    state->shared_queue[state->shared_queue_len] = 0;
    return message;
}

/* One word stands for all: whoever is told of the second one may find it taken, which is worse than it is. */
static inline void send_word(struct model *model, struct state *state)
{
    for (unsigned i = 0; i < state->shared_queue_len; i++) {
        if (state->shared_queue[i] != WORD) continue;
        tell(model, state, RELAY);
        return;
    }
    shared_queue_send(model, state, WORD);
}

/* Somebody who sleeps looks, if there is something. */
static inline void nudge(struct model *model, struct state *state)
{
    if (look_anew(model, state) != 0) send_word(model, state);
}

/* To whoever takes it; READY, and false: there is no room for it. */
static inline bool pass(struct model *model, struct state *state, unsigned conn)
{
    bool room = shared_queue_has_room(state, (uint8_t)conn);
    state->conns[conn].place = room ? IN_RELAY : READY;
    if (room) shared_queue_send(model, state, (uint8_t)conn);
    return room;
}

#endif
