/* scoreboard.c: see scoreboard.h, and bontebok.h for the contracts. scoreboard_file.c makes the memory. */
#include "system/scoreboard.h"
#include "base/clock.h"
#include "system/shared_queue.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ms. bb__scoreboard_sum() does not count a lane that has had the same request for at least this time. */
#define LONG 100

/* Requests. The shared queue has no room for so many. */
#define WAITING_MAX 1000000

void bb_scoreboard_set_draining(struct bb_scoreboard *scoreboard, bool draining)
{
    atomic_store(&scoreboard->memory->draining, draining);
}

bool bb_scoreboard_is_draining(const struct bb_scoreboard *scoreboard)
{
    return bb__scoreboard_is_draining(scoreboard);
}

void bb_scoreboard_set_taken_over(struct bb_scoreboard *scoreboard, bool taken_over)
{
    atomic_store(&scoreboard->memory->taken_over, taken_over);
}

void bb_scoreboard_clear(struct bb_scoreboard *scoreboard, int pid, int in, struct bb_scoreboard *counter)
{
    const struct bb__shared_queue shared_queue = {.in = in, .turns = &counter->memory->turns};
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int dead = pid; /* at the same time another process may clear the slot, or a lane may claim it */
        if (!atomic_compare_exchange_strong(&slot->pid, &dead, (int)getpid())) continue;
        bb__scoreboard_give_back(slot);
        bb__shared_queue_nudge(&shared_queue);
    }
    (void)atomic_compare_exchange_strong(&scoreboard->memory->queue_reaper, &pid, 0);
}

int bb_scoreboard_waiting(const struct bb_scoreboard *counter, int out, uint64_t *count, uint64_t *oldest)
{
    const struct bb__shared_queue shared_queue = {.out = out};
    struct bb__shared_stamp first;
    if (bb__shared_queue_look(&shared_queue, &first) != BB_OK) return BB_AGAIN;
    uint64_t behind = atomic_load(&counter->memory->turns) - first.turn;
    *count = behind == 0 && first.has_request ? 1 : behind; /* the sender may not have counted it yet */
    *oldest = bb__elapsed(bb__clock_us(), first.since);
    return *count > 0 && *count <= WAITING_MAX && first.since > 0 ? BB_OK : BB_AGAIN;
}

static void note_used(struct bb_scoreboard *scoreboard, unsigned count)
{
    unsigned used = atomic_load(&scoreboard->memory->used);
    while (used < count && !atomic_compare_exchange_weak(&scoreboard->memory->used, &used, count)) continue;
}

/* kill() would ask for a process group if the pid were negative. */
static bool is_gone(int pid)
{
    return pid < 0 || (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH);
}

/* Clears the slots of processes that were killed together with their parent. A parent that lives clears the
 * slots of its workers itself (bb_scoreboard_clear()). */
static void clear_the_gone(struct bb_scoreboard *scoreboard)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int pid = atomic_load(&slot->pid);
        if (is_gone(pid) && atomic_compare_exchange_strong(&slot->pid, &pid, (int)getpid()))
            bb__scoreboard_give_back(slot);
    }
}

struct bb__slot *bb__scoreboard_claim(struct bb_scoreboard *scoreboard)
{
    clear_the_gone(scoreboard);
    for (unsigned i = 0; i < scoreboard->count; i++) {
        struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int nobody = 0;
        if (!atomic_compare_exchange_strong(&slot->pid, &nobody, (int)getpid())) continue;
        atomic_store(&slot->leaves, false);
        atomic_store(&slot->paused, false);
        atomic_store(&slot->done, false);
        atomic_store(&slot->canary, false);
        atomic_store(&slot->waits, false); /* older versions give these two back as they were */
        atomic_store(&slot->files, 0);
        atomic_store(&slot->taking, 0);
        note_used(scoreboard, i + 1);
        return slot;
    }
    return NULL;
}

void bb__scoreboard_give_back(struct bb__slot *slot)
{
    if (!slot) return;
    atomic_store(&slot->idle, BB_IDLE_NOT);
    atomic_store(&slot->requests, 0);
    atomic_store(&slot->files, 0);
    atomic_store(&slot->errors, 0);
    atomic_store(&slot->began, 0);
    atomic_store(&slot->taking, 0);
    atomic_store(&slot->queue_time, 0);
    atomic_store(&slot->beat, 0);
    atomic_store(&slot->labelled, 0);
    atomic_store(&slot->held, 0);
    atomic_store(&slot->detached, 0);
    atomic_store(&slot->waits, false);
    atomic_store(&slot->pid, 0);
}

static size_t append(char *label, size_t len, struct bb_slice text)
{
    size_t room = BB_SCOREBOARD_LABEL_MAX - 1 - len, count = text.len < room ? text.len : room;
    memcpy(label + len, text.at, count);
    return len + count;
}

