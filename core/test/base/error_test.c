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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_code_has_its_text),
        cmocka_unit_test(test_other_numbers_are_unknown_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
