/* log_line_test.c: each directive of an access log's format, the named formats, and formats that are
 * rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "log/log_line.h"
#include "support/fail_alloc.h"
#include "support/guard.h"

#define SLICE(literal)                                                                                       \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }
#define FIELD(field_name, field_value)                                                                       \
    {                                                                                                        \
        .name = (field_name), .name_len = sizeof(field_name) - 1, .value = (field_value),                    \
        .value_len = sizeof(field_value) - 1                                                                 \
    }

static const struct bb_field fields[] = {
    FIELD("hOST", "example.org:81"),       FIELD("Referer", "http://a/\"b\""),
    FIELD("User-Agent", "curl/8"),         FIELD("X-Forwarded-For", "192.0.2.7"),
    FIELD("X-Forwarded-For", "192.0.2.8"), FIELD("Empty", "")};

static struct bb_head whole_head(void)
{
    return (struct bb_head){.method = SLICE("GET"),
                            .target = SLICE("/a%20b?c=d"),
                            .path = SLICE("/a%20b"),
                            .query = SLICE("c=d"),
                            .authority = SLICE("example.org:81"),
                            .host = SLICE("example.org"),
                            .port = SLICE("81"),
                            .fields = fields,
                            .field_count = sizeof fields / sizeof *fields,
                            .minor_version = 1};
}

static struct bb_head head;
static struct bb__buf response;
static struct bb__log_entry entry;

/* The entry's time is 1994-11-06T08:49:37.123456Z, in a time zone that no country uses. */
static int prepare(void **state)
{
    (void)state;
    setenv("TZ", "XXX-3:30", 1);
    tzset();
    head = whole_head();
    entry = (struct bb__log_entry){.head = &head,
                                   .peer = "192.0.2.1",
                                   .reason = "two_hosts",
                                   .status = 200,
                                   .body_length = 1234,
                                   .time = UINT64_C(784111777123456),
                                   .duration = 5432109,
                                   .queued = 77,
                                   .proxy_queued = 78,
                                   .response = &response,
                                   .port = 8080,
                                   .pid = 4711,
                                   .connection = '+'};
    return 0;
}

static int clear(void **state)
{
    (void)state;
    bb__buf_free(&response);
    return 0;
}

static const char *line_of(const char *notation)
{
    static char line[BB_LOG_LINE_MIN + 1];
    struct bb__log_format format;
    struct bb__log_time time = {0};
    char fault[BB_FAULT_MAX] = "";
    if (bb__log_format_compile(&format, notation, fault) != BB_OK) fail_msg("%s: %s", notation, fault);
    size_t len = bb__log_line(&format, &entry, &time, line, BB_LOG_LINE_MIN);
    assert_true(len > 0 && len <= BB_LOG_LINE_MIN);
    assert_int_equal(line[len - 1], '\n');
    line[len - 1] = '\0';
    return line;
}

struct example {
    const char *notation, *line;
};

static void assert_examples(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_string_equal(line_of(examples[i].notation), examples[i].line);
}

#define ASSERT_EXAMPLES(examples) assert_examples((examples), sizeof(examples) / sizeof *(examples))

/* ---- directives ---- */

static void test_each_directive_is_replaced_by_its_value(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"%h %a", "192.0.2.1 192.0.2.1"},
        {"%l %u", "- -"},
        {"%t", "[06/Nov/1994:12:19:37 +0330]"},
        {"%{a%nb}t", "a b"},
        {"%{%Y-%m-%d %H:%M:%S %z}t", "1994-11-06 12:19:37 +0330"},
        {"%{begin:%H:%M}t %{begin:sec}t %{begin}t %{ending}t",
         "12:19 784111777 [06/Nov/1994:12:19:37 +0330] ending"},
        {"%{sec}t %{msec}t %{usec}t", "784111777 784111777123 784111777123456"},
        {"%{sec}t.%{msec_frac}t %{sec}t.%{usec_frac}t", "784111777.123 784111777.123456"},
        {"%r", "GET /a%20b?c=d HTTP/1.1"},
        {"%m %U %q %H", "GET /a%20b ?c=d HTTP/1.1"},
        {"%s %>s %<s", "200 200 200"},
        {"%b %B", "1234 1234"},
        {"%D %T %{s}T %{ms}T %{us}T", "5432109 5 5 5432 5432109"},
        {"%{queue}n", "77"},
        {"%{proxy_queue}n", "78"},
        {"%v %V %p %P", "example.org example.org:81 8080 4711"},
        {"%X", "+"},
        {"%{reason}n", "two_hosts"},
        {"%{Host}i %{user-agent}i", "example.org:81 curl/8"},
        {"%{X-Forwarded-For}i", "192.0.2.7, 192.0.2.8"},
        {"%{None}i %{Empty}i %{None}o", "- - -"},
        {"100%% \\\"%h\\\"\\t\\\\ \\x", "100% \"192.0.2.1\"\t\\ \\x"},
    };
    ASSERT_EXAMPLES(examples);
}

