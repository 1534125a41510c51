/* h1_fields_test.c: the fields that the core interprets: accepted and rejected values for each rule, fields
 * that the application does not get, and repeated fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"

#include <stdio.h>

static char request[8192];

/* Builds a request with these field lines. A "\n" in the lines stands for CRLF. Returns the length of the
 * request. */
static size_t with_fields(const char *start, const char *lines)
{
    size_t len = (size_t)snprintf(request, sizeof request, "%s\r\n", start);
    for (; *lines; lines++) {
        if (*lines == '\n') request[len++] = '\r';
        request[len++] = *lines;
    }
    memcpy(request + len, "\r\n", 2);
    return len + 2;
}

static size_t as_1_1(const char *lines)
{
    char all[4096];
    (void)snprintf(all, sizeof all, "Host: h\n%s", lines);
    return with_fields("POST / HTTP/1.1", all);
}

static int code_1_1(const char *lines)
{
    return code_of(request, as_1_1(lines));
}

static int code_1_0(const char *lines)
{
    return code_of(request, with_fields("POST / HTTP/1.0", lines));
}

static const struct bb_head *accepted_1_1(const char *lines)
{
    return accepted(request, as_1_1(lines));
}

static const struct bb_head *accepted_1_0(const char *lines)
{
    return accepted(request, with_fields("POST / HTTP/1.0", lines));
}

