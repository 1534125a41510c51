/* loader.c: see loader.h.
 *
 * The loader uses level-triggered epoll. A request on a kept-alive connection costs a recv, a send and its
 * share of an epoll_wait. Free connections are in the list `idle`, and the next due request gets the first
 * connection of this list. An event only makes the loader try recv() or send(). A stale event does no harm:
 * if its connection was closed and opened again in the same round, the call fails with EAGAIN.
 */
#include "loader.h"
#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX     32
#define BUFFER_SIZE    (64 * 1024)
#define KNOCK_AGAIN_MS 1

/* Stops all loaders if the limit of --until-errors is reached. This loader begins no request after that. The
 * requests that are in flight have no result. */
static void note_error(struct loader *loader)
{
    struct plan *plan = loader->schedule.plan;
    uint64_t before = atomic_fetch_add_explicit(&plan->errors, 1, memory_order_relaxed);
    if (before + 1 < plan->until_errors) return;
    loader->is_stopped = true;
    eventfd_write(loader->stop, 1);
}

static void count(struct loader *loader, enum fate fate, int error)
{
    /* Only this thread writes, so no locked instruction is needed. Atomic operations prevent a reader from
     * seeing a half-written number. */
    uint64_t before = atomic_load_explicit(&loader->fates[fate], memory_order_relaxed);
    atomic_store_explicit(&loader->fates[fate], before + 1, memory_order_release);
    if (error && !loader->first_error[fate]) loader->first_error[fate] = error;
    if (fate != FATE_OK) note_error(loader);
}

/* If the run sets slowest_ns to 0 between the load and the store, no latency is lost: a value that is stored
 * then counts for the next second, and a value that is not stored is below the maximum that the run has
 * read. */
static void note_latency(struct loader *loader, uint64_t ns)
{
    histogram_record(&loader->latency, ns);
    if (ns > atomic_load_explicit(&loader->slowest_ns, memory_order_relaxed)) {
        atomic_store_explicit(&loader->slowest_ns, ns, memory_order_relaxed);
    }
}

static void end(struct loader *loader, struct conn *conn)
{
    loader->now_ns = clock_ns();
    if (conn->fate == FATE_OK) {
        note_latency(loader, loader->now_ns - conn->due_ns);
        loader->last_ok_ns = loader->now_ns;
    }
    if (conn->fate == FATE_OK || conn->fate == FATE_STATUS) {
        statuses_count(&loader->statuses, conn->response.status);
    }
    count(loader, conn->fate, conn->error);
    conn->is_busy = false;
    list_remove(&conn->knocking);
    list_move_last(&loader->idle, &conn->place);
}

static int watch(struct loader *loader, struct conn *conn, uint32_t events)
{
    if (conn->watched == events) return 0;
    struct epoll_event event = {.events = events, .data.ptr = conn};
    int operation = conn->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    conn->watched = events;
    return epoll_ctl(loader->poller, operation, conn->fd, &event);
}

static void wait_for(struct loader *loader, struct conn *conn, enum conn_wants wants)
{
    int failed = 0;
    switch (wants) {
    case CONN_READ:
        failed = watch(loader, conn, EPOLLIN | EPOLLRDHUP);
        break;
    case CONN_WRITE:
        failed = watch(loader, conn, EPOLLIN | EPOLLRDHUP | EPOLLOUT);
        break;
    case CONN_ROOM:
        list_move_last(&loader->knocking, &conn->knocking);
        return;
    case CONN_ENDED:
        end(loader, conn);
        return;
    }
    list_remove(&conn->knocking);
    if (failed) {
        conn_give_up(conn, FATE_LOCAL, errno);
        end(loader, conn);
    }
}

/* Makes the poller return at due_ns. The timer is edge-triggered, so an expired timer needs no read. Latency
 * counts from due_ns, so a late return adds to the latency. A timeout of epoll_wait() would be late by up to
 * 1 ms (epoll_pwait2(): by the 50 us of timer slack). */