static void write_label(char *label, struct bb_slice method, struct bb_slice path)
{
    size_t len = append(label, 0, method);
    len = append(label, len, (struct bb_slice){" ", 1});
    label[append(label, len, path)] = '\0';
}

void bb__scoreboard_label(struct bb__slot *slot, struct bb_slice method, struct bb_slice path)
{
    if (!slot) return;
    write_label(slot->label, method, path);
    atomic_store(&slot->labelled, atomic_load(&slot->requests));
}

#define HELD_KINDS (BB_HELD_STREAM + 1)

/* The slot keeps the label until the next request is held. */
void bb__scoreboard_hold(struct bb__slot *slot, enum bb_held held, struct bb_slice method,
                         struct bb_slice path)
{
    if (!slot) return;
    uint64_t request = atomic_load_explicit(&slot->requests, memory_order_relaxed);
    uint64_t before = atomic_load_explicit(&slot->held, memory_order_relaxed);
    if (before / HELD_KINDS != request) write_label(slot->held_label, method, path);
    atomic_store(&slot->held, request * HELD_KINDS + held);
}

enum bb_held bb__scoreboard_held(const struct bb__slot *slot)
{
    if (!slot) return BB_HELD_NOT;
    uint64_t held = atomic_load(&slot->held);
    return held / HELD_KINDS == atomic_load(&slot->requests) ? (enum bb_held)(held % HELD_KINDS)
                                                             : BB_HELD_NOT;
}

void bb__scoreboard_hold_next(struct bb__slot *slot, enum bb_held held, enum bb_held next)
{
    if (!slot) return;
    uint64_t request = atomic_load_explicit(&slot->requests, memory_order_relaxed) * HELD_KINDS;
    uint64_t shown = request + held;
    (void)atomic_compare_exchange_strong(&slot->held, &shown, request + next);
}

/* A terminal would obey control bytes. A path has none, but the memory may. */
static void copy_label(char *to, const char *from)
{
    memcpy(to, from, BB_SCOREBOARD_LABEL_MAX - 1);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || *to == 0x7f) *to = '?';
}

static void read_label(const struct bb__slot *slot, struct bb_scoreboard_lane *lane)
{
    if (!lane->has_request) return;
    lane->held = bb__scoreboard_held(slot);
    if (lane->held != BB_HELD_NOT)
        copy_label(lane->label, slot->held_label);
    else if (atomic_load(&slot->labelled) == lane->requests)
        copy_label(lane->label, slot->label);
}

int bb_scoreboard_look(const struct bb_scoreboard *scoreboard, unsigned number,
                       struct bb_scoreboard_lane *lane)
{
    if (number >= bb__scoreboard_used(scoreboard)) return BB_EOF;
    const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, number);
    uint64_t began = atomic_load(&slot->began), beat = atomic_load(&slot->beat), now = bb__clock_ms();
    *lane = (struct bb_scoreboard_lane){
        .pid = atomic_load(&slot->pid),
        .idle = atomic_load(&slot->idle) != BB_IDLE_NOT,
        .paused = atomic_load(&slot->paused) != 0,
        .leaves = atomic_load(&slot->leaves),
        .has_request = began > 0,
        .requests = atomic_load(&slot->requests),
        .errors = atomic_load(&slot->errors),
        .taken = began > 0 ? bb__elapsed(now, began) : 0,
        .queue_time = atomic_load(&slot->queue_time),
        .detached = atomic_load(&slot->detached),
        .waits = atomic_load(&slot->waits),
        .silent = beat > 0 ? bb__elapsed(now, beat) : UINT64_MAX,
    };
    read_label(slot, lane);
    return lane->pid > 0 ? BB_OK : BB_AGAIN;
}

struct bb_scoreboard_slow bb_scoreboard_slow(const struct bb_scoreboard *scoreboard)
{
    return (struct bb_scoreboard_slow){atomic_load(&scoreboard->memory->slow_readers),
                                       atomic_load(&scoreboard->memory->slow_senders)};
}

/* These three functions skip the slots of dead processes. Such slots exist after a worker was killed together
 * with its parent. */

bool bb__scoreboard_has_others(const struct bb_scoreboard *scoreboard, int own_pid)
{
    unsigned used = scoreboard ? bb__scoreboard_used(scoreboard) : 0;
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load(&bb__scoreboard_slot(scoreboard, i)->pid);
        if (pid != 0 && pid != own_pid && !is_gone(pid)) return true;
    }
    return false;
}

bool bb__scoreboard_has_siblings(const struct bb_scoreboard *scoreboard, int own_pid)
{
    unsigned used = scoreboard ? bb__scoreboard_used(scoreboard) : 0;
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int pid = atomic_load(&slot->pid);
        bool leaves = atomic_load(&slot->leaves);
        if (pid != 0 && pid != own_pid && !leaves && !is_gone(pid)) return true;
    }
    return false;
}

