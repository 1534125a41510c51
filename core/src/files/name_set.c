/* name_set.c: see name_set.h. */
#include "files/name_set.h"
#include "bontebok.h"
#include "files/file_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_FIRST 64

static void put(uint64_t *places, size_t size, uint64_t hash)
{
    size_t at = (size_t)hash;
    while (places[at & (size - 1)] != 0 && places[at & (size - 1)] != hash) at++;
    places[at & (size - 1)] = hash;
}

/* Keeps at least half of the places free. */
static bool make_room(struct bb__name_set *set)
{
    if (2 * (set->count + 1) <= set->size) return true;
    size_t size = set->size > 0 ? 2 * set->size : SIZE_FIRST;
    uint64_t *places = calloc(size, sizeof *places);
    if (!places) return false;
    for (size_t i = 0; i < set->size; i++)
        if (set->places[i] != 0) put(places, size, set->places[i]);
    free(set->places);
    set->places = places;
    set->size = size;
    return true;
}

static void become_full(struct bb__name_set *set)
{
    bb__name_set_free(set);
    set->is_full = true;
}

static int add(struct bb__name_set *set, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return BB_OK;
    if (!make_room(set)) return BB_ENOMEM;
    uint64_t hash = bb__name_hash(name, strlen(name));
    put(set->places, set->size, hash > 0 ? hash : 1);
    set->count++;
    return BB_OK;
}

/* Another description of the same directory, because processes share the place of fd. */
static DIR *open_again(int fd)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = own >= 0 ? fdopendir(own) : NULL;
    if (!directory && own >= 0) (void)close(own);
    return directory;
}

/* BB_EOF: there is no other name, or *error is not 0. */
static int read_name(struct bb__name_set *set, DIR *directory, int *error)
{
    errno = 0;
    const struct dirent *entry = readdir(directory);
    *error = entry ? 0 : errno;
    return entry ? add(set, entry->d_name) : BB_EOF;
}

/* A set that lacks names would hide files. */
static void become_unread(struct bb__name_set *set)
{
    become_full(set);
    set->is_unread = true;
}

int bb__name_set_read(struct bb__name_set *set, int fd)
{
    *set = (struct bb__name_set){0};
    DIR *directory = open_again(fd);
    int error = 0, code = directory ? BB_OK : BB_EOF;
    while (code == BB_OK && set->count <= BB_NAMES_MAX) code = read_name(set, directory, &error);
    if (set->count > BB_NAMES_MAX) become_full(set);
    if (!directory || error != 0) become_unread(set);
    if (directory) (void)closedir(directory);
    return code == BB_ENOMEM ? BB_ENOMEM : BB_OK;
}

void bb__name_set_free(struct bb__name_set *set)
{
    free(set->places);
    *set = (struct bb__name_set){0};
}
