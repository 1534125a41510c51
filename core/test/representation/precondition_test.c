/* precondition_test.c: preconditions of a request (RFC 9110 13.1, 13.2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "representation/precondition.h"
#include "support/guard.h"

#define NOW    INT64_C(1800000000)
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define DATE   "Sun, 06 Nov 1994 08:49:37 GMT"
#define AFTER  "Sun, 06 Nov 1994 08:49:38 GMT"

#define HOLDS        BB_PRECONDITION_HOLDS
#define NOT_MODIFIED BB_PRECONDITION_NOT_MODIFIED
#define FAILED       BB_PRECONDITION_FAILED

static const char *const results[] = {"holds", "not modified", "failed"};

#define FIELDS_MAX 4

/* The fields of a request: name, value, name, value. */
struct request {
    const char *texts[2 * FIELDS_MAX];
};

static struct bb_head head_of(const struct request *request, struct bb_field fields[FIELDS_MAX])
{
    struct bb_head head = {.fields = fields};
    for (; head.field_count < FIELDS_MAX && request->texts[2 * head.field_count]; head.field_count++) {
        const char *name = request->texts[2 * head.field_count],
                   *value = request->texts[2 * head.field_count + 1];
        fields[head.field_count] = (struct bb_field){.name = name,
                                                     .name_len = (uint16_t)strlen(name),
                                                     .value = value,
                                                     .value_len = (uint32_t)strlen(value)};
    }
    return head;
}

/* etag: NULL: none. The representation was modified at DATE. */
static enum bb__precondition check(const struct request *request, const char *etag, bool has_modified)
{
    struct bb_field fields[FIELDS_MAX];
    struct bb_head head = head_of(request, fields);
    struct bb__validators validators = {.has_modified = has_modified, .modified = 784111777};
    if (etag) validators.etag = (struct bb_slice){etag, strlen(etag)};
    return bb__precondition_check(&head, &validators, NOW);
}

struct example {
    struct request request;
    enum bb__precondition result;
};

/* The representation has the entity tag "a" and a Last-Modified. */
static void check_all(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum bb__precondition result = check(&examples[i].request, "\"a\"", true);
        if (result != examples[i].result)
            fail_msg("%s: %s: %s", examples[i].request.texts[0], examples[i].request.texts[1],
                     results[result]);
    }
}

#define CHECK(examples) check_all((examples), sizeof(examples) / sizeof *(examples))

static void test_if_none_match(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{"If-None-Match", "\"a\""}}, NOT_MODIFIED},
        {{{"if-none-match", "W/\"a\""}}, NOT_MODIFIED},
        {{{"IF-NONE-MATCH", "\"b\",\"a\""}}, NOT_MODIFIED},
        {{{"If-None-Match", ",\t, \"b\" \t,, W/\"c\"\t, \"a\" ,"}}, NOT_MODIFIED},
        {{{"If-None-Match", "*"}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"b\""}}, HOLDS},
        {{{"If-None-Match", "\"A\""}}, HOLDS},
        {{{"If-None-Match", "\"\""}}, HOLDS},
        {{{"If-None-Match", "\"aa\""}}, HOLDS},
        {{{"If-None-Match", "W/\"b\""}}, HOLDS},
        {{{"If-None-Match", ""}}, HOLDS},
        {{{"If-None-Match", ",, ,"}}, HOLDS},
        {{{"If-None-Match", "\"b\"", "If-None-Match", "\"a\""}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"a\"", "If-None-Match", "\"b\""}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"b\"", "If-None-Match", "*"}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"b\"", "If-None-Match", "\"c\""}}, HOLDS},
    };
    CHECK(examples);
}

static void test_if_match(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{"If-Match", "\"a\""}}, HOLDS},
        {{{"if-match", "\"b\", \"a\""}}, HOLDS},
        {{{"If-Match", "*"}}, HOLDS},
        {{{"If-Match", "\"b\""}}, FAILED},
        {{{"If-Match", "W/\"a\""}}, FAILED},
        {{{"If-Match", ""}}, FAILED},
        {{{"If-Match", "\"b\"", "If-Match", "\"a\""}}, HOLDS},
        {{{"If-Match", "\"b\"", "If-Match", "\"c\""}}, FAILED},
    };
    CHECK(examples);
}

