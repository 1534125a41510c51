/* poller_poll.c: see poller.h. A poller in the memory of this process, for systems without epoll. A wait
 * copies the descriptors, and calls poll() without the lock. Other threads may change the poller meanwhile:
 * they wake the waiting thread, which copies again. At most one thread waits for a poller at a time. A wait
 * also polls the descriptors of the pollers that were added (its children). */
#ifdef BB_PORTABLE

#include "base/clock.h"
#include "bontebok.h"
#include "sockets/poller.h"
#include "sockets/wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct entry {
    int fd;
    short events;
    bool heard; /* the last wait has reported this event, and no wait has found the descriptor idle since */
    void *tag;
};

struct bb__poll_set {
    pthread_mutex_t lock; /* guards all fields. The lock of a parent is taken before those of its children */
    struct entry *entries;
    size_t count, room;
    unsigned version;          /* counts the changes of `entries` and `children` */
    size_t first;              /* the entry that the next batch begins with, so that each gets its turn */
    atomic_uint polls;         /* twice the number of waits; odd while a thread polls, or is about to */
    struct bb__wakeup changed; /* raised by a change while a thread waits */
    struct pollfd *polled;     /* used by the waiting thread only */
    size_t polled_room;
    struct bb__poll_set *parent, *children, *sibling;
    void *tag;             /* of this poller in its parent */
    unsigned seen_version; /* when the parent copied the entries */
    size_t seen_count;     /* how many entries it copied */
};

/* ---- open, close ---- */

/* The pollers of a forked child have copies of locks that a thread of the parent may hold, so no function
 * that a child calls takes or destroys them. */
int bb__poller_open(struct bb__poller *poller)
{
    poller->fd = -1;
    poller->set = calloc(1, sizeof *poller->set);
    if (!poller->set) return BB_ENOMEM;
    if (bb__wakeup_open(&poller->set->changed) != BB_OK) {
        free(poller->set);
        return BB_ESYSTEM;
    }
    (void)pthread_mutex_init(&poller->set->lock, NULL); /* cannot fail for a default mutex */
    poller->fd = poller->set->changed.fd;
    return BB_OK;
}

static void leave_parent(struct bb__poll_set *child)
{
    struct bb__poll_set **at = &child->parent->children;
    while (*at && *at != child) at = &(*at)->sibling;
    if (*at) *at = child->sibling; /* not in the list: the process was forked while it was added or removed */
    child->parent = NULL;
}

void bb__poller_close(struct bb__poller *poller)
{
    if (poller->fd < 0) return;
    struct bb__poll_set *set = poller->set;
    if (set->parent) leave_parent(set);
    while (set->children) leave_parent(set->children);
    bb__wakeup_close(&set->changed);
    free(set->entries);
    free(set->polled);
    free(set);
    poller->fd = -1;
}

/* ---- changes ---- */

static void lock(struct bb__poll_set *set)
{
    pthread_mutex_lock(&set->lock);
}

static void unlock(struct bb__poll_set *set)
{
    pthread_mutex_unlock(&set->lock);
}

static bool is_polled(unsigned polls)
{
    return polls % 2 == 1;
}

static void wake(const struct bb__poll_set *set)
{
    if (set && is_polled(atomic_load(&set->polls))) bb__wakeup_raise(&set->changed);
}

static void note_change(struct bb__poll_set *set)
{
    set->version++;
    wake(set);
    wake(set->parent);
}

static struct entry *find(struct bb__poll_set *set, int fd)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->entries[i].fd == fd) return &set->entries[i];
    return NULL;
}

static int fail(int error)
{
    errno = error;
    return BB_ESYSTEM;
}

static int append(struct bb__poll_set *set, const struct entry *entry)
{
    if (find(set, entry->fd)) return fail(EEXIST);
    if (set->count == set->room) {
        size_t room = set->room > 0 ? 2 * set->room : 8;
        struct entry *larger = realloc(set->entries, room * sizeof *larger);
        if (!larger) return BB_ENOMEM;
        set->entries = larger;
        set->room = room;
    }
    set->entries[set->count++] = *entry;
    note_change(set);
    return BB_OK;
}

int bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag)
{
    if (poller->fd < 0 || fcntl(fd, F_GETFD) < 0) return fail(EBADF);
    const struct entry entry = {.fd = fd, .events = (short)interest, .tag = tag};
    lock(poller->set);
    int code = append(poller->set, &entry);
    unlock(poller->set);
    return code;
}

int bb__poller_change(struct bb__poller *poller, int fd, uint32_t interest, void *tag)
{
    if (poller->fd < 0) return fail(EBADF);
    lock(poller->set);
    struct entry *entry = find(poller->set, fd);
    if (entry) {
        *entry = (struct entry){.fd = fd, .events = (short)interest, .tag = tag};
        note_change(poller->set);
    }
    unlock(poller->set);
    return entry ? BB_OK : fail(ENOENT);
}

static void drop(struct bb__poll_set *set, struct entry *entry)
{
    *entry = set->entries[--set->count];
    note_change(set);
}

/* poll() keeps its descriptors open until it returns. So if another thread polls, waits until that thread was
 * woken: a listener that the caller closes next must not take more connections. */
void bb__poller_remove(struct bb__poller *poller, int fd)
{
    if (poller->fd < 0) return;
    struct bb__poll_set *set = poller->set;
    lock(set);
    struct entry *entry = find(set, fd);
    unsigned polls = atomic_load(&set->polls);
    if (entry) drop(set, entry);
    unlock(set);
    while (entry && is_polled(polls) && atomic_load(&set->polls) == polls) (void)sched_yield();
}

int bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag)
{
    return bb__poller_add(poller, fd, BB_INTEREST_READ, tag);
}

/* ---- pollers in pollers ---- */

int bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag)
{
    if (poller->fd < 0 || added->fd < 0) return fail(EBADF);
    struct bb__poll_set *parent = poller->set, *child = added->set;
    lock(parent);
    lock(child);
    child->tag = tag;
    child->parent = parent;
    child->sibling = parent->children;
    parent->children = child;
    for (size_t i = 0; i < child->count; i++) child->entries[i].heard = false;
    note_change(parent);
    unlock(child);
    unlock(parent);
    return BB_OK;
}

void bb__poller_remove_poller(struct bb__poller *poller, struct bb__poller *added)
{
    if (poller->fd < 0 || added->fd < 0) return;
    struct bb__poll_set *parent = poller->set, *child = added->set;
    lock(parent);
    lock(child);
    if (child->parent == parent) {
        leave_parent(child);
        note_change(parent);
    }
    unlock(child);
    unlock(parent);
}

/* ---- waiting ---- */

/* A wait polls first `changed`, then the set's own entries, and then the entries of each child. It leaves out
 * the child's entries that were reported before (`heard`). */
struct look {
    size_t count;
    unsigned version;
};

static bool put(struct bb__poll_set *set, struct look *look, int fd, short events)
{
    if (look->count == set->polled_room) {
        size_t room = set->polled_room > 0 ? 2 * set->polled_room : 8;
        struct pollfd *larger = realloc(set->polled, room * sizeof *larger);
        if (!larger) return false;
        set->polled = larger;
        set->polled_room = room;
    }
    set->polled[look->count++] = (struct pollfd){.fd = fd, .events = events};
    return true;
}

static bool put_child(struct bb__poll_set *set, struct look *look, struct bb__poll_set *child)
{
    bool fits = true;
    size_t before = look->count;
    lock(child);
    for (size_t i = 0; fits && i < child->count; i++)
        if (!child->entries[i].heard) fits = put(set, look, child->entries[i].fd, child->entries[i].events);
    child->seen_version = child->version;
    child->seen_count = look->count - before;
    unlock(child);
    return fits;
}

static bool prepare(struct bb__poll_set *set, struct look *look)
{
    *look = (struct look){0};
    lock(set);
    atomic_fetch_add(&set->polls, 1);
    look->version = set->version;
    bool fits = put(set, look, set->changed.fd, POLLIN);
    for (size_t i = 0; fits && i < set->count; i++)
        fits = put(set, look, set->entries[i].fd, set->entries[i].events);
    for (struct bb__poll_set *child = set->children; fits && child; child = child->sibling)
        fits = put_child(set, look, child);
    unlock(set);
    return fits;
}

