/* log_sink.c: see log_sink.h. */
#include "system/log_sink.h"
#include "base/clock.h"
#include "log/log_format.h"
#include "sockets/descriptor.h"
#include "sockets/sigpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Lines in a file are at most this long, in bytes. A file would take longer lines, but they are hard to
 * read. */
#define FILE_LINE_MAX (16 * 1024)

/* Bytes of a line to any other target. A pipe takes PIPE_BUF bytes at once. On macOS and BSD, PIPE_BUF is
 * 512, which may be less than a format's fixed parts. There a pipe may mix longer lines of several processes.
 */
#define OTHER_LINE_MAX (PIPE_BUF > BB_LOG_LINE_MIN ? PIPE_BUF : BB_LOG_LINE_MIN)

/* ---- opening ---- */

static int open_for_lines(const char *path, int mode)
{
    return open(path, mode | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0644);
}

/* Opens a FIFO for reading, too. Then open() succeeds without a reader, and no line is lost while the reader
 * restarts. If the FIFO's owner does not allow reading, opens it for writing only. */
static int open_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISFIFO(status.st_mode)) return open_for_lines(path, O_WRONLY | O_CREAT);
    int fd = open_for_lines(path, O_RDWR);
    return fd < 0 && errno == EACCES ? open_for_lines(path, O_WRONLY) : fd;
}

static enum bb__log_sink_kind kind_of(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || S_ISREG(status.st_mode)) return BB_LOG_SINK_FILE;
    return S_ISSOCK(status.st_mode) ? BB_LOG_SINK_SOCKET : BB_LOG_SINK_PIPE;
}

/* Opens the pipe or terminal again. Returns -1 if the system cannot: elsewhere than on Linux, /dev/fd gives
 * only a copy of the descriptor. */
static int open_pipe_again(int fd)
{
#ifdef BB_PORTABLE
    (void)fd;
    return -1;
#else
    char path[sizeof "/proc/self/fd/" + 3 * sizeof fd];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open_for_lines(path, O_WRONLY);
#endif
}

/* Pipes and terminals are opened again, because O_NONBLOCK is a flag of the open file description, which
 * other processes may share. A file is not opened again, because all processes must share one file position.
 * A socket is not opened again, because each send has MSG_DONTWAIT. */
static int open_inherited(struct bb__log_sink *sink, int standard)
{
    sink->kind = kind_of(standard);
    sink->standard = standard;
    if (sink->kind == BB_LOG_SINK_PIPE) {
        int fd = open_pipe_again(standard);
        if (fd >= 0) return fd;
        sink->kind = BB_LOG_SINK_SHARED; /* of another user, or without /proc, or without Linux */
    }
    return fcntl(standard, F_DUPFD_CLOEXEC, 3);
}

/* A socket cannot be opened by its name, for example /proc/self/fd/1 or a link to it. Returns the standard
 * stream that has this socket, or -1. */
static int inherited_socket(const char *path)
{
    struct stat named;
    struct stat standard;
    if (stat(path, &named) < 0 || !S_ISSOCK(named.st_mode)) return -1;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &standard) == 0 && standard.st_dev == named.st_dev && standard.st_ino == named.st_ino) {
            return fd;
        }
    }
    return -1;
}

static int inherited(const char *target)
{
    if (strcmp(target, "-") == 0 || strcmp(target, "/dev/stdout") == 0) return STDOUT_FILENO;
    return strcmp(target, "/dev/stderr") == 0 ? STDERR_FILENO : inherited_socket(target);
}

static int open_named(struct bb__log_sink *sink)
{
    int fd = open_path(sink->target);
    if (fd < 0) return -1;
    sink->kind = kind_of(fd);
    sink->path = sink->target;
    return fd;
}

static const char *syslog_options(const char *target)
{
    static const char syslog[] = "syslog:";
    return strncmp(target, syslog, sizeof syslog - 1) == 0 ? target + sizeof syslog - 1 : NULL;
}

/* Sets sink->fd last, because a writer that sees the descriptor also reads the other fields. */
static bool open_target(struct bb__log_sink *sink)
{
    int standard = inherited(sink->target);
    int fd = sink->kind == BB_LOG_SINK_SYSLOG ? bb__log_syslog_open(&sink->syslog)
             : standard >= 0                  ? open_inherited(sink, standard)
                                              : open_named(sink);
    sink->error = fd < 0 ? errno : 0;
    sink->retry = bb__clock_ms() + BB_LOG_RETRY;
    sink->fd = fd;
    errno = sink->error;
    return fd >= 0;
}

