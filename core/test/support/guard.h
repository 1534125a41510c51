/* guard.h: puts a test's input right before an inaccessible page. A read of one byte past the end crashes in
 * every build, also without sanitizers. Used by tests and fuzz targets of code that scans bytes. Not for code
 * that writes bytes, because the sanitizers find wrong writes. */
#ifndef BB_TEST_GUARD_H
#define BB_TEST_GUARD_H

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*   map                         wall
 *    |  room for inputs    input | PROT_NONE |      */
struct guard {
    char *map;
    char *wall;
    size_t page;
};

/* Makes room for inputs of up to `max` bytes. guard_free() frees it. */
static inline struct guard guard_new(size_t max)
{
    struct guard guard = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    size_t room = (max + guard.page) / guard.page * guard.page;
    guard.map = mmap(NULL, room + guard.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(guard.map != MAP_FAILED);
    guard.wall = guard.map + room;
    int protected = mprotect(guard.wall, guard.page, PROT_NONE);
    assert(protected == 0);
    (void)protected;
    return guard;
}

/* Copies the input so that its last byte is the last readable byte; valid until the next call. An empty input
 * is at the wall itself, where no byte may be read. `bytes` may be an earlier input of the same guard. */
static inline char *guard_put(const struct guard *guard, const void *bytes, size_t len)
{
    assert(len <= (size_t)(guard->wall - guard->map));
    return len > 0 ? memmove(guard->wall - len, bytes, len) : guard->wall;
}

static inline void guard_free(struct guard *guard)
{
    munmap(guard->map, (size_t)(guard->wall - guard->map) + guard->page);
}

#endif
