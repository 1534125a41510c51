/* conn_file_test.c: responses whose body is a file: slow clients, a slow disk, files that become shorter,
 * ranges, and what follows the response. h1_reply_file_test.c tests the heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/cold_file.h"
#include "support/fake_clock.h"
#include "support/files.h"

#define GET(fields) "GET / HTTP/1.1\r\nHost: x\r\n" fields "\r\n"
#define LARGE       (16 << 20) /* bytes; the kernel buffers only a part of them */
#define SMALL       1000

static struct {
    int fd; /* the application's own descriptor of the file */
    char path[TEMPORARY_PATH];
    int code;           /* of bb_reply_file() */
    const char *length; /* Content-Length that the application sets, or NULL */
} file;

static char letter_at(uint64_t position)
{
    return (char)('a' + position * 31 % 26);
}

static void write_file(size_t len)
{
    char *bytes = malloc(len);
    for (size_t i = 0; i < len; i++) bytes[i] = letter_at(i);
    file.fd = mkostemp(temporary_path(file.path), O_CLOEXEC);
    file.length = NULL;
    assert_true(file.fd >= 0);
    assert_int_equal(write(file.fd, bytes, len), len);
    free(bytes);
}

static void remove_file(void)
{
    assert_int_equal(unlink(file.path), 0);
    close(file.fd);
}

static void app_file(struct host *host, const struct bb_request *request)
{
    int fd;
    uint64_t size;
    (void)request;
    host_fields(host, 200);
    if (file.length)
        assert_int_equal(bb_reply_field(host->lane, "content-length", 14, file.length, strlen(file.length)),
                         BB_OK);
    assert_int_equal(bb_file_open(host->lane, file.path, &fd, &size), BB_OK);
    assert_true(bb_reply_takes_file(host->lane, size));
    file.code = bb_reply_file(host->lane, fd, size);
    if (file.code == BB_OK)
        assert_int_equal(bb_reply_end(host->lane), BB_OK);
    else
        bb_reply_abort(host->lane);
}

static struct host *new_host_with(int family, size_t len, uint64_t write_timeout)
{
    struct bb_settings settings = host_settings();
    settings.write_timeout = write_timeout;
    struct host *host = host_new(&settings, family);
    write_file(len);
    host->descriptors++;
    host->app = app_file;
    return host;
}

static struct host *new_host(int family, size_t len)
{
    return new_host_with(family, len, 60000);
}

static void free_all(struct host *host, struct client *client)
{
    client_free(client);
    host_free(host);
    remove_file();
}

static void assert_letters(struct client *client, uint64_t first, size_t len)
{
    assert_int_equal(bb__buf_len(&client->body), len + 1);
    const char *bytes = bb__buf_bytes(&client->body);
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != letter_at(first + i)) fail_msg("byte %zu is wrong", i);
}

static struct bb__conn *only_conn(struct host *host)
{
    assert_int_equal(host_connections(host), 1);
    return host->lane->set.conns;
}

static void test_a_file_of_any_size_arrives(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, SMALL, 16 * 1024, 16 * 1024 + 1, 1 << 20, LARGE};
    static const int families[] = {AF_UNIX, AF_INET};
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        struct host *host = new_host(families[i % 2], sizes[i / 2]);
        struct client *client = client_new_saying(host, GET(""));
        assert_response(client, 200, NULL);
        assert_letters(client, 0, sizes[i / 2]);
        assert_string_equal(client_field(client, "Accept-Ranges"), "bytes");
        client_say(client, GET(""));
        assert_response(client, 200, NULL);
        assert_letters(client, 0, sizes[i / 2]);
        free_all(host, client);
    }
}

static void test_the_connection_ends_if_the_client_wants_it(void **state)
{
    (void)state;
    static const size_t sizes[] = {SMALL, LARGE};
    for (size_t i = 0; i < 2; i++) {
        struct host *host = new_host(AF_INET, sizes[i]);
        struct client *client = client_new_saying(host, GET("Connection: close\r\n"));
        assert_response(client, 200, NULL);
        assert_letters(client, 0, sizes[i]);
        assert_end(client);
        free_all(host, client);
    }
}

