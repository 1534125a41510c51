/* h1_head_test.c: the request line, the grammar of fields, when a head is parsed again, and the corpus
 * requests/NAME.ANSWER.http. ANSWER is the status, "ok", or "more" for a head that is not complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define REST " / HTTP/1.1\r\nHost: h\r\n\r\n"

/* ---- request line ---- */

static void test_a_method_is_a_token(void **state)
{
    (void)state;
    static const char *const methods[] = {"GET",
                                          "get",
                                          "M",
                                          "PROPFIND",
                                          "VERSION-CONTROL",
                                          "!#$%&'*+-.^_`|~09azAZ",
                                          "A234567890123456789012345678901",
                                          "A2345678901234567890123456789012"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char bytes[128];
        int len = snprintf(bytes, sizeof bytes, "%s%s", methods[i], REST);
        assert_slice(accepted(bytes, (size_t)len)->method, methods[i]);
    }
    assert_int_equal(code_of(BYTES(REST)), 400);
    assert_int_equal(code_of(BYTES("G@T" REST)), 400);
    assert_int_equal(code_of(BYTES("G\0T" REST)), 400);
    assert_int_equal(code_of(BYTES("GET\t/ HTTP/1.1\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("\x80" REST)), 400);
}

static void test_a_method_that_is_too_long_is_rejected(void **state)
{
    (void)state;
    static char bytes[1024 * 1024];
    memset(bytes, 'M', sizeof bytes);
    assert_int_equal(code_of(bytes, 32), BB_AGAIN);
    assert_int_equal(code_of(bytes, 33), 501);
    assert_int_equal(code_of(bytes, sizeof bytes), 501);
    bytes[32] = '\r';
    assert_int_equal(code_of(bytes, sizeof bytes), 400);
    bytes[32] = ' ';
    assert_int_equal(code_of(bytes, 33), BB_AGAIN);
}

static void test_the_method_is_set_as_soon_as_it_is_read(void **state)
{
    (void)state;
    assert_slice(parse(BYTES("HEAD / HTTP/1.1\r\n\r\n"))->head.method, "HEAD");
    assert_slice(parse(BYTES("HEAD /"))->head.method, "HEAD");
    assert_null(parse(BYTES("HEAD"))->head.method.at);
    assert_null(parse(BYTES("HE@D "))->head.method.at);
}

static void test_only_http_1_is_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        int code, minor;
    } cases[] = {
        {"HTTP/1.1", BB_OK, 1},  {"HTTP/1.0", BB_OK, 0},
        {"HTTP/1.2", BB_OK, 1},  {"HTTP/1.9", BB_OK, 1},
        {"HTTP/2.0", 505, 0},    {"HTTP/0.9", 505, 0},
        {"HTTP/3.0", 505, 0},    {"HTTP/9.9", 505, 0},
        {"HTTP/2.0x", 505, 0},   {"http/1.1", 400, 0},
        {"Http/1.1", 400, 0},    {"HTTP/1.10", 400, 0},
        {"HTTP/11.1", 400, 0},   {"HTTP/1,1", 400, 0},
        {"HTTP/1", 400, 0},      {"HTTP/2", 400, 0},
        {"HTTP/1.", 400, 0},     {"HTTP/.1", 400, 0},
        {"HTTP/1.1 ", 400, 0},   {" HTTP/1.1", 400, 0},
        {"HTTP/1.a", 400, 0},    {"HTTP/+1.1", 400, 0},
        {"HTTP /1.1", 400, 0},   {"HTTPS/1.1", 400, 0},
        {"HTT", 400, 0},         {"", 400, 0},
        {"ICY/1.1", 400, 0},     {"HTTP/1.1\t", 400, 0},
        {"HTTP/1.1\r", 400, 0},  {"HTTP/1.1\nA", 400, 0},
        {"HTTP/1.1\rA", 400, 0}, {"HTTP/\xb1.1", 400, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[128];
        int len = snprintf(bytes, sizeof bytes, "GET / %s\r\nHost: h\r\n\r\n", cases[i].version);
        const struct outcome *outcome = parse(bytes, (size_t)len);
        if (outcome->code != cases[i].code) fail_msg("\"%s\": %d", cases[i].version, outcome->code);
        if (outcome->code == BB_OK) assert_int_equal(outcome->head.minor_version, cases[i].minor);
    }
    assert_int_equal(code_of(BYTES("GET /\r\n")), 400);
    assert_int_equal(code_of(BYTES("GET / HTTP/1.1\n\nHost: h\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("GET /\tHTTP/1.1\r\nHost: h\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("GET /#HTTP/1.1\r\nHost: h\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("GET  HTTP/2.0\r\nHost: h\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), 505);
}

static void test_one_empty_line_before_a_request_is_ignored(void **state)
{
    (void)state;
    (void)accepted(BYTES("\r\nGET" REST));
    assert_int_equal(code_of(BYTES("\r\n\r\nGET" REST)), 400);
    assert_int_equal(code_of(BYTES("\nGET" REST)), 400);
    assert_int_equal(code_of(BYTES("\rGET" REST)), 400);
    assert_int_equal(code_of(BYTES(" GET" REST)), 400);
    assert_int_equal(code_of(BYTES("\r\n")), BB_AGAIN);
    assert_int_equal(code_of(BYTES("\r")), BB_AGAIN);
    assert_int_equal(code_of(BYTES("")), BB_AGAIN);
}

/* ---- field lines ---- */

static int code_of_line(const char *line, size_t len)
{
    char bytes[256];
    size_t before = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: h\r\n");
    memcpy(bytes + before, line, len);
    memcpy(bytes + before + len, "\r\n\r\n", 4);
    return code_of(bytes, before + len + 4);
}

static void test_malformed_field_lines_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } lines[] = {
        {BYTES(":")},
        {BYTES(": a")},
        {BYTES(" : a")},
        {BYTES("A : b")},
        {BYTES("A\t: b")},
        {BYTES(" A: b")},
        {BYTES("\tA: b")},
        {BYTES("A: b\r\n c")},
        {BYTES("A: b\r\n\tc")},
        {BYTES("A")},
        {BYTES("A b: c")},
        {BYTES("A\0: b")},
        {BYTES("A: b\0c")},
        {BYTES("A: b\nC: d")},
        {BYTES("A: b\rC: d")},
        {BYTES("A: b\r\rC: d")},
        {BYTES("A: b\n\r\n")},
        {BYTES("A:\r")},
        {BYTES("A:\n")},
        {BYTES("A: \x7f")},
        {BYTES("A: \x1b[0m")},
        {BYTES("A(b): c")},
        {BYTES("A/b: c")},
        {BYTES("\xc3\xa9: c")},
        {BYTES("A@: b")},
        {BYTES("A[]: b")},
        {BYTES("Host")},
        {BYTES("Host : h")},
        {BYTES("\rA: b")},
        {BYTES("\nA: b")},
        {BYTES("A: b\x0b")},
        {BYTES("A: b\0\nC: d")},
        {BYTES("A: b\n\nC: d")},
        {BYTES("A: b\x7f\nC: d")},
        {BYTES("A: b\x0c"
               "c")},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (code_of_line(lines[i].bytes, lines[i].len) != 400) fail_msg("%s", lines[i].bytes);
}

static void test_field_values_lose_their_surrounding_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *line, *value;
    } cases[] = {
        {"A:b", "b"},
        {"A: b", "b"},
        {"A:\t b c\t d \t", "b c\t d"},
        {"A:", ""},
        {"A: \t ", ""},
        {"A: :b:", ":b:"},
        {"A: caf\xc3\xa9 \x80\xff", "caf\xc3\xa9 \x80\xff"},
        {"A: a value that is longer than two of the blocks of sixteen bytes",
         "a value that is longer than two of the "
         "blocks of sixteen bytes"},
        {"A-name-that-is-longer-than-two-of-the-blocks-of-sixteen-bytes-and-than-a-learned-one: b", "b"},
        {"!#$%&'*+-.^`|~09azAZ: b", "b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[256];
        int len = snprintf(bytes, sizeof bytes, "GET / HTTP/1.0\r\n%s\r\n\r\n", cases[i].line);
        const struct bb_head *head = accepted(bytes, (size_t)len);
        assert_int_equal(head->field_count, 1);
        assert_slice((struct bb_slice){head->fields[0].value, head->fields[0].value_len}, cases[i].value);
        assert_int_equal(head->fields[0].name_len, strchr(cases[i].line, ':') - cases[i].line);
    }
}

static void test_names_are_learned_in_their_order(void **state)
{
    (void)state;
    static const char bytes[] = "GET / HTTP/1.0\r\nX-One: a\r\nX-Two: b\r\nX-three: c\r\n\r\n";
    struct bb__field_names *names = bb__field_names_new();
    static struct outcome outcome;
    (void)parse(BYTES(bytes)); /* sets up the guard */
    parse_at_guard(BYTES(bytes), names, &outcome);
    uint8_t previous = 0;
    for (unsigned i = 0; i < 3; i++) {
        const struct bb_field *field = &outcome.head.fields[i];
        const struct bb__guess *guess = &names->after[previous];
        assert_true(bb__guess_holds(guess, field->name, field->value));
        assert_int_equal(guess->name.id, field->id);
        previous = field->id;
    }
    bb__field_names_free(names);
}

static void test_bytes_behind_a_head_are_not_read(void **state)
{
    (void)state;
    static const char two[] = "GET /1"
                              " HTTP/1.0\r\n\r\n"
                              "\r\n\n\0 anything";
    const struct outcome *outcome = parse(BYTES(two));
    assert_int_equal(outcome->code, BB_OK);
    assert_int_equal(outcome->head_len, strlen("GET /1 HTTP/1.0\r\n\r\n"));
}

/* ---- when a head is parsed again ---- */

static bool ended(const char *bytes, size_t before)
{
    if (!head_guard.map) head_guard = guard_new(LONGEST_HEAD);
    size_t len = strlen(bytes), seen = before;
    bool result = bb__head_ended(guard_put(&head_guard, bytes, len), len, &seen);
    assert_int_equal(seen, len);
    return result;
}

static void test_a_head_that_may_have_ended_is_parsed_again(void **state)
{
    (void)state;
    static const char whole[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    size_t len = strlen(whole);
    for (size_t before = 0; before < len; before++) assert_true(ended(whole, before));
    assert_false(ended(whole, len));
    assert_false(ended("GET / HTTP/1.1\r\nHost: h\r\n\r", 0));
    assert_false(ended("GET / HTTP/1.1\r\nHost: h\r\nA", 3));
    assert_true(ended("GET / HTTP/1.1\r\nHost: h\n", 3));
    assert_true(ended("\n", 0));
    size_t none = 0;
    assert_true(bb__head_ended(guard_put(&head_guard, "\r\n", 2) + 1, 1,
                               &none)); /* the CR before this LF does not belong to the head */
    assert_false(ended("\r\n", 0));
    assert_true(ended("\r\n\r\n", 2));
    assert_false(ended("GET / HTTP/1.1\r\nHost: h\n", strlen("GET / HTTP/1.1\r\nHost: h\n")));
}

/* ---- the corpus ---- */

static int expected_code(const char *file)
{
    char name[128], word[8];
    if (sscanf(file, "%127[^.].%7[^.].http", name, word) != 2) fail_msg("%s: no code in its name", file);
    if (strcmp(word, "ok") == 0) return BB_OK;
    if (strcmp(word, "more") == 0) return BB_AGAIN;
    int status = atoi(word);
    if (status < 400 || status > 599) fail_msg("%s: no status in its name", file);
    return status;
}

static size_t read_request(const char *file, char *bytes, size_t room)
{
    char path[512];
    (void)snprintf(path, sizeof path, "test/requests/%s", file);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t len = fread(bytes, 1, room, stream);
    assert_true(len < room);
    (void)fclose(stream);
    return len;
}

static void test_each_request_of_the_corpus_is_answered_as_its_name_says(void **state)
{
    (void)state;
    DIR *directory = opendir("test/requests"); /* relative to core/, where make runs the test */
    assert_non_null(directory);
    static char bytes[128 * 1024];
    unsigned requests = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        size_t len = read_request(entry->d_name, bytes, sizeof bytes);
        int code = code_of(bytes, len), expected = expected_code(entry->d_name);
        if (code != expected) fail_msg("%s: %d", entry->d_name, code);
        requests++;
    }
    (void)closedir(directory);
    assert_true(requests > 100);
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_method_is_a_token),
        TEST(test_a_method_that_is_too_long_is_rejected),
        TEST(test_the_method_is_set_as_soon_as_it_is_read),
        TEST(test_only_http_1_is_accepted),
        TEST(test_one_empty_line_before_a_request_is_ignored),
        TEST(test_malformed_field_lines_are_rejected),
        TEST(test_field_values_lose_their_surrounding_blanks),
        TEST(test_names_are_learned_in_their_order),
        TEST(test_bytes_behind_a_head_are_not_read),
        TEST(test_a_head_that_may_have_ended_is_parsed_again),
        TEST(test_each_request_of_the_corpus_is_answered_as_its_name_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
