/* owner_model.h: a model of a worker's lanes, their I/O thread, one lane of another process ("the lane
 * elsewhere") and clients. It models what lane.c, lane_turn.c, io_thread.c and io_work.c do with a set (the
 * connections of one lane) and its owner word. The owner word tells which thread owns the set. The sources of
 * a set are the listener and the shared queue. The steps on the owner word run the real code of set_owner.h.
 * owner_model_steps.h has the steps, owner_search.h tries all of them, and owner_model_test.c runs the
 * search.
 *
 * choose() models chance: how long a request takes, which event a lane handles first, which lane a message
 * wakes. The next request of an `endless` connection ends only when all other requests are served. If another
 * request needs the lane of the endless request, the search finds that this other request waits for ever.
 */
#ifndef BB_TEST_OWNER_MODEL_H
#define BB_TEST_OWNER_MODEL_H

#include <stdint.h>
#include <string.h>

#include "system/set_owner.h"

#define LANES_MAX          2
#define CONNS_MAX          4
#define SHARED_QUEUE_MAX   4
#define SHARED_QUEUE_CONNS 1    /* connections that fit into the shared queue, in addition to nudges */
#define NUDGE              0xFF /* an empty message in the shared queue, which wakes a lane */
#define NOBODY             0xFF
#define NUMBER_ONE         (1U << BB_OWNER_STATE_BITS)

/* The search must find a fault if one of these mistakes is built into the model. */
enum mistake {
    NO_MISTAKE,
    NO_SECOND_LOOK,   /* the I/O thread announces its sleep, but does not check the lanes again */
    HELD_UNANNOUNCED, /* the I/O thread does not announce its sleep while it has a PARKED set */
    RELAXED_BEGIN,    /* other threads see BUSY only after the lane's next action */
    BATCH_KEPT,       /* the lane still handles older events after the I/O thread has taken its set */
    CURRENT_LEFT,     /* the lane's current connection stays in the set that the I/O thread takes */
    TAKE_BY_STORE,    /* the I/O thread takes the set by a plain store, even if the owner word has changed */
    HOLD_BY_STORE,
    NO_NUDGE,         /* no nudge is sent when a lane's sources leave its set, so a wake-up is lost */
    NO_WAKE,          /* the I/O thread gives the set back, but does not wake the waiting lane */
    EVENTS_LEFT,      /* the I/O thread sleeps before it has handled all events that are reported only once */
    LATE_LIMIT,       /* the I/O thread applies the timeout although the lane already waits for its set */
    CUT_WITHOUT_STEP, /* the I/O thread cuts a response without changing the response state */
    END_WITHOUT_STEP, /* the lane sends the end of a response without checking the response state */
    DEAF_TO_NUDGES,   /* a lane that receives a nudge does not check the listener and the shared queue */
    RESPOND_BY_STORE, /* the I/O thread responds after a plain store, although the lane can respond, too */
    ALONE_AND_UNTIMED, /* a lane with one connection keeps its set, although its requests have a timeout */
    ALONE_BY_STORE,    /* a lane that is ALONE takes its set back by a store, even if the I/O thread has it */
    PAUSED_UNNOTICED,  /* no nudge is sent when lanes pause accepting */
    NUDGE_KEPT,        /* a lane receives a nudge while accepting is paused, and sends no other nudge */
    PAUSED_FOR_GOOD,   /* accepting stays paused when no lane is busy any more */
    FORGOTTEN_DEAD,    /* no nudge is sent after a lane was killed */
    WOKEN_UNMARKED,    /* a woken lane keeps its set while its host waits for the lock */
    WOKEN_UNNOTICED,   /* a woken lane hands over its set, but does not wake the I/O thread */
    WOKEN_WITHOUT_STEP, /* a woken lane does not check whether the I/O thread has taken its set */
    DRAINED_AT_ONCE,    /* a draining lane ends while another lane may still send a connection */
    DRAINED_UNLOOKED,   /* a draining lane ends without checking the shared queue */
    DRAINED_LOOKED,  /* a draining lane checks the shared queue before the other lanes are done, not after */
    DRAINED_UNSHOWN, /* a lane does not show that it is done */
    DRAINED_TOO_EARLY, /* the I/O thread shows a lane as done although the lane has connections */
    DRAINED_KEPT       /* in a drain, the I/O thread puts no connections into the shared queue */
};

