/* io_thread.c: the loop of the I/O thread. The loop decides when the thread looks at the lanes, and which
 * lane's set (all its connections) the thread takes. io_work.c handles one set. A look is one check of all
 * lanes. The thread looks once per tick (BB_TICK to BB_TICK_MAX ms) while lanes have requests. If two looks
 * in a row find the same request on a lane, the request is long, and the thread takes over the lane's set.
 * After BB_QUIET_LOOKS looks without a new request the thread sleeps. A lane wakes the thread when the lane
 * begins a request and other connections may wait for the lane. Before the thread sleeps, it sets `asleep`
 * and then looks once more. A lane begins its request and then reads `asleep`. So either the thread sees the
 * new request, or the lane sees `asleep`. */
#include "io_thread/io_work.h"
#include "system/access_log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* us. If the thread wakes up this much too late, its process (SIGSTOP) or the whole machine was frozen. */
#define STOPPED 1000000

/* ms. The longest wait while requests have a time limit. If the process is frozen and continued within one
 * wait, the thread does not notice this. */
#define COUNTED_WAIT 1000

/* ms between two looks while a client that is slow has not taken a part (lane/reply_gather.c). */
#define UNSENT_TICK 10

/* Bytes. The I/O thread needs this stack. */
#define STACK_MIN (256 * 1024)

/* ---- looking ---- */

static bool is_busy(unsigned word)
{
    return bb__owner_state_of(word) == BB_OWNER_BUSY;
}

static bool is_alone(unsigned word)
{
    return bb__owner_state_of(word) == BB_OWNER_ALONE;
}

static bool is_taken(unsigned word)
{
    return !is_busy(word) && !is_alone(word) && bb__owner_state_of(word) != BB_OWNER_IDLE;
}

static void remember(struct bb__io_thread *io, struct bb_lane *lane, unsigned request)
{
    pthread_mutex_lock(&io->link.time_lock);
    lane->watched.word = request;
    lane->watched.since = bb__clock_us();
    lane->watched.overdue = lane->watched.untold = lane->watched.warned = lane->watched.late = false;
    lane->watched.labelled = false;
    pthread_mutex_unlock(&io->link.time_lock);
}

/* Whether the lane has had this request for at least one tick. The time of a new request counts from now, not
 * from the beginning of this look, because a look may take long. */
static bool is_long(struct bb__io_thread *io, struct bb_lane *lane, unsigned word)
{
    if (!is_busy(word)) return false;
    if (word == lane->watched.word)
        return bb__elapsed(io->context.read_at, lane->watched.since) >= BB_TICK * 1000;
    remember(io, lane, word);
    io->fresh = true;
    io->quiet = 0;
    return false;
}

/* While a lane is ALONE (set_owner.h), no connection waits for the lane. The I/O thread takes the lane's set
 * only to show the request's label (method and path) on the scoreboard. */
static bool is_long_alone(struct bb__io_thread *io, struct bb_lane *lane, unsigned word)
{
    if (!is_alone(word)) return false;
    unsigned request = bb__owner_with_state(word, BB_OWNER_BUSY);
    if (request == lane->watched.word)
        return bb__elapsed(io->context.read_at, lane->watched.since) >=
               bb__io_watch_time(lane->worker) * 1000;
    remember(io, lane, request);
    return false;
}

static void look_at(struct bb__io_thread *io, struct bb_lane *lane)
{
    unsigned word = bb__owner_look(&lane->owner);
    bool takes = is_long(io, lane, word) || is_long_alone(io, lane, word);
    if (takes && bb__owner_take(&lane->owner, word)) {
        bb__io_begin(io, lane);
        io->brief = 0;
    } else if (bb__owner_state_of(word) == BB_OWNER_PARKED && bb__owner_unpark(&lane->owner)) {
        bb__io_go_on(io, lane);
    }
}

static bool has_taken_a_set(const struct bb_worker *worker)
{
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        if (is_taken(bb__owner_look(&lane->owner))) return true;
    return false;
}

static bool is_awaited(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool awaited = bb__worker_is_awaited(worker);
    pthread_mutex_unlock(&worker->lock);
    return awaited;
}

/* While one lane of the worker has a long request and another process is idle, the worker does not accept.
 * The long request may hold the global lock of the host (Ruby), and then the worker's other lanes cannot run.
 * The idle process can serve new connections sooner. */
