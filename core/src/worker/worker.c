/* worker.c: see worker.h, and bontebok.h for the contracts. */
#include "io_thread/porter.h"
#include "lane/lane.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

atomic_uint bb__process_generation;
static pthread_once_t fork_handlers_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add_explicit(&bb__process_generation, 1, memory_order_relaxed);
}

static void install_fork_handlers(void)
{
    /* Before the fork: a thread that closes a connection meanwhile must not rely on being the only holder. */
    (void)pthread_atfork(bb__sock_process_forks, NULL, in_child);
}

static int open_log(const struct bb_settings *settings, struct bb__log_format *format,
                    struct bb__log_sink *sink, char *fault)
{
    *sink = (struct bb__log_sink){.fd = -1};
    if (settings->access_log[0] == '\0') return BB_OK;
    int code = bb__log_format_compile(format, settings->access_log_format, fault);
    return code == BB_OK ? bb__log_sink_open(sink, settings->access_log, fault) : code;
}

/* No log keeps a worker from serving: what cannot be opened now is tried again when there are lines. */
static void tell_no_log(struct bb_worker *worker)
{
    bb__news_add(&worker->news, 0, worker->log_sink.error, "the access log cannot be opened yet", NULL);
    worker->has_news = true;
}

/* The application wants descriptors, too: so many numbers, or a quarter of all, are left to it. The lowest
 * one that is free is taken first. */
#define RESERVE 64

/* Times response_buffer: bytes of responses that may be in memory, of all connections together. */
#define UNSENT_MAX 64

static int find_reserve(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
    rlim_t reserve = limit.rlim_cur / 4 < RESERVE ? limit.rlim_cur / 4 : RESERVE;
    return (int)(limit.rlim_cur - reserve);
}

void bb__worker_set_room(struct bb_worker *worker, uint64_t room)
{
    uint64_t limit = worker->settings.max_connections > 0 ? worker->settings.max_connections : UINT64_MAX;
    atomic_store_explicit(&worker->room, room, memory_order_relaxed);
    atomic_store_explicit(&worker->connections_limit, room > 0 && room < limit ? room : limit,
                          memory_order_relaxed);
}

int bb_worker_new(struct bb_worker **created, const struct bb_settings *settings)
{
    (void)pthread_once(&fork_handlers_once, install_fork_handlers);
    struct bb_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return BB_ENOMEM;

    worker->settings = *settings;
    worker->pid = (int)getpid();
    worker->counts_time = settings->request_timeout > 0 || settings->request_timeout_soft > 0 ||
                          settings->queue_timeout > 0 || settings->max_queue > 0;
    worker->reserve = find_reserve();
    bb__worker_set_room(worker, 0);
    worker->spool_budget.max = settings->spool_max;
    worker->spool_budget.threshold = settings->spool_threshold;
    worker->spool_budget.directory = worker->settings.spool_dir;
    worker->spool_budget.reserve = worker->reserve;
    worker->spool_budget.unsent_max = UNSENT_MAX * settings->response_buffer;
    worker->process_generation = atomic_load_explicit(&bb__process_generation, memory_order_relaxed);
    worker->drain_source.kind = BB_SOURCE_DRAIN;
    char fault[BB_FAULT_MAX];
    int code = bb__trust_parse(&worker->trust, worker->settings.trusted_proxies);
    if (code != BB_OK) goto no_log;
    code = open_log(&worker->settings, &worker->log_format, &worker->log_sink, fault);
    if (code == BB_ESYSTEM)
        tell_no_log(worker);
    else if (code != BB_OK)
        goto no_log;
    worker->drain_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    code = BB_ESYSTEM;
    if (worker->drain_fd < 0) goto no_event;
    worker->relay_source.kind = BB_SOURCE_RELAY;
    if (bb__relay_open(&worker->relay) != BB_OK) goto no_relay;
    worker->tell_fd = -1;
    worker->alarm_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (worker->alarm_fd < 0) goto no_alarm;
    (void)pthread_mutex_init(&worker->lock, NULL); /* of this kind it cannot fail */
    *created = worker;
    return BB_OK;

no_alarm:
    bb__relay_close(&worker->relay);
no_relay:
    (void)close(worker->drain_fd);
no_event:
    bb__log_sink_close(&worker->log_sink);
no_log:
    free(worker);
    return code;
}

