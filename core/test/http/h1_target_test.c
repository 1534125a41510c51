/* h1_target_test.c: the forms of a request target (RFC 9112 3.2), and which texts are a host (RFC 3986
 * 3.2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"
#include "http/h1_target.h"

#include <stdio.h>

static const struct bb_head *head_for(const char *request_line)
{
    static char bytes[512];
    int len = snprintf(bytes, sizeof bytes, "%s HTTP/1.1\r\nHost: h\r\n\r\n", request_line);
    return accepted(bytes, (size_t)len);
}

static int code_for(const char *request_line)
{
    char bytes[512];
    int len = snprintf(bytes, sizeof bytes, "%s HTTP/1.1\r\nHost: h\r\n\r\n", request_line);
    return code_of(bytes, (size_t)len);
}

static void test_origin_form_is_split(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *query;
    } cases[] = {
        {"/", "/", ""},
        {"/a/b.html", "/a/b.html", ""},
        {"/a?b=c", "/a", "b=c"},
        {"/a?", "/a", ""},
        {"/?a?b", "/", "a?b"},
        {"//other.example/a", "//other.example/a", ""},
        {"/a/../b/%2e%2E/%zz%", "/a/../b/%2e%2E/%zz%", ""},
        {"/a-path-that-is-longer-than-a-block-of-sixteen?a-query-that-is-longer-than-one-as-well",
         "/a-path-that-is-longer-than-a-block-of-sixteen", "a-query-that-is-longer-than-one-as-well"},
        {"/\xc3\xa9\xff?\x80", "/\xc3\xa9\xff", "\x80"},
        {"/{}|\\^`\"<>", "/{}|\\^`\"<>", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "GET %s", cases[i].target);
        const struct bb_head *head = head_for(line);
        assert_slice(head->target, cases[i].target);
        assert_slice(head->path, cases[i].path);
        assert_slice(head->query, cases[i].query);
        assert_true(!head->query.at == !strchr(cases[i].target, '?'));
        assert_slice(head->authority, "h");
    }
}

static void test_absolute_form_replaces_host(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *query, *authority, *host, *port;
    } cases[] = {
        {"http://a.example/b?c", "/b", "c", "a.example", "a.example", ""},
        {"HTTPS://a.example:8080/", "/", "", "a.example:8080", "a.example", "8080"},
        {"hTTp://a.example", "/", "", "a.example", "a.example", ""},
        {"http://a.example?b/c", "/", "b/c", "a.example", "a.example", ""},
        {"http://[::1]:80/?http://b/", "/", "http://b/", "[::1]:80", "[::1]", "80"},
        {"http://a:/b", "/b", "", "a:", "a", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "GET %s", cases[i].target);
        const struct bb_head *head = head_for(line);
        assert_slice(head->target, cases[i].target);
        assert_slice(head->path, cases[i].path);
        assert_slice(head->query, cases[i].query);
        assert_slice(head->authority, cases[i].authority);
        assert_slice(head->host, cases[i].host);
        assert_slice(head->port, cases[i].port);
        assert_slice((struct bb_slice){head->fields[0].value, head->fields[0].value_len}, cases[i].authority);
    }
}

static void test_absolute_form_needs_no_host_in_http_1_0(void **state)
{
    (void)state;
    const struct bb_head *head = accepted(BYTES("GET http://a.example:81/ HTTP/1.0\r\n\r\n"));
    assert_slice(head->authority, "a.example:81");
    assert_slice(head->host, "a.example");
    assert_slice(head->port, "81");
    head = accepted(BYTES("GET http://a.example/ HTTP/1.0\r\nHost:\r\n\r\n"));
    assert_slice((struct bb_slice){head->fields[0].value, head->fields[0].value_len}, "a.example");
    assert_int_equal(code_of(BYTES("GET http://a.example/ HTTP/1.1\r\n\r\n")), 400);
    assert_int_equal(code_of(BYTES("GET http://a.example/ HTTP/1.1\r\nHost: a b\r\n\r\n")), 400);
}

static void test_asterisk_form_is_for_options_only(void **state)
{
    (void)state;
    const struct bb_head *head = head_for("OPTIONS *");
    assert_slice(head->path, "*");
    assert_slice(head->query, "");
    static const char *const refused[] = {"GET *",      "options *",  "OPTION *",
                                          "OPTIONSS *", "OPTIONS **", "OPTIONS *?"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) assert_int_equal(code_for(refused[i]), 400);
}

static void test_malformed_targets_are_rejected(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "GET a",
        "GET ?",
        "GET example.com:80",
        "GET http:/a",
        "GET http:a",
        "GET http://",
        "GET http:///a",
        "GET http://:80/",
        "GET http://?a",
        "GET http://user@a/",
        "GET http://user:1@a/",
        "GET http://@a/",
        "GET http://a:b/",
        "GET http://a\x80/",
        "GET https:/a",
        "GET ftp://a/",
        "GET httpss://a/",
        "GET ws://a/",
        "GET  /",
        "GET /#",
        "GET /a#b",
        "GET /?a#b",
        "GET #",
        "GET /\t",
        "GET /a\x7f",
        "GET /?\x01",
        "GET ",
        "GET",
        "GET / /",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (code_for(lines[i]) != 400) fail_msg("%s", lines[i]);
    assert_int_equal(code_for("CONNECT example.com:80"), 501);
    assert_int_equal(code_for("CONNECT /"), 501);
}

/* Tries each byte value in a path and in a query. Printable bytes and obs-text are accepted, except "#" and
 * SP. */
