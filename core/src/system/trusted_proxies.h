/* trusted_proxies.h: finds out whether a peer is a trusted proxy. X-Request-Start counts only if a trusted
 * proxy sends it. Used by worker and conn. This file only compares addresses. It reads no header fields and
 * no sockets. */
#ifndef BB_TRUSTED_PROXIES_H
#define BB_TRUSTED_PROXIES_H

#include <stdbool.h>
#include <stdint.h>

#define BB_TRUSTED_PROXIES_NETWORKS 128

struct bb__network {
    uint8_t address[16]; /* an IPv4 address is mapped into IPv6 (RFC 4291 2.5.5.2) */
    uint8_t bits;
};

struct bb__trusted_proxies {
    bool local; /* "unix": peers that connect to a unix socket */
    unsigned count;
    struct bb__network networks[BB_TRUSTED_PROXIES_NETWORKS];
};

/* Parses words with spaces between them: "unix", addresses, and networks as ADDRESS/BITS. BB_OK, or
 * BB_EFORMAT. */
int bb__trusted_proxies_parse(struct bb__trusted_proxies *trusted, const char *text);

/* Returns whether the peer with this address is a trusted proxy. NULL: the peer is connected to a unix
 * socket. */
bool bb__trusted_proxies_includes(const struct bb__trusted_proxies *trusted, const char *address);

#endif
