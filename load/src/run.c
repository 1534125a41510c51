/* run.c: see run.h. */
#include "run.h"
#include "clock.h"
#include "loader.h"
#include "report/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PROGRESS_MS 500

/* After this time the run ends if each request was refused. */
#define LISTEN_NS NS_PER_SECOND

/* The first request of an open loop (--rate) is due this long after the start, when all threads run. */
#define LEAD_NS NS_PER_MS

struct run {
    struct plan plan;
    const struct target *target;
    struct loader **loaders;
    unsigned loader_count; /* loaders that exist */
    unsigned started;      /* loaders that have a thread */
    int stop, done;
    int signals; /* signalfd for SIGINT and SIGTERM, which are blocked in all threads */
    sigset_t mask_before;
    bool has_checked;                /* whether somebody listens */
    bool has_timeline, has_progress; /* what is printed during the run, at most one of them */
    struct timeline timeline;
};

static int catch_signals(struct run *run)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &run->mask_before);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool take_signal(const struct run *run)
{
    struct signalfd_siginfo info;
    return read(run->signals, &info, sizeof info) > 0;
}

/* Takes pending signals, for example of a second Ctrl-C, and unblocks the signals. Otherwise a pending
 * signal would end the process before the result is printed. */
static void release_signals(const struct run *run, struct result *result)
{
    while (take_signal(run)) result->is_interrupted = true;
    sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
}

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    return seconds * 1e6 + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int make_loaders(struct run *run, const struct options *options, const struct target *target,
                        const struct request *requests)
{
    struct loader_config config = {.target = target,
                                   .requests = requests,
                                   .timeout_ns = options->timeout_ns,
                                   .stop = run->stop,
                                   .done = run->done};
    run->loaders = calloc(options->threads, sizeof(struct loader *));
    if (!run->loaders) return ENOMEM;
    for (unsigned i = 0; i < options->threads; i++) {
        config.connections =
            options->connections / options->threads + (i < options->connections % options->threads);
        run->loaders[i] = loader_new(&config);
        if (!run->loaders[i]) return errno;
        run->loader_count++;
    }
    return 0;
}

static void make_plan(struct run *run, const struct options *options)
{
    plan_init(&run->plan, options, clock_ns() + (options->rate > 0 ? LEAD_NS : 0));
    for (unsigned i = 0; i < run->loader_count; i++) schedule_init(&run->loaders[i]->schedule, &run->plan, i);
}

static int start(struct run *run)
{
    int error = 0;
    while (!error && run->started < run->loader_count) {
        struct loader *loader = run->loaders[run->started];
        error = pthread_create(&loader->thread, NULL, loader_main, loader);
        if (!error) run->started++;
    }
    return error;
}

static void read_fates(const struct run *run, uint64_t fates[FATE_COUNT])
{
    for (int fate = 0; fate < FATE_COUNT; fate++) {
        fates[fate] = 0;
        for (unsigned i = 0; i < run->started; i++) {
            fates[fate] += atomic_load_explicit(&run->loaders[i]->fates[fate], memory_order_acquire);
        }
    }
}

static void show_progress(const struct run *run)
{
    uint64_t fates[FATE_COUNT], now_ns = clock_ns();
    read_fates(run, fates);
    double seconds = (double)(now_ns - run->plan.start_ns) / (double)NS_PER_SECOND;
    fprintf(stderr, "\r%.0f s  %" PRIu64 " ok  %.0f per second  %" PRIu64 " failed\033[K", seconds,
            fates[FATE_OK], (double)fates[FATE_OK] / seconds, fates_sum(fates) - fates[FATE_OK]);
}

/* Prints the next line of the timeline. Threads store the latency of a request before they count the request.
 * So a line can have the latency of a request that the next line counts, but no latency is missing. */
static void print_line(struct run *run)
{
    uint64_t fates[FATE_COUNT], slowest_ns = 0, now_ns = clock_ns();
    read_fates(run, fates);
    for (unsigned i = 0; i < run->started; i++) {
        uint64_t ns = atomic_exchange_explicit(&run->loaders[i]->slowest_ns, 0, memory_order_relaxed);
        if (ns > slowest_ns) slowest_ns = ns;
    }
    timeline_print(&run->timeline, now_ns, fates, slowest_ns);
}

