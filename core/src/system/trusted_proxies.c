/* trusted_proxies.c: see trusted_proxies.h. */
#include "system/trusted_proxies.h"
#include "bontebok.h"

#include <arpa/inet.h>
#include <string.h>

#define WORD_MAX  (INET6_ADDRSTRLEN + sizeof "/128")
#define V4_PREFIX 96 /* bits before the IPv4 address */

/* Stores an IPv6 address in all 128 bits of `address`, and an IPv4 address in the last 32 bits. *first: the
 * number of bits before the stored address (0 for IPv6, V4_PREFIX for IPv4). */
static bool parse_address(const char *text, uint8_t address[16], unsigned *first)
{
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    *first = 0;
    if (inet_pton(AF_INET6, text, address) == 1) return true;
    *first = V4_PREFIX;
    memcpy(address, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, address + sizeof mapped) == 1;
}

static bool parse_bits(const char *digits, unsigned first, uint8_t *bits)
{
    unsigned number = 0;
    size_t len = strlen(digits);
    if (len == 0 || len > 3) return false;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9') return false;
        number = number * 10 + (unsigned)(*digits - '0');
    }
    if (first + number > 128) return false;
    *bits = (uint8_t)(first + number);
    return true;
}

static bool add(struct bb__trusted_proxies *trusted, char *word)
{
    unsigned first;
    if (strcmp(word, "unix") == 0) return trusted->local = true;
    if (trusted->count == BB_TRUSTED_PROXIES_NETWORKS) return false;
    struct bb__network *network = &trusted->networks[trusted->count++];
    char *slash = strchr(word, '/');
    network->bits = 128;
    if (slash) *slash = '\0';
    return parse_address(word, network->address, &first) &&
           (!slash || parse_bits(slash + 1, first, &network->bits));
}

int bb__trusted_proxies_parse(struct bb__trusted_proxies *trusted, const char *text)
{
    char word[WORD_MAX];
    *trusted = (struct bb__trusted_proxies){0};
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");
        if (len >= sizeof word) return BB_EFORMAT;
        memcpy(word, text, len);
        word[len] = '\0';
        if (!add(trusted, word)) return BB_EFORMAT;
        text += len;
    }
    return BB_OK;
}

static bool is_in(const struct bb__network *network, const uint8_t address[16])
{
    unsigned whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->address, address, whole) != 0) return false;
    return rest == 0 || (network->address[whole] ^ address[whole]) >> (8 - rest) == 0;
}

bool bb__trusted_proxies_includes(const struct bb__trusted_proxies *trusted, const char *text)
{
    uint8_t address[16];
    unsigned first;
    if (!text) return trusted->local;
    if (trusted->count == 0 || !parse_address(text, address, &first)) return false;
    for (unsigned i = 0; i < trusted->count; i++)
        if (is_in(&trusted->networks[i], address)) return true;
    return false;
}
