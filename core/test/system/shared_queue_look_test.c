/* shared_queue_look_test.c: reads the state of the shared queue without receiving a message: since when the
 * first message waits, and how many requests wait. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bontebok.h"
#include "support/descriptors.h"
#include "system/scoreboard.h"
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

/* ---- bb_scoreboard_waiting(): for processes that have not adopted the queue ---- */

/* The own end of the queue is blocking, as before a worker has adopted it. */
struct queue_of_others {
    struct bb_scoreboard *counter;
    struct bb__shared_queue sender;
    int out;
};

static struct queue_of_others *queue_of_others(void)
{
    static struct queue_of_others queue;
    int pair[2];
    assert_int_equal(bb_scoreboard_new(&queue.counter, 1), BB_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    queue.sender =
        (struct bb__shared_queue){.in = pair[0], .out = pair[1], .turns = &queue.counter->memory->turns};
    queue.out = pair[1];
    return &queue;
}

static void end_queue_of_others(struct queue_of_others *queue)
{
    bb__shared_queue_close(&queue->sender);
    bb_scoreboard_free(queue->counter);
}

static void assert_waiting(const struct queue_of_others *queue, uint64_t expected, uint64_t since)
{
    uint64_t count, oldest, before = bb__clock_us();
    assert_int_equal(bb_scoreboard_waiting(queue->counter, queue->out, &count, &oldest), BB_OK);
    assert_int_equal(count, expected);
    assert_in_range(oldest, before - since, bb__clock_us() - since);
}

static void assert_none_waits(const struct queue_of_others *queue)
{
    uint64_t count, oldest;
    assert_int_equal(bb_scoreboard_waiting(queue->counter, queue->out, &count, &oldest), BB_AGAIN);
}

static void test_a_process_outside_sees_how_many_wait(void **state)
{
    LINUX_ONLY;
    struct queue_of_others *queue = queue_of_others();
    int flags = fcntl(queue->out, F_GETFL), file = 0;
    assert_none_waits(queue);
    uint64_t since = bb__clock_us() - 2000;
    assert_int_equal(bb__shared_queue_send(&queue->sender, since, &word, 1, &file, 1), BB_OK);
    send_request(&queue->sender, since + 1000);
    int before = open_descriptors();
    for (int i = 0; i < 2; i++) assert_waiting(queue, 2, since);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(fcntl(queue->out, F_GETFL), flags);
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(&queue->sender, taken, &message), BB_OK);
    close(message.fds[0]);
    assert_waiting(queue, 1, since + 1000);
    take(&queue->sender);
    assert_none_waits(queue);
    end_queue_of_others(queue);
}

/* A nudge wakes a lane and has no request. */
static void test_nudges_do_not_count(void **state)
{
    LINUX_ONLY;
    struct queue_of_others *queue = queue_of_others();
    bb__shared_queue_nudge(&queue->sender);
    bb__shared_queue_nudge(&queue->sender);
    assert_none_waits(queue);
    uint64_t since = bb__clock_us();
    for (int i = 0; i < 2; i++) send_request(&queue->sender, since);
    bb__shared_queue_nudge(&queue->sender);
    for (int nudges = 2; nudges >= 0; nudges--) {
        uint64_t count, oldest;
        assert_int_equal(bb_scoreboard_waiting(queue->counter, queue->out, &count, &oldest), BB_OK);
        assert_int_equal(count, 2);
        struct bb__shared_message message;
        if (nudges > 0) assert_int_equal(bb__shared_queue_take(&queue->sender, taken, &message), BB_OK);
    }
    assert_waiting(queue, 2, since);
    for (int i = 0; i < 2; i++) take(&queue->sender);
    assert_none_waits(queue);
    end_queue_of_others(queue);
}

/* The sender has not counted the request yet, or was killed before. */
static void test_a_request_that_is_not_counted_waits(void **state)
{
    LINUX_ONLY;
    struct queue_of_others *queue = queue_of_others();
    uint64_t since = bb__clock_us();
    send_request(&queue->sender, since);
    atomic_fetch_sub(queue->sender.turns, 1);
    assert_waiting(queue, 1, since);
    end_queue_of_others(queue);
}

static void send_stamp(const struct queue_of_others *queue, struct bb__shared_stamp stamp)
{
    assert_int_equal(send(queue->sender.in, &stamp, sizeof stamp, 0), sizeof stamp);
}

static void receive(const struct queue_of_others *queue)
{
    assert_true(recv(queue->out, taken, sizeof taken, MSG_DONTWAIT) >= 0);
}

/* Any process of the server can write anything. */
static void test_numbers_that_cannot_be_true_are_refused(void **state)
{
    LINUX_ONLY;
    struct queue_of_others *queue = queue_of_others();
    const struct bb__shared_stamp stamps[] = {
        {.turn = 1, .since = 1, .has_request = true}, /* more than were sent */
        {.turn = UINT64_MAX, .since = 0, .has_request = true},
        {.turn = 0, .since = 0, .has_request = true}, /* waits since before the start of the machine */
    };
    for (int i = 0; i < 3; i++) {
        send_stamp(queue, stamps[i]);
        assert_none_waits(queue);
        receive(queue);
    }
    atomic_store(queue->sender.turns, 1000001);
    send_stamp(queue, (struct bb__shared_stamp){.since = 1, .has_request = true});
    assert_none_waits(queue);
    atomic_store(queue->sender.turns, 1000000);
    assert_waiting(queue, 1000000, 1);
    receive(queue);
    uint64_t count, oldest, later = bb__clock_us() + 60000000;
    send_stamp(queue, (struct bb__shared_stamp){.turn = 999999, .since = later, .has_request = true});
    assert_int_equal(bb_scoreboard_waiting(queue->counter, queue->out, &count, &oldest), BB_OK);
    assert_int_equal(oldest, 0);
    receive(queue);
    assert_int_equal(send(queue->sender.in, "short", 5, 0), 5);
    assert_none_waits(queue);
    end_queue_of_others(queue);
}

static void test_another_descriptor_has_no_requests(void **state)
{
    (void)state;
    struct queue_of_others other = {.out = open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    assert_true(other.out >= 0);
    assert_int_equal(bb_scoreboard_new(&other.counter, 1), BB_OK);
    assert_none_waits(&other);
    close(other.out);
    assert_none_waits(&other);
    bb_scoreboard_free(other.counter);
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
        cmocka_unit_test(test_a_process_outside_sees_how_many_wait),
        cmocka_unit_test(test_nudges_do_not_count),
        cmocka_unit_test(test_a_request_that_is_not_counted_waits),
        cmocka_unit_test(test_numbers_that_cannot_be_true_are_refused),
        cmocka_unit_test(test_another_descriptor_has_no_requests),
    };
    return cmocka_run_group_tests_name("shared_queue_look", tests, NULL, NULL);
}
