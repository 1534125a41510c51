/* public_dir.h: a directory of `public` for the tests, and a host that serves it. The directory and its files
 * are old, so that their validators are strong. */
#ifndef BB_TEST_PUBLIC_DIR_H
#define BB_TEST_PUBLIC_DIR_H

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>

#include "support/files.h"
#include "support/host.h"

#define OLD_TIME 1700000000 /* s since 1970 */

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static char public_dir[TEMPORARY_PATH];
static struct bb_public *public_files;

static inline char *public_path(const char *name)
{
    static char path[5000];
    (void)snprintf(path, sizeof path, "%s/%s", public_dir, name);
    return path;
}

static inline void make_old(const char *path, int64_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static inline void make_public_dir(void)
{
    assert_non_null(mkdtemp(temporary_path(public_dir)));
    make_old(public_dir, OLD_TIME);
}

/* Writes a file whose directory exists. bytes: NULL: letters. */
static inline void write_public_at(const char *name, const char *bytes, size_t len, int64_t seconds)
{
    int fd = open(public_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    for (size_t done = 0; done < len; done++)
        if (bytes || done % 4096 == 0) {
            char page[4096];
            size_t part = bytes ? len : len - done < sizeof page ? len - done : sizeof page;
            for (size_t i = 0; i < sizeof page && !bytes; i++) page[i] = (char)('a' + (done + i) % 26);
            assert_int_equal(write(fd, bytes ? bytes : page, part), part);
            if (bytes) break;
        }
    close(fd);
    make_old(public_path(name), seconds);
    make_old(public_dir, OLD_TIME);
}

static inline void write_public(const char *name, const char *text)
{
    write_public_at(name, text, strlen(text), OLD_TIME);
}

static inline void make_public_subdir(const char *name)
{
    assert_int_equal(mkdir(public_path(name), 0755), 0);
    make_old(public_path(name), OLD_TIME);
    make_old(public_dir, OLD_TIME);
}

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_public_dir(void)
{
    assert_int_equal(nftw(public_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* directories: one or more, one per line. */
static inline void open_public(const char *directories, const char *headers)
{
    char fault[BB_FAULT_MAX];
    struct bb_settings settings = host_settings();
    strcpy(settings.public, directories);
    strcpy(settings.public_headers, headers);
    int code = bb_public_open(&public_files, &settings, fault);
    if (code != BB_OK) fail_msg("%s", fault);
}

/* Lets the host serve the directories. */
static inline void host_enter_public(struct host *host, const char *directories, const char *headers)
{
    open_public(directories, headers);
    bb_lane_free(host->lane);
    assert_int_equal(bb_worker_public(host->worker, public_files), BB_OK);
    assert_int_equal(bb_lane_new(&host->lane, host->worker), BB_OK);
}

/* Whether the helper of a worker has something to do. A test that moves a clock waits until it has not:
 * a request waits for the names only some ms, and a machine may be slower. */
static inline bool helper_is_busy(struct bb_worker *worker)
{
    struct bb__file_cache *cache = worker->files;
    pthread_mutex_lock(&cache->lock);
    bool is = cache->helper.jobs > 0 || cache->helper.looks_at_roots || cache->roots_change > 0 ||
              cache->helper.first_read;
    pthread_mutex_unlock(&cache->lock);
    return is;
}

/* A turn of the host, then all that the helper has to do. */
static inline void host_turn_with_helper(struct host *host)
{
    host_turn(host);
    while (helper_is_busy(host->worker)) sched_yield();
}

static inline void host_leave_public(struct host *host)
{
    bb_lane_free(host->lane);
    bb_worker_free(host->worker);
    bb_public_free(public_files);
    host->lane = NULL;
    host->worker = NULL;
    host_free(host);
}

#endif
