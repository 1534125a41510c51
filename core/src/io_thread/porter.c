/* porter.c: when the porter looks, and at which lanes; porter_work.c is what it does for one.
 *
 * It is awake while lanes have requests: a look every tick, and who has the same request as at the last look
 * is busy for long. When nothing new has come for two looks it sleeps, and the next lane that leaves a
 * connection behind kicks it. Announced before the last look, so that one of the two sees the other. */
#include "io_thread/porter_work.h"
#include "system/access_log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* ms. What takes longer than a tick is long; where all requests are shorter a longer tick does. */
#define TICK        1
#define TICK_MAX    4
#define BRIEF_LOOKS 16
#define QUIET_LOOKS 2

/* Between two requests of its own a process that has nothing else to do is not idle for a moment. */
#define BUSY_LOOKS 3

/* ms. Who is idle takes at once what comes. Who does not was stopped, or has been killed, and is not relied
 * on for a while. */
#define PROMPT 300
#define DOUBT  30000

/* us. A porter that comes back so much later than it wanted was stopped. */
#define STOPPED 1000000

/* ms, at most, for which it waits while the time of requests is limited: of a stop that ends sooner than its
 * wait it would know nothing. */
#define COUNTED_WAIT 1000

#define STACK_SIZE (256 * 1024)

/* ---- looking ---- */

static bool is_busy(unsigned word)
{
    return bb__own_state_of(word) == BB_OWN_BUSY;
}

static bool is_alone(unsigned word)
{
    return bb__own_state_of(word) == BB_OWN_ALONE;
}

static bool is_taken(unsigned word)
{
    return !is_busy(word) && !is_alone(word) && bb__own_state_of(word) != BB_OWN_IDLE;
}

static void remember(struct bb__porter *porter, struct bb_lane *lane, unsigned request)
{
    pthread_mutex_lock(&porter->link.time_lock);
    lane->minded.word = request;
    lane->minded.since = bb__clock_us();
    lane->minded.overdue = lane->minded.untold = lane->minded.warned = lane->minded.late = false;
    lane->minded.labelled = false;
    pthread_mutex_unlock(&porter->link.time_lock);
}

/* A request that was there a tick ago, too. Else it is remembered, with a time that is not before it: this
 * look may have begun long ago, and its limits are not to be over before their time. */
static bool is_long(struct bb__porter *porter, struct bb_lane *lane, unsigned word)
{
    if (!is_busy(word)) return false;
    if (word == lane->minded.word) return porter->context.seen - lane->minded.since >= TICK * 1000;
    remember(porter, lane, word);
    porter->fresh = true;
    porter->quiet = 0;
    return false;
}

/* Nothing waits for it: only one that is to be named on the board is worth the trouble. */
static bool is_long_alone(struct bb__porter *porter, struct bb_lane *lane, unsigned word)
{
    if (!is_alone(word)) return false;
    unsigned request = bb__own_with_state(word, BB_OWN_BUSY);
    if (request == lane->minded.word)
        return porter->context.seen - lane->minded.since >= bb__porter_watch_time(lane->worker) * 1000;
    remember(porter, lane, request);
    return false;
}

static void look_at(struct bb__porter *porter, struct bb_lane *lane)
{
    unsigned word = bb__own_look(&lane->own);
    bool takes = is_long(porter, lane, word) || is_long_alone(porter, lane, word);
    if (takes && bb__own_take(&lane->own, word)) {
        bb__porter_begin(porter, lane);
        porter->brief = 0;
    } else if (bb__own_state_of(word) == BB_OWN_HELD && bb__own_rouse(&lane->own)) {
        bb__porter_go_on(porter, lane);
    }
}

/* Something is there that others are to take. */
static bool leaves_some(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool awaited = atomic_load(&worker->withdrawn) && bb__worker_is_awaited(worker);
    pthread_mutex_unlock(&worker->lock);
    return awaited;
}