static void test_weak_tags(void **state)
{
    (void)state;
    static const struct request match = {{"If-Match", "W/\"a\", \"a\""}},
                                none_match = {{"If-None-Match", "\"a\""}},
                                weak_none_match = {{"If-None-Match", "W/\"a\""}};
    assert_int_equal(check(&match, "W/\"a\"", true), FAILED);
    assert_int_equal(check(&match, "\"a\"", true), HOLDS);
    assert_int_equal(check(&none_match, "W/\"a\"", true), NOT_MODIFIED);
    assert_int_equal(check(&weak_none_match, "W/\"a\"", true), NOT_MODIFIED);
    assert_int_equal(check(&weak_none_match, "W/\"b\"", true), HOLDS);
}

static void test_a_representation_without_an_entity_tag(void **state)
{
    (void)state;
    static const struct request match = {{"If-Match", "\"a\", \"\""}},
                                none_match = {{"If-None-Match", "\"a\", \"\", x"}}, any = {{"If-Match", "*"}},
                                none = {{"If-None-Match", "*"}};
    assert_int_equal(check(&match, NULL, true), FAILED);
    assert_int_equal(check(&none_match, NULL, true), HOLDS);
    assert_int_equal(check(&any, NULL, true), HOLDS);
    assert_int_equal(check(&none, NULL, true), NOT_MODIFIED);
}

/* Each is no entity tag, and would be equal to "a" if it were read in a generous way. */
static void test_elements_that_are_no_entity_tags_match_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "a",         "\"a",    "a\"",       "'a'",    "w/\"a\"",   "W\"a\"",     "W /\"a\"",    "W/ \"a\"",
        "W/W/\"a\"", "\"a\"x", "\"a\" x",   "x\"a\"", "x \"a\"",   "\"a\"\"b\"", "\"b\" \"a\"", "\"a\";q=1",
        "\"a\" *",   "**",     "*\"a\"",    "\"a \"", "\"a\x7f\"", "\"a\t\"",    "W/*",         "W/",
        "W",         "\"",     "\"\"a\"\"", "a, b",   "\"b, a\"",  "\"b,\"a\"",  "*, \"b\"",    "\"b\", *"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request match = {{"If-Match", bad[i]}}, none_match = {{"If-None-Match", bad[i]}};
        if (check(&match, "\"a\"", true) != FAILED || check(&none_match, "\"a\"", true) != HOLDS)
            fail_msg("%s matches", bad[i]);
        /* The next element still counts. */
        char value[64];
        strcat(strcpy(value, bad[i]), ", \"a\"");
        struct request before = {{"If-None-Match", value}};
        if (check(&before, "\"a\"", true) != NOT_MODIFIED) fail_msg("%s", value);
    }
}

/* A tag has no end if a byte comes that no tag has. Only its first comma then ends the element. */
static void test_a_list_goes_on_behind_a_tag_without_an_end(void **state)
{
    (void)state;
    static const char *const lists[] = {"\"b \",\"a\"",    "\"b\t,\"a\"",      "\"b\x7f,\"a\"",
                                        "\"b\x01,\"a\"",   "\"b, \"a\",\"c\"", "\"b,\x7f,\"a\"",
                                        "W/\"b\x7f,\"a\"", "\", \"a\""};
    static const struct request other = {{"If-None-Match", "\"b,\"a\""}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct request request = {{"If-None-Match", lists[i]}};
        if (check(&request, "\"a\"", true) != NOT_MODIFIED) fail_msg("%s", lists[i]);
    }
    assert_int_equal(check(&other, "\"a\"", true), HOLDS); /* the tag is "b," */
}