/* The host has ended the request, although the client has taken only a part. No byte is in memory. */
static void test_a_slow_client_holds_no_request_and_no_memory(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, LARGE);
    struct client *client = client_new_saying(host, GET("") GET("Range: bytes=5-9\r\n"));
    host_settle(host);
    assert_int_equal(host->served, 1);
    assert_null(host->lane->current);
    struct bb__conn *conn = only_conn(host);
    assert_int_equal(conn->state, BB_CONN_FLUSH);
    assert_true(bb__conn_unsent(conn) > LARGE / 2);
    assert_int_equal(bb__buf_len(&conn->out), 0);
    assert_int_equal(host->lane->context.spool_budget->unsent, 0);
    assert_response(client, 200, NULL);
    assert_letters(client, 0, LARGE);
    assert_response(client, 206, NULL);
    assert_letters(client, 5, 5);
    assert_null(only_conn(host)->file);
    free_all(host, client);
}

static void test_a_client_that_takes_nothing_is_reset(void **state)
{
    (void)state;
    struct host *host = new_host_with(AF_INET, LARGE, 1000);
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    for (int i = 0; i < 20; i++) {
        fake_clock_advance(500);
        host_settle(host);
    }
    assert_int_equal(host_connections(host), 0);
    assert_reset(client);
    free_all(host, client);
}

static void test_a_client_that_is_too_slow_is_reset(void **state)
{
    (void)state;
    struct host *host = new_host_with(AF_INET, LARGE, 0);
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    fake_clock_advance(3 * LARGE); /* ms; min_body_rate is 500 bytes per second */
    (void)client_receive(client);
    host_settle_to(host, 0);
    assert_reset(client);
    free_all(host, client);
}

/* ---- files that change ---- */

static void test_a_file_that_becomes_shorter_resets_the_connection(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, LARGE);
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    assert_int_equal(ftruncate(file.fd, LARGE / 2), 0);
    assert_false(client_read(client, true));
    assert_int_equal(client->end, CLIENT_RESET);
    host_settle_to(host, 0);
    assert_int_equal(host->event_count, 1);
    assert_string_equal(host->events[0].text,
                        "a file became shorter while it was sent: its connection is reset");
    assert_string_equal(host->events[0].peer, "127.0.0.1");
    free_all(host, client);
}

static void test_a_file_that_grows_keeps_its_length(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, LARGE);
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    assert_int_equal(ftruncate(file.fd, 2 * LARGE), 0);
    assert_response(client, 200, NULL);
    assert_letters(client, 0, LARGE);
    free_all(host, client);
}

static void test_the_first_bytes_are_sent_if_the_application_announces_fewer(void **state)
{
    (void)state;
    struct host *host = new_host(AF_UNIX, SMALL);
    file.length = "10";
    struct client *client = client_new_saying(host, GET("Range: bytes=-4\r\n"));
    assert_response(client, 206, NULL);
    assert_string_equal(client_field(client, "Content-Range"), "bytes 6-9/10");
    assert_letters(client, 6, 4);
    free_all(host, client);
}

/* ---- a slow disk ---- */

/* No thread waits, and the connection is not polled: its socket would be writable all the time. */
static void test_a_slow_disk_holds_no_thread(void **state)
{
    LINUX_ONLY;
    struct host *host = new_host(AF_INET, LARGE);
    cold_file.cold = true;
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    struct bb__conn *conn = only_conn(host);
    assert_int_equal(host->served, 1);
    assert_int_equal(conn->want, BB_INTEREST_NONE);
    assert_true(would_wait(host));
    unsigned looks = cold_file.looks, advices = cold_file.advices;
    host_settle(host);
    assert_int_equal(cold_file.looks, looks);
    fake_clock_advance(BB_DISK_TICK);
    host_settle(host);
    assert_int_equal(cold_file.looks, looks + 1);
    assert_true(cold_file.advices > advices); /* the kernel may have dropped the bytes again */
    cold_file.cold = false;
    fake_clock_advance(BB_DISK_TICK);
    assert_response(client, 200, NULL);
    assert_letters(client, 0, LARGE);
    free_all(host, client);
}

static void test_a_disk_that_is_slow_in_the_middle(void **state)
{
    LINUX_ONLY;
    struct host *host = new_host(AF_INET, LARGE);
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    for (int i = 0; i < 4; i++) {
        cold_file.cold = true;
        while (!bb__conn_waits_for_disk(only_conn(host))) {
            (void)client_receive(client);
            host_turn(host);
        }
        cold_file.cold = false;
        fake_clock_advance(BB_DISK_TICK);
        host_settle(host);
        assert_false(bb__conn_waits_for_disk(only_conn(host)));
    }
    assert_response(client, 200, NULL);
    assert_letters(client, 0, LARGE);
    free_all(host, client);
}