static void update_accept_pause(struct bb__io_thread *io)
{
    struct bb_worker *worker = io->worker;
    if (!worker->scoreboard || atomic_load(&worker->lane_count) < 2) return;
    bool paused = atomic_load(&worker->accept_paused), busy = has_taken_a_set(worker);
    if (busy) io->quiet = 0;
    bb__io_judge_idle(io, &io->left_since, paused && is_awaited(worker));
    bool sibling_is_idle = bb__scoreboard_process_is_idle(worker->scoreboard, worker->pid);
    io->none_idle = sibling_is_idle ? 0 : io->none_idle + 1;
    bool pause = busy && (sibling_is_idle || (paused && io->none_idle < BB_BUSY_LOOKS));
    if (pause != paused) bb__worker_pause_accepting(worker, pause);
}

/* Returns how many us the process or the machine was frozen while the I/O thread waited. This time does not
 * count against the application. */
static uint64_t time_lost(const struct bb__io_thread *io)
{
    uint64_t late = bb__elapsed(io->context.read_at, io->due_back);
    return late > STOPPED ? late : 0;
}

static void excuse(struct bb__io_thread *io, struct bb_lane *lane, uint64_t lost)
{
    pthread_mutex_lock(&io->link.time_lock);
    lane->watched.since += lost;
    pthread_mutex_unlock(&io->link.time_lock);
}

static void look(struct bb__io_thread *io)
{
    io->fresh = false;
    io->quiet++;
    io->brief++;
    io->context.now = bb__clock_ms();
    io->context.read_at = bb__clock_us();
    uint64_t lost = time_lost(io);
    unsigned held = 0;
    atomic_store(&io->link.gathers, false); /* before `holds` is read: see reply_gather.c */
    atomic_store(&io->link.has_unsent, false);
    pthread_mutex_lock(&io->link.lock);
    for (struct bb_lane *lane = bb__first_lane(io->worker); lane; lane = bb__next_lane(lane)) {
        if (lost > 0) excuse(io, lane, lost);
        look_at(io, lane);
        held |= 1U << bb__reply_send_gathered(lane, io->context.read_at);
    }
    if (held & 1U << BB_HOLDS_PARTS) atomic_store(&io->link.gathers, true);
    if (held & 1U << BB_HOLDS_UNSENT) atomic_store(&io->link.has_unsent, true);
    update_accept_pause(io);
    bb__io_check_overdue(io);
    bb__io_check_readers(io);
    pthread_mutex_unlock(&io->link.lock);
    bb__io_tell(io);
}

/* ---- waiting ---- */

/* Whether a lane has a request that no look has seen. *due: the time (ms) when the next PARKED set needs a
 * step. */
static bool has_new(struct bb__io_thread *io, uint64_t *due)
{
    bool found = false;
    *due = UINT64_MAX;
    pthread_mutex_lock(&io->link.lock);
    for (struct bb_lane *lane = bb__first_lane(io->worker); lane; lane = bb__next_lane(lane)) {
        unsigned word = bb__owner_look(&lane->owner);
        found = found || is_busy(word);
        if (bb__owner_state_of(word) == BB_OWNER_PARKED) *due = bb__sooner(*due, bb__io_until(io, lane));
    }
    pthread_mutex_unlock(&io->link.lock);
    return found;
}

static int until(const struct bb__io_thread *io, uint64_t due)
{
    const struct bb_settings *settings = io->context.settings;
    uint64_t now = bb__clock_ms();
    if (atomic_load(&io->worker->limits.stuck) && !io->emptied) due = bb__sooner(due, now + BB_RETRY);
    if (atomic_load(&io->worker->limits.active)) due = bb__sooner(due, now + bb__io_watch_time(io->worker));
    int log = io->context.log ? bb__access_log_wait(io->context.log, now) : -1;
    if (log >= 0) due = bb__sooner(due, now + (uint64_t)log);
    due = bb__sooner(due, bb__conn_reports_due(&io->context));
    if (io->context.events.count > 0) due = bb__sooner(due, now + BB_TELL_EVERY);
    if (due == UINT64_MAX) return -1;
    bool counts = settings->request_timeout > 0 || settings->request_timeout_soft > 0;
    uint64_t latest = now + (counts ? COUNTED_WAIT : INT_MAX);
    return due <= now ? 0 : (int)(bb__sooner(due, latest) - now);
}

/* Returns ms until the next look. After a look that saw a new request, the wait is only BB_TICK, because the
 * new request may be long. */
static int tick(struct bb__io_thread *io)
{
    io->closely = io->fresh && !io->closely;
    if (io->closely) return BB_TICK;
    if (io->brief == 0) io->tick = BB_TICK;
    if (io->brief >= BB_BRIEF_LOOKS && io->tick < BB_TICK_MAX) {
        io->tick *= 2;
        io->brief = 1;
    }
    return io->tick;
}

static int usual_wait(struct bb__io_thread *io)
{
    uint64_t due;
    if (io->quiet < BB_QUIET_LOOKS) return tick(io);
    atomic_store(&io->link.asleep, true);
    if (!has_new(io, &due)) return until(io, due);
    atomic_store(&io->link.asleep, false);
    return tick(io);
}