static void test_unknown_values_are_logged_as_missing(void **state)
{
    (void)state;
    static const struct bb_head nothing;
    entry = (struct bb__log_entry){.head = &nothing,
                                   .line = SLICE("\x16\x03\x01 what"),
                                   .peer = "",
                                   .body_length = BB_LOG_UNKNOWN,
                                   .duration = BB_LOG_UNKNOWN,
                                   .queued = BB_LOG_UNKNOWN,
                                   .proxy_queued = BB_LOG_UNKNOWN,
                                   .response = &response,
                                   .connection = '-'};
    static const struct example examples[] = {
        {"%h %r", "- \\x16\\x03\\x01 what"},
        {"%m %U %q %H %s %b %B", "- -  - - - -"},
        {"%D %T %{ms}T %{queue}n %{proxy_queue}n %v %V %p %X", "- - - - - - - - -"},
        {"%{Host}i %{Host}o %{request_id}n %{reason}n", "- - - -"},
        {"json",
         "{\"time\":\"1970-01-01T00:00:00.000Z\",\"host\":null,\"forwarded_for\":null,\"method\":null,"
         "\"path\":null,\"query\":\"\",\"protocol\":null,\"status\":null,\"bytes\":null,\"referer\":null,"
         "\"user_agent\":null,\"vhost\":null,\"duration_us\":null,\"queue_us\":null,\"proxy_queue_us\":null,"
         "\"request_id\":null,\"reason\":null,"
         "\"connection\":\"-\",\"pid\":0}"},
    };
    ASSERT_EXAMPLES(examples);
    entry.line.len = 0;
    assert_string_equal(line_of("%r"), "-");
}

