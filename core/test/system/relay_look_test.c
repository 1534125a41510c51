/* relay_look_test.c: what is in the queue between processes, for who does not take it: since when the first
 * one waits, and how many requests there are. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bontebok.h"
#include "support/descriptors.h"
#include "system/relay.h"

static char taken[BB_RELAY_BYTES];
static const struct iovec word = {(char *)"w", 1};

static int set_up(void **state)
{
    struct bb__relay *relay =
        mmap(NULL, sizeof *relay, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(relay, MAP_FAILED);
    assert_int_equal(bb__relay_open(relay), BB_OK);
    relay->turns =
        mmap(NULL, sizeof *relay->turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(relay->turns, MAP_FAILED);
    *state = relay;
    return 0;
}

static int tear_down(void **state)
{
    struct bb__relay *relay = *state;
    bb__relay_close(relay);
    munmap(relay->turns, sizeof *relay->turns);
    munmap(relay, sizeof *relay);
    return 0;
}

static void send_request(const struct bb__relay *relay, uint64_t since)
{
    assert_int_equal(bb__relay_send(relay, since, &word, 1, NULL, 0), BB_OK);
}

static void take(const struct bb__relay *relay)
{
    struct bb__relayed relayed;
    assert_int_equal(bb__relay_take(relay, taken, &relayed), BB_OK);
    assert_int_equal(relayed.len, 1);
    assert_int_equal(taken[0], 'w');
}

static uint64_t waiting(const struct bb__relay *relay)
{
    struct bb__relay_stamp first;
    return bb__relay_look(relay, &first) == BB_OK ? bb__relay_waiting(relay, &first) : 0;
}

static void test_a_look_takes_nothing(void **state)
{
    const struct bb__relay *relay = *state;
    struct bb__relay_stamp first;
    assert_int_equal(bb__relay_look(relay, &first), BB_AGAIN);
    int fd = 0;
    assert_int_equal(bb__relay_send(relay, 4711, &word, 1, &fd, 1), BB_OK);
    int before = open_descriptors();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bb__relay_look(relay, &first), BB_OK);
        assert_true(first.has_request);
        assert_int_equal(first.since, 4711);
    }
    assert_int_equal(open_descriptors(), before);
    struct bb__relayed relayed;
    assert_int_equal(bb__relay_take(relay, taken, &relayed), BB_OK);
    assert_int_equal(relayed.stamp.since, 4711);
    assert_int_equal(relayed.fd_count, 1);
    close(relayed.fds[0]);
    assert_int_equal(bb__relay_look(relay, &first), BB_AGAIN);
}

static void test_what_is_no_request_has_its_time_as_well(void **state)
{
    const struct bb__relay *relay = *state;
    struct bb__relay_stamp first;
    uint64_t before = bb__clock_us();
    send_request(relay, 0);
    assert_int_equal(bb__relay_look(relay, &first), BB_OK);
    assert_false(first.has_request);
    assert_in_range(first.since, before, bb__clock_us());
    take(relay);
}

static void test_requests_are_counted(void **state)
{
    const struct bb__relay *relay = *state;
    static const uint64_t since[] = {0, 1, 0, 1, 1};
    static const uint64_t left[] = {3, 3, 2, 2, 1, 0};
    for (int i = 0; i < 5; i++) send_request(relay, since[i]);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(waiting(relay), left[i]);
        take(relay);
    }
    assert_int_equal(waiting(relay), left[5]);
    send_request(relay, 1);
    assert_int_equal(waiting(relay), 1);
    take(relay);
}

static void test_nobody_has_to_count(void **state)
{
    struct bb__relay relay = *(struct bb__relay *)*state;
    struct bb__relay_stamp first;
    relay.turns = NULL;
    send_request(&relay, 1);
    assert_int_equal(bb__relay_look(&relay, &first), BB_OK);
    assert_int_equal(bb__relay_waiting(&relay, &first), 0);
    take(&relay);
}

/* What it had not sent when it was killed takes no room. */
static void test_senders_that_were_killed(void **state)
{
    const struct bb__relay *relay = *state;
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0)
            for (;;) (void)bb__relay_send(relay, 1, &word, 1, NULL, 0);
        while (waiting(relay) < 5) continue;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        for (uint64_t count = waiting(relay); count > 1; count--) {
            take(relay);
            assert_in_range(waiting(relay), count - 1, count); /* the last one may not be counted */
        }
        while (waiting(relay) > 0) take(relay);
        struct bb__relay_stamp first;
        if (bb__relay_look(relay, &first) == BB_OK) take(relay);
        send_request(relay, 1);
        assert_int_equal(waiting(relay), 1);
        take(relay);
    }
}

/* It was killed between the two steps: one that is not counted, as long as it is there. */
static void test_one_that_was_not_counted(void **state)
{
    const struct bb__relay *relay = *state;
    send_request(relay, 1);
    atomic_fetch_sub(relay->turns, 1);
    send_request(relay, 1);
    send_request(relay, 1);
    assert_int_equal(waiting(relay), 2);
    take(relay);
    assert_int_equal(waiting(relay), 2);
    take(relay);
    assert_int_equal(waiting(relay), 1);
    take(relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_look_takes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_request_has_its_time_as_well, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nobody_has_to_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_senders_that_were_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_that_was_not_counted, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("relay_look", tests, NULL, NULL);
}
