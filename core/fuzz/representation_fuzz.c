/* representation_fuzz.c: compares the readers of preconditions, dates and Accept-Encoding with second
 * readers, which use the C library: strptime(), strspn() and strtol().
 *
 * Input: a byte of settings, then fields, each with a line feed behind it. The first byte of a field stands
 * for its name.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "representation/accept_encoding.h"
#include "representation/http_date.h"
#include "representation/precondition.h"

#define FIELDS_MAX 8
#define BLANKS     " \t"

/* A field: exact bytes for the first readers, so that a read beyond them is an error, and text for the second
 * readers. */
static struct bb_field fields[FIELDS_MAX];
static char texts[FIELDS_MAX][4097];
static unsigned count;

/* ---- dates ---- */

static int64_t seconds_of(struct tm tm)
{
    bool leaps = tm.tm_sec == 60;
    tm.tm_sec -= leaps;
    return (int64_t)timegm(&tm) + leaps;
}

/* strptime() accepts more than the RFC: other letter cases, blanks, short numbers. strftime() writes the only
 * text that is right. */
static bool read_form(const char *text, const char *format, struct tm *tm)
{
    char again[64];
    *tm = (struct tm){0};
    const char *end = strptime(text, format, tm);
    return end && *end == '\0' && strftime(again, sizeof again, format, tm) > 0 && strcmp(again, text) == 0;
}

static bool second_date(const char *text, int64_t now, int64_t *seconds)
{
    struct tm tm, normal;
    if (read_form(text, "%A, %d-%b-%y %H:%M:%S GMT", &tm)) {
        int last_two = tm.tm_year % 100;
        for (int year = last_two; year < 10000; year += 100) {
            struct tm candidate = tm;
            candidate.tm_year = year - 1900;
            if (seconds_of(candidate) <= now + INT64_C(50) * 31556952) tm = candidate;
        }
    } else if (!read_form(text, "%a, %d %b %04Y %H:%M:%S GMT", &tm) &&
               !read_form(text, "%a %b %e %H:%M:%S %04Y", &tm) &&
               !read_form(text, "%a %b %d %H:%M:%S %04Y", &tm)) {
        return false;
    }
    normal = tm;
    normal.tm_sec = 0;
    (void)timegm(&normal);
    bool leaps = tm.tm_sec >= 60 && (tm.tm_sec > 60 || tm.tm_hour != 23 || tm.tm_min != 59);
    if (leaps || normal.tm_mday != tm.tm_mday) return false;
    *seconds = seconds_of(tm);
    return true;
}

static void check_date(unsigned place, int64_t now)
{
    int64_t one = 0, other = 0;
    struct bb_slice value = {fields[place].value, fields[place].value_len};
    bool valid = bb__http_date_parse(value, now, &one);
    assert(valid == second_date(texts[place], now, &other) && one == other);
}

/* ---- preconditions ---- */

/* Returns the length of the entity tag at `text`, or 0. */
static size_t tag_len(const char *text)
{
    static char bad[40];
    if (!bad[0]) {
        for (int i = 0; i < 32; i++) bad[i] = (char)(i + 1);
        strcat(bad, "\"\x7f");
    }
    size_t open = strncmp(text, "W/", 2) == 0 ? 2 : 0;
    if (text[open] != '"') return 0;
    size_t close = open + 1 + strcspn(text + open + 1, bad);
    return text[close] == '"' ? close + 1 : 0;
}

static bool lists_tag(const char *list, const char *tag, bool strong)
{
    while (*(list += strspn(list, BLANKS ","))) {
        size_t len = tag_len(list);
        const char *after = list + len + strspn(list + len, BLANKS);
        bool whole = len > 0 && (*after == ',' || *after == '\0'), weak = *list == 'W' || *tag == 'W';
        const char *one = list + (*list == 'W' ? 2 : 0), *other = tag + (*tag == 'W' ? 2 : 0);
        if (whole && !(strong && weak) && strlen(other) == (size_t)(list + len - one) &&
            strncmp(one, other, strlen(other)) == 0)
            return true;
        list = after + strcspn(after, ",");
    }
    return false;
}

/* Returns the number of fields of the name. *has: one of them has the tag. */
static unsigned count_lists(const char *name, const char *tag, bool strong, bool *has)
{
    unsigned found = 0;
    *has = false;
    for (unsigned i = 0; i < count; i++) {
        if (strcasecmp(fields[i].name, name) != 0) continue;
        found++;
        *has |= strcmp(texts[i], "*") == 0 || (tag && lists_tag(texts[i], tag, strong));
    }
    return found;
}

/* Returns whether the request has one field of the name, with a date. */
static bool find_date(const char *name, int64_t now, int64_t *date)
{
    unsigned found = 0;
    const char *text = NULL;
    for (unsigned i = 0; i < count; i++)
        if (strcasecmp(fields[i].name, name) == 0) found++, text = texts[i];
    return found == 1 && second_date(text, now, date);
}

