/* h1_reply_file.h: a response whose body is a file, or ranges of a file. It makes the head from the
 * application's fields and the request's Range, and lists the parts of the body. Used by lane/reply_file.c,
 * which sends them. Does not read files. */
#ifndef BB_H1_REPLY_FILE_H
#define BB_H1_REPLY_FILE_H

#include "http/h1_range.h"
#include "http/h1_reply.h"

/* A piece of the body: text, then bytes of the file. */
struct bb__file_piece {
    size_t text_len; /* bytes of `text` before the bytes of the file */
    uint64_t first, len;
};

/* One piece for a whole file or one range. For several ranges there is one piece for each range, and one for
 * the end (RFC 9110 14.6). */
struct bb__file_body {
    struct bb__file_piece pieces[BB_RANGES_MAX + 1];
    unsigned count;
    struct bb__buf text; /* the texts of all pieces; the caller frees it */
    uint64_t length;     /* of the whole body */
};

/* A boundary of several ranges: letters and digits that the file does not contain. */
#define BB_BOUNDARY_LEN 32

/* Returns whether a file of `size` bytes can be the body of the response that was begun in `head`. It cannot
 * if the response has no body, is a part of something (206, or a field Content-Range), is chunked by the
 * application, or announces more bytes than the file has. If the response announces fewer bytes, the first
 * bytes of the file are the body. */
bool bb__h1_reply_takes_file(const struct bb__h1_reply *reply, const struct bb__buf *head, uint64_t size);

/* Returns whether the request has a Range field. */
bool bb__h1_asks_for_ranges(const struct bb_head *request);

/* Chooses the ranges of a file that is the body, see bb__h1_reply_takes_file(), and changes the head. The
 * caller ends the head with bb__h1_reply_head(). boundary: used only if the request asks for ranges. Range
 * applies to a GET with status 200 unless the response has "Accept-Ranges: none". Returns BB_OK or BB_ENOMEM;
 * in both cases the caller frees body->text. */
int bb__h1_reply_file(struct bb__h1_reply *reply, struct bb__buf *head, const struct bb_head *request,
                      uint64_t size, const char boundary[BB_BOUNDARY_LEN], struct bb__file_body *body);

/* Makes a 304 of the head of a 200 (RFC 9110 15.4.5): fields about the content are left out. BB_OK or
 * BB_ENOMEM. */
int bb__h1_reply_not_modified(struct bb__h1_reply *reply, struct bb__buf *head);

/* Returns the value of the last field of this name (in lower case) in the head; `at` is NULL if there is
 * none. The value is valid until the head changes. */
struct bb_slice bb__h1_reply_find(const struct bb__buf *head, const char *name);

/* Removes all fields of this name (in lower case) from the head. */
void bb__h1_reply_remove(struct bb__buf *head, const char *name);

#endif