static void set_timer(struct loader *loader, uint64_t due_ns)
{
    if (loader->timer_ns == due_ns) return;
    loader->timer_ns = due_ns;
    struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(due_ns / NS_PER_SECOND), .tv_nsec = (long)(due_ns % NS_PER_SECOND)}};
    timerfd_settime(loader->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Begins one request if a connection is free, a request is due and the loader is not stopped. */
static bool begin_next(struct loader *loader)
{
    uint64_t due_ns;
    if (loader->is_stopped || list_is_empty(&loader->idle)) return false;
    enum schedule_news news = schedule_draw(&loader->schedule, loader->now_ns, &due_ns);
    if (news == SCHEDULE_LATER) set_timer(loader, due_ns);
    if (news != SCHEDULE_DUE) return false;

    struct conn *conn = LIST_ELEMENT(loader->idle.after, struct conn, place);
    conn->is_busy = true;
    conn->due_ns = due_ns;
    conn->deadline_ns = due_ns + loader->timeout_ns;
    list_move_last(&loader->in_flight, &conn->place);
    wait_for(loader, conn, conn_begin(conn, &loader->setup, &loader->requests[loader->schedule.which]));
    return true;
}

/* Begins the requests that are due, but at most conn_count requests. Returns true if more requests can be
 * due. Without the limit, events of other connections could wait for long: if the server refuses
 * connections, each request ends at once and its connection is free again. */
static bool begin_all(struct loader *loader)
{
    for (unsigned begun = 0; !list_is_empty(&loader->idle); begun++) {
        if (begun == loader->conn_count) return true;
        loader->now_ns = clock_ns();
        if (!begin_next(loader)) return false;
    }
    return false;
}

/* Tries again to connect the connections of the list `knocking`, in the order of the list, until the
 * server's accept queue is full again. */
static void knock(struct loader *loader)
{
    while (!list_is_empty(&loader->knocking)) {
        struct conn *conn = LIST_ELEMENT(loader->knocking.after, struct conn, knocking);
        enum conn_wants wants = conn_send(conn, &loader->setup);
        if (wants == CONN_ROOM) return;
        wait_for(loader, conn, wants);
    }
}

/* Ends the requests that have reached their timeout: requests in flight, and with --rate also due requests
 * that have not got a connection. If these due requests did not count, a stalled server would look better. */
static void expire(struct loader *loader)
{
    uint64_t due_ns;
    while (!list_is_empty(&loader->in_flight)) {
        struct conn *conn = LIST_ELEMENT(loader->in_flight.after, struct conn, place);
        if (conn->deadline_ns > loader->now_ns) break;
        conn_give_up(conn, FATE_TIMEOUT, 0);
        end(loader, conn);
    }
    if (loader->schedule.plan->rate == 0 || loader->now_ns < loader->timeout_ns) return;
    while (schedule_draw(&loader->schedule, loader->now_ns - loader->timeout_ns, &due_ns) == SCHEDULE_DUE) {
        count(loader, FATE_TIMEOUT, 0);
    }
}

static void handle(struct loader *loader, struct conn *conn, uint32_t events)
{
    if (!conn->watched) return; /* closed after the poller reported it */
    if (!conn->is_busy) {       /* the server has closed the connection, or sent unrequested bytes */
        conn_close(conn);
        return;
    }
    /* On a new connection, connect() may have failed if no byte was sent. Then send() returns the error. */
    bool is_established = conn->sent > 0 || conn->responses > 0;
    bool receives = is_established && (events & ~(uint32_t)EPOLLOUT) != 0;
    wait_for(loader, conn, receives ? conn_receive(conn, &loader->setup) : conn_send(conn, &loader->setup));
    if (conn->is_busy) return;
    /* The server has closed the connection after its response, so the next request needs a new connection. */
    if (events & (EPOLLRDHUP | EPOLLHUP)) conn_close(conn);
    begin_next(loader);
}

/* The poller's timeout in milliseconds. The timer handles due times. */
static int poll_timeout(const struct loader *loader)
{
    if (!list_is_empty(&loader->knocking)) return KNOCK_AGAIN_MS;
    if (list_is_empty(&loader->in_flight)) return -1;
    uint64_t until_ns = LIST_ELEMENT(loader->in_flight.after, struct conn, place)->deadline_ns;
    if (until_ns <= loader->now_ns) return 0;
    uint64_t milliseconds = (until_ns - loader->now_ns) / NS_PER_MS + 1;
    return milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
}

static void poll_once(struct loader *loader, int timeout)
{
    struct epoll_event events[EVENTS_MAX];
    int ready = epoll_wait(loader->poller, events, EVENTS_MAX, timeout);
    loader->now_ns = clock_ns();
    for (int i = 0; i < ready && !loader->is_stopped; i++) {
        if (events[i].data.ptr == NULL) {
            loader->is_stopped = true;
        } else if (events[i].data.ptr != &loader->timer) {
            handle(loader, events[i].data.ptr, events[i].events);
        }
    }
}

static void abandon(struct loader *loader)
{
    while (!list_is_empty(&loader->in_flight)) {
        struct conn *conn = LIST_ELEMENT(loader->in_flight.after, struct conn, place);
        list_remove(&conn->place);
        loader->abandoned++;
    }
}

void *loader_main(void *argument)
{
    struct loader *loader = argument;
    loader->now_ns = clock_ns();
    while (!loader->is_stopped) {
        expire(loader);
        knock(loader);
        bool is_more_due = begin_all(loader);
        if (loader->schedule.is_over && list_is_empty(&loader->in_flight)) break;
        poll_once(loader, is_more_due ? 0 : poll_timeout(loader));
    }
    abandon(loader);
    eventfd_write(loader->done, 1);
    return NULL;
}

static int add_to_poller(const struct loader *loader, int fd, uint32_t events, void *mark)
{
    struct epoll_event event = {.events = events, .data.ptr = mark};
    return epoll_ctl(loader->poller, EPOLL_CTL_ADD, fd, &event);
}

static int make_connections(struct loader *loader, unsigned count)
{
    loader->conns = calloc(count, sizeof *loader->conns);
    loader->carries = calloc(count, RESPONSE_LINE_MAX);
    if (!loader->conns || !loader->carries) return -1;
    loader->conn_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct conn *conn = &loader->conns[i];
        conn->fd = -1;
        conn->response.carry = loader->carries + (size_t)i * RESPONSE_LINE_MAX;
        list_init(&conn->place);
        list_init(&conn->knocking);
        list_move_last(&loader->idle, &conn->place);
    }
    return 0;
}

