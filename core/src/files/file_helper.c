/* file_helper.c: the thread that looks for files where a look-up has to wait for the disk. One per worker; it
 * starts when it is first needed. See file_cache.h. */
#include "base/clock.h"
#include "files/file_cache.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* ms. A helper that has not ended after this time hangs in a system call. */
#define HANGS 1000

/* Bytes. The helper needs five paths on its stack. */
#define STACK_MIN (256 * 1024)

static void name_thread(void)
{
#if defined(__linux__) && defined(_GNU_SOURCE)
    (void)pthread_setname_np(pthread_self(), "bontebok files");
#endif
}

/* Connections that wait look again. */
static void answer(struct bb__file_cache *cache)
{
    atomic_fetch_add_explicit(&cache->helper.answers, 1, memory_order_release);
}

static struct bb__file_entry *take_job(struct bb__file_cache *cache)
{
    struct bb__file_entry *job = cache->helper.first;
    if (!job) return NULL;
    cache->helper.first = job->cache.next_job;
    if (!cache->helper.first) cache->helper.last = NULL;
    return job;
}

static void look_at_roots(struct bb__file_cache *cache)
{
    bool change;
    cache->helper.looks_at_roots = false;
    pthread_mutex_unlock(&cache->lock);
    bb__file_find_roots(cache, BB_FIND_WAITING, &change);
    pthread_mutex_lock(&cache->lock);
    cache->roots_change = 0;
    answer(cache);
}

/* An entry that is in the cache no more has no connection that waits, or is asked for again. */
static void do_job(struct bb__file_cache *cache, struct bb__file_entry *job)
{
    struct bb__file_path path = {.len = job->len, .hash = job->hash, .path = "/"};
    struct bb__file_entry *found = NULL;
    *bb__put(path.path + 1, job->name, job->len) = '\0';
    bool wanted = job->cache.is_in;
    struct bb__file_entry *known = job->cache.former;
    if (known) bb__file_entry_use(known);
    pthread_mutex_unlock(&cache->lock);
    int code = wanted ? bb__file_find(cache, &path, BB_FIND_WAITING, known, &found) : BB_OK;
    pthread_mutex_lock(&cache->lock);
    if (known) bb__file_entry_release(known);
    if (found) {
        found->cache.is_awaited = true;
        bb__file_table_put(cache, found);
        bb__file_entry_release(found);
    }
    if (code != BB_OK) {
        bb__file_table_drop_former(cache, job);
        job->kind = code == BB_ENOMEM ? BB_ENTRY_SHORT : BB_ENTRY_NONE;
        job->checked_at = bb__clock_ms();
    }
    bb__file_entry_release(job);
    cache->helper.jobs--;
    answer(cache);
}

static void drop_read(struct bb__file_cache *cache)
{
    struct bb__file_read *read = cache->helper.first_read;
    cache->helper.first_read = read->next;
    if (!read->next) cache->helper.last_read = NULL;
    bb__file_read_release(read);
}

/* A connection that does not wait any more has released it. */
static void do_read(struct bb__file_cache *cache, struct bb__file_read *read)
{
    pthread_mutex_unlock(&cache->lock);
    if (atomic_load(&read->users) > 1) bb__file_read_now(read);
    pthread_mutex_lock(&cache->lock);
    drop_read(cache);
}

static void close_files(struct bb__file_cache *cache)
{
    pthread_mutex_unlock(&cache->lock);
    (void)bb__file_entry_close_all(&cache->closes);
    pthread_mutex_lock(&cache->lock);
}

/* One job of each kind, so that no kind waits for the end of another. False: there is nothing to do. */
static bool work(struct bb__file_cache *cache)
{
    bool looks_at = cache->helper.looks_at_roots, closes = bb__file_cache_has_unused(cache);
    if (looks_at) look_at_roots(cache);
    if (closes) close_files(cache);
    struct bb__file_entry *job = take_job(cache);
    if (job) do_job(cache, job);
    struct bb__file_read *read = cache->helper.first_read;
    if (read) do_read(cache, read);
    return looks_at || closes || job || read;
}

