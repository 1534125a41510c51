/* mime_types_test.c: media types by extension. test/lint/generated_test.rb compares the whole table with
 * Rack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "representation/mime_table.h"
#include "representation/mime_types.h"
#include "support/guard.h"

#define ENTRIES (sizeof bb__mime_table / sizeof *bb__mime_table)

static const char *type_of(const char *extension)
{
    return bb__mime_type(extension, strlen(extension));
}

static void test_extensions_have_types(void **state)
{
    (void)state;
    static const char *const examples[][2] = {
        {"html", "text/html; charset=utf-8"},
        {"htm", "text/html; charset=utf-8"},
        {"css", "text/css; charset=utf-8"},
        {"js", "text/javascript; charset=utf-8"},
        {"mjs", "text/javascript; charset=utf-8"},
        {"txt", "text/plain; charset=utf-8"},
        {"ecma", "application/ecmascript; charset=utf-8"},
        {"json", "application/json"},
        {"map", "application/json"},
        {"webmanifest", "application/manifest+json"},
        {"xml", "application/xml"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"avif", "image/avif"},
        {"webp", "image/webp"},
        {"jxl", "image/jxl"},
        {"heic", "image/heic"},
        {"woff2", "font/woff2"},
        {"wasm", "application/wasm"},
        {"ico", "image/vnd.microsoft.icon"},
        {"a", "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_string_equal(type_of(examples[i][0]), examples[i][1]);
}

static void test_each_entry_of_the_table_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct bb__mime_entry *entry = &bb__mime_table[i];
        assert_string_equal(bb__mime_type(entry->extension, strnlen(entry->extension, BB_EXTENSION_MAX)),
                            entry->type);
    }
}

static void test_letter_case_does_not_matter(void **state)
{
    (void)state;
    assert_string_equal(type_of("HTML"), "text/html; charset=utf-8");
    assert_string_equal(type_of("WebManifest"), "application/manifest+json");
    assert_string_equal(type_of("ECELP4800"), "audio/vnd.nuera.ecelp4800");
}

/* The bytes of "[" and "{" differ as the letter cases do. */
static void test_other_extensions_have_no_type(void **state)
{
    (void)state;
    static const char *const others[] = {"",
                                         "hx",
                                         "htmll",
                                         "html ",
                                         ".html",
                                         "cs",
                                         "csss",
                                         "zzz",
                                         "ecelp4801",
                                         "\xff",
                                         "FE[",
                                         "webmanifes_",
                                         "webmanifest1",
                                         "fe?launch",
                                         "fe\x7flaunch",
                                         "aaaaaaaaaaaaaaaa",
                                         "aaaaaaaaaaaaaaaaa",
                                         "webmanifest......",
                                         "html............."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (type_of(others[i])) fail_msg("%s has a type", others[i]);
    assert_null(bb__mime_type("css\0", 4));
    assert_null(bb__mime_type("\0", 1));
    assert_null(bb__mime_type(NULL, 0));
}

/* Each extension ends right before an inaccessible page. */
static void test_no_byte_behind_the_extension_is_read(void **state)
{
    (void)state;
    static const char text[] = "webmanifest.webmanifest"; /* webm has a type, too */
    struct guard guard = guard_new(64);
    for (size_t len = 0; len < sizeof text; len++) {
        const char *type = bb__mime_type(guard_put(&guard, text, len), len);
        if (!type != (len != 4 && len != 11)) fail_msg("%zu bytes", len);
    }
    guard_free(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extensions_have_types),
        cmocka_unit_test(test_each_entry_of_the_table_is_found),
        cmocka_unit_test(test_letter_case_does_not_matter),
        cmocka_unit_test(test_other_extensions_have_no_type),
        cmocka_unit_test(test_no_byte_behind_the_extension_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
