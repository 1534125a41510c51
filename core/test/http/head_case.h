/* head_case.h: support for tests of the head parser. Parses a request head in each way in which it can
 * arrive: whole, each prefix, and byte by byte as a connection reads it. Tries each way with and without a
 * table of names. The head ends right before an inaccessible page. All results must agree. Include cmocka.h
 * before this file. */
#ifndef BB_TEST_HEAD_CASE_H
#define BB_TEST_HEAD_CASE_H

#include <string.h>

#include "http/h1_head.h"
#include "support/guard.h"

#define BYTES(literal) (literal), sizeof(literal) - 1
#define MOST_FIELDS    200
#define LONGEST_HEAD   (2 * 1024 * 1024)

struct outcome {
    int code;               /* BB_OK, BB_AGAIN or the status of the reason */
    enum bb__reason reason; /* why the head is rejected */
    size_t head_len;
    struct bb_head head;
    struct bb_field fields[MOST_FIELDS];
};

/* The limits for all cases. */
static struct bb__head_limits limits;
static struct guard head_guard;

/* Sets the default limits; runs before each test. */
static inline int reset_limits(void **state)
{
    (void)state;
    limits = (struct bb__head_limits){16 * 1024, 64 * 1024, 128, false};
    return 0;
}

static inline void parse_at_guard(const char *bytes, size_t len, struct bb__field_names *names,
                                  struct outcome *outcome)
{
    const char *at = guard_put(&head_guard, bytes, len);
    memset(outcome, 0xa5, sizeof *outcome);
    int code = bb__head_parse(at, len, &limits, names, outcome->fields, &outcome->head, &outcome->head_len);
    outcome->reason = bb__is_reason(code) ? (enum bb__reason)code : BB_REASON_NONE;
    outcome->code = bb__is_reason(code) ? bb__reasons[code].status : code;
}

static inline bool same_slice(struct bb_slice left, struct bb_slice right)
{
    return left.len == right.len && !left.at == !right.at &&
           (left.len == 0 || memcmp(left.at, right.at, left.len) == 0);
}

static inline void assert_same_head(const struct bb_head *left, const struct bb_head *right)
{
    assert_true(same_slice(left->method, right->method));
    assert_true(same_slice(left->target, right->target));
    assert_true(same_slice(left->path, right->path));
    assert_true(same_slice(left->query, right->query));
    assert_true(same_slice(left->authority, right->authority));
    assert_true(same_slice(left->host, right->host));
    assert_true(same_slice(left->port, right->port));
    assert_true(left->content_length == right->content_length && left->has_length == right->has_length);
    assert_int_equal(left->minor_version, right->minor_version);
    assert_int_equal(left->chunked, right->chunked);
    assert_int_equal(left->keep_alive, right->keep_alive);
    assert_int_equal(left->expect_continue, right->expect_continue);
    assert_int_equal(left->has_start, right->has_start);
    assert_int_equal(left->upgrade, right->upgrade);
    assert_int_equal(left->field_count, right->field_count);
    for (unsigned i = 0; i < left->field_count; i++) {
        const struct bb_field *one = &left->fields[i], *other = &right->fields[i];
        assert_int_equal(one->kind, other->kind);
        assert_true(same_slice((struct bb_slice){one->name, one->name_len},
                               (struct bb_slice){other->name, other->name_len}));
        assert_true(same_slice((struct bb_slice){one->value, one->value_len},
                               (struct bb_slice){other->value, other->value_len}));
    }
}

/* Both heads were parsed at the same address, so their slices still point to valid bytes. */
static inline void assert_same_outcome(const struct outcome *left, const struct outcome *right)
{
    assert_int_equal(left->code, right->code);
    assert_int_equal(left->reason, right->reason);
    if (left->code != BB_OK) return;
    assert_int_equal(left->head_len, right->head_len);
    assert_same_head(&left->head, &right->head);
}

/* The result for each prefix must be BB_AGAIN or the result for the whole head. If a prefix has a result
 * other than BB_AGAIN, all longer prefixes have this result, too. */
static inline void check_prefixes(const char *bytes, size_t len, struct bb__field_names *names,
                                  const struct outcome *whole)
{
    static struct outcome prefix;
    bool answered = false;
    for (size_t here = 0; here <= len; here++) {
        parse_at_guard(bytes, here, names, &prefix);
        if (answered || prefix.code != BB_AGAIN) {
            if (prefix.code != whole->code) fail_msg("%d at %zu, later %d", prefix.code, here, whole->code);
            if (whole->reason != BB_REASON_PROXY_PROTOCOL) assert_int_equal(prefix.reason, whole->reason);
            answered = true;
        }
        if (whole->code == BB_OK && answered != (here >= whole->head_len))
            fail_msg("accepted at %zu instead of %zu", here, whole->head_len);
    }
}

/* Parses the first `first` bytes. Then adds byte by byte, and parses again each time that bb__head_ended()
 * returns true, as a connection does. Returns the last result. */
static inline int drip(const char *bytes, size_t len, size_t first, struct bb__field_names *names)
{
    static struct outcome outcome;
    size_t seen = first;
    parse_at_guard(bytes, first, names, &outcome);
    for (size_t here = first + 1; here <= len && outcome.code == BB_AGAIN; here++) {
        const char *at = guard_put(&head_guard, bytes, here);
        if (bb__head_ended(at, here, &seen)) parse_at_guard(bytes, here, names, &outcome);
    }
    return outcome.code;
}

/* Returns whether there is an empty line. If there is one, the result must not be BB_AGAIN. */
static inline bool has_empty_line(const char *bytes, size_t len)
{
    return memmem(bytes, len, "\r\n\r\n", 4) != NULL;
}

/* Parses in each way. Returns the result, valid until the next call. */
static inline const struct outcome *parse(const char *bytes, size_t len)
{
    static struct outcome nameless, whole;
    struct bb__field_names *names = bb__field_names_new();
    assert_non_null(names);
    if (!head_guard.map) head_guard = guard_new(LONGEST_HEAD);

    parse_at_guard(bytes, len, NULL, &nameless);
    for (int round = 0; round < 3; round++) {
        parse_at_guard(bytes, len, names, &whole);
        assert_same_outcome(&nameless, &whole);
    }
    if (len <= 4096) {
        check_prefixes(bytes, len, names, &whole);
        check_prefixes(bytes, len, NULL, &whole);
        for (size_t first = 1; first <= len; first += 1 + first / 8) {
            int code = drip(bytes, len, first, names);
            if (has_empty_line(bytes, len) || code != BB_AGAIN) assert_int_equal(code, whole.code);
        }
    }
    parse_at_guard(bytes, len, names, &whole); /* puts the slices' bytes at the guard page again */
    bb__field_names_free(names);
    return &whole;
}

static inline int code_of(const char *bytes, size_t len)
{
    return parse(bytes, len)->code;
}

static inline const struct bb_head *accepted(const char *bytes, size_t len)
{
    const struct outcome *outcome = parse(bytes, len);
    assert_int_equal(outcome->code, BB_OK);
    assert_int_equal(outcome->head_len, len);
    return &outcome->head;
}

static inline void assert_slice(struct bb_slice slice, const char *expected)
{
    if (slice.len != strlen(expected) || (slice.len > 0 && memcmp(slice.at, expected, slice.len) != 0))
        fail_msg("\"%.*s\" instead of \"%s\"", (int)slice.len, slice.at ? slice.at : "", expected);
}

#endif
