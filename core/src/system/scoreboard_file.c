/* scoreboard_file.c: the memory of the scoreboard, which processes share by fork or as a file. See
 * scoreboard.h, and bontebok.h for the contracts. */
#include "metrics/memory_file.h"
#include "system/scoreboard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 0: the address space has no room for this number of lanes. */
static size_t size_of(unsigned count)
{
    uint64_t size = sizeof(struct bb__scoreboard_memory) + (uint64_t)count * sizeof(struct bb__slot);
    return size <= PTRDIFF_MAX ? (size_t)size : 0;
}

static struct bb__scoreboard_layout layout_of(unsigned count)
{
    return (struct bb__scoreboard_layout){"bontebok", BB_LAYOUT, sizeof(struct bb__scoreboard_memory),
                                          sizeof(struct bb__slot), count};
}

static int map(struct bb_scoreboard **scoreboard, unsigned count, int fd)
{
    struct bb_scoreboard *made = malloc(sizeof *made);
    if (!made) return BB_ENOMEM;
    made->count = count;
    made->memory = bb__memory_map(fd, size_of(count), &made->writable);
    if (!made->memory) {
        free(made);
        return BB_ESYSTEM;
    }
    *scoreboard = made;
    return BB_OK;
}

unsigned bb_scoreboard_layout(void)
{
    return BB_LAYOUT;
}

int bb_scoreboard_new(struct bb_scoreboard **scoreboard, unsigned lanes)
{
    if (map(scoreboard, lanes, -1) != BB_OK) return BB_ENOMEM;
    (*scoreboard)->memory->layout = layout_of(lanes);
    return BB_OK;
}

void bb_scoreboard_free(struct bb_scoreboard *scoreboard)
{
    if (!scoreboard) return;
    (void)munmap(scoreboard->memory, size_of(scoreboard->count));
    free(scoreboard);
}

bool bb_scoreboard_is_writable(const struct bb_scoreboard *scoreboard)
{
    return scoreboard->writable;
}

/* ---- as a file ---- */

int bb_scoreboard_file(unsigned lanes)
{
    const struct bb__scoreboard_layout layout = layout_of(lanes);
    errno = EFBIG;
    if (lanes > BB_MEMORY_FILE_LANES) return BB_ESYSTEM;
    return bb__memory_file("bontebok-scoreboard", size_of(lanes), &layout, sizeof layout);
}

/* The number of slots is right, because the file has the size for it. The memory may change after this
 * check. */
int bb_scoreboard_attach(struct bb_scoreboard **scoreboard, int fd)
{
    struct bb__scoreboard_layout found;
    uint64_t size;
    int code = bb__memory_file_read(fd, &found, sizeof found, &size);
    if (code != BB_OK) return code;
    const struct bb__scoreboard_layout expected = layout_of(found.count);
    if (memcmp(&found, &expected, sizeof found) != 0 || found.count > BB_MEMORY_FILE_LANES) return BB_ELAYOUT;
    if (size != size_of(found.count)) return BB_ELAYOUT;
    return map(scoreboard, found.count, fd);
}
