/* target.h: the server and resource that a URL names. Each URL is parsed once before anything runs. The
 * connections only read the result. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct target {
    const char *url; /* the caller's; `resource` points into it */
    char host[256];  /* "" for a unix socket */
    uint16_t port;
    const char *authority; /* the Host field's value, RFC 9110 7.2 */
    int authority_len;
    const char *resource; /* path and query as given; "" or "?..." when the path is empty */
    int resource_len;     /* without the fragment, which is never sent */
    struct sockaddr_storage address;
    socklen_t address_len;
    bool is_loopback4; /* IPv4 in 127.0.0.0/8: a client may use any source address of this range */
};

/* True if the text has no space and no control byte. A space would end the request target, and a control
 * byte could end the request line. */
bool target_is_printable(const char *text);

/* Reads http://host:port/path, http://[v6]:port/path, unix:/socket:/path, unix:///socket:/path or
 * unix:@name:/path. Returns NULL, or the reason why the URL is wrong. Does not look up the host's address. */
const char *target_parse(struct target *target, const char *url);

/* Finds the address of the host. If the host has several addresses (localhost has two), chooses the first
 * address that accepts a connection; if no address does, chooses the first address. Returns NULL, or the
 * reason of the failure. */
const char *target_resolve(struct target *target);

/* Connects once, and waits for at most a second. Returns 0 or errno. */
int target_try(const struct target *target);

#endif
