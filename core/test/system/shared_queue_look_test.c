/* shared_queue_look_test.c: reads the state of the shared queue without receiving a message: since when the
 * first message waits, and how many requests wait. */
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
#include "system/shared_queue.h"

static char taken[BB_SHARED_QUEUE_BYTES];
static const struct iovec word = {(char *)"w", 1};

static int set_up(void **state)
{
    struct bb__shared_queue *shared_queue =
        mmap(NULL, sizeof *shared_queue, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared_queue, MAP_FAILED);
    assert_int_equal(bb__shared_queue_open(shared_queue), BB_OK);
    shared_queue->turns =
        mmap(NULL, sizeof *shared_queue->turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared_queue->turns, MAP_FAILED);
    *state = shared_queue;
    return 0;
}

static int tear_down(void **state)
{
    struct bb__shared_queue *shared_queue = *state;
    bb__shared_queue_close(shared_queue);
    munmap(shared_queue->turns, sizeof *shared_queue->turns);
    munmap(shared_queue, sizeof *shared_queue);
    return 0;
}

static void send_request(const struct bb__shared_queue *shared_queue, uint64_t since)
{
    assert_int_equal(bb__shared_queue_send(shared_queue, since, &word, 1, NULL, 0), BB_OK);
}

static void take(const struct bb__shared_queue *shared_queue)
{
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(shared_queue, taken, &message), BB_OK);
    assert_int_equal(message.len, 1);
    assert_int_equal(taken[0], 'w');
}

static uint64_t waiting(const struct bb__shared_queue *shared_queue)
{
    struct bb__shared_stamp first;
    return bb__shared_queue_look(shared_queue, &first) == BB_OK
               ? bb__shared_queue_waiting(shared_queue, &first)
               : 0;
}

static void test_a_look_takes_nothing(void **state)
{
    const struct bb__shared_queue *shared_queue = *state;
    struct bb__shared_stamp first;
    assert_int_equal(bb__shared_queue_look(shared_queue, &first), BB_AGAIN);
    int fd = 0;
    assert_int_equal(bb__shared_queue_send(shared_queue, 4711, &word, 1, &fd, 1), BB_OK);
    int before = open_descriptors();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bb__shared_queue_look(shared_queue, &first), BB_OK);
        assert_true(first.has_request);
        assert_int_equal(first.since, 4711);
    }
    assert_int_equal(open_descriptors(), before);
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(shared_queue, taken, &message), BB_OK);
    assert_int_equal(message.stamp.since, 4711);
    assert_int_equal(message.fd_count, 1);
    close(message.fds[0]);
    assert_int_equal(bb__shared_queue_look(shared_queue, &first), BB_AGAIN);
}

static void test_a_message_without_a_request_has_a_time(void **state)
{
    const struct bb__shared_queue *shared_queue = *state;
    struct bb__shared_stamp first;
    uint64_t before = bb__clock_us();
    send_request(shared_queue, 0);
    assert_int_equal(bb__shared_queue_look(shared_queue, &first), BB_OK);
    assert_false(first.has_request);
    assert_in_range(first.since, before, bb__clock_us());
    take(shared_queue);
}

static void test_requests_are_counted(void **state)
{
    const struct bb__shared_queue *shared_queue = *state;
    static const uint64_t since[] = {0, 1, 0, 1, 1};
    static const uint64_t left[] = {3, 3, 2, 2, 1, 0};
    for (int i = 0; i < 5; i++) send_request(shared_queue, since[i]);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(waiting(shared_queue), left[i]);
        take(shared_queue);
    }
    assert_int_equal(waiting(shared_queue), left[5]);
    send_request(shared_queue, 1);
    assert_int_equal(waiting(shared_queue), 1);
    take(shared_queue);
}

static void test_requests_are_not_counted_without_a_counter(void **state)
{
    struct bb__shared_queue shared_queue = *(struct bb__shared_queue *)*state;
    struct bb__shared_stamp first;
    shared_queue.turns = NULL;
    send_request(&shared_queue, 1);
    assert_int_equal(bb__shared_queue_look(&shared_queue, &first), BB_OK);
    assert_int_equal(bb__shared_queue_waiting(&shared_queue, &first), 0);
    take(&shared_queue);
}

/* A process is killed while it sends messages. The count may lack one message until the queue is empty. */
static void test_killed_senders_do_not_spoil_the_count(void **state)
{
    LINUX_ONLY;
    const struct bb__shared_queue *shared_queue = *state;
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0)
            for (;;) (void)bb__shared_queue_send(shared_queue, 1, &word, 1, NULL, 0);
        while (waiting(shared_queue) < 5) continue;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        for (uint64_t count = waiting(shared_queue); count > 1; count--) {
            take(shared_queue);
            assert_in_range(waiting(shared_queue), count - 1, count); /* a message may be uncounted */
        }
        while (waiting(shared_queue) > 0) take(shared_queue);
        struct bb__shared_stamp first;
        if (bb__shared_queue_look(shared_queue, &first) == BB_OK) take(shared_queue);
        send_request(shared_queue, 1);
        assert_int_equal(waiting(shared_queue), 1);
        take(shared_queue);
    }
}

/* A process was killed after it had sent a message and before it had counted the message. One message is not
 * counted while this message is in the queue. */
static void test_an_uncounted_message_spoils_no_count(void **state)
{
    const struct bb__shared_queue *shared_queue = *state;
    send_request(shared_queue, 1);
    atomic_fetch_sub(shared_queue->turns, 1);
    send_request(shared_queue, 1);
    send_request(shared_queue, 1);
    assert_int_equal(waiting(shared_queue), 2);
    take(shared_queue);
    assert_int_equal(waiting(shared_queue), 2);
    take(shared_queue);
    assert_int_equal(waiting(shared_queue), 1);
    take(shared_queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_look_takes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_message_without_a_request_has_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests_are_not_counted_without_a_counter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_senders_do_not_spoil_the_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_uncounted_message_spoils_no_count, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("shared_queue_look", tests, NULL, NULL);
}
