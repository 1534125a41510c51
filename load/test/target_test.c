/* target_test.c: the targets of valid URLs, and the URLs that are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct target target;

static void parse(const char *url)
{
    const char *wrong = target_parse(&target, url);
    if (wrong) fail_msg("%s %s", url, wrong);
}

static void assert_tcp(const char *url, const char *host, unsigned port, const char *authority,
                       const char *resource)
{
    parse(url);
    assert_string_equal(target.host, host);
    assert_int_equal(target.port, port);
    assert_int_equal(target.authority_len, strlen(authority));
    assert_memory_equal(target.authority, authority, strlen(authority));
    assert_int_equal(target.resource_len, strlen(resource));
    assert_memory_equal(target.resource, resource, strlen(resource));
}

static void reads_tcp_urls(void **state)
{
    (void)state;
    assert_tcp("http://127.0.0.1:9292/a/b?c=d", "127.0.0.1", 9292, "127.0.0.1:9292", "/a/b?c=d");
    assert_tcp("http://example", "example", 80, "example", "");
    assert_tcp("http://example?q=a:b@c", "example", 80, "example", "?q=a:b@c");
    assert_tcp("http://example:65535/#part", "example", 65535, "example:65535", "/");
    assert_tcp("http://example#/part", "example", 80, "example", "");
    assert_tcp("http://[::1]:8080/x", "::1", 8080, "[::1]:8080", "/x");
    assert_tcp("http://[2001:db8::1]/", "2001:db8::1", 80, "[2001:db8::1]", "/");
}

static void assert_unix(const char *url, const char *path, size_t path_len, const char *resource)
{
    parse(url);
    const struct sockaddr_un *address = (const struct sockaddr_un *)&target.address;
    assert_int_equal(address->sun_family, AF_UNIX);
    assert_memory_equal(address->sun_path, path, path_len);
    assert_int_equal(target.address_len, offsetof(struct sockaddr_un, sun_path) + path_len);
    assert_int_equal(target.resource_len, strlen(resource));
    assert_memory_equal(target.resource, resource, strlen(resource));
    assert_int_equal(target.authority_len, 9);
    assert_memory_equal(target.authority, "localhost", 9);
    assert_null(target_resolve(&target));
}

static void reads_unix_urls(void **state)
{
    (void)state;
    assert_unix("unix:/run/app.sock:/a?b=c:/d", "/run/app.sock", sizeof "/run/app.sock", "/a?b=c:/d");
    assert_unix("unix:/run/app.sock", "/run/app.sock", sizeof "/run/app.sock", "");
    assert_unix("unix:/run/a:b.sock:/", "/run/a:b.sock", sizeof "/run/a:b.sock", "/");
    assert_unix("unix:app.sock:/x#y", "app.sock", sizeof "app.sock", "/x");
    assert_unix("unix:///run/app.sock:/x", "///run/app.sock", sizeof "///run/app.sock", "/x");
    assert_unix("unix:/run/my%20app%2F%2:/%20", "/run/my app%2F%2", sizeof "/run/my app%2F%2", "/%20");
    assert_unix("unix://@name:/x", "\0name", 5, "/x");
    /* An abstract name has no NUL at its end. With a NUL it would be another name. */
    assert_unix("unix:@name:/x", "\0name", 5, "/x");
}

static void knows_the_longest_socket_path(void **state)
{
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix:/%0106d:/", 0);
    parse(url);
    assert_int_equal(target.address_len, sizeof(struct sockaddr_un));
    snprintf(url, sizeof url, "unix:/%0107d:/", 0);
    assert_string_equal(target_parse(&target, url), "has a socket path of more than 107 bytes");
    snprintf(url, sizeof url, "unix:/%%20%0105d:/", 0);
    parse(url);
}

static void refuses_what_it_cannot_do(void **state)
{
    (void)state;
    const char *const urls[] = {
        "",
        "example",
        "/path",
        "ftp://example/",
        "HTTPS://example/",
        "https://example/",
        "http://",
        "http:///path",
        "http://:80/",
        "http://example:/",
        "http://example:0/",
        "http://example:65536/",
        "http://example:99999999999999999999/",
        "http://example:80x/",
        "http://example:-1/",
        "http://user@example/",
        "http://user:password@example/",
        "http://[::1/",
        "http://[]/",
        "http://[::1]80/",
        "http://exam ple/",
        "http://example/a b",
        "http://example/a\r\nX: y",
        "http://example/\x7f",
        "unix:",
        "unix::/path",
        "unix:@",
        "unix:@:/path",
        "unix://@:/path",
        "unix://tmp/a:/path",
        "unix:~/a:/path",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        if (!target_parse(&target, urls[i])) fail_msg("%s is not refused", urls[i]);
    }
}

static void resolves_addresses(void **state)
{
    (void)state;
    parse("http://127.1.2.3:81/");
    assert_null(target_resolve(&target));
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&target.address;
    assert_int_equal(v4->sin_family, AF_INET);
    assert_int_equal(ntohs(v4->sin_port), 81);
    assert_int_equal(ntohl(v4->sin_addr.s_addr), 0x7f010203);
    assert_true(target.is_loopback4);

    parse("http://192.0.2.1/");
    assert_null(target_resolve(&target));
    assert_false(target.is_loopback4);

    parse("http://[::1]:82/");
    assert_null(target_resolve(&target));
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&target.address;
    assert_int_equal(v6->sin6_family, AF_INET6);
    assert_int_equal(ntohs(v6->sin6_port), 82);
    assert_false(target.is_loopback4);

    parse("http://[no.address]/");
    assert_non_null(target_resolve(&target));
}

static void tries_to_connect(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    char url[32];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)ntohs(address.sin_port));
    parse(url);
    assert_null(target_resolve(&target));
    assert_int_equal(target_try(&target), ECONNREFUSED);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(target_try(&target), 0);
    close(listener);

    parse("unix:/nowhere/a.sock:/");
    assert_int_equal(target_try(&target), ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tcp_urls),
        cmocka_unit_test(reads_unix_urls),
        cmocka_unit_test(knows_the_longest_socket_path),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(resolves_addresses),
        cmocka_unit_test(tries_to_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
