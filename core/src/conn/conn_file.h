/* conn_file.h: a response body that is a file: the pieces that are not sent yet. The bytes are in no buffer,
 * so a slow client costs a descriptor and no memory. Only a part of a far file is in memory. Used by
 * conn_send.c, conn_public.c and reply_file.c. */
#ifndef BB_CONN_FILE_H
#define BB_CONN_FILE_H

#include "http/h1_reply_file.h"

struct bb__conn;
struct bb__conn_context;
struct bb__file_cache;
struct bb__file_entry;
struct bb__file_read;

/* ms. If the next bytes of the file are not in the page cache, the connection waits for the disk. It looks
 * again after this time. No thread waits. */
#define BB_DISK_TICK 2

struct bb__conn_file {
    int fd;
    struct bb__file_entry *entry; /* has the file; NULL: fd is the connection's own */
    unsigned next;                /* the first piece that is not sent */
    struct bb__file_body body;    /* text_len, first, len of a piece: what is not sent; length: the sum */
    uint64_t disk_since;          /* ms, when the wait for the disk began; 0: the connection does not wait */
    bool reads_ahead;             /* bytes of the file were not in the page cache */
    bool is_far;                  /* reading may wait, and nobody can tell: the helper does it */
    bool needs_room;              /* the part was put back */
    struct bb__file_read *part;   /* what the helper reads, or has read; NULL: nothing */
};

/* Gives the connection a file, to be sent after `out`. entry: the connection becomes a user of the entry,
 * which has fd; NULL: the connection owns fd. Takes over body->text. BB_OK or BB_ENOMEM; then the caller owns
 * fd and the text. */
int bb__conn_file_attach(struct bb__conn *conn, int fd, struct bb__file_entry *entry,
                         struct bb__file_body *body);

/* Appends a small body to the head, because one send is cheaper than a send and a sendfile. bytes: the whole
 * file, or NULL: it is read from fd, without waiting for the disk. False: the body is too large for that, the
 * disk would have to be read, or no memory; `to` is unchanged. */
bool bb__conn_file_copy(struct bb__buf *to, int fd, const char *bytes, const struct bb__file_body *body);

/* Makes a boundary that nobody who writes the file can guess. */
void bb__conn_file_make_boundary(char boundary[BB_BOUNDARY_LEN]);

/* Closes the file, if there is one. files: of the worker; NULL: there are none, or this is a forked child. */
void bb__conn_file_drop(struct bb__conn *conn, struct bb__file_cache *files);

/* Returns how many bytes of memory the file takes now. */
size_t bb__conn_file_held(const struct bb__conn *conn);

/* Frees bytes that the socket has not taken, because memory is full. The helper reads them again when the
 * socket has room. */
void bb__conn_file_put_back(struct bb__conn *conn);

/* Sends bytes of the file, at most 1 MiB. `out` must be empty. BB_OK: all are sent, and the file is
 * closed; BB_AGAIN: the socket is full, other connections come first, or the disk is slow
 * (bb__conn_waits_for_disk()); BB_EGONE: the client is gone, or the file cannot be sent, which is logged. */
int bb__conn_file_send(struct bb__conn *conn, struct bb__conn_context *context);

#endif
