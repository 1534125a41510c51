/* conn_probe_test.c: requests for ready_path and live_path, to which the core itself responds. The lane is
 * idle, so it reads the requests itself. io_probe_test.c has busy lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"

static struct bb_scoreboard *scoreboard;

static struct host *new_host(struct bb_settings settings)
{
    strcpy(settings.ready_path, "/-/ready");
    strcpy(settings.live_path, "/-/live");
    struct host *host = host_new(&settings, AF_UNIX);
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    host_enter_scoreboard(host, scoreboard);
    return host;
}

static void free_host(struct host *host)
{
    host_free(host);
    bb_scoreboard_free(scoreboard);
}

#define READY "GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n"
#define LIVE  "GET /-/live HTTP/1.1\r\nHost: x\r\n\r\n"
#define OTHER "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static void say_in_pieces(struct client *client, const char *text)
{
    for (; *text; text++) {
        client_send(client, text, 1);
        host_turn(client->host);
    }
}

static void assert_field(struct client *client, const char *name, const char *value)
{
    const char *found = client_field(client, name);
    if (value)
        assert_string_equal(found ? found : "", value);
    else
        assert_null(found);
}

struct probe_case {
    const char *request;
    int status;
    const char *body, *connection, *allow;
};

static void check_case(const struct probe_case *one, bool in_pieces)
{
    struct host *host = new_host(host_settings());
    struct client *client = client_new(host);
    (in_pieces ? say_in_pieces : client_say)(client, one->request);
    assert_true(client_read(client, strncmp(one->request, "HEAD", 4) != 0));
    assert_int_equal(client->status, one->status);
    assert_string_equal(bb__buf_bytes(&client->body), one->body);
    assert_field(client, "Connection", one->connection);
    assert_field(client, "Allow", one->allow);
    assert_non_null(client_field(client, "Content-Length"));
    if (one->connection && strcmp(one->connection, "close") == 0) {
        shutdown(client->fd, SHUT_WR);
        assert_end(client);
    } else {
        client_say(client, OTHER);
        assert_response(client, 200, "GET / ");
    }
    assert_int_equal(host->event_count, 0);
    client_free(client);
    free_host(host);
}

static void test_probes_get_their_response_from_the_core(void **state)
{
    (void)state;
    static const char ok[] = "200 OK\n", not_allowed[] = "405 Method Not Allowed\n", allow[] = "GET, HEAD";
    static const struct probe_case cases[] = {
        {READY, 200, ok, NULL, NULL},
        {"GET /-/live HTTP/1.1\r\nHost: x\r\n\r\n", 200, ok, NULL, NULL},
        {"HEAD /-/ready HTTP/1.1\r\nHost: x\r\n\r\n", 200, "", NULL, NULL},
        {"GET /-/ready?at=1 HTTP/1.1\r\nHost: x\r\n\r\n", 200, ok, NULL, NULL},
        {"GET http://x/-/ready HTTP/1.1\r\nHost: x\r\n\r\n", 200, ok, NULL, NULL},
        {"GET /-/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, ok, "close", NULL},
        {"GET /-/live HTTP/1.0\r\n\r\n", 200, ok, "close", NULL},
        {"GET /-/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, ok, "keep-alive", NULL},
        {"POST /-/ready HTTP/1.1\r\nHost: x\r\n\r\n", 405, not_allowed, NULL, allow},
        {"OPTIONS /-/live HTTP/1.1\r\nHost: x\r\n\r\n", 405, not_allowed, NULL, allow},
        {"get /-/live HTTP/1.1\r\nHost: x\r\n\r\n", 405, not_allowed, NULL, allow},
        {"POST /-/ready HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nGET / HTT", 405, not_allowed, "close",
         allow},
        {"GET /-/live HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200, ok,
         "close", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int in_pieces = 0; in_pieces < 2; in_pieces++) check_case(&cases[i], in_pieces);
}

static void test_other_paths_are_for_the_host(void **state)
{
    (void)state;
    static const char *const targets[] = {"/-/read", "/-/ready/", "/-/Ready", "/-/%72eady", "/-/liv", "/"};
    struct host *host = new_host(host_settings());
    struct client *client = client_new(host);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char request[128], response[128];
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        snprintf(response, sizeof response, "GET %s ", targets[i]);
        client_say(client, request);
        assert_response(client, 200, response);
    }
    client_free(client);
    free_host(host);
}

static void test_pipelined_probes_are_answered_in_order(void **state)
{
    (void)state;
    struct host *host = new_host(host_settings());
    struct client *client = client_new(host);
    client_say(client, READY OTHER READY READY OTHER);
    for (int i = 0; i < 5; i++) assert_response(client, 200, i == 1 || i == 4 ? "GET / " : "200 OK\n");
    assert_int_equal(host->served, 2);
    client_free(client);
    free_host(host);
}

static void test_a_probe_is_one_of_max_keepalive_requests(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    settings.max_keepalive_requests = 2;
    struct host *host = new_host(settings);
    struct client *client = client_new(host);
    client_say(client, OTHER READY);
    assert_response(client, 200, "GET / ");
    assert_response(client, 200, "200 OK\n");
    assert_field(client, "Connection", "close");
    shutdown(client->fd, SHUT_WR);
    assert_end(client);
    client_free(client);
    free_host(host);
}

/* Any process may set the state. Here, the server drains after the first request, and resumes at the end. */
static void test_while_the_server_drains_responses_end_their_connections(void **state)
{
    (void)state;
    static const char *const requests[] = {READY, OTHER};
    struct host *host = new_host(host_settings());
    for (int i = 0; i < 2; i++) {
        struct client *client = client_new(host);
        client_say(client, OTHER);
        assert_response(client, 200, "GET / ");
        assert_field(client, "Connection", NULL);
        bb_scoreboard_set_draining(scoreboard, true);
        assert_true(bb_scoreboard_is_draining(scoreboard));
        client_say(client, requests[i]);
        assert_response(client, i == 0 ? 503 : 200, i == 0 ? "503 Service Unavailable\n" : "GET / ");
        assert_field(client, "Connection", "close");
        shutdown(client->fd, SHUT_WR);
        assert_end(client);
        client_free(client);

        client = client_new_saying(host, LIVE);
        assert_response(client, 200, "200 OK\n");
        assert_field(client, "Connection", "close");
        client_free(client);

        bb_scoreboard_set_draining(scoreboard, false);
        client = client_new_saying(host, requests[i]);
        assert_response(client, 200, NULL);
        assert_field(client, "Connection", NULL);
        client_free(client);
    }
    free_host(host);
}

