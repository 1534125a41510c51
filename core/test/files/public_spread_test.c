/* public_spread_test.c: when a lane that sends files leaves the next connections to other lanes. See
 * lane_spread_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_case.h"
#include "support/fail_socket.h"

static struct bb_scoreboard *scoreboard;
static struct bb__slot *other; /* of a lane in another process */
static unsigned unwatched;

static void count_unwatched(void)
{
    unwatched++;
}

static int begin(void **state)
{
    (void)state;
    make_public_files();
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    host = host_new_default(AF_UNIX);
    other = bb__scoreboard_claim(scoreboard);
    host_enter_scoreboard(host, scoreboard);
    host_enter_public(host, public_dir, "");
    fail_socket.before_unwatching = count_unwatched;
    return 0;
}

static int end(void **state)
{
    (void)state;
    fail_socket.before_unwatching = NULL;
    host_leave_public(host);
    bb_scoreboard_free(scoreboard);
    remove_public_dir();
    return 0;
}

/* New clients get a file each, and the other lane sends `others` files for each. Returns how often the lane
 * goes to the end of the kernel's wait queue. */
static unsigned turns(int count, unsigned others)
{
    unwatched = 0;
    for (int i = 0; i < count; i++) {
        client = client_new_saying(host, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        bb_lane_wait(host->lane);
        host_serve(host);
        assert_response(client, 200, "a");
        client_free(client);
        atomic_fetch_add(&other->files, others);
    }
    return unwatched / 2;
}

static void test_a_lane_that_sends_more_than_others(void **state)
{
    LINUX_ONLY;
    assert_int_equal(turns(30, 0), 0);
    assert_in_range(turns(34, 0), 31, 33);
}

static void test_lanes_that_send_the_same(void **state)
{
    LINUX_ONLY;
    assert_int_equal(turns(200, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_lane_that_sends_more_than_others, begin, end),
        cmocka_unit_test_setup_teardown(test_lanes_that_send_the_same, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
