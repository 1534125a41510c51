/* reply_time_test.c: how long the host (the program that calls the core) waits for a client that reads
 * nothing, and what counts as progress of the client. The core's clock is fake, but the kernel waits in real
 * time. */
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"
#include "support/fake_wait.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define BUFFER  (256 * 1024)
#define LARGEST (8 << 20)

static char letters[LARGEST];

static struct host *new_host(int family, uint64_t write_timeout, host_app app)
{
    struct bb_settings settings = host_settings();
    settings.response_buffer = BUFFER;
    settings.spool_max = 1; /* bytes; so little that the host waits for its client */
    settings.write_timeout = write_timeout;
    struct host *host = host_new(&settings, family);
    host->app = app;
    return host;
}

/* Writes parts of `len` bytes until neither memory nor the spool has room. */
static void fill_up(struct host *host, size_t len)
{
    const struct bb_slice part = {letters, len};
    uint64_t taken;
    while (!bb__response_spool_is_full(&host->lane->current->response_spool)) {
        int code = bb_reply_write(host->lane, &part, 1, false, &taken);
        if (code == BB_AGAIN && !host->lane->reply.spools)
            code = bb_reply_wait(host->lane); /* waits for at most BB_MOMENT ms */
        assert_true(code >= 0);
    }
}

static int write_part(struct host *host, size_t len)
{
    const struct bb_slice part = {letters, len};
    uint64_t taken;
    return bb_reply_write(host->lane, &part, 1, false, &taken);
}

static struct client *late;
static bool late_reads;

/* The time before the application writes does not count, because write_timeout begins when there are bytes to
 * read. */
static void app_is_late(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t since;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    fake_clock_advance(1000);
    fill_up(host, LARGEST);

    if (late_reads) { /* write_timeout begins again when the client reads bytes */
        fake_clock_advance(29);
        while (bb__conn_unsent(host->lane->current) > 0) {
            while (client_receive(late)) bb__buf_clear(&late->in);
            assert_true(write_part(host, 1) >= 0);
        }
        fill_up(host, LARGEST);
    }
    fake_clock_advance(10);
    since = real_ms();
    assert_int_equal(bb_reply_wait(host->lane), BB_EGONE);
    assert_true(real_ms() - since >= 19);
    bb_reply_abort(host->lane);
}

static void test_write_timeout_begins_with_the_last_progress(void **state)
{
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        struct host *host = new_host(AF_UNIX, 30, app_is_late);
        late = client_new(host);
        late_reads = reads;
        client_say(late, REQUEST);
        while (host->served == 0) host_turn(host);
        client_free(late);
        host_free(host);
    }
}

static void begin(struct host *host)
{
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, LARGEST), BB_OK);
}

/* Waits until TCP has an acknowledgement of all bytes that it has sent. A late one counts as progress. */
static void await_acknowledgements(int fd)
{
    struct tcp_info info = {.tcpi_unacked = 1};
    socklen_t len = sizeof info;
    uint64_t since = real_ms();
    while (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_unacked > 0)
        assert_true(real_ms() - since < WAIT_LIMIT);
}

/* Makes the socket's buffer so small that the socket stays full, even after the client has read bytes. */
static void shut_room(struct host *host)
{
    int least = 4096, fd = host->lane->current->fd;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
    await_acknowledgements(fd);
}

/* The client reads too few bytes to make the socket writable. */
static void app_is_read_little_by_little(struct host *host, const struct bb_request *request)
{
    (void)request;
    const struct bb__conn *conn = host->lane->current;
    begin(host);
    fill_up(host, 10000);
    shut_room(host);
    for (int round = 0; round < 2; round++) {
        char bytes[1000];
        int untaken = bb__sock_untaken(conn->fd);
        uint64_t pending = bb__conn_unsent(conn);
        while (bb__sock_untaken(conn->fd) == untaken) (void)recv(late->fd, bytes, sizeof bytes, 0);
        fake_clock_advance(30);
        bb_lane_wake(host->lane); /* a wake-up does not undo the client's progress */
        assert_int_equal(bb_reply_wait(host->lane), BB_AGAIN);
        uint64_t since = real_ms();
        assert_int_equal(bb_reply_wait(host->lane), BB_EGONE);
        assert_true(real_ms() - since >= 29);
        assert_int_equal(bb__conn_unsent(conn), pending);
    }
    bb_reply_abort(host->lane);
}