static void test_a_rejected_request_line_may_end_with_a_protocol(void **state)
{
    (void)state;
    static const struct {
        struct bb_slice line;
        const char *protocol;
    } cases[] = {
        {SLICE("GET / HTTP/1.1"), "HTTP/1.1"},
        {SLICE("PRI * HTTP/2.0"), "HTTP/2.0"},
        {SLICE("HTTP/1.1"), "-"},
        {SLICE("GET /xHTTP/1.1"), "-"},
        {SLICE("GET / HTTP/1x1"), "-"},
        {SLICE("GET / HTTP/1.x"), "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        entry.line = cases[i].line;
        assert_string_equal(line_of("%H"), cases[i].protocol);
    }
}

static void test_b_logs_an_empty_body_as_a_dash(void **state)
{
    (void)state;
    entry.body_length = 0;
    head.minor_version = 0;
    assert_string_equal(line_of("%b %B %H"), "- 0 HTTP/1.0");
}

static void test_named_formats_have_their_fields(void **state)
{
    (void)state;
#define COMMON "192.0.2.1 - - [06/Nov/1994:12:19:37 +0330] \"GET /a%20b?c=d HTTP/1.1\" 200 1234"
    static const struct example examples[] = {
        {"common", COMMON},
        {"combined", COMMON " \"http://a/\\x22b\\x22\" \"curl/8\""},
        {"ltsv",
         "time:[06/Nov/1994:12:19:37 +0330]\thost:192.0.2.1\tforwardedfor:192.0.2.7, 192.0.2.8\t"
         "req:GET /a%20b?c=d HTTP/1.1\tstatus:200\tsize:1234\treferer:http://a/\\x22b\\x22\tua:curl/8\t"
         "vhost:example.org:81\treqtime_microsec:5432109\tqueue_microsec:77\tproxy_queue_microsec:78\treqid:-"
         "\treason:two_hosts\tpid:4711"},
        {"json", "{\"time\":\"1994-11-06T08:49:37.123Z\",\"host\":\"192.0.2.1\","
                 "\"forwarded_for\":\"192.0.2.7, 192.0.2.8\",\"method\":\"GET\",\"path\":\"/a%20b\","
                 "\"query\":\"?c=d\",\"protocol\":\"HTTP/1.1\",\"status\":200,\"bytes\":1234,"
                 "\"referer\":\"http://a/\\\"b\\\"\",\"user_agent\":\"curl/8\",\"vhost\":\"example.org:81\","
                 "\"duration_us\":5432109,\"queue_us\":77,\"proxy_queue_us\":78,\"request_id\":null,"
                 "\"reason\":\"two_hosts\","
                 "\"connection\":\"+\",\"pid\":4711}"},
    };
    ASSERT_EXAMPLES(examples);
}

static void test_a_fraction_of_a_second_keeps_its_zeros(void **state)
{
    (void)state;
    entry.time = UINT64_C(784111777002003);
    assert_string_equal(line_of("%{msec_frac}t %{usec_frac}t"), "002 002003");
    assert_non_null(strstr(line_of("json"), "08:49:37.002Z"));
}

/* ---- fields of the response ---- */

#define RESPONSE                                                                                             \
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nset-cookie: a=b\r\nSet-Cookie: c=d\r\n"                  \
    "x-request-id: from-app\r\nx-empty: \r\nDate: now\r\n\r\n"

static void keep(const char *notation)
{
    struct bb__log_format format;
    char fault[BB_FAULT_MAX];
    struct guard guard = guard_new(sizeof RESPONSE);
    assert_int_equal(bb__log_format_compile(&format, notation, fault), BB_OK);
    bb__log_keep(&format, &response, guard_put(&guard, RESPONSE, sizeof RESPONSE - 1), sizeof RESPONSE - 1);
    guard_free(&guard);
}

static void test_only_the_response_fields_of_the_format_are_kept(void **state)
{
    (void)state;
    static const char cookies[] = "%{Set-Cookie}o %{DATE}o %{x-empty}o %{none}o";
    keep(cookies);
    assert_string_equal(line_of(cookies), "a=b, c=d now - -");
    assert_string_equal(line_of("%{Content-Type}o"), "-");
    keep("%h");
    assert_int_equal(bb__buf_len(&response), 0);
}

static void test_the_applications_request_id_comes_first(void **state)
{
    (void)state;
    static const struct bb_field sent[] = {FIELD("X-Request-Id", "from-client")};
    head.fields = sent;
    head.field_count = 1;
    assert_string_equal(line_of("%{request_id}n"), "from-client");
    keep("%{request_id}n");
    assert_string_equal(line_of("%{request_id}n"), "from-app");
}

static void test_a_response_field_is_missing_if_there_is_no_memory(void **state)
{
    (void)state;
    fail_alloc_at(1);
    keep("%{Date}o");
    assert_true(fail_alloc_off());
    assert_string_equal(line_of("%{Date}o"), "-");
}

/* ---- what clients send ---- */

static void test_a_line_is_never_too_long(void **state)
{
    (void)state;
    static char junk[3][20000];
    static const char *const formats[] = {"%r %U %q %{a}i %{a}i %{b}o %v", "json", "ltsv",
                                          "%{a}i%{b}i%{a}i%{b}i%{a}i%{b}i%{a}i%{b}i%{a}i%{b}i"};
    for (int fill = 0; fill < 3; fill++) memset(junk[fill], "a\"\xff"[fill], sizeof junk[fill]);
    for (int fill = 0; fill < 3; fill++) {
        for (size_t len = 3000; len < sizeof junk[fill]; len += 997) {
            struct bb_slice value = {junk[fill], len};
            struct bb_field many[100];
            for (int i = 0; i < 100; i++)
                many[i] = (struct bb_field){.name = i % 2 ? "a" : "b",
                                            .name_len = 1,
                                            .value = junk[fill],
                                            .value_len = (uint32_t)len};
            head = (struct bb_head){.method = value,
                                    .target = value,
                                    .path = value,
                                    .query = value,
                                    .host = value,
                                    .authority = value,
                                    .fields = many,
                                    .field_count = 100};
            for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
                assert_non_null(strstr(line_of(formats[i]), "..."));
        }
    }
}

static void test_no_byte_behind_a_value_is_read(void **state)
{
    (void)state;
    struct guard guard = guard_new(100);
    static const char bytes[] = "/\xc3\xa4\"\\\x7f\xc3";
    head.target = (struct bb_slice){guard_put(&guard, bytes, sizeof bytes - 1), sizeof bytes - 1};
    head.path = head.target;
    assert_string_equal(line_of("%r"), "GET /\\xc3\\xa4\\x22\\x5c\\x7f\\xc3 HTTP/1.1");
    assert_non_null(strstr(line_of("json"), "\"path\":\"/\xc3\xa4\\\"\\\\\\u007f\\ufffd\""));
    guard_free(&guard);
}

/* ---- formats that are wrong ---- */

static void test_a_wrong_format_is_rejected_with_its_fault(void **state)
{
    (void)state;
    static const struct example faults[] = {
        {"%h %Z", "format: unknown directive %Z"},
        {"%{x}h", "format: unknown directive %{x}h"},
        {"%{nothing}n", "format: unknown directive %{nothing}n"},
        {"%i", "format: unknown directive %i"},
        {"%{}i", "format: unknown directive %{}i"},
        {"%!200s", "format: unknown directive %!"},
        {"%{Referer", "format: no } after %{Referer"},
        {"%{Referer}", "format: an unfinished directive: %{Referer}"},
        {"%>", "format: an unfinished directive: %>"},
        {"%h %", "format: a % at its end"},
        {"a\nb", "format: a line feed is not allowed: each request is one line"},
        {"", "format: empty"},
        {"comon", "format: neither the name of a format nor a text with directives: comon"},
        {"100%% \\t", "format: neither the name of a format nor a text with directives: 100%% \\t"},
        {"%{end:%T}t", "format: unknown directive %{end:%T}t"},
        {"%{end}t", "format: unknown directive %{end}t"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bb__log_format format;
        char fault[BB_FAULT_MAX] = "";
        assert_int_equal(bb__log_format_compile(&format, faults[i].notation, fault), BB_EFORMAT);
        assert_string_equal(fault, faults[i].line);
    }
}

static void test_a_format_that_is_too_long_is_rejected(void **state)
{
    (void)state;
    struct bb__log_format format;
    char fault[BB_FAULT_MAX], notation[BB_ACCESS_LOG_FORMAT_MAX + 1];
    memset(notation, 'a', sizeof notation);
    memcpy(notation, "%h", 2);
    notation[BB_ACCESS_LOG_FORMAT_MAX] = '\0';
    assert_int_equal(bb__log_format_compile(&format, notation, fault), BB_EFORMAT);
    assert_string_equal(fault, "format: too long");
    notation[BB_ACCESS_LOG_FORMAT_MAX - 1] = '\0';
    assert_int_equal(bb__log_format_compile(&format, notation, fault), BB_OK);
    for (size_t i = 0; i + 1 < BB_ACCESS_LOG_FORMAT_MAX; i++) notation[i] = "%h"[i % 2];
    notation[BB_ACCESS_LOG_FORMAT_MAX - 2] = '\0';
    assert_int_equal(bb__log_format_compile(&format, notation, fault), BB_EFORMAT);
    assert_string_equal(fault, "format: too many directives");
    for (size_t i = 0; i < 400; i++) notation[i] = "%{a}t"[i % 5];
    notation[400] = '\0';
    assert_int_equal(bb__log_format_compile(&format, notation, fault), BB_EFORMAT);
    assert_string_equal(fault, "format: lines would be too long");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, prepare, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_directive_is_replaced_by_its_value),
        TEST(test_unknown_values_are_logged_as_missing),
        TEST(test_a_rejected_request_line_may_end_with_a_protocol),
        TEST(test_b_logs_an_empty_body_as_a_dash),
        TEST(test_named_formats_have_their_fields),
        TEST(test_a_fraction_of_a_second_keeps_its_zeros),
        TEST(test_only_the_response_fields_of_the_format_are_kept),
        TEST(test_the_applications_request_id_comes_first),
        TEST(test_a_response_field_is_missing_if_there_is_no_memory),
        TEST(test_a_line_is_never_too_long),
        TEST(test_no_byte_behind_a_value_is_read),
        TEST(test_a_wrong_format_is_rejected_with_its_fault),
        TEST(test_a_format_that_is_too_long_is_rejected),
    };
    return cmocka_run_group_tests_name("log_line", tests, NULL, NULL);
}
