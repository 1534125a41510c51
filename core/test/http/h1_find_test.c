/* h1_find_test.c: fields of a parsed head by their names, and elements of their lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"
#include "http/h1_fields.h"

static void test_fields_are_found_by_their_names(void **state)
{
    (void)state;
    const struct bb_head *head = accepted(BYTES("GET / HTTP/1.1\r\nHost: h\r\nVary: a\r\n"
                                                "vARY:\r\nVaryy: b\r\nVar: c\r\nEtag: d\r\n\r\n"));
    unsigned place = 0;
    assert_ptr_equal(bb__field_next(head, "vary", &place), &head->fields[1]);
    assert_ptr_equal(bb__field_next(head, "vary", &place), &head->fields[2]);
    assert_null(bb__field_next(head, "vary", &place));
    assert_null(bb__field_next(head, "vary", &place));

    bool several = false;
    assert_null(bb__field_only(head, "range", &several).at);
    assert_slice(bb__field_only(head, "etag", &several), "d");
    assert_false(several);
    assert_non_null(bb__field_only(head, "vary", &several).at);
    assert_true(several);
}

static void test_lists_have_elements(void **state)
{
    (void)state;
    static const char *const elements[] = {"", "a b", "", "c;d=\"e", "f\"", ""};
    static const char list[] = " ,\ta b ,, c;d=\"e,f\",";
    struct bb_slice rest = {list, sizeof list - 1}, element;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        assert_true(bb__field_element(&rest, &element));
        assert_slice(element, elements[i]);
    }
    assert_false(bb__field_element(&rest, &element));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_fields_are_found_by_their_names, reset_limits),
        cmocka_unit_test(test_lists_have_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
