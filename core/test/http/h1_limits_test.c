/* h1_limits_test.c: each limit of the head parser. Tests values at the limit and one above, in complete and
 * incomplete heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "head_case.h"

#include <stdio.h>

static char long_head[300 * 1024];

/* Builds "GET /aaa HTTP/1.0" with a target of `target_len` bytes. Returns the length of the request. */
static size_t with_target(size_t target_len)
{
    memset(long_head, 'a', sizeof long_head);
    memcpy(long_head, "GET /", 5);
    memcpy(long_head + 4 + target_len, " HTTP/1.0\r\n\r\n", 13);
    return 4 + target_len + 13;
}

static void test_a_target_longer_than_max_target_is_rejected(void **state)
{
    (void)state;
    assert_int_equal(code_of(long_head, with_target(16 * 1024)), BB_OK);
    assert_int_equal(code_of(long_head, with_target(16 * 1024 + 1)), 414);

    limits.max_target = 40;
    assert_int_equal(code_of(long_head, with_target(40)), BB_OK);
    assert_int_equal(code_of(long_head, with_target(41)), 414);
    assert_int_equal(code_of(long_head, 4 + 40), BB_AGAIN);
    assert_int_equal(code_of(long_head, 4 + 41), 414); /* incomplete, but the target is already too long */

    (void)with_target(100);
    long_head[4 + 39] = '#';
    assert_int_equal(code_of(long_head, 200), 400);
    (void)with_target(100);
    long_head[4 + 41] = '#';
    assert_int_equal(code_of(long_head, 200), 414);
}

/* Builds a request with one field line of `bytes` bytes, CRLF included. Returns the length of the request. */
static size_t with_field_bytes(size_t bytes)
{
    static const char line[] = "GET / HTTP/1.0\r\n";
    memset(long_head, 'a', sizeof long_head);
    memcpy(long_head, line, sizeof line - 1);
    long_head[sizeof line] = ':';
    memcpy(long_head + sizeof line - 1 + bytes - 2, "\r\n\r\n", 4);
    return sizeof line - 1 + bytes + 2;
}

static void test_more_bytes_than_max_field_bytes_are_rejected(void **state)
{
    (void)state;
    assert_int_equal(code_of(long_head, with_field_bytes(64 * 1024)), BB_OK);
    assert_int_equal(code_of(long_head, with_field_bytes(64 * 1024 + 1)), 431);
    assert_int_equal(code_of(long_head, with_field_bytes(200 * 1024)), 431);

    limits.max_field_bytes = 50;
    assert_int_equal(code_of(long_head, with_field_bytes(50)), BB_OK);
    for (size_t more = 1; more <= 5; more++)
        assert_int_equal(code_of(long_head, with_field_bytes(50 + more)), 431);
    (void)with_field_bytes(100);
    assert_int_equal(code_of(long_head, 16 + 51), BB_AGAIN); /* byte 51 may be the CR of the empty line */
    assert_int_equal(code_of(long_head, 16 + 52), 431);

    limits.max_field_bytes = 0;
    (void)accepted(BYTES("GET / HTTP/1.0\r\n\r\n"));
    assert_int_equal(code_of(BYTES("GET / HTTP/1.0\r\nA:\r\n\r\n")), 431);
}

static size_t with_fields(unsigned count)
{
    size_t len = (size_t)snprintf(long_head, sizeof long_head, "GET / HTTP/1.0\r\n");
    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(long_head + len, sizeof long_head - len, "%s: a\r\n",
                                i % 2 ? "Proxy" : "X_Dropped");
    memcpy(long_head + len, "\r\n", 2);
    return len + 2;
}

/* Fields that the core drops count towards the limit, because the parser has as much work with them. */
static void test_more_fields_than_max_fields_are_rejected(void **state)
{
    (void)state;
    assert_int_equal(code_of(long_head, with_fields(128)), BB_OK);
    assert_int_equal(code_of(long_head, with_fields(129)), 431);

    limits.max_fields = 3;
    assert_int_equal(code_of(long_head, with_fields(3)), BB_OK);
    assert_int_equal(code_of(long_head, with_fields(4)), 431);
    assert_int_equal(code_of(BYTES("GET / HTTP/1.0\r\nA:\r\nB:\r\nC:\r\nD")), 431);
    assert_int_equal(code_of(BYTES("GET / HTTP/1.0\r\nA:\r\nB:\r\nC:\r\n\r")), BB_AGAIN);

    limits.max_fields = 0;
    (void)accepted(BYTES("GET / HTTP/1.0\r\n\r\n"));
    assert_int_equal(code_of(BYTES("GET / HTTP/1.0\r\nA:\r\n\r\n")), 431);
}

/* bb_field has 16 bits for the length of a name. So a higher limit must not allow a longer name. */
static void test_a_name_of_more_than_65535_bytes_is_rejected(void **state)
{
    (void)state;
    limits.max_field_bytes = 256 * 1024;
    size_t len = with_field_bytes(100 * 1024);
    long_head[17] = 'a';
    long_head[16 + 65535] = ':';
    assert_int_equal(accepted(long_head, len)->fields[0].name_len, 65535);
    long_head[16 + 65535] = 'a';
    long_head[16 + 65536] = ':';
    assert_int_equal(code_of(long_head, len), 431);
}

static void test_the_largest_limits_do_not_overflow(void **state)
{
    (void)state;
    limits.max_target = limits.max_field_bytes = SIZE_MAX;
    (void)accepted(BYTES("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_int_equal(code_of(BYTES("GET /a HTTP/1.1\r\nHost: h\r\n")), BB_AGAIN);
}

#define TEST(function) cmocka_unit_test_setup(function, reset_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_target_longer_than_max_target_is_rejected),
        TEST(test_more_bytes_than_max_field_bytes_are_rejected),
        TEST(test_more_fields_than_max_fields_are_rejected),
        TEST(test_a_name_of_more_than_65535_bytes_is_rejected),
        TEST(test_the_largest_limits_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
