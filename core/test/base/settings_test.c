/* settings_test.c: the default settings, and settings that come as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bontebok.h"
#include "support/guard.h"

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
    assert_string_equal(settings.trusted_proxies, "unix 127.0.0.0/8 ::1");
    assert_string_equal(settings.access_log_format, "combined");
}

struct row {
    const char *name, *text;
    uint64_t number;
};

static void test_texts_become_numbers(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"chunked_transfer", "true", 1},
        {"chunked_transfer", "YES", 1},
        {"chunked_transfer", "On", 1},
        {"chunked_transfer", "1", 1},
        {"chunked_transfer", "false", 0},
        {"chunked_transfer", "no", 0},
        {"chunked_transfer", "oFF", 0},
        {"chunked_transfer", "0", 0},
        {"max_fields", "0", 0},
        {"max_fields", "007", 7},
        {"max_fields", "18446744073709551615", UINT64_MAX},
        {"max_body", "65536", 65536},
        {"max_body", "5b", 5},
        {"max_body", "64K", 65536},
        {"max_body", "64k", 65536},
        {"max_body", "64KB", 65536},
        {"max_body", "64KiB", 65536},
        {"max_body", "2M", UINT64_C(2) << 20},
        {"max_body", "3gib", UINT64_C(3) << 30},
        {"max_body", "17179869183G", UINT64_C(17179869183) << 30},
        {"body_timeout", "0", 0},
        {"body_timeout", "0.0", 0},
        {"body_timeout", "30", 30000},
        {"body_timeout", "30s", 30000},
        {"body_timeout", "0.5", 500},
        {"body_timeout", "1.5m", 90000},
        {"body_timeout", "500ms", 500},
        {"body_timeout", "0.5ms", 1},
        {"body_timeout", "1.4999999999ms", 1},
        {"body_timeout", "2m", 120000},
        {"body_timeout", "1h", 3600000},
        {"body_timeout", "8760h", UINT64_C(31536000000)},
    };
    char fault[BB_FAULT_MAX];
    struct guard guard = guard_new(4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bb_settings settings;
        bb_settings_init(&settings);
        const char *text = guard_put(&guard, rows[i].text, strlen(rows[i].text) + 1);
        assert_int_equal(bb_settings_set(&settings, rows[i].name, text, fault), BB_OK);
        uint64_t number = rows[i].name[0] == 'c'   ? settings.chunked_transfer
                          : rows[i].name[0] == 'b' ? settings.body_timeout
                          : rows[i].name[4] == 'b' ? settings.max_body
                                                   : settings.max_fields;
        assert_true(number == rows[i].number);
    }
    guard_free(&guard);
}

static const char *const a_switch = "must be true or false", *const a_count = "must be a whole number",
                         *const a_size = "must be a size such as 65536, 64K, 1M or 2G",
                         *const a_time = "must be a time such as 30, 0.5, 500ms, 2m or 1h",
                         *const a_year = "must be a time of at most a year",
                         *const a_moment = "must be a time of at least 1 ms, or 0";
static const struct {
    const char *name, *text;
    const char *const *fault;
} wrong[] = {
    {"chunked_transfer", "", &a_switch},
    {"chunked_transfer", "2", &a_switch},
    {"chunked_transfer", "tru", &a_switch},
    {"chunked_transfer", "truee", &a_switch},
    {"chunked_transfer", "on ", &a_switch},
    {"max_fields", "", &a_count},
    {"max_fields", "-1", &a_count},
    {"max_fields", "+1", &a_count},
    {"max_fields", " 1", &a_count},
    {"max_fields", "1 ", &a_count},
    {"max_fields", "1.0", &a_count},
    {"max_fields", "1K", &a_count},
    {"max_fields", "0x1", &a_count},
    {"max_fields", "18446744073709551616", &a_count},
    {"max_fields", "184467440737095516150", &a_count},
    {"max_body", "", &a_size},
    {"max_body", "K", &a_size},
    {"max_body", "1T", &a_size},
    {"max_body", "1iB", &a_size},
    {"max_body", "1Ki", &a_size},
    {"max_body", "1KBB", &a_size},
    {"max_body", "1 K", &a_size},
    {"max_body", "1.5M", &a_size},
    {"max_body", "17179869184G", &a_size},
    {"body_timeout", "", &a_time},
    {"body_timeout", "s", &a_time},
    {"body_timeout", ".5", &a_time},
    {"body_timeout", "5.", &a_time},
    {"body_timeout", "5.s", &a_time},
    {"body_timeout", "1.2.3", &a_time},
    {"body_timeout", "1,5", &a_time},
    {"body_timeout", "1d", &a_time},
    {"body_timeout", "1M", &a_time},
    {"body_timeout", "1 s", &a_time},
    {"body_timeout", "-1", &a_time},
    {"body_timeout", "99999999999999999999", &a_time},
    {"body_timeout", "8761h", &a_year},
    {"body_timeout", "31536001", &a_year},
    {"body_timeout", "0.0004", &a_moment},
    {"body_timeout", "0.4ms", &a_moment},
};

static void test_wrong_texts_change_nothing_and_are_explained(void **state)
{
    (void)state;
    struct bb_settings before, settings;
    bb_settings_init(&before);
    bb_settings_init(&settings);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char fault[BB_FAULT_MAX] = "";
        assert_int_equal(bb_settings_set(&settings, wrong[i].name, wrong[i].text, fault), BB_EFORMAT);
        assert_string_equal(fault, *wrong[i].fault);
        assert_true(settings.chunked_transfer == before.chunked_transfer);
        assert_true(settings.max_fields == before.max_fields);
        assert_true(settings.max_body == before.max_body);
        assert_true(settings.body_timeout == before.body_timeout);
    }
}

static void test_a_text_must_have_room(void **state)
{
    (void)state;
    struct bb_settings settings;
    char fault[BB_FAULT_MAX], longest[64], longer[65];
    memset(longest, 'x', sizeof longest);
    memset(longer, 'x', sizeof longer);
    longest[63] = longer[64] = '\0';
    bb_settings_init(&settings);
    assert_int_equal(bb_settings_set(&settings, "server_name", longest, fault), BB_OK);
    assert_string_equal(settings.server_name, longest);
    assert_int_equal(bb_settings_set(&settings, "server_name", longer, fault), BB_EFORMAT);
    assert_string_equal(fault, "must have at most 63 bytes");
    assert_string_equal(settings.server_name, longest);
    assert_int_equal(bb_settings_set(&settings, "server_name", "", fault), BB_OK);
    assert_string_equal(settings.server_name, "");
}

static void test_each_setting_has_its_kind(void **state)
{
    (void)state;
#define ASSERT_NUMBER(name, kind, default_value) assert_int_equal(bb_settings_kind(#name), BB_SETTING_##kind);
#define ASSERT_TEXT(name, size, default_value)   assert_int_equal(bb_settings_kind(#name), BB_SETTING_TEXT);
    BB_SETTINGS(ASSERT_NUMBER)
    BB_SETTINGS_TEXT(ASSERT_TEXT)
    assert_int_equal(bb_settings_kind("max_bodies"), BB_SETTING_UNKNOWN);
    assert_int_equal(bb_settings_kind(""), BB_SETTING_UNKNOWN);

    struct bb_settings settings;
    char fault[BB_FAULT_MAX];
    assert_int_equal(bb_settings_set(&settings, "max_bodies", "1", fault), BB_EFORMAT);
    assert_string_equal(fault, "is no setting");
}

static void test_a_server_name_cannot_become_another_field(void **state)
{
    (void)state;
    struct bb_settings settings;
    struct bb_worker *worker = NULL;
    bb_settings_init(&settings);
    strcpy(settings.server_name, "x\r\nSet-Cookie: a");
    assert_int_equal(bb_worker_new(&worker, &settings), BB_EFORMAT);
    strcpy(settings.server_name, "x y");
    assert_int_equal(bb_worker_new(&worker, &settings), BB_OK);
    assert_int_equal(bb_worker_free(worker), BB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_have_their_defaults),
        cmocka_unit_test(test_texts_become_numbers),
        cmocka_unit_test(test_wrong_texts_change_nothing_and_are_explained),
        cmocka_unit_test(test_a_text_must_have_room),
        cmocka_unit_test(test_each_setting_has_its_kind),
        cmocka_unit_test(test_a_server_name_cannot_become_another_field),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
