/* chaos.c: a worker with very small limits, and hostile clients. All choices are random. In each round, a
 * child process runs the clients, the worker serves with three lanes, and then drains. The test fails if a
 * sanitizer reports something, if a byte of a response is wrong, if the worker does not drain, or if it
 * leaves a connection, a descriptor or a part of the spool's budget in use.
 *
 *     make run SECONDS=600 [SEED=5]         under ASan and UBSan
 *     make run-tsan SECONDS=600 [SEED=5]    under ThreadSanitizer
 */
#include "chaos.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files/public.h"
#include "system/file_source.h"
#include "worker/worker.h"

#define ROUND       2000 /* ms */
#define DRAIN_LIMIT 100  /* s; a round that lasts longer has hung */
#define DESCRIPTORS 70

char chaos_text[TEXT_LENGTH];
static bool can_tell; /* false: the helper reads all files that are elsewhere */
static uint64_t round_seed;

void chaos_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "chaos: round with seed %llu: ", (unsigned long long)round_seed);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count;
}

static void limit_descriptors(rlim_t limit)
{
    struct rlimit limits;
    if (getrlimit(RLIMIT_NOFILE, &limits) != 0) chaos_fail("getrlimit");
    limits.rlim_cur = limit > 0 ? limit : limits.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limits) != 0) chaos_fail("setrlimit");
}

/* ---- the worker ---- */

static uint64_t one_of(struct chaos_random *random, uint64_t one, uint64_t two, uint64_t three)
{
    const uint64_t choices[] = {one, two, three};
    return choices[below(random, 3)];
}

static struct bb_settings random_settings(struct chaos_random *random, const char *directory)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    settings.max_connections = one_of(random, 4, 8, 20);
    settings.max_body = 100 * 1000;
    settings.header_timeout = one_of(random, 20, 100, 500);
    settings.body_timeout = one_of(random, 20, 100, 500);
    settings.write_timeout = one_of(random, 20, 100, 500);
    settings.keepalive_timeout = one_of(random, 0, 50, 500);
    settings.keepalive_drain = 50;
    settings.max_keepalive_requests = one_of(random, 0, 0, 3);
    settings.spool_threshold = one_of(random, 0, 100, 10000);
    settings.spool_max = one_of(random, 0, 10000, 500 * 1000);
    settings.response_buffer = one_of(random, 0, 1000, 4000);
    settings.request_timeout = one_of(random, 0, 5, 20);
    settings.request_timeout_soft = one_of(random, 0, 0, 3);
    settings.worker_timeout = one_of(random, 0, 0, 1000);
    settings.check_client_connection = below(random, 2);
    settings.queue_timeout = one_of(random, 0, 5, 20);
    settings.max_queue = one_of(random, 0, 0, 3);
    settings.chunked_transfer = !one_in(random, 4);
    if (one_in(random, 2)) { /* responses live long enough to go through all kinds of memory */
        settings.write_timeout = settings.body_timeout = 2000;
        settings.request_timeout = settings.max_connections = settings.spool_max = 0;
    }
    snprintf(settings.spool_dir, sizeof settings.spool_dir, "%s", directory);
    snprintf(settings.x_sendfile, sizeof settings.x_sendfile, "%s", directory);
    if (!one_in(random, 3)) snprintf(settings.public, sizeof settings.public, "%s", directory);
    snprintf(settings.unbuffered_bodies, sizeof settings.unbuffered_bodies, "/unbuffered");
    snprintf(settings.health_paths, sizeof settings.health_paths, "/health");
    snprintf(settings.ready_path, sizeof settings.ready_path, "/ready");
    snprintf(settings.access_log, sizeof settings.access_log, "%s", one_in(random, 2) ? "/dev/null" : "");
    return settings;
}

static int listen_on(int family, struct sockaddr *address, socklen_t len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, address, len) != 0 || listen(fd, 100) != 0) chaos_fail("no listener");
    return fd;
}

