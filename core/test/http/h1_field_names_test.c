/* h1_field_names_test.c: the table of field names: ids, kinds, the limits of the table, and guesses of the
 * next name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bontebok.h"
#include "http/h1_field_names.h"
#include "support/guard.h"

#include <stdio.h>

static struct guard guard;

static struct bb__name find(struct bb__field_names *names, const char *name)
{
    return bb__field_names_find(names, 0, name, strlen(name));
}

static struct bb__field_names *fresh(void)
{
    struct bb__field_names *names = bb__field_names_new();
    assert_non_null(names);
    return names;
}

static void test_common_names_are_known(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    unsigned seeded = names->count;
    static const char *const sent[] = {"Host",   "User-Agent",    "Accept",          "Accept-Encoding",
                                       "Cookie", "Content-Type",  "X-Forwarded-For", "X-Real-IP",
                                       "te",     "authorization", "x-request-id",    "Sec-Fetch-Site"};
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) assert_int_not_equal(find(names, sent[i]).id, 0);
    assert_int_equal(names->count, seeded);
    bb__field_names_free(names);
}

static void test_a_name_has_one_id_in_any_letter_case(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    uint8_t id = find(names, "X-Learned-Name").id;
    assert_int_not_equal(id, 0);
    assert_int_equal(find(names, "x-learned-name").id, id);
    assert_int_equal(find(names, "X-LEARNED-NAME").id, id);
    assert_int_equal(find(names, "X-Learned-Name").id, id);
    /* Case is ignored for letters only. "^" and "~" differ in the same bit as upper and lower case. */
    static const char *const others[] = {"X-Learned-Nam", "X-Learned-Names", "Y-Learned-Name",
                                         "X-Learned^Name", "X-Learned~Name"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_not_equal(find(names, others[i]).id, id);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(find(names, others[i]).id, find(names, others[j]).id);
    }
    bb__field_names_free(names);
}

static const struct {
    const char *name;
    int kind;
} kinds[] = {
    {"Host", BB_FIELD_HOST},
    {"hOST", BB_FIELD_HOST},
    {"Connection", BB_FIELD_CONNECTION},
    {"COOKIE", BB_FIELD_COOKIE},
    {"content-length", BB_FIELD_CONTENT_LENGTH},
    {"Content-Type", BB_FIELD_CONTENT_TYPE},
    {"Transfer-Encoding", BB_FIELD_TRANSFER_ENCODING},
    {"Expect", BB_FIELD_EXPECT},
    {"Authorization", BB_FIELD_AUTHORIZATION},
    {"Proxy", BB_FIELD_PROXY},
    {"Content_Length", BB_FIELD_UNDERSCORE},
    {"Transfer_Encoding", BB_FIELD_UNDERSCORE},
    {"_", BB_FIELD_UNDERSCORE},
    {"X_Forwarded-For", BB_FIELD_UNDERSCORE},
    {"A-name-that-is-much-longer-than-those-that-the-table-learns-and-ends-in-_", BB_FIELD_UNDERSCORE},
    {"A-name-that-is-much-longer-than-those-that-the-table-learns-and-ends-in-X", BB_FIELD_OTHER},
    {"Proxy-Connection", BB_FIELD_OTHER},
    {"Hosts", BB_FIELD_OTHER},
    {"Hos", BB_FIELD_OTHER},
    {"X", BB_FIELD_OTHER},
};

static void test_kinds_are_the_same_with_and_without_a_table(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(find(names, kinds[i].name).kind, kinds[i].kind);
        assert_int_equal(find(names, kinds[i].name).kind, kinds[i].kind);
        assert_int_equal(find(NULL, kinds[i].name).kind, kinds[i].kind);
        assert_int_equal(find(NULL, kinds[i].name).id, 0);
    }
    bb__field_names_free(names);
}