/* Bytes that the application writes are no progress of the client. */
static void app_goes_on_writing(struct host *host, const struct bb_request *request)
{
    (void)request;
    uint64_t progress;
    begin(host);
    while (bb__conn_unsent(host->lane->current) <= BUFFER / 2)
        assert_int_equal(write_part(host, 10000), BB_OK);
    shut_room(host);
    bb__reply_note_progress(host->lane);
    progress = host->lane->reply.write_progress;
    fake_clock_advance(20);
    assert_int_equal(write_part(host, 1000), BB_OK);
    fake_clock_advance(11);
    assert_int_equal(host->lane->reply.write_progress, progress);
    assert_int_equal(write_part(host, 1000), BB_EGONE);
    bb_reply_abort(host->lane);
}

static void test_only_the_client_makes_progress(void **state)
{
    (void)state;
    static const host_app apps[] = {app_is_read_little_by_little, app_goes_on_writing};
    static const int families[] = {AF_UNIX, AF_INET};
    for (int i = 0; i < 4; i++) {
        struct host *host = new_host(families[i / 2], 30, apps[i % 2]);
        late = client_new(host);
        client_say(late, REQUEST);
        while (host->served == 0) host_turn(host);
        client_free(late);
        host_free(host);
    }
}

/* bytes per second that the client reads while the host waits */
static size_t taken_a_second;
static unsigned seconds;

/* Waits until the client can read bytes. Returns false if the kernel has no more bytes for the client. */
static bool await_bytes(uint64_t since)
{
    struct pollfd watched = {.fd = late->fd, .events = POLLIN};
    while (poll(&watched, 1, 1) == 0) {
        if (bb__sock_untaken(late->host->lane->current->fd) == 0) return false;
        assert_true(real_ms() - since < WAIT_LIMIT);
    }
    return true;
}

static void take_some(void)
{
    static char bytes[1 << 20];
    uint64_t since = real_ms();
    for (size_t taken = 0; taken < taken_a_second && await_bytes(since);) {
        ssize_t got = recv(late->fd, bytes, taken_a_second - taken, 0);
        if (got <= 0) break;
        taken += (size_t)got;
    }
    seconds++;
}

#define RATE 50000

/* A lane that waits serves no other client. So the wait ends if the client reads more slowly than
 * min_body_rate. */
static void app_waits_for_a_slow_client(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    fill_up(host, 10000);
    fake_wait_client = take_some;
    fake_wait_passed = 0;
    seconds = 0;
    int code = bb_reply_wait(host->lane);
    fake_wait_client = NULL;
    assert_int_equal(code, taken_a_second < RATE ? BB_EGONE : BB_OK);
    if (code != BB_OK) assert_in_range(seconds, 1, 21); /* two intervals of checks */
    bb_reply_abort(host->lane);
}

static void test_a_client_below_min_body_rate_ends_the_wait(void **state)
{
    (void)state;
    static const int families[] = {AF_INET, AF_UNIX};
    static const size_t rates[] = {0, 10000, 100000};
    static const uint64_t timeouts[] = {60000, 0};
    for (int i = 0; i < 12; i++) {
        struct host *host = new_host(families[i % 2], timeouts[i / 6], app_waits_for_a_slow_client);
        host->worker->settings.min_body_rate = RATE;
        taken_a_second = rates[i / 2 % 3];
        late = client_new(host);
        client_say(late, REQUEST);
        while (host->served == 0) host_turn(host);
        client_free(late);
        host_free(host);
    }
}

/* A thread that waits outside of the core gets the same end. */
static void app_waits_elsewhere(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    fill_up(host, 10000);
    assert_int_equal(bb_reply_spool(host->lane), BB_AGAIN);
    fake_clock_advance(BB_RATE_AFTER);
    assert_int_equal(bb_reply_spool(host->lane), BB_AGAIN);
    fake_clock_advance(1000);
    assert_int_equal(bb_reply_spool(host->lane), taken_a_second < RATE ? BB_EGONE : BB_AGAIN);
    bb_reply_abort(host->lane);
}