/* The steps of RFC 9110 13.2.2. */
static enum bb__precondition second_check(const char *tag, bool has_modified, int64_t modified, int64_t now)
{
    bool has;
    int64_t date;
    if (count_lists("If-Match", tag, true, &has) > 0) {
        if (!has) return BB_PRECONDITION_FAILED;
    } else if (has_modified && find_date("If-Unmodified-Since", now, &date) && date < modified) {
        return BB_PRECONDITION_FAILED;
    }
    if (count_lists("If-None-Match", tag, false, &has) > 0)
        return has ? BB_PRECONDITION_NOT_MODIFIED : BB_PRECONDITION_HOLDS;
    bool current = has_modified && find_date("If-Modified-Since", now, &date) && date >= modified;
    return current ? BB_PRECONDITION_NOT_MODIFIED : BB_PRECONDITION_HOLDS;
}

/* ---- Accept-Encoding ---- */

/* Returns the q-value of an item in thousandths, or -1. weight: what follows the coding. */
static long read_weight(const char *weight)
{
    weight += strspn(weight, BLANKS);
    if (*weight == '\0') return 1000;
    if (*weight++ != ';') return -1;
    weight += strspn(weight, BLANKS);
    if (strncasecmp(weight, "q=", 2) != 0) return -1;
    weight += 2;
    size_t len = strcspn(weight, BLANKS), digits = len > 2 ? strspn(weight + 2, "0123456789") : 0;
    char thousandths[] = "0000";
    bool valid = len > 0 && len <= 5 && strspn(weight + len, BLANKS) == strlen(weight + len) &&
                 strchr("01", *weight) && (len == 1 || (weight[1] == '.' && digits == len - 2));
    if (!valid) return -1;
    thousandths[0] = *weight;
    memcpy(thousandths + 1, weight + 2, digits);
    long q = strtol(thousandths, NULL, 10);
    return q <= 1000 ? q : -1;
}

/* Returns the q-value of the last item of the coding in all fields, or -1. */
static long find_q(const char *coding)
{
    long q = -1;
    for (unsigned i = 0; i < count; i++) {
        char list[sizeof texts[i]], *item, *rest = list;
        if (strcasecmp(fields[i].name, "Accept-Encoding") != 0) continue;
        strcpy(list, texts[i]);
        while ((item = strsep(&rest, ","))) {
            item += strspn(item, BLANKS);
            if (strcasecmp(coding, "gzip") == 0 && strncasecmp(item, "x-gzip", 6) == 0) item += 2;
            size_t len = strcspn(item, BLANKS ";");
            long here = read_weight(item + len);
            if (len == strlen(coding) && strncasecmp(item, coding, len) == 0 && here >= 0) q = here;
        }
    }
    return q;
}

static enum bb__coding second_choice(unsigned available)
{
    static const char *const names[BB_CODINGS] = {"identity", "br", "zstd", "gzip"};
    enum bb__coding chosen = BB_CODING_IDENTITY;
    long best = 0, others = find_q("*");
    for (int i = 1; i <= BB_CODINGS; i++) { /* identity is the last */
        enum bb__coding coding = (enum bb__coding)(i % BB_CODINGS);
        long q = find_q(names[coding]);
        if (q < 0) q = others;
        if (coding != BB_CODING_IDENTITY && !(available >> coding & 1)) continue;
        if (q > best) best = q, chosen = coding;
    }
    return chosen;
}

/* ---- the target ---- */

static const char *name_of(char byte)
{
    static const char *const names[] = {"If-Match",
                                        "if-none-match",
                                        "IF-MODIFIED-SINCE",
                                        "If-Unmodified-Since",
                                        "ACCEPT-encoding",
                                        "If-Range",
                                        "Range",
                                        "Accept"};
    return names[(unsigned char)byte % 8];
}

static void take_fields(const char *at, const char *end)
{
    for (count = 0; count < FIELDS_MAX && at < end; count++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end,
                   *name = name_of(*at);
        size_t len = at < stop ? (size_t)(stop - at - 1) : 0;
        char *value = malloc(len);
        assert(value || len == 0);
        if (len > 0) memcpy(value, at + 1, len);
        if (len > 0) memcpy(texts[count], value, len);
        texts[count][len] = '\0';
        fields[count] = (struct bb_field){
            .name = name, .name_len = (uint16_t)strlen(name), .value = value, .value_len = (uint32_t)len};
        at = feed ? feed + 1 : end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {NULL, "\"a\"", "W/\"a\"", "\"\""};
    if (size == 0 || size > 4096 || memchr(data, '\0', size)) return 0; /* no head has a NUL */
    const char *tag = tags[data[0] & 3];
    unsigned available = data[0] >> 3 & 15;
    int64_t now = data[0] & 128 ? INT64_C(3471292800) : INT64_C(1800000000); /* 2080, 2027 */
    struct bb__validators validators = {.has_modified = data[0] & 4, .modified = 784111777};
    if (tag) validators.etag = (struct bb_slice){tag, strlen(tag)};

    take_fields((const char *)data + 1, (const char *)data + size);
    struct bb_head head = {.fields = fields, .field_count = count};
    bool conditional = false;
    for (unsigned i = 0; i < count; i++) {
        check_date(i, now);
        conditional |= strncasecmp(fields[i].name, "accept", 6) != 0;
    }
    assert(bb__is_conditional(&head) == conditional);
    assert(bb__precondition_check(&head, &validators, now) ==
           second_check(tag, validators.has_modified, validators.modified, now));
    assert(bb__coding_choose(&head, available) == second_choice(available));
    for (unsigned i = 0; i < count; i++) free((char *)(uintptr_t)fields[i].value);
    return 0;
}
