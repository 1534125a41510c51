/* h1_scan_test.c: compares each scanner with the grammar. The inputs have each byte value at each place. They
 * are shorter and longer than a block of the scanner, and end right before an inaccessible page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/h1_scan.h"
#include "support/guard.h"

#define LONGEST 50 /* three blocks and a rest */

static struct guard guard;

/* The grammar as the RFCs have it, without the tables under test. */

static bool in_value(unsigned byte)
{
    bool vchar = byte >= 0x21 && byte <= 0x7e;
    bool obs_text = byte >= 0x80;
    return vchar || obs_text || byte == ' ' || byte == '\t';
}

static bool in_target(unsigned byte)
{
    return byte >= 0x21 && byte != 0x7f && byte != '#';
}

static bool in_path(unsigned byte)
{
    return in_target(byte) && byte != '?';
}

static bool in_token(unsigned byte)
{
    bool digit = byte >= '0' && byte <= '9';
    bool alpha = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    return digit || alpha || (byte && strchr("!#$%&'*+-.^_`|~", (int)byte));
}

static const struct scanner {
    const char *name;
    const char *(*scan)(const char *at, const char *end);
    bool (*allowed)(unsigned byte);
} scanners[] = {
    {"value", bb__scan_value, in_value},
    {"target", bb__scan_target, in_target},
    {"path", bb__scan_path, in_path},
    {"token", bb__scan_token, in_token},
};

static size_t expected_stop(const struct scanner *scanner, const char *input, size_t len)
{
    size_t stop = 0;
    while (stop < len && scanner->allowed((uint8_t)input[stop])) stop++;
    return stop;
}

static void check(const struct scanner *scanner, const char *input, size_t len)
{
    size_t expected = expected_stop(scanner, input, len);
    size_t stop = (size_t)(scanner->scan(input, input + len) - input);
    if (stop != expected)
        fail_msg("%s: stopped at %zu instead of %zu of %zu", scanner->name, stop, expected, len);
}

static void each_scanner(void (*examine)(const struct scanner *scanner))
{
    for (size_t i = 0; i < sizeof scanners / sizeof *scanners; i++) examine(&scanners[i]);
}

static void examine_every_byte_at_every_place(const struct scanner *scanner)
{
    for (size_t len = 0; len <= LONGEST; len++) {
        char *input = guard.wall - len;
        memset(input, 'a', len);
        check(scanner, input, len);
        for (size_t place = 0; place < len; place++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                input[place] = (char)byte;
                check(scanner, input, len);
            }
            input[place] = 'a';
        }
    }
}

static void test_each_scanner_stops_at_each_byte_outside_its_grammar(void **state)
{
    (void)state;
    each_scanner(examine_every_byte_at_every_place);
}

static void examine_the_first_of_many(const struct scanner *scanner)
{
    uint32_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = round % (LONGEST + 1);
        char *input = guard.wall - len;
        for (size_t i = 0; i < len; i++) {
            random = random * 1664525u + 1013904223u;
            input[i] = (char)(random >> 28 ? 'a' + (random >> 16) % 26 : random >> 16);
        }
        check(scanner, input, len);
    }
}

static void test_each_scanner_stops_at_the_first_of_many_such_bytes(void **state)
{
    (void)state;
    each_scanner(examine_the_first_of_many);
}

/* The buffer is longer than the bytes that the scanner may read. */
static void examine_bytes_behind_the_end(const struct scanner *scanner)
{
    for (size_t len = 0; len <= LONGEST; len++) {
        char input[LONGEST + 32];
        memset(input, 'a', len);
        memset(input + len, '\0', sizeof input - len);
        assert_ptr_equal(scanner->scan(input, input + len), input + len);
    }
}

static void test_no_byte_behind_the_end_matters(void **state)
{
    (void)state;
    each_scanner(examine_bytes_behind_the_end);
}

static void test_the_table_of_tchars_agrees_with_the_grammar(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) assert_int_equal(bb__is_tchar[byte], in_token(byte));
}

static void test_a_word_is_compared_in_any_letter_case(void **state)
{
    (void)state;
    static const char *const same[] = {"chunked", "Chunked", "CHUNKED", "cHuNkEd"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(bb__is_word(guard_put(&guard, same[i], 7), 7, "chunked"));
    static const char *const others[] = {"",
                                         "chunke",
                                         "chunkedx",
                                         "xchunked",
                                         "chun[ed",
                                         "chun\x0b"
                                         "ed",
                                         "\xc3hunked"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t len = strlen(others[i]);
        assert_false(bb__is_word(guard_put(&guard, others[i], len), len, "chunked"));
    }
    assert_false(bb__is_word("chunked\0", 8, "chunked"));
    assert_false(bb__is_word("\0", 1, ""));
    assert_true(bb__is_word("", 0, ""));
    /* Other pairs of characters differ in the same bit as upper and lower case, but are not equal. */
    assert_true(bb__is_word("HTTP://", 7, "http://"));
    assert_false(bb__is_word("http:\x0f/", 7, "http://"));
    assert_false(bb__is_word("100\rcontinue", 12, "100-continue"));
}

static void test_only_space_and_tab_are_blanks(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++)
        assert_int_equal(bb__is_blank((char)byte), byte == ' ' || byte == '\t');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_scanner_stops_at_each_byte_outside_its_grammar),
        cmocka_unit_test(test_each_scanner_stops_at_the_first_of_many_such_bytes),
        cmocka_unit_test(test_no_byte_behind_the_end_matters),
        cmocka_unit_test(test_the_table_of_tchars_agrees_with_the_grammar),
        cmocka_unit_test(test_a_word_is_compared_in_any_letter_case),
        cmocka_unit_test(test_only_space_and_tab_are_blanks),
    };
    guard = guard_new(LONGEST);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_free(&guard);
    return failed;
}