static void test_each_byte_of_a_target_is_accepted_or_rejected(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        char bytes[] = "GET /a.b?c.d HTTP/1.1\r\nHost: h\r\n\r\n";
        bool allowed = byte > ' ' && byte != '#' && byte != 0x7f;
        bytes[6] = (char)byte;
        assert_int_equal(code_of(bytes, sizeof bytes - 1), allowed ? BB_OK : 400);
        bytes[6] = '.';
        bytes[10] = (char)byte;
        assert_int_equal(code_of(bytes, sizeof bytes - 1), allowed ? BB_OK : 400);
    }
}

static bool is_authority(const char *text, struct bb_slice *host, struct bb_slice *port)
{
    if (!head_guard.map) head_guard = guard_new(LONGEST_HEAD);
    *host = *port = (struct bb_slice){0};
    return bb__authority_split((struct bb_slice){guard_put(&head_guard, text, strlen(text)), strlen(text)},
                               host, port);
}

static void test_valid_authorities_are_split(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port;
    } cases[] = {
        {"a", "a", ""},
        {"a.example.", "a.example.", ""},
        {"A-b_c~d", "A-b_c~d", ""},
        {"a!$&'()*+,;=", "a!$&'()*+,;=", ""},
        {"%41%4a%eF", "%41%4a%eF", ""},
        {"192.0.2.1", "192.0.2.1", ""},
        {"999.1", "999.1", ""},
        {"a:", "a", ""},
        {"a:0", "a", "0"},
        {"a:65535", "a", "65535"},
        {"a:00080", "a", "00080"},
        {"[::]", "[::]", ""},
        {"[::1]:80", "[::1]", "80"},
        {"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", ""},
        {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7::]", ""},
        {"[::2:3:4:5:6:7:8]", "[::2:3:4:5:6:7:8]", ""},
        {"[1::8]", "[1::8]", ""},
        {"[abCD:EF01::]", "[abCD:EF01::]", ""},
        {"[::ffff:192.0.2.255]", "[::ffff:192.0.2.255]", ""},
        {"[1:2:3:4:5:6:0.0.0.0]", "[1:2:3:4:5:6:0.0.0.0]", ""},
        {"[1:2:3:4:5::1.2.3.4]", "[1:2:3:4:5::1.2.3.4]", ""},
        {"[v1.a:b]", "[v1.a:b]", ""},
        {"[VfF.~]:1", "[VfF.~]", "1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bb_slice host, port;
        if (!is_authority(cases[i].text, &host, &port)) fail_msg("%s", cases[i].text);
        assert_slice(host, cases[i].host);
        assert_slice(port, cases[i].port);
    }
}

static const char *const no_authorities[] = {
    "",
    ":",
    ":80",
    "a b",
    "a/b",
    "a?b",
    "a@b",
    "@a",
    "a\\b",
    "a\"b",
    "<a>",
    "a\x80",
    "a\x7f",
    "a\tb",
    "a:b",
    "a:1:2",
    "a:65536",
    "a:99999999999999999999",
    "a:-1",
    "a:+1",
    "a:1a",
    "a: 1",
    "%",
    "%4",
    "%4g",
    "a%",
    "a%2",
    "::1",
    "[",
    "[]",
    "[:]",
    "[::1",
    "::1]",
    "[::1]a",
    "[::1]]",
    "[[::1]]",
    "[a]",
    "[1]",
    "[1:2:3:4:5:6:7]",
    "[1:2:3:4:5:6:7:8:9]",
    "[1:2:3:4:5:6:7:8::]",
    "[1:2:3:4::5:6:7:8]",
    "[::1::]",
    "[:::]",
    "[1:::2]",
    "[1:]",
    "[:1]",
    "[12345::]",
    "[g::]",
    "[::1%25eth0]",
    "[::1%eth0]",
    "[::1.2.3]",
    "[::1.2.3.4.5]",
    "[::256.1.1.1]",
    "[::01.1.1.1]",
    "[::1.2.3.4:1]",
    "[1.2.3.4]",
    "[1:2:3:4:5:6:7:1.2.3.4]",
    "[1:2:3:4:5:6::1.2.3.4]",
    "[::1.2.3.]",
    "[::.1.2.3]",
    "[::1..2.3]",
    "[::1.4294967297.1.1]",
    "[1:2:3:4:5:6:7:8:]",
    "[1::2:]",
    "a:4294967376",
    "%g1",
    "[v]",
    "[v1]",
    "[v1.]",
    "[v.a]",
    "[vg.a]",
    "[v1.a/]",
    "[::1 ]",
    "[::1]:65536",
};

static void test_invalid_authorities_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof no_authorities / sizeof *no_authorities; i++) {
        struct bb_slice host, port;
        if (is_authority(no_authorities[i], &host, &port)) fail_msg("%s", no_authorities[i]);
    }
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_origin_form_is_split),
        TEST(test_absolute_form_replaces_host),
        TEST(test_absolute_form_needs_no_host_in_http_1_0),
        TEST(test_asterisk_form_is_for_options_only),
        TEST(test_malformed_targets_are_rejected),
        TEST(test_each_byte_of_a_target_is_accepted_or_rejected),
        TEST(test_valid_authorities_are_split),
        TEST(test_invalid_authorities_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