static bool report(struct bb__batch *batch, uint32_t events, void *tag)
{
    if (batch->count == BB_BATCH) return false;
    batch->events[batch->count++] = (struct bb__poller_event){.events = events, .data.ptr = tag};
    return true;
}

/* Reports the set's own entries. Drops an entry whose descriptor was closed, as epoll does. */
static void report_own(struct bb__poll_set *set, struct bb__batch *batch)
{
    size_t count = set->count, begin = count > 0 ? set->first % count : 0;
    for (size_t i = 0; i < count; i++) {
        size_t index = (begin + i) % count;
        struct entry *entry = &set->entries[index];
        uint32_t events = (uint32_t)set->polled[1 + index].revents & ~(uint32_t)POLLNVAL;
        entry->heard = events != 0 && report(batch, events, entry->tag);
        if (entry->heard) set->first = index + 1;
    }
    for (size_t i = count; i-- > 0;)
        if (set->polled[1 + i].revents & POLLNVAL) drop(set, &set->entries[i]);
}

/* Returns whether one of the entries that were copied from the child has an event. If the child has changed
 * since, the event may be of an entry that is gone, and the child's owner finds nothing. */
static bool hear(struct bb__poll_set *child, const struct pollfd *polled)
{
    bool found = false;
    for (size_t i = 0; i < child->seen_count; i++) found = found || polled[i].revents;
    if (!found || child->version != child->seen_version) return found;
    for (size_t i = 0; i < child->count; i++)
        if (!child->entries[i].heard) child->entries[i].heard = (polled++)->revents != 0;
    return true;
}

static void report_children(struct bb__poll_set *set, struct bb__batch *batch)
{
    const struct pollfd *polled = set->polled + 1 + set->count;
    for (struct bb__poll_set *child = set->children; child && batch->count < BB_BATCH;
         child = child->sibling) {
        lock(child);
        size_t count = child->seen_count;
        if (hear(child, polled)) (void)report(batch, BB_INTEREST_READ, child->tag);
        unlock(child);
        polled += count;
    }
}

/* Returns whether another thread has changed the set during the wait. Then the entries may have moved, and
 * the caller has to wait again. */
static bool finish(struct bb__poll_set *set, const struct look *look, struct bb__batch *batch)
{
    lock(set);
    if (set->polled[0].revents) bb__wakeup_clear(&set->changed);
    bool is_current = set->version == look->version;
    if (is_current) {
        size_t own = set->count;
        report_own(set, batch);
        if (set->count == own) report_children(set, batch);
    }
    unlock(set);
    return !is_current;
}

/* The remaining ms of a wait; -1: there is no limit. */
static int remaining(int timeout_ms, uint64_t end)
{
    if (timeout_ms <= 0) return timeout_ms;
    uint64_t now = bb__clock_us() / 1000;
    return now < end ? (int)(end - now) : 0;
}

int bb__poller_wait(struct bb__poller *poller, struct bb__batch *batch, int timeout_ms)
{
    batch->count = batch->next = 0;
    if (poller->fd < 0) return fail(EBADF);
    struct bb__poll_set *set = poller->set;
    uint64_t end = timeout_ms > 0 ? bb__clock_us() / 1000 + (uint64_t)timeout_ms : 0;
    for (;;) {
        struct look look;
        bool fits = prepare(set, &look);
        int wait = remaining(timeout_ms, end);
        int found = fits ? poll(set->polled, (nfds_t)look.count, wait) : -1;
        int error = fits ? errno : ENOMEM;
        atomic_fetch_add(&set->polls, 1);
        if (found < 0) return error == EINTR ? BB_OK : fail(error);
        if (set->polled[0].revents & POLLNVAL) return fail(EBADF);
        bool changed = finish(set, &look, batch);
        if (batch->count > 0 || (!changed && (wait == 0 || found == 0))) return BB_OK;
    }
}

#endif