/* QUEUED: in the accept queue; READY: has a request that no lane serves yet; CURRENT: its request is being
 * served. */
enum place { NEW, QUEUED, IN_SET, READY, IN_SHARED_QUEUE, CURRENT, ELSEWHERE, CLOSED };

struct conn {
    uint8_t place, lane;             /* lane: its lane, if IN_SET, READY or CURRENT */
    uint8_t registered;              /* in the epoll set of `lane` */
    uint8_t unsent, pending, served; /* numbers of requests: not sent yet, in the socket, served */
    uint8_t endless;                 /* the next request does not end by itself */
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
    L_RESPONDED,
    L_SHOWS,
    L_CHECKS,
    L_LOOKS,
    L_GONE
};

struct lane {
    uint8_t at, current;
    uint8_t batch;    /* events of the last poll: a bit for each connection and source */
    uint8_t sources;  /* bits of the sources in the lane's set */
    uint8_t reported; /* bits of the sources with an event in the lane's set */
    uint8_t queued;   /* the I/O thread's epoll set has the lane's set */
    uint8_t edge;     /* the I/O thread's epoll set has an event of the lane's set */
    uint8_t woken;
    uint8_t response;  /* enum bb__response_state */
    uint8_t overdue;   /* the I/O thread has seen that the request is past its timeout */
    uint8_t responses; /* responses to the current request that the client has got */
    uint8_t is_cut;
    unsigned stored; /* a store to the owner word that other threads do not see yet; 0: none */
};

enum source {
    SHARED_QUEUE = 1U << CONNS_MAX,
    LISTENER = SHARED_QUEUE << 1,
    SOURCES = SHARED_QUEUE | LISTENER
};

enum io_thread_at {
    IO_LOOKS,
    IO_DECIDES,
    IO_LEAVES,
    IO_UNWATCHES,
    IO_PASSES,
    IO_POLLS,
    IO_LIMITS,
    IO_RESPONDS,
    IO_HOLDS,
    IO_GIVES,
    IO_TELLS,
    IO_PAUSES,
    IO_RESTS,
    IO_CHECKS,
    IO_SLEEPS,
    IO_WAKES,
    IO_CLEARS
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
    uint8_t shared_queue[SHARED_QUEUE_MAX], shared_queue_len;
    uint8_t elsewhere_awake, elsewhere_reported, elsewhere_life;
    uint8_t accept_paused, draining, done, no_hole; /* done: a bit for each lane */
};

enum life { IMMORTAL, MORTAL, DEAD, BURIED };

_Static_assert(sizeof(struct state) == LANES_MAX * (sizeof(struct bb__owner) + sizeof(struct lane)) +
                                           sizeof(struct io) + CONNS_MAX * sizeof(struct conn) +
                                           SHARED_QUEUE_MAX + 8,
               "states are compared as bytes");

/* The lock of the lanes' host. LOCK_FREE: no other thread uses it. LOCK_SHARED: other threads have it for
 * some time. LOCK_HELD: another thread has it until all requests are served. */
enum lock { LOCK_FREE, LOCK_SHARED, LOCK_HELD };

struct model {
    unsigned lanes, conns;
    bool limited; /* requests have a timeout */
    bool watched; /* the I/O thread checks all lanes from time to time, also a lane that is ALONE */
    enum lock lock;
    bool pauses; /* the worker pauses accepting, because the lane elsewhere is idle */
    bool drains; /* the worker drains at some time; there is no lane elsewhere */
    enum mistake mistake;
    const char *violation;  /* the rule that a step has broken; NULL: none */
    unsigned left, options; /* for choose() */
};

/* Returns a number below `count`. The search tries each number: see owner_search.h. */
static inline unsigned choose(struct model *model, unsigned count)
{
    unsigned choice = model->left % count;
    model->left /= count;
    model->options *= count;
    return choice;
}

/* ---- connections and events ---- */

static inline bool is_in_set(const struct conn *conn, unsigned lane)
{
    return conn->lane == lane && (conn->place == IN_SET || conn->place == READY);
}

/* The connections with an event in a lane's set. */
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

/* All requests are served, except an endless request and the requests behind it. */
static inline bool rest_is_served(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++) {
        const struct conn *conn = &state->conns[i];
        if (!rests(conn) && !(conn->place == CURRENT && conn->endless)) return false;
    }
    return true;
}