/* Milliseconds until the time, rounded up. */
static int until(uint64_t due_ns)
{
    uint64_t now_ns = clock_ns();
    return due_ns > now_ns ? (int)((due_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

static int poll_timeout(const struct run *run)
{
    int limit = run->has_checked ? -1 : until(run->plan.start_ns + LISTEN_NS), next = -1;
    if (run->has_timeline) next = until(timeline_due_ns(&run->timeline));
    if (run->has_progress) next = PROGRESS_MS;
    return limit < 0 || (next >= 0 && next < limit) ? next : limit;
}

/* Once, a second after the start. A server that ends later is no reason to end the run. Neither is a server
 * that has come up in this second and has not responded yet. */
static void check_listening(struct run *run, struct result *result)
{
    if (run->has_checked || clock_ns() < run->plan.start_ns + LISTEN_NS) return;
    uint64_t fates[FATE_COUNT];
    read_fates(run, fates);
    run->has_checked = true;
    if (fates[FATE_REFUSED] == 0 || fates[FATE_REFUSED] < fates_sum(fates)) return;
    if (fate_of_error(target_try(run->target)) != FATE_REFUSED) return;
    result->nobody_listens = true;
    eventfd_write(run->stop, 1);
}

/* Waits until all loaders are done, and shows the progress or the timeline. After a signal, or if nobody
 * listens, tells the loaders to stop. */
static void watch(struct run *run, struct result *result)
{
    uint64_t done = 0;
    while (done < run->started) {
        struct pollfd news[] = {{.fd = run->done, .events = POLLIN}, {.fd = run->signals, .events = POLLIN}};
        int ready = poll(news, 2, poll_timeout(run));
        if (ready == 0 && run->has_progress) show_progress(run);
        if (run->has_timeline && clock_ns() >= timeline_due_ns(&run->timeline)) print_line(run);
        check_listening(run, result);
        if (ready <= 0) continue;
        if ((news[1].revents & POLLIN) && take_signal(run)) {
            result->is_interrupted = true;
            eventfd_write(run->stop, 1);
        }
        eventfd_t more;
        if ((news[0].revents & POLLIN) && eventfd_read(run->done, &more) == 0) done += more;
    }
    if (run->has_progress) fputs("\r\033[K", stderr);
}

static void keep_latest(uint64_t *latest_ns, uint64_t ns)
{
    if (ns > *latest_ns) *latest_ns = ns;
}

static void add_up(const struct run *run, struct result *result)
{
    uint64_t end_ns = run->plan.start_ns;
    for (unsigned i = 0; i < run->loader_count; i++) {
        const struct loader *loader = run->loaders[i];
        for (int fate = 0; fate < FATE_COUNT; fate++) {
            result->fates[fate] += loader->fates[fate];
            result->requests += loader->fates[fate];
            if (!result->first_error[fate]) result->first_error[fate] = loader->first_error[fate];
        }
        result->resent += loader->setup.resent;
        result->abandoned += loader->abandoned;
        keep_latest(&end_ns, loader->last_ok_ns);
        keep_latest(&end_ns, loader->schedule.last_ns);
        histogram_merge(&result->latency, &loader->latency);
        statuses_add(&result->statuses, &loader->statuses);
    }
    result->reached_errors = result->requests - result->fates[FATE_OK] >= run->plan.until_errors;
    /* The duration includes all the time in which requests were due, so that a server that stops
     * responding does not look fast. It does not include the wait for a last request that times out,
     * because this wait would make the other requests look slow. */
    if (result->is_interrupted || result->reached_errors || result->nobody_listens) {
        keep_latest(&end_ns, clock_ns());
    } else if (run->plan.end_ns != UINT64_MAX) {
        keep_latest(&end_ns, run->plan.end_ns);
    }
    result->seconds = (double)(end_ns - run->plan.start_ns) / (double)NS_PER_SECOND;
}

int run(const struct options *options, const struct target *target, const struct request *requests,
        struct result *result)
{
    struct run run = {.target = target, .stop = eventfd(0, EFD_CLOEXEC), .done = eventfd(0, EFD_CLOEXEC)};
    run.signals = catch_signals(&run);
    int error = run.stop < 0 || run.done < 0 || run.signals < 0 ? errno : 0;
    double cpu_before_us = cpu_us();
    run.has_timeline = options->has_timeline;
    run.has_progress = !run.has_timeline && isatty(STDERR_FILENO) == 1;

    *result = (struct result){0};
    if (!error) error = make_loaders(&run, options, target, requests);
    if (!error) {
        make_plan(&run, options);
        if (run.has_timeline) {
            timeline_start(&run.timeline, stdout, options->output == OUTPUT_JSON, run.plan.start_ns);
        }
        error = start(&run);
        if (error) eventfd_write(run.stop, 1);
        watch(&run, result);
    }
    for (unsigned i = 0; i < run.started; i++) pthread_join(run.loaders[i]->thread, NULL);
    if (run.started > 0) add_up(&run, result);
    if (run.has_timeline && result->requests > fates_sum(run.timeline.fates)) print_line(&run);
    result->cpu_us = cpu_us() - cpu_before_us;
    release_signals(&run, result);

    for (unsigned i = 0; i < run.loader_count; i++) loader_free(run.loaders[i]);
    free(run.loaders);
    if (run.stop >= 0) close(run.stop);
    if (run.done >= 0) close(run.done);
    if (run.signals >= 0) close(run.signals);
    return error;
}
