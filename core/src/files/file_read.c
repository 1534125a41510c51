/* file_read.c: see file_read.h. */
#include "files/file_read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct bb__file_read *bb__file_read_new(struct bb__file_entry *entry, int fd, uint64_t first, size_t len)
{
    struct bb__file_read *read = malloc(sizeof *read + len);
    if (!read) return NULL;
    *read =
        (struct bb__file_read){.entry = entry, .fd = fd, .first = first, .users = 1, .size = len, .len = len};
    bb__file_entry_use(entry);
    return read;
}

void bb__file_read_release(struct bb__file_read *read)
{
    if (atomic_fetch_sub_explicit(&read->users, 1, memory_order_acq_rel) > 1) return;
    bb__file_entry_release(read->entry);
    free(read);
}

void bb__file_read_now(struct bb__file_read *read)
{
    ssize_t count;
    do count = pread(read->fd, read->bytes, read->len, (off_t)read->first);
    while (count < 0 && errno == EINTR);
    read->error = count < 0 ? errno : 0;
    read->len = count > 0 ? (size_t)count : 0;
    atomic_store_explicit(&read->is_done, true, memory_order_release);
}
