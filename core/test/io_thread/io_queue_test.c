/* io_queue_test.c: for how long requests may wait for a lane while all of them are busy (QueueTimeout).
 * Also run under ThreadSanitizer (make tsan). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rush.h"
#include "support/later_clock.h"

static void test_who_waits_for_too_long_is_told_so(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(SOON, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    say(early, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    int fresh = ask(&rush, "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /");
    assert_refused(early, NULL);
    assert_refused(fresh, NULL);
    unblock_all(&rush);
    assert_true(is_served(early, "/next", ""));
    assert_true(is_served(fresh, "/next", "body"));
    close(early);
    close(fresh);
    end(&rush, 3);
}

/* A process that was stopped while it was idle would take it, and never does. */
static void test_who_is_left_to_one_that_was_stopped(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(SOON, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    struct bb__slot *stopped = bb__scoreboard_claim(lanes_scoreboard);
    atomic_store(&stopped->pid, 1);
    bb__scoreboard_set_idle(stopped, true);
    say(early, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(early, NULL);
    unblock_all(&rush);
    assert_true(is_served(early, "/next", ""));
    close(early);
    end(&rush, 2);
}

/* The same with a connection that nobody has accepted, which goes by the limit of MaxQueue as well. */
static void test_a_new_one_is_not_left_to_one_that_was_stopped(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 1; limit++) {
        struct bb_settings settings = limit == 0 ? bounded(SOON, 0) : bounded(0, 1);
        struct rush rush;
        begin(&rush, &settings);
        block_all(&rush);
        struct bb__slot *stopped = bb__scoreboard_claim(lanes_scoreboard);
        atomic_store(&stopped->pid, 1);
        bb__scoreboard_set_idle(stopped, true);
        int first = ask(&rush, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
        if (limit == 1) await_waiting(&rush, 1);
        int last = ask(&rush, "GET /last HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(last, NULL);
        close(last);
        if (limit == 0) assert_refused(first, NULL);
        hold_clocks();
        bb__scoreboard_set_idle(stopped, false); /* it goes on, and is relied on again */
        bb__scoreboard_set_idle(stopped, true);
        assert_int_equal(bb__scoreboard_idle(lanes_scoreboard, 8), 1);
        bb__scoreboard_set_idle(stopped, false);
        let_clocks_go_on();
        unblock_all(&rush);
        if (limit == 1) assert_true(lanes_read(first, "/first 0"));
        close(first);
        end(&rush, (unsigned)limit);
    }
}

/* A lane that leaves nothing behind has no need of the I/O thread, but others have. */
static void test_a_lane_with_one_connection(void **state)
{
    (void)state;
    for (int limit = 0; limit <= 1; limit++) {
        struct bb_settings settings = limit == 0 ? bounded(SOON, 0) : bounded(0, 1);
        struct rush rush;
        begin_with(&rush, &settings, 1);
        block_all(&rush);
        int first = ask(&rush, "GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
        if (limit == 1) await_waiting(&rush, 1);
        int last = ask(&rush, "GET /last HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(last, NULL);
        close(last);
        if (limit == 0) assert_refused(first, NULL);
        unblock_all(&rush);
        if (limit == 1) assert_true(lanes_read(first, "/first 0"));
        close(first);
        end(&rush, (unsigned)limit);
    }
}

static void test_who_has_his_turn_in_time_is_served(void **state)
{
    (void)state;
    struct bb_settings settings = bounded(NEVER, 0);
    struct rush rush;
    begin(&rush, &settings);
    int early = connect_early(&rush);
    block_all(&rush);
    say(early, "POST /early HTTP/1.1\r\nHost: x\r\n\r\n");
    int fresh = ask(&rush, "POST /fresh HTTP/1.1\r\nHost: x\r\n\r\n");
    await_waiting(&rush, 2);
    assert_true(is_silent(early) && is_silent(fresh));
    unblock_all(&rush);
    assert_true(lanes_read(early, "/early 0"));
    assert_true(lanes_read(fresh, "/fresh 0"));
    close(early);
    close(fresh);
    end(&rush, 3);
}

/* The second could not be served before the first was answered: its time begins then. */
static void test_what_is_pipelined_behind_it_is_next(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(fd, NULL);
    assert_refused(fd, NULL);
    unblock_all(&rush);
    assert_true(is_served(fd, "/three", ""));
    close(fd);
    end(&rush, 1);
}

static void test_a_client_of_http_1_0_stays_if_it_says_so(void **state)
{
    (void)state;
    struct rush rush;
    char answer[256];
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "HEAD /one HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    read_until(fd, "\r\n\r\n", answer, sizeof answer);
    assert_non_null(strstr(answer, "\r\nConnection: keep-alive\r\n\r\n"));
    unblock_all(&rush);
    assert_true(is_served(fd, "/two", ""));
    close(fd);
    end(&rush, 1);
}

/* A word is in the way of those behind it, who do not wait for it; some lane may have to hear it all the
 * same.
 */
static void test_who_is_behind_others_is_seen(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 0);
    bb__shared_queue_nudge(&rush.lanes.worker->shared_queue);
    int fd = ask(&rush, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_refused(fd, NULL);
    await_first(&rush, has_word, 0);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

static void test_a_connection_that_the_client_ends(void **state)
{
    (void)state;
    struct rush rush;
    char byte;
    begin_busy(&rush, SOON, 0);
    int fd = ask(&rush, "GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_refused(fd, "\r\nConnection: close\r\n");
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
    unblock_all(&rush);
    end(&rush, 0);
}

static void test_a_health_check_waits(void **state)
{
    (void)state;
    struct rush rush;
    begin_busy(&rush, SOON, 1);
    int check = ask(&rush, "GET /healthz?deep=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int round = 0; round < 3; round++) {
        int fd = ask(&rush, "GET /healthz/more HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_refused(fd, NULL);
        close(fd);
    }
    assert_true(is_silent(check));
    int other = ask(&rush, "GET /up HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(is_silent(other));
    unblock_all(&rush);
    assert_true(lanes_read(check, "/healthz?deep=1 0"));
    assert_true(lanes_read(other, "/up 0"));
    close(check);
    close(other);
    end(&rush, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits_for_too_long_is_told_so),
        cmocka_unit_test(test_who_is_left_to_one_that_was_stopped),
        cmocka_unit_test(test_a_new_one_is_not_left_to_one_that_was_stopped),
        cmocka_unit_test(test_a_lane_with_one_connection),
        cmocka_unit_test(test_who_has_his_turn_in_time_is_served),
        cmocka_unit_test(test_what_is_pipelined_behind_it_is_next),
        cmocka_unit_test(test_a_client_of_http_1_0_stays_if_it_says_so),
        cmocka_unit_test(test_who_is_behind_others_is_seen),
        cmocka_unit_test(test_a_connection_that_the_client_ends),
        cmocka_unit_test(test_a_health_check_waits),
    };
    return cmocka_run_group_tests_name("porter_queue", tests, NULL, NULL);
}