/* All clients have their responses, all lanes sleep, and accepting is not paused. In a drain all lanes have
 * ended. */
static inline bool is_done(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (!rests(&state->conns[i])) return false;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (state->lanes[lane].at != (model->drains ? L_GONE : L_SLEEPS)) return false;
    return !state->accept_paused;
}

/* Whether the lane waits for its set, which the I/O thread has. */
static inline bool is_wanted(struct state *state)
{
    return bb__owner_state_of(bb__owner_look(&state->owner[state->io.lane])) == BB_OWNER_RECLAIMED;
}

/* The client sends no more requests on a closed connection. */
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
    return it->at == L_SLEEPS && it->sources && !it->reported && events_of(model, state, lane) == 0;
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
    return elsewhere_lives(state) && !state->elsewhere_awake && !state->elsewhere_reported &&
           asked_elsewhere(model, state) == NOBODY;
}

/* An event of a source wakes one sleeping lane (EPOLLEXCLUSIVE), and the sets of the other lanes do not get
 * the event. If no lane sleeps, all sets get the event. */
static inline void tell(struct model *model, struct state *state, enum source source)
{
    unsigned sleepers[LANES_MAX + 1], count = 0;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (sleeps(model, state, lane)) sleepers[count++] = lane;
    if (elsewhere_sleeps(model, state)) sleepers[count++] = model->lanes;
    unsigned chosen = count > 0 ? sleepers[choose(model, count)] : NOBODY;
    bool heard_elsewhere = chosen == model->lanes || (chosen == NOBODY && elsewhere_lives(state));
    if (heard_elsewhere) state->elsewhere_reported |= (uint8_t)source;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (chosen == NOBODY || chosen == lane)
            state->lanes[lane].reported |= source & state->lanes[lane].sources;
}

static inline unsigned first_queued(const struct model *model, const struct state *state)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == QUEUED) return i;
    return NOBODY;
}

/* The sources that are ready. A lane finds them when it removes its sources from the set and adds them
 * again. */
static inline uint8_t sources_with_work(const struct model *model, const struct state *state)
{
    return (uint8_t)((state->shared_queue_len > 0 ? SHARED_QUEUE : 0) |
                     (first_queued(model, state) != NOBODY ? LISTENER : 0));
}

static inline bool shared_queue_has_room(const struct state *state, uint8_t message)
{
    unsigned conns = 0;
    for (unsigned i = 0; i < state->shared_queue_len; i++) conns += state->shared_queue[i] != NUDGE;
    return state->shared_queue_len < SHARED_QUEUE_MAX && (message == NUDGE || conns < SHARED_QUEUE_CONNS);
}

static inline void shared_queue_send(struct model *model, struct state *state, uint8_t message)
{
    state->shared_queue[state->shared_queue_len++] = message;
    tell(model, state, SHARED_QUEUE);
}

static inline uint8_t shared_queue_take(struct state *state)
{
    uint8_t message = state->shared_queue[0];
    state->shared_queue_len--;
    memmove(state->shared_queue, state->shared_queue + 1, state->shared_queue_len);
    state->shared_queue[state->shared_queue_len] = 0;
    return message;
}

/* The model's queue has at most one nudge. A second nudge wakes a lane, but the lane may find the queue
 * empty. The real queue holds several nudges, so the model is stricter. */
static inline void send_nudge(struct model *model, struct state *state)
{
    for (unsigned i = 0; i < state->shared_queue_len; i++) {
        if (state->shared_queue[i] != NUDGE) continue;
        tell(model, state, SHARED_QUEUE);
        return;
    }
    shared_queue_send(model, state, NUDGE);
}

/* Wakes a sleeping lane if a source is ready. */
static inline void nudge(struct model *model, struct state *state)
{
    if (sources_with_work(model, state) != 0) send_nudge(model, state);
}

/* Puts a connection into the shared queue, for any lane. If the queue has no room, returns false, and the
 * connection is READY. */
static inline bool pass(struct model *model, struct state *state, unsigned conn)
{
    bool room = shared_queue_has_room(state, (uint8_t)conn);
    state->conns[conn].place = room ? IN_SHARED_QUEUE : READY;
    if (room) shared_queue_send(model, state, (uint8_t)conn);
    return room;
}

#endif
