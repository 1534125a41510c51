/* trusted_proxies_test.c: which clients are trusted proxies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bontebok.h"
#include "system/trusted_proxies.h"

#include <stdio.h>
#include <string.h>

static bool includes(const char *text, const char *address)
{
    struct bb__trusted_proxies trusted;
    assert_int_equal(bb__trusted_proxies_parse(&trusted, text), BB_OK);
    return bb__trusted_proxies_includes(&trusted, address);
}

static void test_addresses_and_networks_are_matched(void **state)
{
    (void)state;
    static const struct {
        const char *text, *address;
        bool included;
    } cases[] = {
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.6", false},
        {"192.0.2.7", "2001:db8::7", false},
        {"127.0.0.0/8", "127.255.0.1", true},
        {"127.0.0.0/8", "126.255.0.1", false},
        {"127.1.2.3/8", "127.0.0.1", true},
        {"192.0.2.128/25", "192.0.2.129", true},
        {"192.0.2.128/25", "192.0.2.127", false},
        {"192.0.2.4/31", "192.0.2.5", true},
        {"192.0.2.4/31", "192.0.2.6", false},
        {"192.0.2.4/32", "192.0.2.5", false},
        {"0.0.0.0/0", "198.51.100.1", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "192.0.2.1", true},
        {"::1", "::1", true},
        {"::1", "::2", false},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"::ffff:192.0.2.0/120", "192.0.2.9", true},
        {"10.0.0.1  192.0.2.1 ", "192.0.2.1", true},
        {" 10.0.0.1 192.0.2.1", "10.0.0.1", true},
        {"10.0.0.1 192.0.2.1", "10.0.0.2", false},
        {"0.0.0.0/0 ::/0", "", false},
        {"0.0.0.0/0 ::/0", "nobody", false},
        {"", "127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (includes(cases[i].text, cases[i].address) != cases[i].included)
            fail_msg("%s in \"%s\"", cases[i].address, cases[i].text);
}

static void test_only_unix_matches_clients_of_unix_sockets(void **state)
{
    (void)state;
    assert_true(includes("unix", NULL));
    assert_true(includes("::1 unix", NULL));
    assert_false(includes("127.0.0.0/8 ::1", NULL));
    assert_false(includes("unix", "127.0.0.1"));
    assert_false(includes("", NULL));
}

static void test_a_wrong_address_or_network_is_rejected(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "Unix",
        "example.org",
        "10.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "::1/129",
        "::1/0128",
        "10.0.0.0/x",
        "10.0.0.256",
        "10.0.0.1:80",
        "[::1]",
        "unix,::1",
        "fe80::1%eth0",
        "/8",
        "/",
        "10.0.0.0/8/8",
        "10.0.0.0/+8",
        "1111:2222:3333:4444:5555:6666:123.123.123.123:7777:8888:9999/128",
    };
    struct bb__trusted_proxies trusted;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (bb__trusted_proxies_parse(&trusted, wrong[i]) != BB_EFORMAT) fail_msg("%s", wrong[i]);
}

static void test_a_list_with_too_many_networks_is_rejected(void **state)
{
    (void)state;
    char text[BB_TRUSTED_PROXIES_NETWORKS * 24] = "unix";
    struct bb__trusted_proxies trusted;
    for (int i = 0; i < BB_TRUSTED_PROXIES_NETWORKS; i++)
        (void)snprintf(text + strlen(text), 24, " 10.0.%d.0/24", i);
    assert_int_equal(bb__trusted_proxies_parse(&trusted, text), BB_OK);
    assert_true(bb__trusted_proxies_includes(&trusted, "10.0.127.1"));
    strcat(text, " ::1");
    assert_int_equal(bb__trusted_proxies_parse(&trusted, text), BB_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_and_networks_are_matched),
        cmocka_unit_test(test_only_unix_matches_clients_of_unix_sockets),
        cmocka_unit_test(test_a_wrong_address_or_network_is_rejected),
        cmocka_unit_test(test_a_list_with_too_many_networks_is_rejected),
    };
    return cmocka_run_group_tests_name("trusted_proxies", tests, NULL, NULL);
}
