/* reply_memory_test.c: responses when memory runs out. A response that the client has begun to read must not
 * look whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fail_alloc.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define LARGE   (2 << 20)

static unsigned failing; /* which allocation fails after the call of bb_reply_head(); 1: the first */
static bool until_close, failed;

/* Writes two parts. The socket does not take all bytes, so the core keeps the rest in memory. */
static void app_without_memory(struct host *host, const struct bb_request *request)
{
    static const char body[LARGE];
    const struct bb_slice parts[] = {{body, LARGE / 2}, {body, LARGE / 2}};
    uint64_t taken;
    int little = 64 * 1024;
    (void)request;
    assert_int_equal(setsockopt(host->lane->current->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    host_fields(host, 200);
    assert_int_equal(bb_reply_head(host->lane, until_close ? BB_LENGTH_UNKNOWN : LARGE), BB_OK);
    fail_alloc_at(failing);
    int code = bb_reply_write(host->lane, parts, 2, false, &taken);
    failed = fail_alloc_off();
    if (!failed) {
        assert_int_equal(code, BB_OK);
        assert_int_equal(bb_reply_end(host->lane), BB_OK);
        return;
    }
    assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(bb_reply_write(host->lane, NULL, 0, true, &taken), BB_ENOMEM); /* same error again */
    assert_int_equal(bb_reply_end(host->lane), BB_ENOMEM);
}

/* Tests a body with Content-Length, and a body that ends when the connection is closed. */
static void test_a_response_that_cannot_be_kept_breaks_off(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        unsigned failures = 0;
        until_close = how;
        for (failing = 1; failing == 1 || failed; failing++) {
            struct bb_settings settings = host_settings();
            settings.response_buffer = 2 * LARGE;
            settings.chunked_transfer = 0;
            struct host *host = host_new(&settings, AF_INET);
            struct client *client = client_new(host);
            host->app = app_without_memory;
            client_say(client, REQUEST);
            bool whole = client_read(client, true);
            assert_int_equal(whole, !failed);
            if (failed) {
                failures++;
                assert_int_equal(client->end, CLIENT_RESET);
                assert_int_equal(host_connections(host), 0);
            } else {
                assert_int_equal(bb__buf_len(&client->body), LARGE + 1);
            }
            client_free(client);
            host_free(host);
        }
        assert_true(failures > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_response_that_cannot_be_kept_breaks_off),
    };
    return cmocka_run_group_tests_name("reply_memory", tests, NULL, NULL);
}
