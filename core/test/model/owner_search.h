/* owner_search.h: goes through all states that owner_model.h can reach, breadth first, and reports the first
 * fault. A fault is a connection set with two owners, a request that is lost or served twice, or a state from
 * which the end cannot be reached (threads are stuck or go round in circles). Used by owner_model_test.c. */
#ifndef BB_TEST_OWNER_SEARCH_H
#define BB_TEST_OWNER_SEARCH_H

#include <stdlib.h>

#include "owner_model_steps.h"

#define SLOTS      (1U << 22) /* far more slots than states */
#define STATES_MAX 2000000

struct search {
    struct model model;
    uint8_t requests; /* requests per client */
    bool mortal;      /* the lane elsewhere may be killed */
    bool gathered;    /* the first lane has all connections */
    struct state *states;
    unsigned count;
    uint32_t *slots;      /* hash table: the number of a state plus 1; 0: free */
    uint32_t *nexts;      /* the next states of each state, one list behind the other */
    unsigned *first_next; /* for each state, its list's index in `nexts`; the last entry: the end */
    size_t next_count, next_room;
    const char *fault; /* NULL: none */
    unsigned faulty;   /* the state before the fault */
};

/* ---- one state ---- */

/* The model only compares request numbers. So the lane's current number becomes 1, and all other numbers
 * become 0. */
static inline unsigned renumber(unsigned word, unsigned last)
{
    return bb__owner_with_state(word >> BB_OWNER_STATE_BITS == last ? NUMBER_ONE : 0,
                                bb__owner_state_of(word));
}

static inline void normalize(const struct model *model, struct state *state)
{
    struct io *io = &state->io;
    for (unsigned lane = 0; lane < model->lanes; lane++) {
        unsigned word = bb__owner_look(&state->owner[lane]), last = word >> BB_OWNER_STATE_BITS;
        if (state->lanes[lane].stored != 0) state->lanes[lane].stored = 2 * NUMBER_ONE | BB_OWNER_BUSY;
        if (io->lane == lane) io->word = io->at == IO_DECIDES ? renumber(io->word, last) : 0;
        if (io->watched[lane] >> BB_OWNER_STATE_BITS != last) io->watched[lane] = 0;
        io->watched[lane] = io->watched[lane] ? renumber(io->watched[lane], last) : 0;
        atomic_init(&state->owner[lane].word, renumber(word, last));
    }
}

static inline bool lane_has_set(const struct lane *lane)
{
    return lane->at == L_RUNS || lane->at == L_SLEEPS || lane->at == L_WAKES || lane->at == L_LEAVES ||
           lane->at == L_BACK || lane->at == L_RESPONDED;
}

static inline bool io_thread_has_set(const struct io *io, unsigned lane)
{
    return io->lane == lane && io->at >= IO_LEAVES && io->at <= IO_GIVES;
}

static inline unsigned in_shared_queue(const struct state *state, unsigned conn)
{
    unsigned count = 0;
    for (unsigned i = 0; i < state->shared_queue_len; i++) count += state->shared_queue[i] == conn;
    return count;
}

static inline const char *fault_of(const struct search *search, const struct state *state)
{
    const struct model *model = &search->model;
    for (unsigned lane = 0; lane < model->lanes; lane++) {
        if (lane_has_set(&state->lanes[lane]) && io_thread_has_set(&state->io, lane))
            return "two have the set";
    }
    for (unsigned i = 0; i < model->conns; i++) {
        const struct conn *conn = &state->conns[i];
        unsigned in_hand = conn->place == CURRENT || conn->place == READY || conn->place == IN_SHARED_QUEUE;
        if (conn->unsent + conn->pending + conn->served + in_hand != search->requests)
            return "a request is lost, or there twice";
        if (in_shared_queue(state, i) != (conn->place == IN_SHARED_QUEUE))
            return "a connection is lost, or there twice";
    }
    return NULL;
}

/* ---- all states ---- */

