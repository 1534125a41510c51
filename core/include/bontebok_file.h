/* bontebok_file.h: the part of bontebok.h about responses whose body is a file. bontebok.h includes this
 * file. */
#ifndef BONTEBOK_FILE_H
#define BONTEBOK_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct bb_lane;

/* A file leaves by sendfile(2). Its bytes are in no buffer and count for no limit of memory. The calls are:
 * begin, field*, bb_reply_file(), end. The connection keeps the file until the client has taken it, so a slow
 * client costs two descriptors and no thread. write_timeout and min_body_rate apply as to other responses.
 *
 * While a response of several parts or of one part is sent, one call sends at most 1 MiB. If the next 512 KiB
 * are not in the page cache, the core asks the kernel to read them, and looks again after 2 ms. No thread
 * waits for the disk, and the wait does not count against the client. The following does not hold:
 * - bb_file_open() and bb_reply_named_file() may wait for the disk, because they look up a name.
 * - If the page cache loses bytes in the middle of the 512 KiB again, a thread waits for these bytes.
 * - File systems without RWF_NOWAIT (some network and FUSE file systems) block the thread for up to 512 KiB.
 * If the disk delivers nothing for write_timeout, the connection is reset. If a file becomes shorter while it
 * is sent, the connection is reset. An event reports both.
 *
 * sendfile(2) raises SIGPIPE if the client has gone. The host may leave any action in effect: at the
 * beginning of each file, the core replaces the default action by a handler, which ends the process only if
 * the host's own write has raised the signal. Commands that the host executes get the default action. If the
 * host sets the default action while a file is sent, the new action applies to the rest of this file. */

/* Opens a file that is to be a response body, with O_NONBLOCK and O_CLOEXEC. The caller owns *fd. Returns
 * BB_OK; BB_ESYSTEM with errno: the file cannot be opened, is no regular file (EINVAL), or only the last
 * descriptors are free (EMFILE). */
int bb_file_open(const struct bb_lane *lane, const char *path, int *fd, uint64_t *size);

/* Returns whether a file of `size` bytes can be the body of the response that was begun. False: the status is
 * 1xx, 204, 205, 206 or 304, or the fields have Content-Range, "Transfer-Encoding: chunked", or a
 * Content-Length above `size`. The host then sends the body itself. If Content-Length is below `size`, only
 * so many bytes of the file are sent. Call this after the fields. */
bool bb_reply_takes_file(const struct bb_lane *lane, uint64_t size);

/* Ends the head, and sends the file as the whole body. Replaces bb_reply_head() and bb_reply_write(). The
 * core owns fd, also after an error. Sends as much as the socket takes at once, and the rest after
 * bb_reply_end(). Call it only if bb_reply_takes_file() is true.
 *
 * If the status is 200 and the method is GET, Range and If-Range are obeyed (RFC 9110 13.1.5, 14.2): one
 * range is a 206, several are a 206 with multipart/byteranges (14.6), and ranges beyond the end are a 416. If
 * the field is malformed, has more than 16 ranges, or asks for more bytes than the file has, the whole file
 * is sent. With Content-Encoding, several ranges get the whole file, too. If the fields have "Accept-Ranges:
 * none", Range is ignored. Otherwise the core adds "Accept-Ranges: bytes". Errors: BB_ENOMEM; BB_EGONE. */
int bb_reply_file(struct bb_lane *lane, int fd, uint64_t size);

/* If the setting x_sendfile is not empty, and the fields have X-Sendfile or X-Accel-Redirect, sends the file
 * that the field names, as bb_reply_file() does. The field is not sent. The application's Content-Length does
 * not apply. x_sendfile has entries with LF between them. The entry "DIR" allows X-Sendfile with paths of
 * files below DIR. The entry "PREFIX=DIR" allows X-Accel-Redirect: PREFIX at the beginning of the URI stands
 * for DIR. If several entries match, the longest counts. All paths are absolute. Symbolic links that lead out
 * of the directory are refused, and no file outside is opened.
 *
 * *answered: the response is complete, call bb_reply_end(). False: the host sends its response as usual. If
 * the file cannot be opened, the response is 404 (no such file, or outside of DIR), 403 (no permission) or
 * 500, and an event tells the reason. Call this after the fields. Returns BB_OK; BB_ENOMEM; BB_EGONE. */
int bb_reply_named_file(struct bb_lane *lane, bool *answered);

#endif