bool bb__scoreboard_others_are_done(const struct bb_scoreboard *scoreboard, const struct bb__slot *own,
                                    bool all)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int pid = atomic_load(&slot->pid);
        if (slot == own || pid == 0 || atomic_load(&slot->done)) continue;
        if ((all || atomic_load(&slot->leaves)) && !is_gone(pid)) return false;
    }
    return true;
}

static bool takes_more(const struct bb__slot *slot)
{
    return !atomic_load_explicit(&slot->leaves, memory_order_relaxed) &&
           !atomic_load_explicit(&slot->paused, memory_order_relaxed);
}

bool bb__scoreboard_would_take(const struct bb__slot *slot)
{
    unsigned char idle = atomic_load_explicit(&slot->idle, memory_order_relaxed);
    return (idle == BB_IDLE || idle == BB_IDLE_DOUBTED) && takes_more(slot);
}

static void change_idle(struct bb_scoreboard *scoreboard, int own_pid, enum bb__scoreboard_idle from,
                        enum bb__scoreboard_idle to)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        unsigned char idle = (unsigned char)from;
        if (atomic_load(&slot->pid) == own_pid) continue;
        (void)atomic_compare_exchange_strong(&slot->idle, &idle, (unsigned char)to);
    }
}

void bb__scoreboard_doubt(struct bb_scoreboard *scoreboard, int own_pid)
{
    change_idle(scoreboard, own_pid, BB_IDLE, BB_IDLE_DOUBTED);
}

void bb__scoreboard_blame(struct bb_scoreboard *scoreboard, int own_pid)
{
    change_idle(scoreboard, own_pid, BB_IDLE_DOUBTED, BB_IDLE_SILENT);
}

static bool all_are_idle(const struct bb_scoreboard *scoreboard, unsigned used, int pid)
{
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        if (atomic_load_explicit(&slot->pid, memory_order_relaxed) == pid && !bb__scoreboard_would_take(slot))
            return false;
    }
    return true;
}

bool bb__scoreboard_process_is_idle(const struct bb_scoreboard *scoreboard, int own_pid)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    int looked_at = own_pid;
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int pid = atomic_load_explicit(&slot->pid, memory_order_relaxed);
        if (pid <= 0 || pid == own_pid || pid == looked_at || !bb__scoreboard_would_take(slot)) continue;
        if (all_are_idle(scoreboard, used, pid)) return true;
        looked_at = pid;
    }
    return false;
}

unsigned bb__scoreboard_idle_elsewhere(const struct bb_scoreboard *scoreboard, int own_pid, unsigned most)
{
    unsigned used = bb__scoreboard_used(scoreboard), idle = 0;
    for (unsigned i = 0; i < used && idle < most; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        if (!bb__scoreboard_would_take(slot)) continue;
        int pid = atomic_load_explicit(&slot->pid, memory_order_relaxed);
        idle += pid > 0 && pid != own_pid;
    }
    return idle;
}

static bool could_take(const struct bb__slot *slot, uint64_t now)
{
    uint64_t began = atomic_load_explicit(&slot->began, memory_order_relaxed);
    return atomic_load_explicit(&slot->pid, memory_order_relaxed) > 0 && takes_more(slot) &&
           (began == 0 || now < began + LONG);
}

struct bb__scoreboard_sum bb__scoreboard_sum(const struct bb_scoreboard *scoreboard, uint64_t now)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    struct bb__scoreboard_sum sum = {0};
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        sum.requests += bb__scoreboard_responses(slot);
        sum.lanes += could_take(slot, now);
    }
    return sum;
}

/* If two clients are equally slow, the client of the slot with the lower number counts as slower. */
static bool is_slower(const struct bb__slot *slot, const struct bb__slot *own)
{
    uint64_t one = atomic_load(&slot->taking), other = atomic_load(&own->taking);
    return one < other || (one == other && slot < own);
}

struct bb__scoreboard_waits bb__scoreboard_waits(const struct bb_scoreboard *scoreboard,
                                                 const struct bb__slot *own)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    struct bb__scoreboard_waits found = {0};
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        if (atomic_load(&slot->pid) <= 0 || atomic_load(&slot->leaves)) continue;
        found.lanes++;
        if (atomic_load(&slot->taking) == 0) continue;
        found.waiting++;
        found.slower += is_slower(slot, own);
    }
    return found;
}

bool bb__scoreboard_begin_reaping(struct bb_scoreboard *scoreboard, int own_pid)
{
    atomic_int *shown = &scoreboard->memory->queue_reaper;
    int queue_reaper = 0;
    if (atomic_compare_exchange_strong(shown, &queue_reaper, own_pid)) return true;
    return is_gone(queue_reaper) && atomic_compare_exchange_strong(shown, &queue_reaper, own_pid);
}

void bb__scoreboard_end_reaping(struct bb_scoreboard *scoreboard)
{
    atomic_store(&scoreboard->memory->queue_reaper, 0);
}