/* A client with min_body_rate does not pay for the disk. */
static void test_the_wait_for_the_disk_does_not_count_against_the_client(void **state)
{
    LINUX_ONLY;
    struct host *host = new_host_with(AF_INET, LARGE, 0);
    cold_file.cold = true;
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    fake_clock_advance(3 * LARGE);
    host_settle(host);
    cold_file.cold = false;
    fake_clock_advance(BB_DISK_TICK);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    assert_response(client, 200, NULL);
    assert_letters(client, 0, LARGE);
    free_all(host, client);
}

static void test_a_disk_that_delivers_nothing_resets_the_connection(void **state)
{
    LINUX_ONLY;
    struct host *host = new_host_with(AF_INET, SMALL, 1000);
    cold_file.cold = true;
    struct client *client = client_new_saying(host, GET(""));
    host_settle(host);
    fake_clock_advance(999);
    host_settle(host);
    assert_int_equal(host_connections(host), 1);
    fake_clock_advance(BB_DISK_TICK);
    host_settle_to(host, 0);
    cold_file.cold = false;
    assert_reset(client);
    assert_int_equal(host->event_count, 1);
    assert_string_equal(host->events[0].text,
                        "a file cannot be read while it is sent: its connection is reset");
    assert_int_equal(host->events[0].error, ETIMEDOUT);
    free_all(host, client);
}

/* In the middle of the file, or while the disk is slow. SIGPIPE has its default action, which would end the
 * test. */
static void test_a_client_that_goes(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct host *host = new_host(AF_UNIX, LARGE);
        cold_file.cold = cold;
        struct client *client = client_new_saying(host, GET(""));
        host_settle(host);
        close(client->fd);
        client->fd = -1;
        host_settle_to(host, 0);
        free_all(host, client);
    }
    cold_file.cold = false;
}

/* ---- ranges ---- */

static void test_several_large_ranges(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, LARGE);
    struct client *client = client_new_saying(host, GET("Range: bytes=0-3999999,-4000000\r\n"));
    assert_response(client, 206, NULL);
    const char *bytes = bb__buf_bytes(&client->body);
    const char *first = strstr(bytes, "\r\n\r\n") + 4;
    for (size_t i = 0; i < 4000000; i++)
        if (first[i] != letter_at(i)) fail_msg("byte %zu is wrong", i);
    const char *second = strstr(first + 4000000, "\r\n\r\n") + 4;
    for (size_t i = 0; i < 4000000; i++)
        if (second[i] != letter_at(LARGE - 4000000 + i)) fail_msg("byte %zu is wrong", i);
    assert_int_equal(strncmp(second + 4000000, "\r\n--", 4), 0);
    client_say(client, GET("Range: bytes=0-1,3-4\r\n"));
    assert_response(client, 206, NULL);
    client_say(client, GET("Range: bytes=99999999-\r\n"));
    assert_response(client, 416, "");
    assert_string_equal(client_field(client, "Content-Range"), "bytes */16777216");
    free_all(host, client);
}

static void test_a_head_request_gets_the_length(void **state)
{
    (void)state;
    struct host *host = new_host(AF_INET, LARGE);
    struct client *client = client_new_saying(host, "HEAD / HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\n\r\n");
    assert_true(client_read(client, false));
    assert_int_equal(client->status, 200);
    assert_string_equal(client_field(client, "Content-Length"), "16777216");
    client_say(client, GET("Range: bytes=0-0\r\n"));
    assert_response(client, 206, "a");
    free_all(host, client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_of_any_size_arrives),
        cmocka_unit_test(test_the_connection_ends_if_the_client_wants_it),
        cmocka_unit_test(test_a_slow_client_holds_no_request_and_no_memory),
        cmocka_unit_test(test_a_client_that_takes_nothing_is_reset),
        cmocka_unit_test(test_a_client_that_is_too_slow_is_reset),
        cmocka_unit_test(test_a_file_that_becomes_shorter_resets_the_connection),
        cmocka_unit_test(test_a_file_that_grows_keeps_its_length),
        cmocka_unit_test(test_the_first_bytes_are_sent_if_the_application_announces_fewer),
        cmocka_unit_test(test_a_slow_disk_holds_no_thread),
        cmocka_unit_test(test_a_disk_that_is_slow_in_the_middle),
        cmocka_unit_test(test_the_wait_for_the_disk_does_not_count_against_the_client),
        cmocka_unit_test(test_a_disk_that_delivers_nothing_resets_the_connection),
        cmocka_unit_test(test_a_client_that_goes),
        cmocka_unit_test(test_several_large_ranges),
        cmocka_unit_test(test_a_head_request_gets_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
