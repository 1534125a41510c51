/* late_claim_test.c: calls that send a response after the I/O thread has answered with 504, or has shut the
 * connection down (request_timeout). Each call returns BB_EGONE, sends nothing and keeps nothing.
 * LeakSanitizer finds memory that is left, and host_free() finds descriptors. The test itself does what the
 * I/O thread does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"

#define POST    "POST /in HTTP/1.1\r\nHost: x\r\n"
#define GET     "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define UPGRADE "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
#define OVERDUE "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n"

/* ---- the I/O thread ---- */

static void answer(const struct host *host)
{
    int fd = host->lane->current->fd;
    atomic_store(&host->lane->response, BB_RESPONSE_BY_IO);
    (void)send(fd, OVERDUE, sizeof OVERDUE - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
}

static void cut(const struct host *host)
{
    atomic_store(&host->lane->response, BB_RESPONSE_CUT);
    shutdown(host->lane->current->fd, SHUT_RDWR);
}

/* ---- calls ---- */

static struct bb_stream *stream;

static void begin(struct host *host, uint64_t length)
{
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, length), BB_OK);
}

static int write_part(struct host *host, bool last)
{
    const struct bb_slice part = {"part", 4};
    uint64_t taken;
    return bb_reply_write(host->lane, &part, 1, last, &taken);
}

static int writes(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, 8);
    answer(host);
    return write_part(host, false);
}

static int writes_all(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host, 4);
    answer(host);
    return write_part(host, true);
}

static int writes_nothing(struct host *host, const struct bb_request *request)
{
    uint64_t taken;
    (void)request;
    begin(host, 0);
    answer(host);
    return bb_reply_write(host->lane, NULL, 0, true, &taken);
}

static int writes_the_end(struct host *host, const struct bb_request *request)
{
    uint64_t taken;
    (void)request;
    begin(host, 4);
    assert_int_equal(write_part(host, false), BB_OK);
    cut(host);
    return bb_reply_write(host->lane, NULL, 0, true, &taken);
}

static int sends_a_file(struct host *host, const struct bb_request *request)
{
    static const char path[] = "/proc/self/exe";
    int fd;
    uint64_t size;
    (void)request;
    assert_int_equal(bb_file_open(host->lane, path, &fd, &size), BB_OK);
    host_fields(host, 200);
    answer(host);
    return bb_reply_file(host->lane, fd, size);
}

/* The socket takes only the first bytes. */
static int hints(struct host *host, const struct bb_request *request)
{
    static char value[1 << 20];
    (void)request;
    memset(value, 'a', sizeof value);
    assert_int_equal(bb_reply_begin(host->lane, 103), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "link", 4, value, sizeof value), BB_OK);
    atomic_store(&host->lane->response, BB_RESPONSE_BY_IO);
    int code = bb_reply_interim(host->lane);
    assert_int_equal(bb__conn_unsent(host->lane->current), 0);
    return code;
}

/* The socket takes nothing. */
static int continues(struct host *host, const struct bb_request *request)
{
    char byte;
    size_t got;
    (void)request;
    while (send(host->lane->current->fd, "", 1, MSG_DONTWAIT) == 1) continue;
    atomic_store(&host->lane->response, BB_RESPONSE_BY_IO);
    return bb_request_read(host->lane, &byte, 1, &got);
}

static int hijacks(struct host *host, const struct bb_request *request)
{
    struct bb_slice unread;
    int fd = -1;
    (void)request;
    answer(host);
    int code = bb_lane_hijack(host->lane, &fd, &unread);
    assert_int_equal(fd, -1);
    return code;
}

static int hijacks_behind_the_head(struct host *host, const struct bb_request *request)
{
    struct bb_slice unread;
    uint64_t taken;
    int fd = -1;
    (void)request;
    begin(host, BB_LENGTH_RAW);
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, false, &taken), BB_OK);
    cut(host);
    int code = bb_lane_hijack(host->lane, &fd, &unread);
    assert_int_equal(fd, -1);
    return code;
}

/* The stream would take bytes of the next request, or of the body. */
static int detaches(struct host *host, const struct bb_request *request)
{
    assert_int_equal(bb_reply_begin(host->lane, request->head.upgrade ? 101 : 200), BB_OK);
    assert_int_equal(bb_reply_field(host->lane, "upgrade", 7, "echo", 4), BB_OK);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    answer(host);
    return bb_lane_detach(host->lane, &stream);
}

static int rejoins(struct host *host, const struct bb_request *request)
{
    const struct bb_slice part = {"part", 4};
    uint64_t taken;
    (void)request;
    assert_int_equal(host->served, 1); /* the connection takes no other request */
    begin(host, 4);
    assert_int_equal(bb_lane_detach(host->lane, &stream), BB_OK);
    assert_int_equal(bb_stream_write(stream, &part, 1, true, &taken), BB_OK);
    cut(host);
    bb_lane_rejoin(host->lane, stream);
    bb_stream_free(stream);
    return BB_EGONE;
}

static int only_aborts(struct host *host, const struct bb_request *request)
{
    (void)request;
    answer(host);
    return BB_EGONE;
}

/* ---- tests ---- */

typedef int (*call)(struct host *host, const struct bb_request *request);

static call made; /* by the application */
static bool aborts;

static void app_is_late(struct host *host, const struct bb_request *request)
{
    assert_int_equal(made(host, request), BB_EGONE);
    if (aborts)
        bb_reply_abort(host->lane);
    else
        (void)bb_reply_end(host->lane);
}

/* Serves one request. The call of the application comes too late. */
static void serve_late(call what, const char *request, const char *expected)
{
    struct bb_settings settings = host_settings();
    settings.request_timeout = 1000;
    strcpy(settings.unbuffered_bodies, "/in");
    struct host *host = host_new(&settings, AF_UNIX);
    struct client *client = client_new_saying(host, request);
    host->app = app_is_late;
    made = what;
    while (host->served == 0) client_wait(client, POLLIN, real_ms());
    if (expected) {
        while (client_more(client)) continue;
        assert_int_equal(client->end, CLIENT_ENDED);
        assert_int_equal(bb__buf_len(&client->in), strlen(expected));
        assert_memory_equal(bb__buf_bytes(&client->in), expected, strlen(expected));
    }
    client_free(client);
    host_settle_to(host, 0);
    assert_int_equal(host->served, 1);
    host_free(host);
}

static void test_a_late_call_sends_nothing_and_keeps_nothing(void **state)
{
    (void)state;
    static const struct {
        call what;
        const char *request;
        bool is_answered; /* with 504 */
    } cases[] = {
        {writes, GET GET, true},
        {writes_all, GET GET, true},
        {writes_nothing, GET GET, true},
        {writes_the_end, GET GET, false},
        {sends_a_file, GET GET, true},
        {hints, GET GET, false},
        {continues, POST "Content-Length: 6\r\nExpect: 100-continue\r\n\r\n", false},
        {hijacks, GET "behind", true},
        {hijacks_behind_the_head, GET "behind", false},
        {detaches, GET GET, true},
        {detaches, UPGRADE "behind", true},
        {detaches, POST "Content-Length: 6\r\n\r\nabc", true},
        {rejoins, GET GET, false},
        {only_aborts, GET GET, true},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        aborts = i % 2;
        if (!aborts && cases[i / 2].what == only_aborts) continue;
        serve_late(cases[i / 2].what, cases[i / 2].request, cases[i / 2].is_answered ? OVERDUE : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_late_call_sends_nothing_and_keeps_nothing),
    };
    return cmocka_run_group_tests_name("late_claim", tests, NULL, NULL);
}
