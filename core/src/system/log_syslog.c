/* log_syslog.c: writes an access log to the local syslog, one datagram per line, and parses the settings for
 * this. As usual for /dev/log, a datagram has the form of RFC 3164 without the host name. See log_sink.h. */
#include "base/letters.h"
#include "log/log_time.h"
#include "sockets/descriptor.h"
#include "system/log_sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const facilities[] = {"kern",   "user",   "mail",   "daemon", "auth",     "syslog",
                                         "lpr",    "news",   "uucp",   "cron",   "authpriv", "ftp",
                                         "",       "",       "",       "",       "local0",   "local1",
                                         "local2", "local3", "local4", "local5", "local6",   "local7"};
static const char *const severities[] = {"emerg",   "alert",  "crit", "err",
                                         "warning", "notice", "info", "debug"};

#define COUNT(names) (sizeof(names) / sizeof *(names))

struct setting {
    struct bb_slice key, value;
};

/* ---- settings ---- */

static int fail(char *fault, const char *what, struct bb_slice word)
{
    int len = word.len < BB_FAULT_MAX ? (int)word.len : BB_FAULT_MAX;
    (void)snprintf(fault, BB_FAULT_MAX, "syslog: %s \"%.*s\"", what, len, word.at);
    return BB_EFORMAT;
}

static bool is(struct bb_slice word, const char *name)
{
    return strlen(name) == word.len && memcmp(name, word.at, word.len) == 0;
}

/* Returns the position of the word among the names, or -1. */
static int find(struct bb_slice word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word.len > 0 && is(word, names[i])) return (int)i;
    return -1;
}

/* By RFC 3164 4.1.3 a tag has only letters and digits, and the first other byte ends the tag. This function
 * also allows _, - and . in a tag. */
static bool is_tag(struct bb_slice word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!bb__is_alphanumeric(word.at[i]) && !strchr("_-.", word.at[i])) return false;
    return word.len > 0 && word.len < BB_LOG_TAG_MAX;
}

static bool is_path(const struct bb__log_syslog *syslog, struct bb_slice word)
{
    return word.len > 0 && word.len < sizeof syslog->address.sun_path;
}

static int set(struct bb__log_syslog *syslog, struct setting setting, char *fault)
{
    struct bb_slice value = setting.value;
    int number;
    if (is(setting.key, "facility")) {
        if ((number = find(value, facilities, COUNT(facilities))) < 0)
            return fail(fault, "unknown facility", value);
        syslog->priority = number * 8 + syslog->priority % 8;
    } else if (is(setting.key, "severity")) {
        if ((number = find(value, severities, COUNT(severities))) < 0)
            return fail(fault, "unknown severity", value);
        syslog->priority = syslog->priority / 8 * 8 + number;
    } else if (is(setting.key, "tag")) {
        if (!is_tag(value)) return fail(fault, "not a tag of letters, digits, _, - and .:", value);
        memcpy(syslog->tag, value.at, value.len);
        syslog->tag[value.len] = '\0';
    } else if (is(setting.key, "socket")) {
        if (!is_path(syslog, value)) return fail(fault, "not the path of a socket:", value);
        memcpy(syslog->address.sun_path, value.at, value.len);
        syslog->address.sun_path[value.len] = '\0';
    } else {
        return fail(fault, "unknown setting", setting.key);
    }
    return BB_OK;
}

int bb__log_syslog_parse(struct bb__log_syslog *syslog, const char *options, char fault[BB_FAULT_MAX])
{
    *syslog = (struct bb__log_syslog){.address = {.sun_family = AF_UNIX, .sun_path = "/dev/log"},
                                      .priority = 23 * 8 + 6,
                                      .tag = "bontebok"};
    for (const char *at = options; *at != '\0';) {
        size_t len = strcspn(at, ",");
        const char *equals = memchr(at, '=', len);
        size_t key_len = equals ? (size_t)(equals - at) : len;
        size_t value_at = equals ? key_len + 1 : len;
        struct setting setting = {{at, key_len}, {at + value_at, len - value_at}};
        int code = set(syslog, setting, fault);
        if (code != BB_OK) return code;
        at += len;
        if (*at == ',') at++;
    }
    return BB_OK;
}

/* ---- datagrams ---- */

static int reach(int fd, const struct bb__log_syslog *syslog)
{
    return connect(fd, (const struct sockaddr *)&syslog->address, sizeof syslog->address);
}

int bb__log_syslog_open(const struct bb__log_syslog *syslog)
{
#ifdef BB_PORTABLE
    int fd = bb__descriptor_prepare_or_close(socket(AF_UNIX, SOCK_DGRAM, 0));
#else
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#endif
    if (fd < 0) return -1;
    if (reach(fd, syslog) == 0) return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* After a restart syslog has a new socket with the same path, so a failed send connects again. */
static bool send_line(const struct bb__log_sink *sink, struct iovec *parts)
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent = sendmsg(sink->fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS &&
        reach(sink->fd, &sink->syslog) == 0)
        sent = sendmsg(sink->fd, &message, MSG_NOSIGNAL);
    return sent >= 0;
}

size_t bb__log_syslog_write(const struct bb__log_sink *sink, const char *lines, size_t len, int *error)
{
    char header[BB_LOG_TIME_MAX + BB_LOG_TAG_MAX + 48], stamp[BB_LOG_TIME_MAX];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t stamp_len = bb__log_time_syslog(stamp, now.tv_sec);
    int header_len = snprintf(header, sizeof header, "<%d>%.*s %s[%d]: ", sink->syslog.priority,
                              (int)stamp_len, stamp, sink->syslog.tag, (int)getpid());

    size_t taken = 0;
    while (taken < len) {
        const char *line = lines + taken, *feed = memchr(line, '\n', len - taken);
        size_t line_len = feed ? (size_t)(feed - line) : len - taken;
        struct iovec parts[2] = {{header, (size_t)header_len}, {(char *)line, line_len}};
        if (line_len > 0 && !send_line(sink, parts)) {
            *error = errno;
            break;
        }
        taken += line_len + (feed ? 1 : 0);
    }
    return taken;
}