static void test_a_client_below_min_body_rate_ends_a_wait_elsewhere(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct host *host = new_host(i % 2 ? AF_INET : AF_UNIX, 0, app_waits_elsewhere);
        taken_a_second = i < 2 ? 0 : RATE;
        host->worker->settings.min_body_rate = i < 2 ? RATE : 1;
        struct client *client = client_new(host);
        client_say(client, REQUEST);
        while (host->served == 0) host_turn(host);
        client_free(client);
        host_free(host);
    }
}

/* The kernel reports taken bytes in large steps. So the core counts 64 KiB more than the kernel reports. With
 * the default min_body_rate, these 64 KiB last longer than write_timeout, even if the client reads
 * nothing. */
static void app_waits_for_one_who_pauses(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    fill_up(host, 10000);
    fake_wait_client = take_some;
    seconds = taken_a_second = 0;
    assert_int_equal(bb_reply_wait(host->lane), BB_EGONE);
    fake_wait_client = NULL;
    assert_in_range(seconds, 60, 75);
    bb_reply_abort(host->lane);
}

static void test_a_client_that_is_a_little_behind_may_pause(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, 60000, app_waits_for_one_who_pauses);
    late = client_new(host);
    client_say(late, REQUEST);
    while (host->served == 0) host_turn(host);
    client_free(late);
    host_free(host);
}

/* For a unix socket, the kernel's count of untaken bytes includes overhead for each small part. So this count
 * may grow while the client reads nothing. The core must not count this as negative progress. */
static void app_sends_little_parts(struct host *host, const struct bb_request *request)
{
    (void)request;
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, BB_LENGTH_UNKNOWN), BB_OK);
    fill_up(host, 1);
    taken_a_second = 1 << 20;
    take_some();
    fake_wait_client = take_some;
    assert_int_equal(bb_reply_wait(host->lane), BB_OK);
    fake_wait_client = NULL;
    fill_up(host, 1);
    seconds = taken_a_second = 0;
    fake_wait_client = take_some;
    assert_int_equal(bb_reply_wait(host->lane), BB_EGONE);
    fake_wait_client = NULL;
    assert_in_range(seconds, 60, 75);
    bb_reply_abort(host->lane);
}

static void test_no_client_has_taken_less_than_nothing(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, 60000, app_sends_little_parts);
    host->worker->settings.response_buffer = 1;
    host->worker->settings.min_body_rate = 0;
    late = client_new(host);
    client_say(late, REQUEST);
    while (host->served == 0) host_turn(host);
    client_free(late);
    host_free(host);
}

/* In a drain, the lane waits only 2 s for a client that reads nothing. */
static void app_waits_in_a_drain(struct host *host, const struct bb_request *request)
{
    (void)request;
    begin(host);
    fill_up(host, 10000);
    fake_wait_client = take_some;
    seconds = taken_a_second = 0;
    bb_worker_drain(host->worker, BB_QUEUE_TAKE);
    assert_int_equal(bb_reply_wait(host->lane), BB_EGONE);
    fake_wait_client = NULL;
    assert_in_range(seconds, 2, 3);
    bb_reply_abort(host->lane);
}

static void test_a_drain_shortens_the_wait(void **state)
{
    (void)state;
    static const uint64_t timeouts[] = {60000, 0};
    for (int i = 0; i < 2; i++) {
        struct host *host = new_host(AF_INET, timeouts[i], app_waits_in_a_drain);
        late = client_new(host);
        client_say(late, REQUEST);
        while (host->served == 0) host_turn(host);
        client_free(late);
        host_free(host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drain_shortens_the_wait),
        cmocka_unit_test(test_write_timeout_begins_with_the_last_progress),
        cmocka_unit_test(test_a_client_below_min_body_rate_ends_the_wait),
        cmocka_unit_test(test_a_client_below_min_body_rate_ends_a_wait_elsewhere),
        cmocka_unit_test(test_a_client_that_is_a_little_behind_may_pause),
        cmocka_unit_test(test_no_client_has_taken_less_than_nothing),
        cmocka_unit_test(test_only_the_client_makes_progress),
    };
    return cmocka_run_group_tests_name("reply_time", tests, NULL, NULL);
}
