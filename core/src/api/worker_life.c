/* worker_life.c: creates and frees workers and their I/O threads. See bontebok.h for the contracts. */
#include "conn/conn_probe.h"
#include "http/h1_scan.h"
#include "io_thread/io_thread.h"
#include "lane/lane.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_once_t fork_handlers_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add_explicit(&bb__process_generation, 1, memory_order_relaxed);
}

static void install_fork_handlers(void)
{
    /* bb__sock_process_forks() runs before the fork. If a thread closes a connection during the fork, the
     * thread must know that the child may have the connection's descriptor, too. */
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

/* A worker serves even if its log cannot be opened. It tries to open the log again when it has lines to
 * write. */
static void tell_no_log(struct bb_worker *worker)
{
    bb__event_add(&worker->events, 0, worker->log.sink.error, "the access log cannot be opened yet", NULL);
    worker->has_news = true;
}

/* This many descriptors are left to the application, or a quarter of all descriptors if that is less.
 * Connections use only the lower numbers, because the kernel always gives out the lowest free number. */
#define RESERVE 64

/* While connections have all other descriptors, files that are sent get at most so many of the reserve, or
 * three quarters of a smaller one. New connections may have 32 of them (lane_room.c), until they are closed.
 */
#define LENT 48

/* All connections of a worker together may keep response bytes in memory up to this many times
 * response_buffer. */
#define UNSENT_MAX 64

static int find_reserve(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
    rlim_t reserve = limit.rlim_cur / 4 < RESERVE ? limit.rlim_cur / 4 : RESERVE;
    return (int)(limit.rlim_cur - reserve);
}

static int find_lent(int reserve)
{
    int lent = reserve / 4 < LENT ? reserve / 4 : LENT; /* the reserve is a third of the others, or 64 */
    return reserve > INT_MAX - lent ? INT_MAX : reserve + lent;
}

/* The name becomes part of each response, and must not become another field. */
static bool is_field_value(const char *text)
{
    const char *end = text + strlen(text);
    return bb__scan_value(text, end) == end;
}

int bb_worker_new(struct bb_worker **created, const struct bb_settings *settings)
{
    if (!is_field_value(settings->server_name)) return BB_EFORMAT;
    (void)pthread_once(&fork_handlers_once, install_fork_handlers);
    struct bb_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return BB_ENOMEM;

    worker->settings = *settings;
    worker->pid = (int)getpid();
    worker->limits.counts_time = settings->request_timeout > 0 || settings->request_timeout_soft > 0 ||
                                 settings->queue_timeout > 0 || settings->max_queue > 0 ||
                                 bb__has_probe_paths(settings);
    worker->room.reserve = find_reserve();
    worker->room.lent = find_lent(worker->room.reserve);
    bb__worker_set_room(worker, 0);
    worker->spool_budget.max = settings->spool_max;
    worker->spool_budget.threshold = settings->spool_threshold;
    worker->spool_budget.directory = worker->settings.spool_dir;
    worker->spool_budget.reserve = worker->room.reserve;
    worker->spool_budget.unsent_max = UNSENT_MAX * settings->response_buffer;
    worker->process_generation = atomic_load_explicit(&bb__process_generation, memory_order_relaxed);
    worker->drain.source.kind = BB_SOURCE_DRAIN;
    char fault[BB_FAULT_MAX];
    int code = bb__trusted_proxies_parse(&worker->trusted, worker->settings.trusted_proxies);
    if (code != BB_OK) goto no_log;
    code = open_log(&worker->settings, &worker->log.format, &worker->log.sink, fault);
    if (code == BB_ESYSTEM)
        tell_no_log(worker);
    else if (code != BB_OK)
        goto no_log;
    code = bb__wakeup_open(&worker->drain.wakeup);
    if (code != BB_OK) goto no_event;
    worker->shared.source.kind = BB_SOURCE_SHARED_QUEUE;
    code = bb__shared_queue_open(&worker->shared.queue);
    if (code != BB_OK) goto no_shared_queue;
    worker->parent.fd = -1;
    code = bb__wakeup_open(&worker->limits.alarm);
    if (code != BB_OK) goto no_alarm;
    (void)pthread_mutex_init(&worker->lock, NULL); /* cannot fail for a default mutex */
    (void)pthread_mutex_init(&worker->reports.lock, NULL);
    *created = worker;
    return BB_OK;

no_alarm:
    bb__shared_queue_close(&worker->shared.queue);
no_shared_queue:
    bb__wakeup_close(&worker->drain.wakeup);
no_event:
    bb__log_sink_close(&worker->log.sink);
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

int bb_worker_start_io_thread(struct bb_worker *worker)
{
    return bb__worker_is_inert(worker) || worker->io ? BB_OK : bb__io_start(worker);
}

/* The worker's totals of garbage collections are in the block of its first lane. */
void bb_worker_count_gc(struct bb_worker *worker, uint64_t runs, uint64_t time)
{
    if (bb__worker_is_inert(worker)) return;
    pthread_mutex_lock(&worker->lock);
    const struct bb__counts *counts =
        worker->lanes ? &bb__first_lane(worker)->context.counts : &worker->metrics.counts;
    bb__count(counts, BB_COUNT_GC_RUNS, runs);
    bb__count(counts, BB_COUNT_GC_TIME, time);
    pthread_mutex_unlock(&worker->lock);
}

int bb_worker_free(struct bb_worker *worker)
{
    if (!worker) return BB_OK;
    bool inert = bb__worker_is_inert(worker);
    if (!inert && !bb__file_cache_stop(worker->files)) return BB_AGAIN;
    if (!bb__io_stop(bb__io_of(worker))) return BB_AGAIN;
    bb__file_cache_free(worker->files, inert);
    for (struct bb__queued *queued; (queued = worker->queued.first); free(queued)) {
        worker->queued.first = queued->next;
        (inert ? bb__sock_abandon : bb__sock_close)(queued->fd);
    }
    for (struct bb__lingering *lingering; (lingering = worker->lingering); free(lingering)) {
        worker->lingering = lingering->next;
        (inert ? bb__sock_abandon : bb__sock_close)(lingering->fd);
    }
    bb__worker_give_numbers_back(worker);
    bb__log_sink_close(&worker->log.sink);
    bb__shared_queue_close(&worker->shared.queue);
    bb__wakeup_close(&worker->limits.alarm);
    bb__wakeup_close(&worker->drain.wakeup);
    if (!inert) {
        (void)pthread_mutex_destroy(&worker->reports.lock);
        (void)pthread_mutex_destroy(&worker->lock);
    }
    free(worker);
    return BB_OK;
}

int bb_worker_public(struct bb_worker *worker, const struct bb_public *pub)
{
    if (!pub || bb__worker_is_inert(worker)) return BB_OK;
    worker->files = bb__file_cache_new(pub, worker->room.reserve, worker->room.lent);
    if (!worker->files) return BB_ENOMEM;
    worker->limits.counts_time = true; /* the I/O thread sends files while all lanes are busy */
    return BB_OK;
}
