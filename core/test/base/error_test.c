/* error_test.c: the texts of the codes and the defaults of the settings in the public header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bontebok.h"

static void test_each_code_has_its_text(void **state)
{
    (void)state;
#define ASSERT_TEXT(name, number, text) assert_string_equal(bb_error_text(name), text);
    BB_CODES(ASSERT_TEXT)
#undef ASSERT_TEXT
    assert_string_equal(bb_error_text(BB_OK), "done");
}

static void test_other_numbers_are_unknown_codes(void **state)
{
    (void)state;
    assert_string_equal(bb_error_text(99), "unknown code");
    assert_string_equal(bb_error_text(-99), "unknown code");
}

static void test_settings_have_their_defaults(void **state)
{
    (void)state;
    struct bb_settings settings;
    memset(&settings, '#', sizeof settings);
    bb_settings_init(&settings);
    assert_int_equal(settings.max_target, 16384);
    assert_int_equal(settings.max_body, 0);
    assert_int_equal(settings.keepalive_timeout, 75000);
    assert_int_equal(settings.chunked_transfer, 1);
    assert_string_equal(settings.spool_dir, "/tmp");
    assert_string_equal(settings.server_name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_code_has_its_text),
        cmocka_unit_test(test_other_numbers_are_unknown_codes),
        cmocka_unit_test(test_settings_have_their_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