/* Whether what comes may be left to another process. */
static bool has_idle_sibling(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    uint64_t now = porter->context.now, since = porter->left_since;
    porter->left_since = 0;
    if (now < porter->doubts || !bb__board_process_is_idle(worker->board, worker->pid)) return false;
    if (!leaves_some(worker)) return true;
    porter->left_since = since > 0 ? since : now;
    if (now - porter->left_since < PROMPT) return true;
    porter->doubts = now + DOUBT;
    return false;
}

/* Of a process in which a lane is busy for long the others stand back, as long as another process has nothing
 * to do at all. */
static void withdraw(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    bool busy = false;
    if (!worker->board || atomic_load(&worker->lane_count) < 2) return;
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        busy = busy || is_taken(bb__own_look(&lane->own));
    if (busy) porter->quiet = 0;
    bool idle = has_idle_sibling(porter);
    bool before = atomic_load(&worker->withdrawn);
    porter->none_idle = idle ? 0 : porter->none_idle + 1;
    bool now = busy && (idle || (before && porter->none_idle < BUSY_LOOKS));
    if (now != before) bb__worker_withdraw(worker, now);
}

/* us, for which the process, or the machine, was stopped while the porter waited: no application's fault. */
static uint64_t time_lost(const struct bb__porter *porter)
{
    uint64_t late = porter->context.seen > porter->due_back ? porter->context.seen - porter->due_back : 0;
    return late > STOPPED ? late : 0;
}

static void excuse(struct bb__porter *porter, struct bb_lane *lane, uint64_t lost)
{
    pthread_mutex_lock(&porter->link.time_lock);
    lane->minded.since += lost;
    pthread_mutex_unlock(&porter->link.time_lock);
}

static void look(struct bb__porter *porter)
{
    porter->fresh = false;
    porter->quiet++;
    porter->brief++;
    porter->context.now = bb__clock_ms();
    porter->context.seen = bb__clock_us();
    uint64_t lost = time_lost(porter);
    pthread_mutex_lock(&porter->link.lock);
    for (struct bb_lane *lane = bb__first_lane(porter->worker); lane; lane = bb__next_lane(lane)) {
        if (lost > 0) excuse(porter, lane, lost);
        look_at(porter, lane);
    }
    withdraw(porter);
    bb__porter_mind_overdue(porter);
    bb__porter_mind_readers(porter);
    pthread_mutex_unlock(&porter->link.lock);
    bb__porter_tell(porter);
}

/* ---- waiting ---- */

/* Whether any lane has a request that was not looked at. *due: ms, when something is to be done for the sets
 * that are held. */
static bool has_new(struct bb__porter *porter, uint64_t *due)
{
    bool found = false;
    *due = UINT64_MAX;
    pthread_mutex_lock(&porter->link.lock);
    for (struct bb_lane *lane = bb__first_lane(porter->worker); lane; lane = bb__next_lane(lane)) {
        unsigned word = bb__own_look(&lane->own);
        found = found || is_busy(word);
        if (bb__own_state_of(word) == BB_OWN_HELD) *due = bb__sooner(*due, bb__porter_until(porter, lane));
    }
    pthread_mutex_unlock(&porter->link.lock);
    return found;
}

static int until(const struct bb__porter *porter, uint64_t due)
{
    const struct bb_settings *settings = porter->context.settings;
    uint64_t now = bb__clock_ms();
    if (atomic_load(&porter->worker->stuck) && !porter->emptied) due = bb__sooner(due, now + BB_RETRY);
    if (atomic_load(&porter->worker->watched))
        due = bb__sooner(due, now + bb__porter_watch_time(porter->worker));
    int log = porter->context.log ? bb__access_log_patience(porter->context.log, now) : -1;
    if (log >= 0) due = bb__sooner(due, now + (uint64_t)log);
    if (due == UINT64_MAX) return -1;
    bool counts = settings->request_timeout > 0 || settings->request_timeout_soft > 0;
    uint64_t latest = now + (counts ? COUNTED_WAIT : INT_MAX);
    return due <= now ? 0 : (int)(bb__sooner(due, latest) - now);
}

