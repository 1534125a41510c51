/* log_escape_test.c: the escaping of logged values. The code under test scans 8 bytes at once. The test puts
 * each byte at each place of a value, and compares the result with rules for single bytes. A value that is
 * too long is cut between two escapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "log/log_escape.h"
#include "support/guard.h"

#define LONGEST 20

typedef char *(*escape)(char *to, size_t *spare, struct bb_slice bytes);

static struct guard guard;

/* Returns the escaped value as a string. *spare: free bytes before the call, then free bytes after it. */
static const char *escaped(escape how, const char *bytes, size_t len, size_t *spare)
{
    static char text[6 * LONGEST + 4];
    *how(text, spare, (struct bb_slice){guard_put(&guard, bytes, len), len}) = '\0';
    return text;
}

static void expect(char *to, unsigned char byte, bool json)
{
    bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
    if (plain)
        sprintf(to, "%c", byte);
    else if (!json)
        sprintf(to, "\\x%02x", byte);
    else if (byte == '"' || byte == '\\')
        sprintf(to, "\\%c", byte);
    else
        sprintf(to, byte < 0x80 ? "\\u%04x" : "\\ufffd", byte);
}

static void test_each_byte_at_each_place_is_escaped(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            for (size_t at = 0; at < LONGEST; at++) {
                char bytes[LONGEST], unit[8], expected[2 * LONGEST + 8];
                memset(bytes, 'a', sizeof bytes);
                bytes[at] = (char)byte;
                expect(unit, (unsigned char)byte, json);
                snprintf(expected, sizeof expected, "%.*s%s%.*s", (int)at, "aaaaaaaaaaaaaaaaaaaa", unit,
                         (int)(LONGEST - 1 - at), "aaaaaaaaaaaaaaaaaaaa");
                size_t spare = 100;
                assert_string_equal(
                    escaped(json ? bb__log_escape_json : bb__log_escape, bytes, sizeof bytes, &spare),
                    expected);
                assert_int_equal(spare, 100 - strlen(expected));
            }
        }
    }
}

static void test_a_long_value_is_cut_between_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t room;
        const char *plain, *json;
    } examples[] = {
        {"abc", 3, "abc", "abc"},
        {"abc", 2, "ab...", "ab..."},
        {"abcdefghij", 9, "abcdefghi...", "abcdefghi..."},
        {"a\x01z", 4, "a...", "a..."},
        {"a\x01", 5, "a\\x01", "a..."},
        {"a\x01", 7, "a\\x01", "a\\u0001"},
        {"\xc3\xa4", 1, "...", "..."},
        {"\xc3\xa4", 2, "...", "\xc3\xa4"},
        {"", 0, "", ""},
        {"a", 0, "...", "..."},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        size_t len = strlen(examples[i].bytes), spare = examples[i].room;
        assert_string_equal(escaped(bb__log_escape, examples[i].bytes, len, &spare), examples[i].plain);
        spare = examples[i].room;
        assert_string_equal(escaped(bb__log_escape_json, examples[i].bytes, len, &spare), examples[i].json);
    }
}

/* RFC 3629 3 and 4 define valid UTF-8. */
static void test_json_keeps_valid_utf8_only(void **state)
{
    (void)state;
    static const char *const whole[] = {"\xc2\xa0",         "\xdf\xbf",        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",     "\xee\x80\x80",    "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const broken[] = {"\x80",
                                         "\xc1\xbf",
                                         "\xc2\x80", /* U+0080, a C1 control character */
                                         "\xc2",
                                         "\xc3(",
                                         "\xe0\x9f\xbf",
                                         "\xed\xa0\x80",
                                         "\xe2\x82",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\xff"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        size_t spare = 100;
        assert_string_equal(escaped(bb__log_escape_json, whole[i], strlen(whole[i]), &spare), whole[i]);
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        size_t spare = 100;
        const char *text = escaped(bb__log_escape_json, broken[i], strlen(broken[i]), &spare);
        assert_memory_equal(text, "\\ufffd", 6);
        for (; *text; text++) assert_true((unsigned char)*text < 0x80);
    }
}

static int make_guard(void **state)
{
    (void)state;
    guard = guard_new(LONGEST);
    return 0;
}

static int free_guard(void **state)
{
    (void)state;
    guard_free(&guard);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_byte_at_each_place_is_escaped),
        cmocka_unit_test(test_a_long_value_is_cut_between_escapes),
        cmocka_unit_test(test_json_keeps_valid_utf8_only),
    };
    return cmocka_run_group_tests_name("log_escape", tests, make_guard, free_guard);
}