#define LIMIT 1000 /* ms: worker_timeout */

static struct host *new_limited_host(uint64_t worker_timeout)
{
    struct bb_settings settings = host_settings();
    settings.worker_timeout = worker_timeout;
    struct host *host = new_host(settings);
    fake_clock_advance(9000);
    return host;
}

static bool is_alive(struct host *host)
{
    struct client *client = client_new_saying(host, LIVE);
    assert_true(client_read(client, true));
    int status = client->status;
    assert_true(status == 200 || status == 503);
    client_free(client);
    host_settle(host);
    return status == 200;
}

/* Shows in a slot that the host got a request `began` ms ago, and that the last beat was `beat` ms ago.
 * NEVER: there was none. */
#define NEVER UINT64_MAX
static void show(struct bb__slot *slot, uint64_t began, uint64_t beat)
{
    atomic_store(&slot->began, began == NEVER ? 0 : bb__clock_ms() - began);
    atomic_store(&slot->beat, beat == NEVER ? 0 : bb__clock_ms() - beat);
}

static void test_a_worker_is_alive_until_its_request_and_its_beat_are_old(void **state)
{
    (void)state;
    static const struct {
        uint64_t began, beat;
        bool alive;
    } cases[] = {
        {NEVER, 8000, true},     /* a worker without requests does not beat */
        {LIMIT - 1, 8000, true}, /* a new request after a long rest */
        {LIMIT, 8000, false},    {LIMIT, LIMIT, false},
        {8000, LIMIT - 1, true}, /* a long request, during which the worker beats */
        {8000, LIMIT, false},    {8000, NEVER, true},
    };
    for (uint64_t limit = 0; limit <= LIMIT; limit += LIMIT) {
        struct host *host = new_limited_host(limit);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            show(host->lane->intake.slot, cases[i].began, cases[i].beat);
            assert_int_equal(is_alive(host), limit == 0 || cases[i].alive);
        }
        free_host(host);
    }
}

/* This worker and another worker have two lanes each. One stuck lane makes its worker stuck. */
static void test_a_server_is_alive_while_one_worker_is(void **state)
{
    (void)state;
    struct host *host = new_limited_host(LIMIT);
    struct bb__slot *slots[4] = {host->lane->intake.slot};
    for (int i = 1; i < 4; i++) slots[i] = bb__scoreboard_claim(scoreboard);
    atomic_store(&slots[1]->pid, getppid());
    atomic_store(&slots[3]->pid, getppid());
    for (int i = 0; i < 4; i++) show(slots[i], NEVER, 8000);
    assert_true(is_alive(host));
    show(slots[2], 8000, 8000);
    assert_true(is_alive(host));
    show(slots[3], 8000, 8000);
    assert_false(is_alive(host));
    show(slots[3], NEVER, 8000);
    assert_true(is_alive(host));
    atomic_store(&slots[3]->idle, BB_IDLE_SILENT); /* a frozen process */
    assert_false(is_alive(host));
    show(slots[2], NEVER, 8000);
    atomic_store(&slots[2]->idle, BB_IDLE_SILENT); /* this process responds, so it is not frozen */
    assert_true(is_alive(host));
    show(slots[2], 8000, 8000);
    assert_false(is_alive(host));
    for (int i = 1; i < 4; i++) bb__scoreboard_give_back(slots[i]);
    assert_true(is_alive(host));
    free_host(host);
}

static void test_without_a_scoreboard_the_paths_are_for_the_host(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.ready_path, "/-/ready");
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new_saying(host, READY);
    assert_response(client, 200, "GET /-/ready ");
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_get_their_response_from_the_core),
        cmocka_unit_test(test_other_paths_are_for_the_host),
        cmocka_unit_test(test_pipelined_probes_are_answered_in_order),
        cmocka_unit_test(test_a_probe_is_one_of_max_keepalive_requests),
        cmocka_unit_test(test_while_the_server_drains_responses_end_their_connections),
        cmocka_unit_test(test_a_worker_is_alive_until_its_request_and_its_beat_are_old),
        cmocka_unit_test(test_a_server_is_alive_while_one_worker_is),
        cmocka_unit_test(test_without_a_scoreboard_the_paths_are_for_the_host),
    };
    return cmocka_run_group_tests_name("conn_probe", tests, NULL, NULL);
}