static void test_tags_may_have_commas_and_other_bytes(void **state)
{
    (void)state;
    static const char *const tags[] = {"\"a,b\"",         "\"\"",   "\",\"", "\"\\\"",
                                       "\"\xc3\xa9!#~\"", "\"W/\"", "\"*\""};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        char value[64];
        strcat(strcpy(value, "\"x,y\", "), tags[i]);
        struct request match = {{"If-Match", value}};
        assert_int_equal(check(&match, tags[i], true), HOLDS);
    }
    static const struct request other = {{"If-Match", "\"x,\"a\",\""}};
    assert_int_equal(check(&other, "\"a\"", true), FAILED);
}

static void test_dates(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{"If-Modified-Since", DATE}}, NOT_MODIFIED},
        {{{"If-Modified-Since", AFTER}}, NOT_MODIFIED},
        {{{"If-Modified-Since", BEFORE}}, HOLDS},
        {{{"If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"}}, NOT_MODIFIED},
        {{{"If-Modified-Since", "Sun Nov  6 08:49:36 1994"}}, HOLDS},
        {{{"If-Unmodified-Since", DATE}}, HOLDS},
        {{{"If-Unmodified-Since", AFTER}}, HOLDS},
        {{{"If-Unmodified-Since", BEFORE}}, FAILED},
        /* In 2027, this is 1977. */
        {{{"If-Unmodified-Since", "Sunday, 06-Nov-77 08:49:37 GMT"}}, FAILED},
        {{{"If-Modified-Since", "Sunday, 06-Nov-77 08:49:37 GMT"}}, HOLDS},
    };
    CHECK(examples);
}

static void test_dates_that_are_ignored(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{"If-Modified-Since", "Sun, 31 Feb 2024 08:49:37 GMT"}}, HOLDS},
        {{{"If-Modified-Since", ""}}, HOLDS},
        {{{"If-Modified-Since", DATE "; length=5"}}, HOLDS},
        {{{"If-Modified-Since", DATE "," DATE}}, HOLDS},
        {{{"If-Modified-Since", DATE, "If-Modified-Since", DATE}}, HOLDS},
        {{{"If-Unmodified-Since", "Sun, 31 Feb 1990 08:49:37 GMT"}}, HOLDS},
        {{{"If-Unmodified-Since", BEFORE, "If-Unmodified-Since", BEFORE}}, HOLDS},
    };
    CHECK(examples);
    static const struct request since = {{"If-Modified-Since", AFTER}},
                                not_since = {{"If-Unmodified-Since", BEFORE}};
    assert_int_equal(check(&since, "\"a\"", false), HOLDS);
    assert_int_equal(check(&not_since, "\"a\"", false), HOLDS);
}

/* Tags are exact, and dates have the resolution of a second. So a date is ignored beside tags. */
static void test_the_order_of_the_preconditions(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{"If-Match", "\"a\"", "If-Unmodified-Since", BEFORE}}, HOLDS},
        {{{"If-Unmodified-Since", BEFORE, "If-Match", "\"a\""}}, HOLDS},
        {{{"If-Match", "\"b\"", "If-Unmodified-Since", AFTER}}, FAILED},
        {{{"If-None-Match", "\"b\"", "If-Modified-Since", AFTER}}, HOLDS},
        {{{"If-Modified-Since", AFTER, "If-None-Match", "\"b\""}}, HOLDS},
        {{{"If-None-Match", "x", "If-Modified-Since", AFTER}}, HOLDS},
        {{{"If-None-Match", "", "If-Modified-Since", AFTER}}, HOLDS},
        {{{"If-None-Match", "\"a\"", "If-Modified-Since", BEFORE}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"a\"", "If-Match", "\"b\""}}, FAILED},
        {{{"If-None-Match", "\"a\"", "If-Match", "\"a\""}}, NOT_MODIFIED},
        {{{"If-None-Match", "\"a\"", "If-Unmodified-Since", BEFORE}}, FAILED},
        {{{"If-None-Match", "\"a\"", "If-Unmodified-Since", AFTER}}, NOT_MODIFIED},
        {{{"If-Match", "\"a\"", "If-Modified-Since", AFTER}}, NOT_MODIFIED},
        {{{"If-Match", "*", "If-Modified-Since", BEFORE}}, HOLDS},
        {{{"If-Unmodified-Since", DATE, "If-Modified-Since", DATE}}, NOT_MODIFIED},
        {{{"If-Unmodified-Since", "x", "If-Modified-Since", DATE}}, NOT_MODIFIED},
    };
    CHECK(examples);
}

