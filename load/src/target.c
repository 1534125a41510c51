/* target.c: see target.h. */
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Copies a socket path of a URL, in which %20 stands for a space. Returns its length, or SIZE_MAX if the path
 * does not fit. */
static size_t copy_path(char *to, size_t size, const char *from, size_t len)
{
    size_t copied = 0;
    for (const char *end = from + len; from < end; copied++) {
        if (copied == size) return SIZE_MAX;
        bool is_space = end - from >= 3 && strncmp(from, "%20", 3) == 0;
        to[copied] = is_space ? ' ' : *from;
        from += is_space ? 3 : 1;
    }
    return copied;
}

/* puma reads //tmp/a as a relative path, and nginx reads it as an absolute path. The server reads ~ as a home
 * directory. */
static const char *refuse_path(const char *at, size_t len)
{
    if (len == 0 || (len == 1 && *at == '@')) return "has no socket path";
    if (*at == '~') return "has a socket path with ~: write the directory's name";
    bool is_ambiguous = strncmp(at, "//", 2) == 0 && at[2] != '/';
    return is_ambiguous ? "has unix:// without an absolute path: write unix:///tmp/a or unix:tmp/a" : NULL;
}

static const char *parse_unix(struct target *target, const char *at)
{
    if (strncmp(at, "//@", 3) == 0) at += 2;
    const char *colon = strstr(at, ":/");
    const char *end = colon ? colon : at + strlen(at);
    const char *wrong = refuse_path(at, (size_t)(end - at));
    if (wrong) return wrong;
    struct sockaddr_un *address = (struct sockaddr_un *)&target->address;
    size_t len = copy_path(address->sun_path, sizeof address->sun_path - 1, at, (size_t)(end - at));
    if (len == SIZE_MAX) return "has a socket path of more than 107 bytes";

    address->sun_family = AF_UNIX;
    /* A name in the abstract namespace begins with NUL, and the address length ends it, see unix(7). */
    bool is_abstract = *at == '@';
    if (is_abstract) address->sun_path[0] = '\0';
    target->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + !is_abstract);
    target->resource = colon ? colon + 1 : end;
    target->authority = "localhost";
    target->authority_len = (int)strlen("localhost");
    return NULL;
}

static const char *parse_port(struct target *target, const char *at, const char *end)
{
    unsigned long port = 0;
    for (const char *digit = at; digit < end; digit++) {
        if (*digit < '0' || *digit > '9') return "has a port that is no number";
        port = port * 10 + (unsigned long)(*digit - '0');
        if (port > 65535) return "has a port above 65535";
    }
    if (at == end || port == 0) return "has no valid port after the colon";
    target->port = (uint16_t)port;
    return NULL;
}

static const char *parse_tcp(struct target *target, const char *at)
{
    size_t len = strcspn(at, "/?#");
    const char *end = at + len;
    target->resource = end;
    target->authority = at;
    target->authority_len = (int)len;
    target->port = 80;
    if (memchr(at, '@', len)) return "has a user name, which is not supported";

    bool is_v6 = *at == '[';
    const char *host_end = memchr(at, is_v6 ? ']' : ':', len);
    if (is_v6 && !host_end) return "has no ] after the IPv6 address";
    const char *host = at + is_v6;
    if (!host_end) host_end = end;
    size_t host_len = (size_t)(host_end - host);
    if (host_len == 0) return "has no host";
    if (host_len >= sizeof target->host) return "has a host that is too long";
    memcpy(target->host, host, host_len);
    target->host[host_len] = '\0';

    const char *rest = host_end + is_v6;
    if (rest == end) return NULL;
    return *rest == ':' ? parse_port(target, rest + 1, end) : "has something else than a port after the host";
}

bool target_is_printable(const char *text)
{
    while ((unsigned char)*text > ' ' && *text != 0x7f) text++;
    return *text == '\0';
}

const char *target_parse(struct target *target, const char *url)
{
    *target = (struct target){.url = url};
    if (!target_is_printable(url)) return "has a space or a control byte in it";
    const char *wrong;
    if (strncmp(url, "unix:", 5) == 0) {
        wrong = parse_unix(target, url + 5);
    } else if (strncmp(url, "http://", 7) == 0) {
        wrong = parse_tcp(target, url + 7);
    } else if (strncmp(url, "https://", 8) == 0) {
        wrong = "needs TLS, which is not supported";
    } else {
        wrong = "begins with neither http:// nor unix:";
    }
    if (!wrong) target->resource_len = (int)strcspn(target->resource, "#");
    return wrong;
}

/* seconds: how long to wait; 0: without limit. Returns 0 or errno. */
static int connect_once(const struct sockaddr *address, socklen_t len, int seconds)
{
    const struct timeval limit = {.tv_sec = seconds};
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int error = connect(fd, address, len) < 0 ? errno : 0;
    close(fd);
    return error;
}

static bool accepts(const struct addrinfo *address)
{
    return connect_once(address->ai_addr, address->ai_addrlen, 0) == 0;
}

int target_try(const struct target *target)
{
    return connect_once((const struct sockaddr *)&target->address, target->address_len, 1);
}

const char *target_resolve(struct target *target)
{
    if (target->host[0] == '\0') return NULL;
    char port[6];
    snprintf(port, sizeof port, "%u", (unsigned)target->port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int failed = getaddrinfo(target->host, port, &hints, &found);
    if (failed) return gai_strerror(failed);

    const struct addrinfo *chosen = found;
    /* A single address is not tried, so that the server sees only the connections of the run. */
    if (found->ai_next) {
        while (chosen && !accepts(chosen)) chosen = chosen->ai_next;
        if (!chosen) chosen = found;
    }
    memcpy(&target->address, chosen->ai_addr, chosen->ai_addrlen);
    target->address_len = chosen->ai_addrlen;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)chosen->ai_addr;
    target->is_loopback4 = v4->sin_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    freeaddrinfo(found);
    return NULL;
}
