/* file_read.h: a part of a file that the helper reads to memory. For file systems elsewhere that cannot tell
 * whether a read waits: sendfile(2) would hold its thread up. Used by file_helper.c and conn_file.c. */
#ifndef BB_FILE_READ_H
#define BB_FILE_READ_H

#include "files/file_entry.h"

/* Bytes. A connection has at most one part, also while its client is slow. */
#define BB_FILE_READ_MAX (128 * 1024)

struct bb__file_read {
    struct bb__file_entry *entry; /* has fd */
    int fd;
    uint64_t first;
    atomic_uint users; /* the connection and the helper */
    size_t size;       /* bytes of memory */
    struct bb__file_read *next;
    atomic_bool is_done; /* then the connection may use: */
    size_t len;          /* 0: an error, or the file ends before `first` */
    int error;           /* errno; 0: none */
    char bytes[];
};

/* len: at most so many bytes are read. The caller is the only user. NULL: no memory. */
struct bb__file_read *bb__file_read_new(struct bb__file_entry *entry, int fd, uint64_t first, size_t len);

/* Ends one use. Any thread. */
void bb__file_read_release(struct bb__file_read *read);

/* Reads, and may wait. */
void bb__file_read_now(struct bb__file_read *read);

static inline bool bb__file_read_is_done(struct bb__file_read *read)
{
    return atomic_load_explicit(&read->is_done, memory_order_acquire);
}

#endif
