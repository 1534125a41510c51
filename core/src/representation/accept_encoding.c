/* accept_encoding.c: see accept_encoding.h. */
#include "representation/accept_encoding.h"

#include <string.h>

#include "base/letters.h"
#include "http/h1_fields.h"
#include "http/h1_scan.h"

/* q-values in thousandths. */
#define Q_MAX     1000
#define NOT_NAMED (-1)

struct wishes {
    int of_coding[BB_CODINGS]; /* q-values */
    int of_others;             /* the q-value of "*" */
};

/* Reads a qvalue (RFC 9110 12.4.2): 0 or 1, then up to three digits. Returns it in thousandths; NOT_NAMED: it
 * is malformed. */
static int read_q(const char *at, const char *end)
{
    if (at == end || (*at != '0' && *at != '1')) return NOT_NAMED;
    int q = (*at++ - '0') * Q_MAX;
    if (at == end) return q;
    if (*at++ != '.' || end - at > 3) return NOT_NAMED;
    for (int unit = 100; at < end; at++, unit /= 10) {
        if (*at < '0' || *at > '9') return NOT_NAMED;
        q += (*at - '0') * unit;
    }
    return q <= Q_MAX ? q : NOT_NAMED;
}

/* Reads what follows the coding of an item: nothing, or a weight. */
static int read_weight(const char *at, const char *end)
{
    struct bb_slice rest = bb__trim(at, end);
    if (rest.len == 0) return Q_MAX;
    if (*rest.at != ';') return NOT_NAMED;
    rest = bb__trim(rest.at + 1, end);
    if (rest.len < 2 || !bb__is_word(rest.at, 2, "q=")) return NOT_NAMED;
    return read_q(rest.at + 2, rest.at + rest.len);
}

static int *wish_for(struct wishes *wishes, struct bb_slice coding)
{
    static const struct {
        struct bb_slice name;
        enum bb__coding coding;
    } names[] = {{{"gzip", 4}, BB_CODING_GZIP},
                 {{"br", 2}, BB_CODING_BR},
                 {{"zstd", 4}, BB_CODING_ZSTD},
                 {{"x-gzip", 6}, BB_CODING_GZIP},
                 {{"identity", 8}, BB_CODING_IDENTITY}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (coding.len == names[i].name.len && bb__is_same_word(coding.at, names[i].name.at, coding.len))
            return &wishes->of_coding[names[i].coding];
    return coding.len == 1 && *coding.at == '*' ? &wishes->of_others : NULL;
}

static void read_item(struct wishes *wishes, struct bb_slice item)
{
    const char *end = item.at + item.len, *stop = bb__scan_token(item.at, end);
    int *wish = wish_for(wishes, (struct bb_slice){item.at, (size_t)(stop - item.at)});
    int q = wish ? read_weight(stop, end) : NOT_NAMED;
    if (q != NOT_NAMED) *wish = q;
}

static enum bb__coding choose(const struct wishes *wishes, unsigned available)
{
    static const enum bb__coding order[] = {BB_CODING_BR, BB_CODING_ZSTD, BB_CODING_GZIP, BB_CODING_IDENTITY};
    enum bb__coding chosen = BB_CODING_IDENTITY;
    int highest = 0;
    available |= 1u << BB_CODING_IDENTITY;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int q = wishes->of_coding[order[i]] == NOT_NAMED ? wishes->of_others : wishes->of_coding[order[i]];
        if (!(available & 1u << order[i]) || q <= highest) continue;
        chosen = order[i];
        highest = q;
    }
    return chosen;
}

enum bb__coding bb__coding_choose(const struct bb_head *request, unsigned available)
{
    struct wishes wishes = {{NOT_NAMED, NOT_NAMED, NOT_NAMED, NOT_NAMED}, NOT_NAMED};
    const struct bb_field *field;
    if (!(available & ~(1u << BB_CODING_IDENTITY))) return BB_CODING_IDENTITY;
    for (unsigned place = 0; (field = bb__field_next(request, "accept-encoding", &place));) {
        struct bb_slice rest = {field->value, field->value_len}, item;
        while (bb__field_element(&rest, &item)) read_item(&wishes, item);
    }
    return choose(&wishes, available);
}