/* Connections of the TCP listener inherit its small send buffer. */
static void listen_for(struct bb_worker *worker, struct chaos_addresses *addresses)
{
    int little = 4096;
    socklen_t len = sizeof addresses->tcp, family_only = sizeof(sa_family_t);
    addresses->tcp = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int tcp = listen_on(AF_INET, (struct sockaddr *)&addresses->tcp, len);
    setsockopt(tcp, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    getsockname(tcp, (struct sockaddr *)&addresses->tcp, &len);
    addresses->local = (struct sockaddr_un){.sun_family = AF_UNIX}; /* the kernel chooses an abstract name */
    int local = listen_on(AF_UNIX, (struct sockaddr *)&addresses->local, family_only);
    len = sizeof addresses->local;
    getsockname(local, (struct sockaddr *)&addresses->local, &len);
    if (bb_worker_listen(worker, tcp, 0) != BB_OK || bb_worker_listen(worker, local, 1) != BB_OK)
        chaos_fail("bb_worker_listen");
}

static void check_left(struct bb_worker *worker)
{
    if (atomic_load(&worker->room.connections) != 0) chaos_fail("connections are left");
    if (atomic_load(&worker->spool_budget.used) != 0) chaos_fail("the spool's budget is in use");
    if (atomic_load(&worker->spool_budget.unsent) != 0) chaos_fail("unsent bytes are counted");
}

static uint64_t sum_of(const uint64_t *numbers, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += numbers[i];
    return sum;
}

static uint64_t sum_of_names(const struct bb_metrics *metrics)
{
    struct bb_metrics_name name;
    uint64_t sum = 0;
    int code;
    for (unsigned i = 0; (code = bb_metrics_name(metrics, i, &name)) != BB_EOF; i++)
        if (code == BB_OK) sum += name.count;
    return sum;
}

/* Each request that is served, or gets a file of `public`, counts once. An upgrade counts as 1xx, like
 * interim responses, which are more. A rejection and a probe have a name. The clients may have read a whole
 * response that the host aborts at its end. */
static void check_totals(const struct bb_metrics *metrics, unsigned served, unsigned whole)
{
    static struct bb_metrics_sum sum;
    struct bb_metrics_lane lane;
    bb_metrics_sum(metrics, &sum);
    uint64_t ends = sum_of(sum.counters + BB_COUNT_RESPONSES_2XX, 4) + sum.counters[BB_COUNT_ABORTED] +
                    sum.counters[BB_COUNT_HIJACKED];
    if (whole > sum.counters[BB_COUNT_RESPONSES_2XX] + sum.counters[BB_COUNT_ABORTED])
        chaos_fail("the clients have got more responses than are counted");
    if (served > ends + sum.counters[BB_COUNT_RESPONSES_1XX]) chaos_fail("a request was not counted");
    if (ends > served + sum_of_names(metrics) + sum.counters[BB_COUNT_FILES])
        chaos_fail("a request was counted twice");
    if (sum_of(sum.queue_time, BB_METRICS_TIMES) > served ||
        sum_of(sum.service_time, BB_METRICS_TIMES) > served)
        chaos_fail("a time was counted twice");
    for (unsigned i = 0; bb_metrics_look(metrics, i, &lane) == BB_OK; i++)
        if (sum_of(lane.connections, BB_CONNECTIONS_END) > 0)
            chaos_fail("a lane that has ended shows connections");
}

/* ---- rounds ---- */

/* The linker redirects the calls (see the Makefile). */
bool __wrap_bb__file_source_can_tell(int fd);
bool __wrap_bb__file_source_can_tell(int fd)
{
    (void)fd;
    return can_tell;
}

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* The child inherits no thread: the threads of the last round have ended, and those of this round have not
 * begun. */
static pid_t start_clients(struct bb_worker *worker, const struct chaos_addresses *addresses, int *results)
{
    int pipes[2];
    if (pipe(pipes) != 0) chaos_fail("pipe");
    pid_t pid = fork();
    if (pid < 0) chaos_fail("fork");
    if (pid > 0) {
        close(pipes[1]);
        *results = pipes[0];
        return pid;
    }
    for (int i = 0; i < worker->listen.count; i++) close(worker->listen.listeners[i].fd);
    unsigned whole = chaos_clients(addresses, round_seed, ROUND);
    if (write(pipes[1], &whole, sizeof whole) != sizeof whole) _exit(1);
    _exit(0);
}

static unsigned end_clients(pid_t pid, int results)
{
    unsigned whole = 0;
    int status;
    if (read(results, &whole, sizeof whole) != sizeof whole) whole = 0;
    close(results);
    if (waitpid(pid, &status, 0) != pid || status != 0) chaos_fail("the clients ended with %d", status);
    return whole;
}

/* Replaces, extends or removes a file. All versions have the same first bytes. No file is shortened, because
 * the kernel then clears bytes that it is sending. */
static void replace_public_file(const char *directory, struct chaos_random *random)
{
    char path[256], new[256];
    size_t len = below(random, one_in(random, 2) ? 20 * 1000 : FILE_LENGTH);
    snprintf(path, sizeof path, "%s/%s.txt", directory, one_in(random, 2) ? "a" : "b");
    snprintf(new, sizeof new, "%s/new", directory);
    if (one_in(random, 10)) (void)unlink(path);
    bool in_place = one_in(random, 5);
    int fd = open(in_place ? path : new, O_WRONLY | O_CREAT | (in_place ? 0 : O_TRUNC) | O_CLOEXEC, 0600);
    if (fd < 0) return; /* no descriptors */
    if (write(fd, chaos_text, len) != (ssize_t)len) chaos_fail("no file");
    close(fd);
    if (!in_place && rename(new, path) != 0) chaos_fail("rename");
}

static void play(const char *directory, unsigned *served, unsigned *whole)
{
    struct chaos_random random = {round_seed};
    struct chaos_addresses addresses;
    struct bb_settings settings = random_settings(&random, directory);
    struct bb_scoreboard *scoreboard;
    struct bb_metrics *metrics;
    struct bb_worker *worker;
    struct bb_public *pub;
    char fault[BB_FAULT_MAX];
    int results;
    unsigned descriptors = open_descriptors();
    alarm(DRAIN_LIMIT);
    if (bb_worker_new(&worker, &settings) != BB_OK) chaos_fail("bb_worker_new");
    if (bb_scoreboard_new(&scoreboard, LANES) != BB_OK) chaos_fail("bb_scoreboard_new");
    if (bb_metrics_new(&metrics, LANES - below(&random, 2)) != BB_OK) chaos_fail("bb_metrics_new");
    listen_for(worker, &addresses);
    bb_worker_scoreboard(worker, scoreboard);
    bb_worker_metrics(worker, metrics, 1, 1);
    if (bb_public_open(&pub, &settings, fault) != BB_OK) chaos_fail("%s", fault);
    if (pub) pub->directories[0].is_local &= one_in(&random, 2); /* the helper does all look-ups */
    can_tell = one_in(&random, 2);
    if (bb_worker_public(worker, pub) != BB_OK) chaos_fail("bb_worker_public");
    pid_t clients = start_clients(worker, &addresses, &results);
    if (bb_worker_start_io_thread(worker) != BB_OK) chaos_fail("bb_worker_start_io_thread");
    struct chaos_host *host = chaos_host_start(worker, round_seed, directory);
    limit_descriptors(one_in(&random, 4) ? 0 : DESCRIPTORS);

    for (uint64_t began = now_ms(); now_ms() - began < ROUND - ROUND / 5; usleep(2000)) {
        chaos_host_tick(host, &random);
        if (one_in(&random, 20)) replace_public_file(directory, &random);
    }
    bb_worker_drain(worker, one_in(&random, 2) ? BB_QUEUE_TAKE : BB_QUEUE_LEAVE);
    unsigned served_now = chaos_host_finish(host), whole_now = end_clients(clients, results);
    *served += served_now;
    *whole += whole_now;
    check_left(worker);
    check_totals(metrics, served_now, whole_now);
    if (bb_worker_free(worker) != BB_OK) chaos_fail("bb_worker_free");
    bb_public_free(pub);
    bb_metrics_free(metrics);
    bb_scoreboard_free(scoreboard);
    limit_descriptors(0);
    if (open_descriptors() != descriptors) chaos_fail("descriptors are left");
}

static void write_file(const char *directory)
{
    char path[256];
    snprintf(path, sizeof path, "%s/file", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, chaos_text, FILE_LENGTH) != FILE_LENGTH) chaos_fail("no file");
    close(fd);
}

static void remove_files(const char *directory)
{
    static const char *const names[] = {"file", "a.txt", "b.txt", "new"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    if (rmdir(directory) != 0) chaos_fail("files are left in %s", directory);
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10, began = now_ms();
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : began;
    unsigned rounds = 0, served = 0, whole = 0;
    const char *parent = getenv("TMPDIR");
    char directory[200];
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(directory, sizeof directory, "%s/bontebok-chaos-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(directory)) chaos_fail("mkdtemp");
    for (size_t i = 0; i < TEXT_LENGTH; i++) chaos_text[i] = (char)('a' + (i * 31 + i / 1000) % 26);
    write_file(directory);
    for (; rounds == 0 || now_ms() - began < seconds * 1000; rounds++) {
        round_seed = seed + rounds;
        play(directory, &served, &whole);
    }
    remove_files(directory);
    printf("chaos: seed %llu: %u rounds, %u requests, %u whole responses\n", (unsigned long long)seed, rounds,
           served, whole);
    return served > 0 && whole > 0 ? 0 : 1;
}
