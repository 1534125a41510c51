/* accept_encoding_test.c: the choice of a content coding (RFC 9110 12.5.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "representation/accept_encoding.h"
#include "support/guard.h"

#define BR   (1u << BB_CODING_BR)
#define ZSTD (1u << BB_CODING_ZSTD)
#define GZIP (1u << BB_CODING_GZIP)
#define ALL  (BR | ZSTD | GZIP)

static const char *const names[BB_CODINGS] = {"identity", "br", "zstd", "gzip"};

static struct bb_field field(const char *name, const char *value)
{
    return (struct bb_field){.name = name,
                             .name_len = (uint16_t)strlen(name),
                             .value = value,
                             .value_len = (uint32_t)strlen(value)};
}

struct example {
    const char *value;
    unsigned available;
    enum bb__coding chosen;
};

static void check(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bb_field fields[] = {field("Host", "h"), field("accept-ENCODING", examples[i].value)};
        struct bb_head head = {.fields = fields, .field_count = 2};
        enum bb__coding chosen = bb__coding_choose(&head, examples[i].available);
        if (chosen != examples[i].chosen) fail_msg("\"%s\": %s", examples[i].value, names[chosen]);
    }
}

#define CHECK(examples) check((examples), sizeof(examples) / sizeof *(examples))

static void test_a_named_coding_is_chosen(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"gzip", ALL, BB_CODING_GZIP},
        {"br", ALL, BB_CODING_BR},
        {"zstd", ALL, BB_CODING_ZSTD},
        {"identity", ALL, BB_CODING_IDENTITY},
        {"x-gzip", ALL, BB_CODING_GZIP},
        {"GZip", ALL, BB_CODING_GZIP},
        {"gzip, deflate, br, zstd", GZIP, BB_CODING_GZIP},
        {"gzip, deflate, br, zstd", 0, BB_CODING_IDENTITY},
        {"gzip", BR | ZSTD, BB_CODING_IDENTITY},
        {"gzip", 1u << BB_CODING_IDENTITY, BB_CODING_IDENTITY},
        {"deflate, compress, dcb", ALL, BB_CODING_IDENTITY},
        {"gzi", ALL, BB_CODING_IDENTITY},
        {"gzipp", ALL, BB_CODING_IDENTITY},
        {"brotli", ALL, BB_CODING_IDENTITY},
        {"xgzip", ALL, BB_CODING_IDENTITY},
        {"gzip\xff", ALL, BB_CODING_IDENTITY},
        {"", ALL, BB_CODING_IDENTITY},
    };
    CHECK(examples);
}

static void test_the_highest_q_wins_and_then_our_order(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"gzip, deflate, br, zstd", ALL, BB_CODING_BR},
        {"gzip, deflate, br, zstd", ZSTD | GZIP, BB_CODING_ZSTD},
        {"identity, gzip", ALL, BB_CODING_GZIP},
        {"identity;q=0.5, gzip;q=0.5", ALL, BB_CODING_GZIP},
        {"br;q=0.5, gzip;q=0.6, zstd;q=0.4", ALL, BB_CODING_GZIP},
        {"br;q=0.001, gzip;q=0.002", ALL, BB_CODING_GZIP},
        {"br;q=0.099, gzip;q=0.1", ALL, BB_CODING_GZIP},
        {"br;q=0.999, gzip", ALL, BB_CODING_GZIP},
        {"br;q=1.000, gzip", ALL, BB_CODING_BR},
        {"gzip;q=0.5, identity;q=0.51", ALL, BB_CODING_IDENTITY},
        {"gzip;q=0.5", ALL, BB_CODING_GZIP},
        {"gzip;q=0.001", ALL, BB_CODING_GZIP},
        {"br, gzip;q=0.5", GZIP, BB_CODING_GZIP},
    };
    CHECK(examples);
}

static void test_q_0_forbids_a_coding(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"gzip;q=0", ALL, BB_CODING_IDENTITY},
        {"gzip;q=0.000, br;q=0.0", ALL, BB_CODING_IDENTITY},
        {"gzip;q=0., br;q=1.", ALL, BB_CODING_BR},
        {"br;q=0, gzip;q=0.1", ALL, BB_CODING_GZIP},
        {"x-gzip;q=0, *", GZIP, BB_CODING_IDENTITY},
        /* Nothing that is available is acceptable. */
        {"identity;q=0", ALL, BB_CODING_IDENTITY},
        {"identity;q=0, gzip;q=0", ALL, BB_CODING_IDENTITY},
        {"*;q=0", ALL, BB_CODING_IDENTITY},
        {"br, identity;q=0", GZIP, BB_CODING_IDENTITY},
    };
    CHECK(examples);
}

static void test_an_asterisk_stands_for_codings_that_are_not_named(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"*", ALL, BB_CODING_BR},
        {"*", GZIP, BB_CODING_GZIP},
        {"*", 0, BB_CODING_IDENTITY},
        {"*;q=0.1", ZSTD, BB_CODING_ZSTD},
        {"br;q=0, *", ALL, BB_CODING_ZSTD},
        {"*, br;q=0", ALL, BB_CODING_ZSTD},
        {"*;q=0, gzip", ALL, BB_CODING_GZIP},
        {"*;q=0.5, gzip;q=0.4", GZIP, BB_CODING_IDENTITY},
        {"*;q=0.5, gzip;q=0.4, identity;q=0.1", GZIP, BB_CODING_GZIP},
        {"**", ALL, BB_CODING_IDENTITY},
    };
    CHECK(examples);
}