struct loader *loader_new(const struct loader_config *config)
{
    struct loader *loader = calloc(1, sizeof *loader);
    if (!loader) return NULL;
    list_init(&loader->idle);
    list_init(&loader->in_flight);
    list_init(&loader->knocking);
    loader->timeout_ns = config->timeout_ns;
    loader->requests = config->requests;
    loader->stop = config->stop;
    loader->done = config->done;
    loader->setup = (struct conn_setup){
        .target = config->target,
        .next_source = CONN_FIRST_SOURCE,
        .buffer = malloc(BUFFER_SIZE),
        .buffer_size = BUFFER_SIZE,
    };
    loader->poller = epoll_create1(EPOLL_CLOEXEC);
    loader->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (loader->poller < 0 || loader->timer < 0 || !loader->setup.buffer ||
        add_to_poller(loader, loader->timer, EPOLLIN | EPOLLET, &loader->timer) < 0 ||
        add_to_poller(loader, config->stop, EPOLLIN, NULL) < 0 ||
        make_connections(loader, config->connections) < 0) {
        loader_free(loader);
        return NULL;
    }
    return loader;
}

void loader_free(struct loader *loader)
{
    if (!loader) return;
    for (unsigned i = 0; i < loader->conn_count; i++) conn_close(&loader->conns[i]);
    if (loader->timer >= 0) close(loader->timer);
    if (loader->poller >= 0) close(loader->poller);
    free(loader->carries);
    free(loader->conns);
    free(loader->setup.buffer);
    free(loader);
}
