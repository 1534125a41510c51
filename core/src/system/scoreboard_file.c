/* scoreboard_file.c: the memory of the scoreboard, which processes share by fork or as a file. See
 * scoreboard.h, and bontebok.h for the contracts. */
#include "system/scoreboard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t size_of(unsigned count)
{
    return sizeof(struct bb__scoreboard_memory) + (uint64_t)count * sizeof(struct bb__slot);
}

static struct bb__scoreboard_layout layout_of(unsigned count)
{
    return (struct bb__scoreboard_layout){"bontebok", BB_LAYOUT, sizeof(struct bb__scoreboard_memory),
                                          sizeof(struct bb__slot), count};
}

static int map(struct bb_scoreboard **scoreboard, unsigned count, bool writable, int flags, int fd)
{
    size_t size = (size_t)size_of(count);
    if (size != size_of(count)) return BB_ENOMEM;
    int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *memory = mmap(NULL, size, access, MAP_SHARED | flags, fd, 0);
    if (memory == MAP_FAILED) return BB_ESYSTEM;
    struct bb_scoreboard *made = malloc(sizeof *made);
    if (!made) {
        (void)munmap(memory, size);
        return BB_ENOMEM;
    }
    *made = (struct bb_scoreboard){memory, count, writable};
    *scoreboard = made;
    return BB_OK;
}

unsigned bb_scoreboard_layout(void)
{
    return BB_LAYOUT;
}

int bb_scoreboard_new(struct bb_scoreboard **scoreboard, unsigned lanes)
{
    if (map(scoreboard, lanes, true, MAP_ANONYMOUS, -1) != BB_OK) return BB_ENOMEM;
    (*scoreboard)->memory->layout = layout_of(lanes);
    return BB_OK;
}

void bb_scoreboard_free(struct bb_scoreboard *scoreboard)
{
    if (!scoreboard) return;
    (void)munmap(scoreboard->memory, (size_t)size_of(scoreboard->count));
    free(scoreboard);
}

bool bb_scoreboard_is_writable(const struct bb_scoreboard *scoreboard)
{
    return scoreboard->writable;
}

/* ---- as a file ---- */

#ifdef BB_PORTABLE

int bb_scoreboard_file(unsigned lanes)
{
    (void)lanes;
    errno = ENOSYS;
    return BB_ESYSTEM;
}

int bb_scoreboard_attach(struct bb_scoreboard **scoreboard, int fd)
{
    (void)scoreboard, (void)fd;
    errno = ENOSYS;
    return BB_ESYSTEM;
}

#else

/* Returns false with EFBIG if the file would be too long. Otherwise SIGXFSZ could end the process. */
static bool is_allowed(uint64_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0) return false;
    errno = EFBIG;
    return limit.rlim_cur >= size;
}

/* The seals keep the size of the file, because a process that reads behind its end is killed (SIGBUS). */
static bool fill_file(int fd, unsigned lanes)
{
    const struct bb__scoreboard_layout layout = layout_of(lanes);
    return is_allowed(size_of(lanes)) && ftruncate(fd, (off_t)size_of(lanes)) == 0 &&
           write(fd, &layout, sizeof layout) == sizeof layout &&
           fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

int bb_scoreboard_file(unsigned lanes)
{
    int fd = memfd_create("bontebok-scoreboard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return BB_ESYSTEM;
    if (fill_file(fd, lanes)) return fd;
    int reason = errno;
    (void)close(fd);
    errno = reason;
    return BB_ESYSTEM;
}

/* Returns whether no process can make the file shorter. */
static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK;
}

/* Does not map the file, because it may be too short. The number of slots is right, because the file has the
 * size for it. The memory may change after this check. */
static int check_file(int fd, struct bb__scoreboard_layout *found)
{
    struct stat file;
    ssize_t len = pread(fd, found, sizeof *found, 0);
    if (len < 0 || fstat(fd, &file) < 0) return BB_ESYSTEM;
    const struct bb__scoreboard_layout expected = layout_of(found->count);
    bool fits = len == sizeof *found && memcmp(found, &expected, sizeof expected) == 0 &&
                (uint64_t)file.st_size == size_of(found->count);
    return fits && is_sealed(fd) ? BB_OK : BB_ELAYOUT;
}

int bb_scoreboard_attach(struct bb_scoreboard **scoreboard, int fd)
{
    struct bb__scoreboard_layout found = {.count = 0};
    int code = check_file(fd, &found);
    if (code != BB_OK) return code;
    int mode = fcntl(fd, F_GETFL);
    if (mode < 0) return BB_ESYSTEM;
    return map(scoreboard, found.count, (mode & O_ACCMODE) != O_RDONLY, 0, fd);
}

#endif
