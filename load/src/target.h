/* target.h: where a URL leads. Parsed once per URL before anything runs; the connections only read it. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct target {
    const char *url; /* the caller's; `resource` leads into it */
    char host[256];  /* "" for a unix socket */
    uint16_t port;
    const char *authority; /* the Host field's value, RFC 9110 7.2 */
    int authority_len;
    const char *resource; /* path and query as given; "" or "?..." when the path is empty */
    int resource_len;     /* a fragment is never sent */
    struct sockaddr_storage address;
    socklen_t address_len;
    bool is_loopback4; /* 127.0.0.0/8 has more than one source address */
};

/* No space and no control byte: nothing that ends the request's line or its target. */
bool target_is_printable(const char *text);

/* Reads http://host:port/path, http://[v6]:port/path, unix:/socket:/path or unix:@name:/path. Returns NULL,
 * or what is wrong with it; a host's address is not looked up yet. */
const char *target_parse(struct target *target, const char *url);

/* Finds the address of the host. Of several (localhost is two) the first that accepts a connection is taken,
 * or the first at all. Returns NULL, or what went wrong. */
const char *target_resolve(struct target *target);

#endif