static void test_host_is_required_once_and_must_be_valid(void **state)
{
    (void)state;
    const struct bb_head *head = accepted(BYTES("GET / HTTP/1.1\r\nA: b\r\nhOST:\t a.example:80 \t\r\n\r\n"));
    assert_slice(head->authority, "a.example:80");
    assert_slice(head->host, "a.example");
    assert_slice(head->port, "80");
    assert_int_equal(head->fields[1].kind, BB_FIELD_HOST);

    static const char *const refused[] = {"",
                                          "A: b\n",
                                          "Host:\n",
                                          "Host: \n",
                                          "Host: a b\n",
                                          "Host: a,b c\n",
                                          "Host: :80\n",
                                          "Host: a\nHost: a\n",
                                          "Host: a\nA: b\nHOST: b\n",
                                          "Host: http://a\n",
                                          "Host: u@a\n",
                                          "Host: a:b\n",
                                          "Host: a/\n",
                                          "Host_: a\n",
                                          "Host: \x80\n"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (code_of(request, with_fields("GET / HTTP/1.1", refused[i])) != 400) fail_msg("%s", refused[i]);
}

static void test_host_is_optional_in_http_1_0(void **state)
{
    (void)state;
    const struct bb_head *head = accepted_1_0("");
    assert_null(head->authority.at);
    assert_null(head->host.at);
    head = accepted_1_0("Host:\n");
    assert_null(head->authority.at);
    assert_int_equal(head->field_count, 1);
    head = accepted_1_0("Host: a:1\n");
    assert_slice(head->authority, "a:1");
    assert_int_equal(code_1_0("Host: a\nHost: a\n"), 400);
    assert_int_equal(code_1_0("Host:\nHost:\n"), 400);
    assert_int_equal(code_1_0("Host: a b\n"), 400);
}

static void test_content_length_must_be_one_number(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        uint64_t length;
    } accepted_values[] = {
        {"0", 0},
        {"5", 5},
        {" \t12 \t", 12},
        {"0005", 5},
        {"00000000000000000000000000007", 7},
        {"18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof accepted_values / sizeof *accepted_values; i++) {
        char lines[128];
        (void)snprintf(lines, sizeof lines, "Content-Length:%s\n", accepted_values[i].value);
        const struct bb_head *head = accepted_1_1(lines);
        assert_true(head->has_length);
        assert_true(head->content_length == accepted_values[i].length);
        assert_true(accepted_1_0(lines)->content_length == accepted_values[i].length);
    }
    assert_false(accepted_1_1("")->has_length);
    assert_false(accepted_1_1("")->chunked);

    static const char *const refused[] = {
        "",
        " ",
        "-",
        "/",
        "+",
        ".",
        ":",
        "+5",
        "-5",
        "5,5",
        "5, 5",
        "5 5",
        "5;",
        "0x5",
        "5.0",
        "5e1",
        "five",
        "\"5\"",
        "5\xc2\xa0",
        ",5",
        "18446744073709551616",
        "28446744073709551615",
        "99999999999999999999",
        "184467440737095516150",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char lines[128];
        (void)snprintf(lines, sizeof lines, "Content-Length: %s\n", refused[i]);
        if (code_1_1(lines) != 400 || code_1_0(lines) != 400) fail_msg("%s", refused[i]);
    }
    assert_int_equal(code_1_1("Content-Length: 5\nContent-Length: 5\n"), 400);
    assert_int_equal(code_1_1("Content-Length: 0\ncontent-length: 0\n"), 400);
    assert_int_equal(code_1_1("Content-Length: 5\nA: b\nCONTENT-LENGTH: 6\n"), 400);
}

static void test_transfer_encoding_must_be_chunked(void **state)
{
    (void)state;
    static const char *const accepted_values[] = {"chunked", "Chunked", "CHUNKED", "\tchunked \t"};
    for (size_t i = 0; i < sizeof accepted_values / sizeof *accepted_values; i++) {
        char lines[128];
        (void)snprintf(lines, sizeof lines, "Transfer-Encoding: %s\n", accepted_values[i]);
        assert_true(accepted_1_1(lines)->chunked);
        assert_int_equal(code_1_0(lines), 400);
    }
    static const struct {
        const char *value;
        int code;
    } refused[] = {
        {"", 400},
        {",", 400},
        {"chunked,", 400},
        {",chunked", 400},
        {"chunked,,chunked", 400},
        {"chunked, chunked", 400},
        {"chunked;a=b", 400},
        {"chunked ;", 400},
        {"\"chunked\"", 400},
        {"chunked chunked", 400},
        {"chunked\xff", 400},
        {"gzip chunked", 400},
        {"(chunked)", 400},
        {"identity", 501},
        {"gzip", 501},
        {"gzip, chunked", 501},
        {"chunked, gzip", 501},
        {"chunked, identity", 501},
        {"xchunked", 501},
        {"chunkedx", 501},
        {"chunke", 501},
        {"gzip;q=1, chunked", 501},
        {"gzip ; q=1, chunked", 501},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char lines[128];
        (void)snprintf(lines, sizeof lines, "Transfer-Encoding: %s\n", refused[i].value);
        if (code_1_1(lines) != refused[i].code) fail_msg("%s", refused[i].value);
        assert_int_equal(code_1_0(lines), 400);
    }
    assert_int_equal(code_1_1("Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n"), 400);
    assert_int_equal(code_1_1("Transfer-Encoding: gzip\nTransfer-Encoding: chunked\n"), 501);
    assert_int_equal(code_1_1("Transfer-Encoding: chunked\nA: b\ntransfer-encoding: gzip\n"), 501);
}

static void test_a_request_with_both_framings_is_rejected(void **state)
{
    (void)state;
    assert_int_equal(code_1_1("Content-Length: 5\nTransfer-Encoding: chunked\n"), 400);
    assert_int_equal(code_1_1("Transfer-Encoding: chunked\nContent-Length: 5\n"), 400);
    assert_int_equal(code_1_1("Content-Length: 0\nA: b\nTransfer-Encoding: gzip\n"), 400);
}

static void test_connection_options_decide_about_keep_alive(void **state)
{
    (void)state;
    static const struct {
        const char *lines;
        bool keep_1_1, keep_1_0;
    } cases[] = {
        {"", true, false},
        {"Connection: keep-alive\n", true, true},
        {"Connection: Keep-Alive\n", true, true},
        {"Connection: close\n", false, false},
        {"CONNECTION: CLOSE\n", false, false},
        {"Connection: keep-alive, close\n", false, false},
        {"Connection: close, keep-alive\n", false, false},
        {"Connection: upgrade ,\tkeep-alive\n", true, true},
        {"Connection: a,close ,b\n", false, false},
        {"Connection: a\nConnection: close\n", false, false},
        {"Connection: a\nB: c\nConnection: keep-alive\n", true, true},
        {"Connection: keep-alive\nConnection: close\n", false, false},
        {"Connection:\n", true, false},
        {"Connection: ,\n", true, false},
        {"Connection: closed\n", true, false},
        {"Connection: clos\n", true, false},
        {"Connection: keep-alive2\n", true, false},
        {"Connection: not close\n", true, false},
        {"Keep-Alive: 115\n", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(accepted_1_1(cases[i].lines)->keep_alive, cases[i].keep_1_1);
        assert_int_equal(accepted_1_0(cases[i].lines)->keep_alive, cases[i].keep_1_0);
    }
}

static void test_upgrade_needs_the_connection_option(void **state)
{
    (void)state;
    assert_true(accepted_1_1("Connection: Upgrade\nUpgrade: websocket\n")->upgrade);
    assert_true(accepted_1_1("upgrade: a, b/1\nConnection: keep-alive, uPgrade\n")->upgrade);
    assert_false(accepted_1_1("Upgrade: websocket\n")->upgrade);
    assert_false(accepted_1_1("Connection: Upgrade\n")->upgrade);
    assert_false(accepted_1_1("Connection: Upgrade\nUpgrade:\n")->upgrade);
    assert_false(accepted_1_1("Connection: Upgraded\nUpgrade: websocket\n")->upgrade);
    assert_false(accepted_1_0("Connection: Upgrade\nUpgrade: websocket\n")->upgrade);
}

static void test_expect_must_be_100_continue(void **state)
{
    (void)state;
    assert_true(accepted_1_1("Expect: 100-continue\n")->expect_continue);
    assert_true(accepted_1_1("expect: 100-CONTINUE\n")->expect_continue);
    assert_false(accepted_1_1("")->expect_continue);
    assert_false(accepted_1_0("Expect: 100-continue\n")->expect_continue);
    /* RFC 9110 5.6.1: empty elements of a list count for nothing. */
    assert_false(accepted_1_1("Expect:\n")->expect_continue);
    assert_false(accepted_1_1("Expect: , ,\n")->expect_continue);
    assert_true(accepted_1_1("Expect: 100-continue,\n")->expect_continue);
    assert_true(accepted_1_1("Expect: 100-continue\nExpect:\n")->expect_continue);
    static const char *const refused[] = {
        "100", "100-continu",    "100-continuex",   "200-ok", "100-continue, a",
        ",a",  "100-continue;a", "\"100-continue\""};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char lines[128];
        (void)snprintf(lines, sizeof lines, "Expect: %s\n", refused[i]);
        assert_int_equal(code_1_1(lines), 417);
        assert_int_equal(code_1_0(lines), 417);
    }
}

static void test_proxy_and_names_with_underscores_are_not_handed_out(void **state)
{
    (void)state;
    const struct bb_head *head =
        accepted_1_1("Proxy: http://evil/\nA: b\nPROXY: c\nX_Real-IP: d\nX-Real-IP: e\n"
                     "Content_Length: 5\nTransfer_Encoding: gzip\n_: f\n");
    assert_int_equal(head->field_count, 3);
    assert_slice((struct bb_slice){head->fields[1].value, head->fields[1].value_len}, "b");
    assert_slice((struct bb_slice){head->fields[2].value, head->fields[2].value_len}, "e");
    assert_false(head->has_length);
    assert_false(head->chunked);
    assert_false(head->repeats);
}

static void test_names_with_underscores_are_handed_out_if_allowed(void **state)
{
    (void)state;
    limits.allow_underscores = true;
    const struct bb_head *head = accepted_1_1("X_A: b\nX-A: c\nProxy: d\nContent_Length: 5\nP_roxy: e\n");
    assert_int_equal(head->field_count, 5);
    assert_int_equal(head->fields[1].kind, BB_FIELD_UNDERSCORE);
    assert_int_equal(head->fields[3].kind, BB_FIELD_UNDERSCORE);
    assert_false(head->has_length);
    assert_true(head->repeats); /* X_A and X-A have the same CGI name */
}

static void test_repeated_names_are_found(void **state)
{
    (void)state;
    assert_false(accepted_1_1("Accept: a\nCookie: b\nUser-Agent: c\n")->repeats);
    assert_true(accepted_1_1("Accept: a\nAccept: b\n")->repeats);
    assert_true(accepted_1_1("Cookie: a\nAccept: b\ncookie: c\n")->repeats);
    assert_true(accepted_1_1("X-New: a\nx-new: b\n")->repeats);
}

/* A repeated name is found even if the table is full of other names or the name is too long for the table. */
static void test_repeated_names_are_found_if_they_are_not_learned(void **state)
{
    (void)state;
    struct bb__field_names *names = bb__field_names_new();
    struct bb_field fields[MOST_FIELDS];
    struct bb_head head;
    size_t head_len;
    for (unsigned round = 0; round < 400; round++) {
        int len = snprintf(request, sizeof request, "GET / HTTP/1.0\r\nX-%u: a\r\nA: b\r\nx-%u: c\r\n\r\n",
                           round, round);
        assert_int_equal(bb__head_parse(request, (size_t)len, &limits, names, fields, &head, &head_len),
                         BB_OK);
        assert_true(head.repeats);
    }
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    int len = snprintf(request, sizeof request, "GET / HTTP/1.0\r\n%s: a\r\n%s: b\r\n\r\n", name, name);
    assert_int_equal(bb__head_parse(request, (size_t)len, &limits, names, fields, &head, &head_len), BB_OK);
    assert_true(head.repeats);
    bb__field_names_free(names);
}

static void test_fields_have_their_ids_and_kinds(void **state)
{
    (void)state;
    const struct bb_head *head =
        accepted_1_1("Cookie: a\ncookie: b\nAuthorization: c\ncontent-type: d\nX-Other: e\n");
    static const int kinds[] = {BB_FIELD_HOST,          BB_FIELD_COOKIE,       BB_FIELD_COOKIE,
                                BB_FIELD_AUTHORIZATION, BB_FIELD_CONTENT_TYPE, BB_FIELD_OTHER};
    assert_int_equal(head->field_count, 6);
    for (unsigned i = 0; i < head->field_count; i++) {
        assert_int_equal(head->fields[i].kind, kinds[i]);
        assert_int_not_equal(head->fields[i].id, 0);
    }
    assert_int_equal(head->fields[1].id, head->fields[2].id);
    assert_int_not_equal(head->fields[1].id, head->fields[3].id);
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_host_is_required_once_and_must_be_valid),
        TEST(test_host_is_optional_in_http_1_0),
        TEST(test_content_length_must_be_one_number),
        TEST(test_transfer_encoding_must_be_chunked),
        TEST(test_a_request_with_both_framings_is_rejected),
        TEST(test_connection_options_decide_about_keep_alive),
        TEST(test_upgrade_needs_the_connection_option),
        TEST(test_expect_must_be_100_continue),
        TEST(test_proxy_and_names_with_underscores_are_not_handed_out),
        TEST(test_names_with_underscores_are_handed_out_if_allowed),
        TEST(test_repeated_names_are_found),
        TEST(test_repeated_names_are_found_if_they_are_not_learned),
        TEST(test_fields_have_their_ids_and_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