int bb_access_log_check(const struct bb_settings *settings, char fault[BB_FAULT_MAX])
{
    struct bb__log_format format;
    struct bb__log_sink sink;
    int code = open_log(settings, &format, &sink, fault);
    if (code == BB_OK) bb__log_sink_close(&sink);
    return code;
}

int bb_worker_reopen_logs(struct bb_worker *worker)
{
    return bb__worker_is_inert(worker) ? BB_OK : bb__log_sink_reopen(&worker->log_sink);
}

int bb_worker_listen(struct bb_worker *worker, int fd, unsigned number)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    if (worker->listener_count == BB_LISTENERS_MAX || number >= BB_LISTENERS_MAX) return BB_ENOMEM;
    struct bb__listener listener = {.source.kind = BB_SOURCE_LISTENER, .fd = fd, .number = (uint8_t)number};
    if (bb__sock_prepare_listener(fd, &listener.tcp) != BB_OK) return BB_ESYSTEM;
    worker->listeners[worker->listener_count++] = listener;
    worker->ports[number] = bb__sock_port(fd);
    worker->addresses[number] = bb__sock_address(fd);
    worker->numbers |= UINT64_C(1) << number;
    return BB_OK;
}

/* The listeners may be open still: the worker was not drained, or there was no room for what is queued. */
static void give_numbers_back(struct bb_worker *worker)
{
    if (atomic_exchange(&worker->listeners_state, BB_LISTENERS_GIVEN_BACK) == BB_LISTENERS_GIVEN_BACK) return;
    for (int i = 0; i < worker->listener_count; i++) (void)close(worker->listeners[i].fd);
}

/* The porter goes along the list with a lock of its own, and may wait for the other one meanwhile. */
static void lock_lanes(struct bb_worker *worker)
{
    if (worker->porter) pthread_mutex_lock(&worker->porter->lock);
    pthread_mutex_lock(&worker->lock);
}

static void unlock_lanes(struct bb_worker *worker)
{
    pthread_mutex_unlock(&worker->lock);
    if (worker->porter) pthread_mutex_unlock(&worker->porter->lock);
}

void bb__worker_add_lane(struct bb_worker *worker, struct bb_lane *lane)
{
    lock_lanes(worker);
    lane->next = worker->lanes;
    lane->was_added = true;
    worker->lanes = lane;
    atomic_fetch_add(&worker->lane_count, 1);
    unlock_lanes(worker);
}

void bb__worker_remove_lane(struct bb_worker *worker, struct bb_lane *lane)
{
    lock_lanes(worker);
    struct bb_lane **at = &worker->lanes;
    while (*at != lane) at = &(*at)->next;
    *at = lane->next;
    atomic_fetch_sub(&worker->lane_count, 1);
    unlock_lanes(worker);
}

/* Whether there is something in a listener's queue, or, if one is given, at another descriptor. */
static bool is_any_ready(const struct bb_worker *worker, int other)
{
    struct pollfd sources[BB_LISTENERS_MAX + 1];
    nfds_t count = 0;
    if (other >= 0) sources[count++] = (struct pollfd){.fd = other, .events = POLLIN};
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++)
        if (!worker->listeners[i].useless)
            sources[count++] = (struct pollfd){.fd = worker->listeners[i].fd, .events = POLLIN};
    return poll(sources, count, 0) > 0;
}

bool bb__worker_is_awaited(struct bb_worker *worker)
{
    return is_any_ready(worker, worker->relay.out);
}

bool bb__worker_has_waiting(struct bb_worker *worker)
{
    struct bb__relay_stamp first;
    if (bb__relay_look(&worker->relay, &first) == BB_OK &&
        (first.has_request || bb__relay_waiting(&worker->relay, &first) > 0))
        return true;
    return is_any_ready(worker, -1);
}

void bb__worker_nudge(struct bb_worker *worker)
{
    if (bb__worker_is_awaited(worker)) bb__relay_nudge(&worker->relay);
}

void bb__worker_give_news(struct bb_worker *worker, struct bb__news_ring *ring)
{
    struct bb_news news;
    pthread_mutex_lock(&worker->lock);
    while (bb__news_take(ring, &news) == BB_OK) bb__news_put(&worker->news, &news);
    atomic_store(&worker->has_news, true);
    if (worker->lanes) bb__event_raise(worker->lanes->wake_fd);
    pthread_mutex_unlock(&worker->lock);
}