static void test_malformed_items_are_ignored(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "q=",        "q=2",       "q=1.001", "q=1.1",  "q=0.1234", "q=0.0000", "q=1.0000",    "q=.5",
        "q=-1",      "q=+1",      "q=01",    "q=00.5", "q=0.5x",   "q=0x1",    "q=0.5;q=0.5", "q=0.5;a=b",
        "a=b",       "a=b;q=0.5", "q",       "",       ";q=0.5",   "q =0.5",   "q= 0.5",      "q=\"0.5\"",
        "q=0.5 0.5", "q=0.:",     "q=0./",   "q=0 .5", "p=0.5",    "qq=0.5",   "q=0.-5"};
    char value[64];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct example example = {value, ALL, BB_CODING_IDENTITY};
        strcat(strcpy(value, "br;"), bad[i]);
        check(&example, 1);
        strcat(strcpy(value, "gzip;q=0.1, br;"), bad[i]);
        example.chosen = BB_CODING_GZIP;
        check(&example, 1);
        strcat(strcpy(value, "br;q=0.1, br;"), bad[i]);
        example.chosen = BB_CODING_BR;
        check(&example, 1);
    }
    static const struct example examples[] = {
        {"br q=0.5", ALL, BB_CODING_IDENTITY},  {"br gzip", ALL, BB_CODING_IDENTITY},
        {"br=gzip", ALL, BB_CODING_IDENTITY},   {"br:q=0.5", ALL, BB_CODING_IDENTITY},
        {"\"br\"", ALL, BB_CODING_IDENTITY},    {";q=0.5", ALL, BB_CODING_IDENTITY},
        {"br;q=1,5", ALL, BB_CODING_BR},        {";, gzip", ALL, BB_CODING_GZIP},
        {"br;q=2, *;q=0.5", ALL, BB_CODING_BR},
    };
    CHECK(examples);
}

static void test_blanks_empty_items_and_letter_case(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"br;q=0.5,gzip;q=0.6", ALL, BB_CODING_GZIP},
        {"br ;q=0.5\t, \tgzip\t; \tq=0.6", ALL, BB_CODING_GZIP},
        {"br; q=0.5 , gzip ;\tQ=0.6 ", ALL, BB_CODING_GZIP},
        {",, ,\t,gzip,,", ALL, BB_CODING_GZIP},
        {"BR;q=0.5,X-GZIP;Q=0.4,zSTD;q=0.3", ALL, BB_CODING_BR},
        {"IDENTITY;q=1,gzip;q=0.9", ALL, BB_CODING_IDENTITY},
    };
    CHECK(examples);
}

static void test_the_last_item_of_a_coding_counts(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"gzip;q=0, gzip", ALL, BB_CODING_GZIP},
        {"gzip, gzip;q=0", ALL, BB_CODING_IDENTITY},
        {"gzip, x-gzip;q=0", ALL, BB_CODING_IDENTITY},
        {"*, *;q=0", ALL, BB_CODING_IDENTITY},
    };
    CHECK(examples);
}

static void test_all_fields_count(void **state)
{
    (void)state;
    struct bb_field fields[] = {field("Accept-Encoding", "gzip;q=0.5, br;q=0.4"), field("Accept", "br"),
                                field("Accept-Encoding", "br;q=0.6"), field("Accept-Encodings", "zstd")};
    struct bb_head head = {.fields = fields, .field_count = 4};
    assert_int_equal(bb__coding_choose(&head, ALL), BB_CODING_BR);
    head.field_count = 2;
    assert_int_equal(bb__coding_choose(&head, ALL), BB_CODING_GZIP);
}

static void test_a_request_without_the_field_gets_identity(void **state)
{
    (void)state;
    struct bb_field fields[] = {field("Accept-Encodin", "br"), field("Accept-Charset", "br")};
    struct bb_head head = {.fields = fields, .field_count = 2};
    assert_int_equal(bb__coding_choose(&head, ALL), BB_CODING_IDENTITY);
    head.field_count = 0;
    assert_int_equal(bb__coding_choose(&head, ALL), BB_CODING_IDENTITY);
}

/* Each value ends right before an inaccessible page. */
static void test_no_byte_behind_the_value_is_read(void **state)
{
    (void)state;
    static const char whole[] = "x-gzip ; q=0.125 , identity;q=1.000, * ;\tq=0.1,br;q=0.9,zstd;q=1";
    struct guard guard = guard_new(100);
    for (size_t len = 0; len < sizeof whole; len++) {
        struct bb_field only = field("Accept-Encoding", "");
        only.value = guard_put(&guard, whole, len);
        only.value_len = (uint32_t)len;
        struct bb_head head = {.fields = &only, .field_count = 1};
        assert_in_range(bb__coding_choose(&head, ALL), BB_CODING_IDENTITY, BB_CODING_GZIP);
    }
    guard_free(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_named_coding_is_chosen),
        cmocka_unit_test(test_the_highest_q_wins_and_then_our_order),
        cmocka_unit_test(test_q_0_forbids_a_coding),
        cmocka_unit_test(test_an_asterisk_stands_for_codings_that_are_not_named),
        cmocka_unit_test(test_malformed_items_are_ignored),
        cmocka_unit_test(test_blanks_empty_items_and_letter_case),
        cmocka_unit_test(test_the_last_item_of_a_coding_counts),
        cmocka_unit_test(test_all_fields_count),
        cmocka_unit_test(test_a_request_without_the_field_gets_identity),
        cmocka_unit_test(test_no_byte_behind_the_value_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