static int wait_time(struct bb__io_thread *io)
{
    if (atomic_load(&io->link.gathers)) return BB_TICK;
    int wait = usual_wait(io);
    bool is_long = wait < 0 || wait > UNSENT_TICK;
    return is_long && atomic_load(&io->link.has_unsent) ? UNSENT_TICK : wait;
}

static void clear_kick(struct bb__io_thread *io)
{
    for (int i = 0; i < io->batch.count; i++)
        if (io->batch.events[i].data.ptr == &io->kick_source) bb__wakeup_clear(&io->link.kick);
}

/* epoll fails if the application has closed a descriptor of the core. The pause prevents a busy loop. */
static void rest(struct bb__io_thread *io, int error)
{
    static const struct timespec pause = {.tv_nsec = BB_RETRY * 1000000};
    bb__io_note_trouble(io, error);
    (void)nanosleep(&pause, NULL);
}

/* The name in top -H and ps -L. Otherwise the thread has the name of the thread that has created it. */
static void name_thread(void)
{
#if defined(__linux__) && defined(_GNU_SOURCE)
    (void)pthread_setname_np(pthread_self(), "bontebok io");
#endif
}

static void *run(void *argument)
{
    struct bb__io_thread *io = argument;
    name_thread();
    while (!atomic_load(&io->ends)) {
        look(io);
        int wait = wait_time(io);
        io->due_back = wait < 0 ? UINT64_MAX : bb__clock_us() + (uint64_t)wait * 1000;
        if (bb__poller_wait(&io->link.queue, &io->batch, wait) != BB_OK) rest(io, errno);
        atomic_store(&io->link.asleep, false);
        clear_kick(io);
    }
    look(io);
    atomic_store(&io->link.ended, true);
    return NULL;
}

/* ---- start and end ---- */

/* glibc takes the static TLS of all libraries from the stack. The default has room for it. musl's default,
 * and a low limit of the stack (RLIMIT_STACK), may be less than the I/O thread needs. */
static void set_stack(pthread_attr_t *attributes)
{
    size_t usual;
    if (pthread_attr_getstacksize(attributes, &usual) != 0 || usual < STACK_MIN)
        (void)pthread_attr_setstacksize(attributes, STACK_MIN);
}

/* The I/O thread blocks all signals, because the host's threads handle them. */
static int start_thread(struct bb__io_thread *io)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0) return BB_ENOMEM;
    set_stack(&attributes);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&io->thread, &attributes, run, io);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    errno = error;
    return error ? BB_ESYSTEM : BB_OK;
}

static int prepare(struct bb__io_thread *io)
{
    int code = bb__conn_context_open(&io->context, io->worker);
    if (code != BB_OK) return code;
    if (bb__wakeup_open(&io->link.kick) != BB_OK || bb__poller_open(&io->link.queue) != BB_OK ||
        bb__poller_add(&io->link.queue, io->link.kick.fd, BB_INTEREST_READ, &io->kick_source) != BB_OK)
        return BB_ESYSTEM;
    return BB_OK;
}

static void release(struct bb__io_thread *io)
{
    bb__poller_close(&io->link.queue);
    bb__wakeup_close(&io->link.kick);
    free(io);
}

int bb__io_start(struct bb_worker *worker)
{
    struct bb__io_thread *io = calloc(1, sizeof *io);
    if (!io) return BB_ENOMEM;
    io->worker = worker;
    io->link.kick.fd = io->link.queue.fd = -1;
    io->kick_source.kind = BB_SOURCE_WAKE;
    io->tick = BB_TICK;
    io->due_back = UINT64_MAX;
    (void)pthread_mutex_init(&io->link.lock, NULL); /* cannot fail for this kind of mutex */
    (void)pthread_mutex_init(&io->link.time_lock, NULL);
    int code = prepare(io);
    if (code == BB_OK) code = start_thread(io);
    if (code != BB_OK) {
        int error = errno;
        bb__conn_context_close(&io->context);
        release(io);
        errno = error;
        return code;
    }
    worker->io = &io->link;
    return BB_OK;
}

bool bb__io_stop(struct bb__io_thread *io)
{
    if (!io) return true;
    if (!bb__worker_is_inert(io->worker)) {
        atomic_store(&io->ends, true);
        bb__wakeup_raise(&io->link.kick);
        if (bb__io_hangs(&io->link) || !bb__io_has_ended(&io->link)) return false;
        (void)pthread_join(io->thread, NULL);
        bb__conn_context_close(&io->context); /* not in a forked child, whose copy may be inconsistent */
    }
    release(io);
    return true;
}
