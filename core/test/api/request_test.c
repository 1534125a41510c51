/* request_test.c: what a request says about its client, and what the host may do with its descriptors. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

#define NEXT  "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"
#define LARGE 40000 /* more than the buffer of a connection holds */

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

/* ---- descriptors ---- */

static int kept;

static void app_keeps_body(struct host *host, const struct bb_request *request)
{
    if (kept < 0) {
        kept = dup(request->body_fd);
        assert_int_equal(lseek(request->body_fd, 3, SEEK_SET), 3);
    }
    app_echo(host, request);
}

static void say_body(struct client *client, char letter)
{
    static char body[LARGE];
    char head[64];
    memset(body, letter, sizeof body);
    snprintf(head, sizeof head, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", LARGE);
    client_say(client, head);
    client_send(client, body, sizeof body);
    assert_response(client, 200, NULL);
    const char *echo = bb__buf_bytes(&client->body);
    assert_int_equal(bb__buf_len(&client->body), strlen("PUT / ") + LARGE + 1); /* and a NUL */
    assert_memory_equal(echo + strlen("PUT / "), body, sizeof body);
}

static void test_the_host_may_keep_the_file_of_a_body(void **state)
{
    (void)state;
    static char file[LARGE + 1];
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    struct host *host = host_new(&settings, AF_UNIX);
    host->app = app_keeps_body;
    kept = -1;
    struct client *client = client_new(host);
    say_body(client, 'a');
    say_body(client, 'b');
    assert_int_equal(pread(kept, file, sizeof file, 0), LARGE);
    for (size_t i = 0; i < LARGE; i++) assert_int_equal(file[i], 'a');
    assert_int_equal(atomic_load(&host->worker->spool_budget.used), 0);
    close(kept);
    client_free(client);
    host_free(host);
}

static void app_keeps_connection(struct host *host, const struct bb_request *request)
{
    if (kept < 0) kept = dup(bb_request_fd(host->lane));
    app_echo(host, request);
}

static void test_the_host_may_duplicate_the_connection(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_INET);
    host->app = app_keeps_connection;
    kept = -1;
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    struct client *client = client_new_saying(host, NEXT);
    assert_response(client, 200, "GET /next ");
    client_say(client, NEXT);
    assert_response(client, 200, "GET /next ");
    assert_int_equal(getpeername(kept, (struct sockaddr *)&peer, &len), 0);
    assert_int_equal(ntohs(peer.sin_port), port_of(client->fd));
    client_free(client);
    close(kept);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_has_the_port_of_its_client),
        cmocka_unit_test(test_a_client_of_a_unix_socket_has_no_port),
        cmocka_unit_test(test_the_host_may_keep_the_file_of_a_body),
        cmocka_unit_test(test_the_host_may_duplicate_the_connection),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