int bb__log_sink_open(struct bb__log_sink *sink, const char *target, char fault[BB_FAULT_MAX])
{
    *sink = (struct bb__log_sink){
        .fd = -1, .target = target, .kind = BB_LOG_SINK_PIPE, .line_max = OTHER_LINE_MAX};
    const char *options = syslog_options(target);
    if (options) {
        sink->kind = BB_LOG_SINK_SYSLOG;
        int code = bb__log_syslog_parse(&sink->syslog, options, fault);
        if (code != BB_OK) return code;
    }
    if (!open_target(sink)) return BB_ESYSTEM;
    if (sink->kind == BB_LOG_SINK_FILE) sink->line_max = FILE_LINE_MAX;
    return BB_OK;
}

/* Returns whether the target is open. Does not try to open it while another thread does, or within
 * BB_LOG_RETRY ms of the last attempt. anyway: ignores the time of the last attempt. */
static bool open_again(struct bb__log_sink *sink, bool anyway)
{
    if (atomic_exchange(&sink->opening, true)) return false;
    bool is_open = sink->fd >= 0;
    if (!is_open && (anyway || bb__clock_ms() >= sink->retry)) is_open = open_target(sink);
    sink->opening = false;
    return is_open;
}

static int follow_standard(const struct bb__log_sink *sink)
{
    bool is_file = sink->kind == BB_LOG_SINK_FILE && kind_of(sink->standard) == BB_LOG_SINK_FILE;
    return !is_file || bb__descriptor_replace(sink->fd, sink->standard) ? BB_OK : BB_ESYSTEM;
}

/* sink->fd keeps its number. If a thread is writing at this moment, the bytes go to the old file or to the
 * new file. */
int bb__log_sink_reopen(struct bb__log_sink *sink)
{
    if (!sink->target) return BB_OK;
    if (sink->fd < 0) {
        bool is_open = open_again(sink, true);
        errno = sink->error;
        return is_open ? BB_OK : BB_ESYSTEM;
    }
    if (sink->kind == BB_LOG_SINK_SYSLOG) return BB_OK;
    if (!sink->path) return follow_standard(sink);
    int fd = open_path(sink->path);
    if (fd < 0) return BB_ESYSTEM;
    bool replaced = bb__descriptor_replace(sink->fd, fd);
    int error = errno;
    (void)close(fd);
    errno = error;
    return replaced ? BB_OK : BB_ESYSTEM;
}

void bb__log_sink_close(struct bb__log_sink *sink)
{
    if (sink->fd >= 0) (void)close(sink->fd);
    sink->fd = -1;
}

/* ---- writing ---- */

size_t bb__log_whole_lines(const char *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] != '\n') len--;
    return len;
}

/* Returns the length of the whole lines at the front that fit into PIPE_BUF bytes. */
static size_t piece(const char *lines, size_t len)
{
    if (len <= PIPE_BUF) return len;
    size_t whole = bb__log_whole_lines(lines, PIPE_BUF);
    return whole > 0 ? whole : PIPE_BUF;
}

/* With RWF_NOWAIT, the write does not wait. Without RWF_NOWAIT, it can wait, because another process may fill
 * the pipe between poll() and write(). */
static ssize_t push_shared(int fd, const char *bytes, size_t len)
{
#if defined RWF_NOWAIT && !defined BB_PORTABLE
    const struct iovec part = {(void *)bytes, len};
    ssize_t written = pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return written;
#endif
    struct pollfd asked = {.fd = fd, .events = POLLOUT};
    errno = EAGAIN;
    return poll(&asked, 1, 0) == 1 ? write(fd, bytes, len) : -1;
}

static ssize_t push_once(const struct bb__log_sink *sink, const char *bytes, size_t len)
{
    switch (sink->kind) {
    case BB_LOG_SINK_SOCKET:
        return send(sink->fd, bytes, piece(bytes, len), MSG_DONTWAIT | MSG_NOSIGNAL);
    case BB_LOG_SINK_PIPE:
        return write(sink->fd, bytes, piece(bytes, len));
    case BB_LOG_SINK_SHARED:
        return push_shared(sink->fd, bytes, piece(bytes, len));
    default:
        return write(sink->fd, bytes, len);
    }
}

static ssize_t push(const struct bb__log_sink *sink, const char *bytes, size_t len)
{
    bb__sigpipe_hold();
    ssize_t written = push_once(sink, bytes, len);
    bb__sigpipe_release();
    return written;
}

size_t bb__log_sink_write(struct bb__log_sink *sink, const char *lines, size_t len, int *error)
{
    if (sink->fd < 0 && !open_again(sink, false)) {
        *error = sink->error;
        return 0;
    }
    if (sink->kind == BB_LOG_SINK_SYSLOG) return bb__log_syslog_write(sink, lines, len, error);
    if (sink->kind == BB_LOG_SINK_PIPE || sink->kind == BB_LOG_SINK_SHARED) bb__sigpipe_prepare();
    size_t taken = 0;
    while (taken < len) {
        ssize_t written = push(sink, lines + taken, len - taken);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            *error = written < 0 ? errno : EAGAIN;
            break;
        }
        taken += (size_t)written;
    }
    return taken;
}
