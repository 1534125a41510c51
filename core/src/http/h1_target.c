/* h1_target.c: see h1_target.h. Authorities are checked strictly, because applications build links from the
 * host, and caches build keys from it. */
#include "http/h1_target.h"

#include <string.h>

#include "base/reason.h"
#include "http/h1_scan.h"

/* ---- uri-host [ ":" port ] ---- */

/* unreserved (RFC 3986 2.3) and sub-delims (2.2). */
static const bool in_name[256] = {
    ['!'] = true,         ['$'] = true,         ['&'] = true,         ['\''] = true, ['('] = true,
    [')'] = true,         ['*'] = true,         ['+'] = true,         [','] = true,  ['-'] = true,
    ['.'] = true,         [';'] = true,         ['='] = true,         ['_'] = true,  ['~'] = true,
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'A' && byte <= 'F') || (byte >= 'a' && byte <= 'f');
}

/* Skips a reg-name and returns the end of the reg-name. An IPv4address is also a reg-name. */
static const char *skip_reg_name(const char *at, const char *end)
{
    for (;; at += 3) {
        while (at < end && in_name[(uint8_t)*at]) at++;
        if (end - at < 3 || *at != '%' || !is_hex(at[1]) || !is_hex(at[2])) return at;
    }
}

/* Four numbers of 0 to 255. A leading zero is not allowed, because some programs read the number as octal. */
static bool is_ipv4(const char *at, const char *end)
{
    for (int octets = 1;; octets++) {
        unsigned value = 0;
        const char *start = at;
        while (at < end && is_digit(*at) && value <= 255) value = value * 10 + (unsigned)(*at++ - '0');
        if (at == start || value > 255 || (*start == '0' && at - start > 1)) return false;
        if (octets == 4) return at == end;
        if (at == end || *at++ != '.') return false;
    }
}

/* IPv6address: eight groups of up to four digits. The last two groups may have IPv4's form. "::" may occur
 * once and stands for one or more groups of zeros. */
static bool is_ipv6(const char *at, const char *end)
{
    unsigned groups = 0;
    bool gap = end - at >= 2 && at[0] == ':' && at[1] == ':';
    if (gap) at += 2;
    while (at < end) {
        const char *group = at;
        while (at < end && at - group < 4 && is_hex(*at)) at++;
        if (at == group) return false;
        if (at < end && *at == '.') {
            if (!is_ipv4(group, end)) return false;
            groups += 2;
            break;
        }
        groups++;
        if (at == end) break;
        if (*at++ != ':' || at == end) return false;
        if (*at == ':') {
            if (gap) return false;
            gap = true;
            at++;
        }
    }
    return gap ? groups < 8 : groups == 8;
}

/* "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ) */
static bool is_ip_future(const char *at, const char *end)
{
    if (at == end || (*at | 0x20) != 'v') return false;
    const char *version = ++at;
    while (at < end && is_hex(*at)) at++;
    if (at == version || at == end || *at++ != '.') return false;
    const char *address = at;
    while (at < end && (in_name[(uint8_t)*at] || *at == ':')) at++;
    return at > address && at == end;
}

static bool is_port(const char *at, const char *end)
{
    unsigned value = 0;
    while (at < end && is_digit(*at) && value <= 65535) value = value * 10 + (unsigned)(*at++ - '0');
    return at == end && value <= 65535;
}

bool bb__authority_split(struct bb_slice authority, struct bb_slice *host, struct bb_slice *port)
{
    const char *at = authority.at, *end = authority.at + authority.len;
    if (authority.len > 0 && *at == '[') {
        const char *literal = at + 1, *bracket = memchr(literal, ']', authority.len - 1);
        if (!bracket || !(is_ipv6(literal, bracket) || is_ip_future(literal, bracket))) return false;
        at = bracket + 1;
    } else {
        at = skip_reg_name(at, end);
    }
    if (at == authority.at) return false;
    *host = (struct bb_slice){authority.at, (size_t)(at - authority.at)};
    if (at == end) return true;
    if (*at++ != ':' || !is_port(at, end)) return false; /* also rejects userinfo, which ends with "@" */
    *port = (struct bb_slice){at, (size_t)(end - at)};
    return true;
}

/* ---- the forms of a target ---- */

/* Returns a pointer to the byte after "http://" or "https://" (in any letter case, RFC 3986 3.1), or NULL. */
static const char *skip_scheme(struct bb_slice target)
{
    if (target.len >= 7 && bb__is_word(target.at, 7, "http://")) return target.at + 7;
    if (target.len >= 8 && bb__is_word(target.at, 8, "https://")) return target.at + 8;
    return NULL;
}

static int split_absolute(struct bb_head *head, const char *authority, const char *mark)
{
    const char *path = memchr(authority, '/', (size_t)(mark - authority));
    if (!path) path = mark;
    head->authority = (struct bb_slice){authority, (size_t)(path - authority)};
    if (!bb__authority_split(head->authority, &head->host, &head->port)) return BB_REASON_BAD_TARGET;
    head->path = path < mark ? (struct bb_slice){path, (size_t)(mark - path)} : (struct bb_slice){"/", 1};
    return BB_OK;
}

int bb__target_split(struct bb_head *head, const char *mark)
{
    struct bb_slice target = head->target;
    const char *end = target.at + target.len;
    if (mark < end) head->query = (struct bb_slice){mark + 1, (size_t)(end - mark - 1)};

    if (*target.at == '/') {
        head->path = (struct bb_slice){target.at, (size_t)(mark - target.at)};
        return BB_OK;
    }
    if (target.len == 1 && *target.at == '*') {
        head->path = target;
        return head->method.len == 7 && memcmp(head->method.at, "OPTIONS", 7) == 0 ? BB_OK
                                                                                   : BB_REASON_BAD_TARGET;
    }
    const char *authority = skip_scheme(target);
    return authority ? split_absolute(head, authority, mark) : BB_REASON_BAD_TARGET;
}
