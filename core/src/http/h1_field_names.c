/* h1_field_names.c: see h1_field_names.h. A hash table of names in lower case, with open addressing. No
 * name is ever removed. */
#include "http/h1_field_names.h"

#include <stdlib.h>

#include "bontebok.h"

/* A lookup checks this many slots, beginning with the slot of the hash. Without this limit a client could
 * choose names with equal hashes, and each lookup would compare all of them. No name is removed, so a name
 * that finds no free slot at first never finds one later. Therefore all fields with the same name have the
 * same id. */
#define REACH 8

/* These names are known from the start, so that a flood of invented names cannot keep them out. */
static const char *const common[] = {
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "authorization",
    "baggage",
    "cache-control",
    "cf-connecting-ip",
    "cf-ray",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "dnt",
    "expect",
    "forwarded",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "max-forwards",
    "origin",
    "pragma",
    "priority",
    "proxy-connection",
    "range",
    "referer",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "sec-gpc",
    "sec-websocket-extensions",
    "sec-websocket-key",
    "sec-websocket-protocol",
    "sec-websocket-version",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-amzn-trace-id",
    "x-csrf-token",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-forwarded-ssl",
    "x-http-method-override",
    "x-real-ip",
    "x-request-id",
    "x-request-start",
    "x-requested-with",
};

/* The names that the core understands, in lower case. */
static const struct {
    const char *folded;
    uint8_t len, kind;
} understood[] = {
#define UNDERSTOOD(folded, kind)                                                                             \
    {                                                                                                        \
        folded, sizeof folded - 1, kind                                                                      \
    }
    UNDERSTOOD("host", BB_FIELD_HOST),
    UNDERSTOOD("connection", BB_FIELD_CONNECTION),
    UNDERSTOOD("cookie", BB_FIELD_COOKIE),
    UNDERSTOOD("content-length", BB_FIELD_CONTENT_LENGTH),
    UNDERSTOOD("content-type", BB_FIELD_CONTENT_TYPE),
    UNDERSTOOD("transfer-encoding", BB_FIELD_TRANSFER_ENCODING),
    UNDERSTOOD("expect", BB_FIELD_EXPECT),
    UNDERSTOOD("authorization", BB_FIELD_AUTHORIZATION),
    UNDERSTOOD("x-request-start", BB_FIELD_REQUEST_START),
    UNDERSTOOD("upgrade", BB_FIELD_UPGRADE),
    UNDERSTOOD("proxy", BB_FIELD_PROXY),
#undef UNDERSTOOD
};

static uint8_t kind_of(const char *folded, size_t len)
{
    for (size_t i = 0; i < sizeof understood / sizeof *understood; i++)
        if (len == understood[i].len && memcmp(folded, understood[i].folded, len) == 0)
            return understood[i].kind;
    return memchr(folded, '_', len) ? BB_FIELD_UNDERSCORE : BB_FIELD_OTHER;
}

static struct bb__folded fold(const char *name, size_t len)
{
    struct bb__folded folded = {0};
    memcpy(folded.bytes, name, len);
    for (size_t i = 0; i < sizeof folded.bytes; i++) {
        char byte = folded.bytes[i];
        folded.bytes[i] = (char)(byte | (byte >= 'A' && byte <= 'Z' ? 0x20 : 0));
    }
    return folded;
}

static size_t hash(const struct bb__folded *folded, size_t len)
{
    uint32_t state = (uint32_t)len;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t word;
        memcpy(&word, folded->bytes + i, 4);
        state = (state ^ word) * 0x9e3779b1u;
        state ^= state >> 15;
    }
    return state % BB_NAME_SLOTS;
}

/* Returns the id, after learning the name if necessary; 0 if the name cannot be learned. */
static uint8_t intern(struct bb__field_names *names, const struct bb__folded *folded, size_t len)
{
    size_t home = hash(folded, len);
    for (size_t distance = 0; distance < REACH; distance++) {
        uint8_t *slot = &names->slots[(home + distance) % BB_NAME_SLOTS];
        if (*slot == 0) {
            if (names->count == BB_NAME_IDS - 1) return 0;
            *slot = (uint8_t)++names->count;
            names->known[*slot] = *folded;
            names->kinds[*slot] = kind_of(folded->bytes, len);
            return *slot;
        }
        if (memcmp(&names->known[*slot], folded, sizeof *folded) == 0) return *slot;
    }
    return 0;
}

struct bb__name bb__field_names_find(struct bb__field_names *names, uint8_t previous, const char *name,
                                     size_t len)
{
    if (len > BB_NAME_MAX)
        return (struct bb__name){.kind = memchr(name, '_', len) ? BB_FIELD_UNDERSCORE : BB_FIELD_OTHER};

    struct bb__folded folded = fold(name, len);
    uint8_t id = names ? intern(names, &folded, len) : 0;
    if (id == 0) return (struct bb__name){.kind = kind_of(folded.bytes, len), .len = (uint8_t)len};

    struct bb__guess *guess = &names->after[previous];
    guess->name = (struct bb__name){.id = id, .kind = names->kinds[id], .len = (uint8_t)len};
    memcpy(guess->spelling, name, len);
    guess->spelling[len] = ':';
    return guess->name;
}

struct bb__field_names *bb__field_names_new(void)
{
    struct bb__field_names *names = calloc(1, sizeof *names);
    if (!names) return NULL;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        struct bb__folded folded = fold(common[i], strlen(common[i]));
        (void)intern(names, &folded, strlen(common[i]));
    }
    return names;
}

void bb__field_names_free(struct bb__field_names *names)
{
    free(names);
}