static void test_names_that_are_too_long_are_not_learned(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    char name[BB_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    struct bb__name longest = bb__field_names_find(names, 0, name, BB_NAME_MAX);
    assert_int_not_equal(longest.id, 0);
    assert_int_equal(longest.len, BB_NAME_MAX);
    assert_int_equal(bb__field_names_find(names, 0, name, BB_NAME_MAX + 1).id, 0);
    assert_int_equal(bb__field_names_find(names, 0, name, BB_NAME_MAX + 1).len, 0);
    bb__field_names_free(names);
}

/* Many invented names fill the table, but must not change an id. A name that does not get an id at first must
 * not get an id later. */
static void test_invented_names_change_no_id(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    uint8_t host = find(names, "Host").id;
    static uint8_t ids[20000];
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 20000; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, round ? "X-INVENTED-%u" : "x-invented-%u", i);
            uint8_t id = find(names, name).id;
            if (round == 0) ids[i] = id;
            assert_int_equal(id, ids[i]);
        }
        assert_int_equal(names->count, BB_NAME_IDS - 1);
        assert_int_equal(find(names, "Host").id, host);
        assert_int_equal(find(names, "host").kind, BB_FIELD_HOST);
    }
    bool met[BB_NAME_IDS] = {false};
    for (unsigned i = 0; i < 20000; i++) {
        if (ids[i] == 0) continue;
        assert_false(met[ids[i]]);
        met[ids[i]] = true;
    }
    bb__field_names_free(names);
}

static bool holds(const struct bb__guess *guess, const char *bytes, size_t len)
{
    const char *at = guard_put(&guard, bytes, len);
    return bb__guess_holds(guess, at, at + len);
}

/* Tries names of each length. After the name, 0 to 20 more bytes come before the guard page. The guess must
 * not hold if one byte differs or if the name is cut. */
static void test_a_guess_holds_for_the_same_bytes_only(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    for (size_t len = 1; len <= BB_NAME_MAX; len++) {
        char line[BB_NAME_MAX + 40];
        memset(line, 'a', sizeof line);
        line[len - 1] = 'Z';
        uint8_t previous = (uint8_t)len;
        assert_int_equal(bb__field_names_find(names, previous, line, len).len, len);
        const struct bb__guess *guess = &names->after[previous];
        line[len] = ':';

        for (size_t more = 0; more <= 20; more++) assert_true(holds(guess, line, len + 1 + more));
        for (size_t cut = 0; cut <= len; cut++) assert_false(holds(guess, line, cut));
        for (size_t more = 0; more <= 20; more += 20) {
            for (size_t place = 0; place <= len; place++) {
                line[place] ^= 0x20;
                assert_false(holds(guess, line, len + 1 + more));
                line[place] ^= 0x20;
            }
        }
    }
    bb__field_names_free(names);
}

static void test_no_guess_holds_for_an_empty_name(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    static const char zeros[32] = {0};
    for (unsigned previous = 0; previous < BB_NAME_IDS; previous++) {
        assert_false(holds(&names->after[previous], zeros, sizeof zeros));
        assert_false(holds(&names->after[previous], zeros, 1));
        assert_false(holds(&names->after[previous], ":", 1));
        assert_false(holds(&names->after[previous], ": a name must not be empty", 26));
    }
    bb__field_names_free(names);
}

static void test_the_latest_successor_is_guessed(void **state)
{
    (void)state;
    struct bb__field_names *names = fresh();
    uint8_t host = bb__field_names_find(names, 0, "Host", 4).id;
    (void)bb__field_names_find(names, host, "Accept", 6);
    assert_true(holds(&names->after[0], "Host: a", 7));
    assert_true(holds(&names->after[host], "Accept: a", 9));
    (void)bb__field_names_find(names, host, "accept", 6);
    assert_false(holds(&names->after[host], "Accept: a", 9));
    assert_true(holds(&names->after[host], "accept: a", 9));
    bb__field_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_names_are_known),
        cmocka_unit_test(test_a_name_has_one_id_in_any_letter_case),
        cmocka_unit_test(test_kinds_are_the_same_with_and_without_a_table),
        cmocka_unit_test(test_names_that_are_too_long_are_not_learned),
        cmocka_unit_test(test_invented_names_change_no_id),
        cmocka_unit_test(test_a_guess_holds_for_the_same_bytes_only),
        cmocka_unit_test(test_no_guess_holds_for_an_empty_name),
        cmocka_unit_test(test_the_latest_successor_is_guessed),
    };
    guard = guard_new(256);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_free(&guard);
    return failed;
}