void bb__worker_take_news(struct bb_worker *worker, struct bb__news_ring *ring)
{
    struct bb_news news;
    while (ring->count < BB_NEWS_MAX && bb_worker_news(worker, &news) == BB_OK) bb__news_put(ring, &news);
}

int bb_worker_relay(struct bb_worker *worker, int in, int out)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    struct bb__relay own = worker->relay;
    if (bb__relay_adopt(&worker->relay, in, out) != BB_OK) return BB_ESYSTEM;
    worker->relay.turns = own.turns;
    bb__relay_close(&own);
    return BB_OK;
}

void bb_worker_board(struct bb_worker *worker, struct bb_board *board)
{
    worker->board = board;
    worker->relay.turns = &board->turns;
    worker->queue = (struct bb__conn_queue){&worker->relay, board};
}

int bb_worker_news(struct bb_worker *worker, struct bb_news *news)
{
    if (bb__worker_is_inert(worker)) return BB_AGAIN;
    pthread_mutex_lock(&worker->lock);
    int code = bb__news_take(&worker->news, news);
    atomic_store(&worker->has_news, worker->news.count > 0);
    pthread_mutex_unlock(&worker->lock);
    return code;
}

int bb_worker_alarm(const struct bb_worker *worker)
{
    return worker->alarm_fd;
}

bool bb_worker_take_overdue(struct bb_worker *worker)
{
    int found = BB_OVERDUE_NEW;
    return atomic_compare_exchange_strong(&worker->overdue, &found, BB_OVERDUE_TAKEN);
}

void bb_worker_overdue_is_logged(struct bb_worker *worker)
{
    int found = BB_OVERDUE_TAKEN; /* else there is a new one */
    (void)atomic_compare_exchange_strong(&worker->overdue, &found, BB_OVERDUE_LOGGED);
}

void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS])
{
    worker->tell_fd = fd;
    for (int tell = 0; tell < BB_TELLS; tell++) worker->tell_bytes[tell] = bytes[tell];
}

void bb__worker_tell_parent(const struct bb_worker *worker, enum bb_tell what)
{
    const char *byte = &worker->tell_bytes[what];
    if (worker->tell_fd >= 0) (void)send(worker->tell_fd, byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void bb_worker_beat(struct bb_worker *worker)
{
    if (bb__worker_is_inert(worker)) return;
    uint64_t now = bb__clock_ms();
    pthread_mutex_lock(&worker->lock);
    for (struct bb_lane *lane = worker->lanes; lane; lane = lane->next)
        if (lane->line) atomic_store_explicit(&lane->line->beat, now, memory_order_relaxed);
    pthread_mutex_unlock(&worker->lock);
}

void bb_worker_watch(struct bb_worker *worker, bool watch)
{
    if (bb__worker_is_inert(worker) || !worker->porter || worker->settings.worker_timeout == 0) return;
    if (!atomic_exchange(&worker->watched, watch) && watch) bb__event_raise(worker->porter->kick_fd);
}

int bb_worker_start_porter(struct bb_worker *worker)
{
    return bb__worker_is_inert(worker) || worker->porter ? BB_OK : bb__porter_start(worker);
}

void bb__worker_lane_listens(struct bb_worker *worker)
{
    atomic_fetch_add(&worker->lanes_listening, 1);
}

void bb__worker_lane_stops(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock); /* a lane that begins counts itself, and then waits for it */
    bool is_last = atomic_fetch_sub(&worker->lanes_listening, 1) == 1;
    if (is_last && bb__worker_drains(worker)) give_numbers_back(worker);
    pthread_mutex_unlock(&worker->lock);
}

void bb_worker_free(struct bb_worker *worker)
{
    if (!worker) return;
    bool inert = bb__worker_is_inert(worker);
    if (!bb__porter_stop(worker->porter)) return;
    for (struct bb__queued *queued; (queued = worker->queued); free(queued)) {
        worker->queued = queued->next;
        (inert ? bb__sock_abandon : bb__sock_close)(queued->fd);
    }
    give_numbers_back(worker);
    bb__log_sink_close(&worker->log_sink);
    bb__relay_close(&worker->relay);
    (void)close(worker->alarm_fd);
    (void)close(worker->drain_fd);
    if (!inert) (void)pthread_mutex_destroy(&worker->lock);
    free(worker);
}