static void test_other_fields_are_no_preconditions(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {{{NULL}}, HOLDS},
        {{{"If-Range", "\"b\""}}, HOLDS},
        {{{"Range", "bytes=0-0"}}, HOLDS},
        {{{"If-Matc", "\"b\""}}, HOLDS},
        {{{"If-Matches", "\"b\""}}, HOLDS},
        {{{"If_None_Match", "\"a\""}}, HOLDS},
    };
    CHECK(examples);
}

static void test_conditional_requests_are_told_apart(void **state)
{
    (void)state;
    static const char *const some[] = {"If-Match",
                                       "if-none-match",
                                       "IF-MODIFIED-SINCE",
                                       "If-Unmodified-Since",
                                       "If-Range",
                                       "iF-rANGE",
                                       "Range",
                                       "rANGE",
                                       "RANGE"};
    static const char *const others[] = {
        "",        "I",        "If",    "r",          "rang",          "Ranger",
        "Referer", "If_Match", "Imf-A", "X-If-Match", "Accept-Ranges", "Host",
        "ig-match"};
    struct bb_field fields[FIELDS_MAX];
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct bb_head head = head_of(&(struct request){{"Host", "h", some[i], ""}}, fields);
        if (!bb__is_conditional(&head)) fail_msg("%s", some[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct bb_head head = head_of(&(struct request){{"Host", "h", others[i], ""}}, fields);
        if (bb__is_conditional(&head)) fail_msg("%s", others[i]);
    }
    assert_false(bb__is_conditional(&(struct bb_head){.fields = NULL}));
}

/* Each value and name ends right before an inaccessible page. */
static void test_no_byte_behind_a_field_is_read(void **state)
{
    (void)state;
    static const char *const values[] = {"W/\"a\" , W/, W, \"b,\" x, \"c\", \"\"", "*", DATE};
    static const char *const names[] = {"If-Match", "If-None-Match", "If-Modified-Since",
                                        "If-Unmodified-Since", "Range"};
    struct guard guard = guard_new(100);
    struct bb__validators validators = {.etag = {"\"x\"", 3}, .has_modified = true};
    for (size_t i = 0; i < 5 * 3; i++) {
        struct bb_field field = {.name = names[i / 3], .name_len = (uint16_t)strlen(names[i / 3])};
        struct bb_head head = {.fields = &field, .field_count = 1};
        for (size_t len = 0; len <= strlen(values[i % 3]); len++) {
            field.value = guard_put(&guard, values[i % 3], len);
            field.value_len = (uint32_t)len;
            assert_in_range(bb__precondition_check(&head, &validators, NOW), HOLDS, FAILED);
        }
        for (size_t len = 0; len <= strlen(names[i / 3]); len++) {
            field.name = guard_put(&guard, names[i / 3], len);
            field.name_len = (uint16_t)len;
            assert_true(bb__is_conditional(&head) == (len >= 5));
        }
    }
    guard_free(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_none_match),
        cmocka_unit_test(test_if_match),
        cmocka_unit_test(test_weak_tags),
        cmocka_unit_test(test_a_representation_without_an_entity_tag),
        cmocka_unit_test(test_elements_that_are_no_entity_tags_match_nothing),
        cmocka_unit_test(test_a_list_goes_on_behind_a_tag_without_an_end),
        cmocka_unit_test(test_tags_may_have_commas_and_other_bytes),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_dates_that_are_ignored),
        cmocka_unit_test(test_the_order_of_the_preconditions),
        cmocka_unit_test(test_other_fields_are_no_preconditions),
        cmocka_unit_test(test_conditional_requests_are_told_apart),
        cmocka_unit_test(test_no_byte_behind_a_field_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
