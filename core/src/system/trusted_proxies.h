/* trusted_proxies.h: which peers are proxies of ours, whose word about a request counts. Used by worker and
 * conn; knows no field, and no socket. */
#ifndef BB_TRUSTED_PROXIES_H
#define BB_TRUSTED_PROXIES_H

#include <stdbool.h>
#include <stdint.h>

#define BB_TRUSTED_PROXIES_NETWORKS 128

struct bb__network {
    uint8_t address[16]; /* IPv4's are mapped into IPv6, RFC 4291 2.5.5.2 */
    uint8_t bits;
};

struct bb__trusted_proxies {
    bool local; /* whoever may connect to a unix socket */
    unsigned count;
    struct bb__network networks[BB_TRUSTED_PROXIES_NETWORKS];
};

/* Words with spaces between them: "unix", addresses, and networks as ADDRESS/BITS. BB_OK, or BB_EFORMAT. */
int bb__trusted_proxies_parse(struct bb__trusted_proxies *trusted, const char *text);

/* Whether this address is one of them; NULL: it came by a unix socket. */
bool bb__trusted_proxies_includes(const struct bb__trusted_proxies *trusted, const char *address);

#endif
