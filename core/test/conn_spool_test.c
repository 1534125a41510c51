/* conn_spool_test.c: what request bodies in the spool cost, and how often the log hears of those that it
 * cannot take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"
#include "fail_file.h"
#include "fake_clock.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

static struct host *new_host(void)
{
    struct bb_settings settings = host_settings();
    settings.spool_threshold = 1000;
    settings.spool_max = 500 * 1000;
    return host_new(&settings, AF_UNIX);
}

/* ---- what it costs ---- */

/* Chunks of one byte, so many that they are read in several pieces. */
#define TINY 50000

static void app_gets_every_byte(struct host *host, const struct bb_request *request)
{
    static char body[TINY];
    assert_int_equal(request->body_length, TINY);
    read_body(request, body);
    for (int i = 0; i < TINY; i++) assert_int_equal(body[i], 'a' + i % 26);
    host_answer(host, 200, "", 0);
}

/* A client decides how its body is cut, not what it costs to write it down. */
static void test_tiny_chunks_are_written_together(void **state)
{
    (void)state;
    static char wire[TINY * 6];
    struct host *host = new_host();
    struct client *client = client_new(host);
    for (int i = 0; i < TINY; i++)
        memcpy(wire + 6 * i, (char[]){'1', '\r', '\n', (char)('a' + i % 26), '\r', '\n'}, 6);
    host->app = app_gets_every_byte;
    client_say(client, CHUNKED);
    client_send(client, wire, sizeof wire);
    client_say(client, "0\r\n\r\n");
    assert_answer(client, 200, "");
    assert_in_range(fail_file.writes, 1, TINY / 100);
    client_free(client);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_chunks_are_written_together),
    };
    return cmocka_run_group_tests_name("conn_spool", tests, NULL, NULL);
}
