/* pass_idle_test.c: idle connections are passed on, although one of them cannot be passed on now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/few_descriptors.h"

#define REQUEST "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

/* The lane looks at the newest connection first. The message of a long head needs a file. */
static void test_a_connection_that_needs_a_file_does_not_hold_up_the_others(void **state)
{
    LINUX_ONLY; /* elsewhere a message needs copies of descriptors */
    static char head[30000] = "GET / HTTP/1.1\r\nHost: x\r\nX-Long: ";
    memset(head + strlen(head), 'l', sizeof head - strlen(head) - 1);
    struct host *host = host_new_default(AF_UNIX);
    struct client *other = client_new_saying(host, REQUEST);
    assert_response(other, 200, "GET / ");
    struct client *large = client_new_saying(host, head);
    host_settle_to(host, 2);

    struct bb__conn_set *set = &host->lane->set;
    limit_descriptors(0);
    bool all = bb__conn_set_pass_idle(set, &host->lane->context, &host->worker->shared.queue);
    unlimit_descriptors();
    assert_false(all);
    assert_int_equal(host_connections(host), 1);
    assert_true(bb__conn_set_pass_idle(set, &host->lane->context, &host->worker->shared.queue));
    assert_int_equal(host_connections(host), 0);

    host_settle_to(host, 2);
    client_say(other, REQUEST);
    assert_response(other, 200, "GET / ");
    client_say(large, "\r\n\r\n");
    assert_response(large, 200, "GET / ");
    client_free(other);
    client_free(large);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_connection_that_needs_a_file_does_not_hold_up_the_others),
    };
    return cmocka_run_group_tests_name("pass_idle", tests, NULL, NULL);
}
