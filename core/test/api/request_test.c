/* request_test.c: what a request says about its client. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define NEXT "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"

/* ---- the client ---- */

static unsigned seen_port;
static bool seen_unix;

static void app_notes_peer(struct host *host, const struct bb_request *request)
{
    seen_port = request->peer_port;
    seen_unix = request->peer_is_unix;
    app_echo(host, request);
}

static unsigned port_of(int fd)
{
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &len), 0);
    return ntohs(own.sin_port);
}

static void test_a_request_has_the_port_of_its_client(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    host->app = app_notes_peer;
    struct client *one = client_new(host), *other = client_new(host);
    struct client *const turns[] = {one, other, one};
    for (size_t i = 0; i < 3; i++) {
        client_say(turns[i], NEXT);
        assert_response(turns[i], 200, "GET /next ");
        assert_int_equal(seen_port, port_of(turns[i]->fd));
        assert_false(seen_unix);
    }
    client_free(one);
    client_free(other);
    host_free(host);
}

static void test_a_client_of_a_unix_socket_has_no_port(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host->app = app_notes_peer;
    seen_port = 1;
    struct client *client = client_new_saying(host, NEXT);
    assert_response(client, 200, "GET /next ");
    assert_int_equal(seen_port, 0);
    assert_true(seen_unix);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_has_the_port_of_its_client),
        cmocka_unit_test(test_a_client_of_a_unix_socket_has_no_port),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