static void *run(void *argument)
{
    struct bb__file_cache *cache = argument;
    name_thread();
    pthread_mutex_lock(&cache->lock);
    while (!cache->helper.ends)
        if (!work(cache)) (void)pthread_cond_wait(&cache->helper.wakes, &cache->lock);
    cache->helper.ended = true;
    pthread_mutex_unlock(&cache->lock);
    return NULL;
}

/* libc takes the static TLS of all libraries from the stack: see set_stack() in io_thread.c. */
static void set_stack(pthread_attr_t *attributes)
{
    size_t usual;
    if (pthread_attr_getstacksize(attributes, &usual) != 0 || usual < STACK_MIN)
        (void)pthread_attr_setstacksize(attributes, STACK_MIN);
}

/* Blocks all signals, because the host's threads handle them. */
static bool start(struct bb__file_cache *cache)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    set_stack(&attributes);
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    cache->helper.runs = pthread_create(&cache->helper.thread, &attributes, run, cache) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return cache->helper.runs;
}

static bool is_there(struct bb__file_cache *cache)
{
    return !cache->helper.ends && (cache->helper.runs || start(cache));
}

bool bb__file_helper_ask(struct bb__file_cache *cache, struct bb__file_entry *entry)
{
    if (!is_there(cache)) return false;
    if (!entry) {
        cache->helper.looks_at_roots = true;
    } else {
        bb__file_entry_use(entry);
        entry->cache.next_job = NULL;
        *(cache->helper.last ? &cache->helper.last->cache.next_job : &cache->helper.first) = entry;
        cache->helper.last = entry;
        cache->helper.jobs++;
    }
    (void)pthread_cond_signal(&cache->helper.wakes);
    return true;
}

struct bb__file_read *bb__file_cache_read(struct bb__file_cache *cache, struct bb__file_entry *entry, int fd,
                                          uint64_t first, size_t len)
{
    struct bb__file_read *read = bb__file_read_new(entry, fd, first, len);
    if (!read) return NULL;
    pthread_mutex_lock(&cache->lock);
    bool asks = is_there(cache);
    if (asks) {
        atomic_fetch_add_explicit(&read->users, 1, memory_order_relaxed);
        *(cache->helper.last_read ? &cache->helper.last_read->next : &cache->helper.first_read) = read;
        cache->helper.last_read = read;
        (void)pthread_cond_signal(&cache->helper.wakes);
    }
    pthread_mutex_unlock(&cache->lock);
    if (!asks) bb__file_read_now(read); /* better late than never */
    return read;
}

void bb__file_helper_close(struct bb__file_cache *cache)
{
    if (!bb__file_cache_has_unused(cache)) return;
    if (is_there(cache))
        (void)pthread_cond_signal(&cache->helper.wakes);
    else
        (void)bb__file_entry_close_all(&cache->closes); /* better late than never */
}

void bb__file_cache_close_unused(struct bb__file_cache *cache)
{
    if (!bb__file_cache_has_unused(cache)) return;
    pthread_mutex_lock(&cache->lock);
    bb__file_helper_close(cache);
    pthread_mutex_unlock(&cache->lock);
}

static bool has_ended(struct bb__file_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    bool ended = cache->helper.ended;
    pthread_mutex_unlock(&cache->lock);
    return ended;
}

bool bb__file_cache_stop(struct bb__file_cache *cache)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    if (!cache || !cache->helper.runs) return true;
    pthread_mutex_lock(&cache->lock);
    cache->helper.ends = true;
    (void)pthread_cond_signal(&cache->helper.wakes);
    pthread_mutex_unlock(&cache->lock);
    for (uint64_t since = bb__clock_ms(); !has_ended(cache); (void)nanosleep(&pause, NULL))
        if (bb__elapsed(bb__clock_ms(), since) >= HANGS) return false;
    (void)pthread_join(cache->helper.thread, NULL);
    cache->helper.runs = false;
    return true;
}

void bb__file_helper_forget(struct bb__file_cache *cache)
{
    for (struct bb__file_entry *job; (job = take_job(cache));) bb__file_entry_release(job);
    while (cache->helper.first_read) drop_read(cache);
}