static inline uint64_t hash_of(const struct state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint64_t hash = 14695981039346656037U, part;
    for (size_t at = 0; at < sizeof *state; at += sizeof part) {
        size_t len = sizeof *state - at < sizeof part ? sizeof *state - at : sizeof part;
        part = 0;
        memcpy(&part, bytes + at, len);
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Returns the state's number. Adds the state if it is new. */
static inline unsigned find(struct search *search, const struct state *state)
{
    uint64_t slot = hash_of(state) % SLOTS;
    for (; search->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        unsigned number = search->slots[slot] - 1;
        if (memcmp(&search->states[number], state, sizeof *state) == 0) return number;
    }
    assert_true(search->count < STATES_MAX);
    search->states[search->count] = *state;
    search->slots[slot] = ++search->count;
    return search->count - 1;
}

static inline void add_next(struct search *search, unsigned number)
{
    if (search->next_count == search->next_room) {
        search->next_room = search->next_room ? 2 * search->next_room : 1 << 20;
        search->nexts = realloc(search->nexts, search->next_room * sizeof *search->nexts);
        assert_non_null(search->nexts);
    }
    search->nexts[search->next_count++] = number;
}

/* Tries all steps that are possible in a state. */
static inline void expand(struct search *search, unsigned number)
{
    struct model *model = &search->model;
    for (unsigned who = 0; who < 2 * model->lanes + 4 + model->conns && !search->fault; who++) {
        model->options = 1;
        for (unsigned option = 0; option < model->options && !search->fault; option++) {
            struct state state = search->states[number];
            model->left = option;
            model->options = 1;
            if (!step(model, &state, who)) continue;
            normalize(model, &state);
            search->fault = model->violation ? model->violation : fault_of(search, &state);
            search->faulty = number;
            add_next(search, find(search, &state));
        }
    }
}

/* Finds a state from which the end cannot be reached. The loop starts at the highest number, because the next
 * states of a state mostly have higher numbers than this state. */
static inline void find_stuck(struct search *search)
{
    bool *ends = calloc(search->count, sizeof *ends), more = true;
    while (more) {
        more = false;
        for (unsigned number = search->count; number-- > 0;) {
            if (ends[number]) continue;
            ends[number] = is_done(&search->model, &search->states[number]);
            for (unsigned i = search->first_next[number]; !ends[number] && i < search->first_next[number + 1];
                 i++)
                ends[number] = ends[search->nexts[i]];
            more = more || ends[number];
        }
    }
    for (unsigned number = 0; number < search->count && !search->fault; number++) {
        if (ends[number]) continue;
        search->fault = "there is no way to the end";
        search->faulty = number;
    }
    free(ends);
}

static inline struct state first_state(const struct search *search, unsigned endless, unsigned new)
{
    struct state state;
    memset(&state, 0, sizeof state);
    state.elsewhere_life = search->model.drains ? BURIED : search->mortal ? MORTAL : IMMORTAL;
    for (unsigned lane = 0; lane < search->model.lanes; lane++) {
        atomic_init(&state.owner[lane].word, NUMBER_ONE);
        state.lanes[lane] = (struct lane){.at = L_SLEEPS, .current = NOBODY, .sources = SOURCES};
    }
    for (unsigned i = 0; i < search->model.conns; i++)
        state.conns[i] = (struct conn){.place = i + new < search->model.conns ? IN_SET : NEW,
                                       .lane = (uint8_t)(search->gathered ? 0 : i % search->model.lanes),
                                       .registered = i + new < search->model.conns,
                                       .unsent = search->requests,
                                       .endless = i < endless};
    return state;
}

/* Runs the search. The caller frees the result with search_free(). */
static inline void search_all(struct search *search, unsigned endless, unsigned new)
{
    search->states = malloc(STATES_MAX * sizeof *search->states);
    search->slots = calloc(SLOTS, sizeof *search->slots);
    search->first_next = malloc((STATES_MAX + 1) * sizeof *search->first_next);
    assert_true(search->states && search->slots && search->first_next);
    struct state first = first_state(search, endless, new);
    (void)find(search, &first);
    for (unsigned number = 0; number < search->count && !search->fault; number++) {
        search->first_next[number] = (unsigned)search->next_count;
        expand(search, number);
    }
    search->first_next[search->count] = (unsigned)search->next_count;
    if (!search->fault) find_stuck(search);
}

static inline void search_free(struct search *search)
{
    free(search->states);
    free(search->slots);
    free(search->nexts);
    free(search->first_next);
}

#endif