/* Where ticks are long a new request is looked at once more after a short one: it may be long as well. */
static int tick(struct bb__porter *porter)
{
    porter->closely = porter->fresh && !porter->closely;
    if (porter->closely) return TICK;
    if (porter->brief == 0) porter->tick = TICK;
    if (porter->brief >= BRIEF_LOOKS && porter->tick < TICK_MAX) {
        porter->tick *= 2;
        porter->brief = 1;
    }
    return porter->tick;
}

static int patience(struct bb__porter *porter)
{
    uint64_t due;
    if (porter->quiet < QUIET_LOOKS) return tick(porter);
    atomic_store(&porter->link.asleep, true);
    if (!has_new(porter, &due)) return until(porter, due);
    atomic_store(&porter->link.asleep, false);
    return tick(porter);
}

static void clear_kick(struct bb__porter *porter)
{
    for (int i = 0; i < porter->batch.count; i++)
        if (porter->batch.events[i].data.ptr == &porter->kick_source) bb__event_clear(porter->link.kick_fd);
}

/* The application may have closed a descriptor that is not its own. */
static void rest(struct bb__porter *porter, int error)
{
    static const struct timespec pause = {.tv_nsec = BB_RETRY * 1000000};
    bb__porter_note_trouble(porter, error);
    (void)nanosleep(&pause, NULL);
}

static void *run(void *argument)
{
    struct bb__porter *porter = argument;
    while (!atomic_load(&porter->ends)) {
        look(porter);
        int wait = patience(porter);
        porter->due_back = wait < 0 ? UINT64_MAX : bb__clock_us() + (uint64_t)wait * 1000;
        if (bb__poller_wait(&porter->link.queue, &porter->batch, wait) != BB_OK) rest(porter, errno);
        atomic_store(&porter->link.asleep, false);
        clear_kick(porter);
    }
    look(porter);
    return NULL;
}

/* ---- birth and end ---- */

/* Signals are the host's. */
static int start_thread(struct bb__porter *porter)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0) return BB_ENOMEM;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&porter->thread, &attributes, run, porter);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error ? BB_ESYSTEM : BB_OK;
}

static int prepare(struct bb__porter *porter)
{
    int code = bb__context_open(&porter->context, porter->worker);
    if (code != BB_OK) return code;
    porter->link.kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (porter->link.kick_fd < 0 || bb__poller_open(&porter->link.queue) != BB_OK ||
        bb__poller_add(&porter->link.queue, porter->link.kick_fd, BB_INTEREST_READ, &porter->kick_source) !=
            BB_OK)
        return BB_ESYSTEM;
    return BB_OK;
}

static void release(struct bb__porter *porter)
{
    bb__poller_close(&porter->link.queue);
    if (porter->link.kick_fd >= 0) (void)close(porter->link.kick_fd);
    free(porter);
}

int bb__porter_start(struct bb_worker *worker)
{
    struct bb__porter *porter = calloc(1, sizeof *porter);
    if (!porter) return BB_ENOMEM;
    porter->worker = worker;
    porter->link.kick_fd = porter->link.queue.fd = -1;
    porter->kick_source.kind = BB_SOURCE_WAKE;
    porter->tick = TICK;
    porter->due_back = UINT64_MAX;
    (void)pthread_mutex_init(&porter->link.lock, NULL); /* of this kind it cannot fail */
    (void)pthread_mutex_init(&porter->link.time_lock, NULL);
    int code = prepare(porter);
    if (code == BB_OK) code = start_thread(porter);
    if (code != BB_OK) {
        bb__context_close(&porter->context);
        release(porter);
        return code;
    }
    worker->io = &porter->link;
    return BB_OK;
}

bool bb__porter_stop(struct bb__porter *porter)
{
    if (!porter) return true;
    if (!bb__worker_is_inert(porter->worker)) {
        atomic_store(&porter->ends, true);
        bb__event_raise(porter->link.kick_fd);
        struct timespec end = bb__io_end_of_patience();
        if (bb__io_hangs(&porter->link) || pthread_timedjoin_np(porter->thread, NULL, &end) != 0)
            return false;
        bb__context_close(&porter->context); /* in a child it may be left halfway */
    }
    release(porter);
    return true;
}
