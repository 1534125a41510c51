/* shared_queue_test.c: the shared queue: each message comes out once and in order, with its descriptors. A
 * message that does not fit fails at once. No failure leaves a descriptor open. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "shared_queue_case.h"
#include "support/descriptors.h"
#include "support/fail_file.h"

#define MESSAGES_MAX 100000

/* ---- bytes ---- */

static void test_messages_come_in_order_and_once(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue = new_shared_queue();
    assert_empty(&shared_queue);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 50; i++) assert_int_equal(send_bytes(&shared_queue, &i, sizeof i), BB_OK);
        for (unsigned i = 0; i < 50; i++) {
            struct bb__shared_message message;
            assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_OK);
            assert_int_equal(message.len, sizeof i);
            assert_memory_equal(taken, &i, sizeof i);
            assert_int_equal(message.fd_count, 0);
        }
        assert_empty(&shared_queue);
    }
    end_shared_queue(&shared_queue);
}

static void test_the_parts_of_a_message_become_one_message(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue = new_shared_queue();
    const struct iovec parts[] = {{"one", 3}, {"", 0}, {"two", 3}};
    assert_int_equal(bb__shared_queue_send(&shared_queue, 0, parts, 3, NULL, 0), BB_OK);
    assert_take(&shared_queue, "onetwo", 0);
    assert_empty(&shared_queue);
    end_shared_queue(&shared_queue);
}

static void test_the_longest_message_is_whole(void **state)
{
    (void)state;
    static char longest[BB_SHARED_QUEUE_BYTES + 1];
    struct bb__shared_queue shared_queue = new_shared_queue();
    struct bb__shared_message message;
    for (size_t i = 0; i < sizeof longest; i++) longest[i] = (char)(i * 7 + i / 256);
    assert_int_equal(send_bytes(&shared_queue, longest, BB_SHARED_QUEUE_BYTES), BB_OK);
    assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_OK);
    assert_int_equal(message.len, BB_SHARED_QUEUE_BYTES);
    assert_memory_equal(taken, longest, BB_SHARED_QUEUE_BYTES);

    /* No sender sends a message longer than BB_SHARED_QUEUE_BYTES. If a longer message comes, the receiver
     * must notice that bytes are missing. */
    assert_int_equal(send_bytes(&shared_queue, longest, sizeof longest), BB_OK);
    assert_int_equal(send_with(&shared_queue, "next", NULL, 0), BB_OK);
    assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_ELOST);
    assert_take(&shared_queue, "next", 0);
    end_shared_queue(&shared_queue);
}

/* ---- descriptors ---- */

static void assert_same_file(int fd, int other)
{
    struct stat one, two;
    assert_int_equal(fstat(fd, &one), 0);
    assert_int_equal(fstat(other, &two), 0);
    assert_true(one.st_ino == two.st_ino && one.st_dev == two.st_dev);
}

static void test_descriptors_come_in_order_and_are_close_on_exec(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue = new_shared_queue();
    struct bb__shared_message message;
    int fds[BB_SHARED_QUEUE_FDS];
    for (size_t i = 0; i < BB_SHARED_QUEUE_FDS; i++)
        assert_true((fds[i] = bb__shared_queue_make_file("f", 1)) >= 0);
    for (size_t count = 1; count <= BB_SHARED_QUEUE_FDS; count++)
        assert_int_equal(send_with(&shared_queue, "with", fds, count), BB_OK);
    for (size_t count = 1; count <= BB_SHARED_QUEUE_FDS; count++) {
        assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_OK);
        assert_int_equal(message.fd_count, count);
        for (size_t i = 0; i < count; i++) {
            assert_same_file(message.fds[i], fds[i]);
            assert_int_equal(fcntl(message.fds[i], F_GETFD), FD_CLOEXEC);
            close(message.fds[i]);
        }
    }
    for (size_t i = 0; i < BB_SHARED_QUEUE_FDS; i++) close(fds[i]);
    end_shared_queue(&shared_queue);
}

static void test_a_sent_file_outlives_the_senders_descriptor(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue = new_shared_queue();
    struct bb__shared_message message;
    char text[4];
    int fd = bb__shared_queue_make_file("kept", 4);
    assert_int_equal(send_with(&shared_queue, "with", &fd, 1), BB_OK);
    close(fd);
    assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_OK);
    assert_int_equal(message.fd_count, 1);
    assert_true(bb__shared_queue_read_file(message.fds[0], text, sizeof text));
    assert_memory_equal(text, "kept", 4);
    end_shared_queue(&shared_queue);
}

/* Lets the process open at most `room` more descriptors. */
static void limit_descriptors(struct rlimit *before, int room)
{
    struct rlimit limit;
    int lowest = dup(0); /* no lower number is free */
    assert_true(lowest >= 0);
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
    limit = *before;
    limit.rlim_cur = (rlim_t)(lowest + room);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_a_receiver_without_room_loses_one_message_only(void **state)
{
    LINUX_ONLY;
    for (int room = 0; room < BB_SHARED_QUEUE_FDS; room++) {
        struct bb__shared_queue shared_queue = new_shared_queue();
        struct bb__shared_message message;
        struct rlimit before;
        const int fds[BB_SHARED_QUEUE_FDS] = {0, 0, 0};
        assert_int_equal(send_with(&shared_queue, "lost", fds, BB_SHARED_QUEUE_FDS), BB_OK);
        assert_int_equal(send_with(&shared_queue, "without", NULL, 0), BB_OK);
        assert_int_equal(send_with(&shared_queue, "next", fds, BB_SHARED_QUEUE_FDS), BB_OK);
        limit_descriptors(&before, room);
        assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_ELOST);
        assert_int_equal(message.fd_count, 0);
        assert_take(&shared_queue, "without", 0);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_take(&shared_queue, "next", BB_SHARED_QUEUE_FDS);
        end_shared_queue(&shared_queue);
    }
}

/* ---- no room ---- */

/* Another version of the core might send more descriptors than BB_SHARED_QUEUE_FDS. */
static void test_a_message_with_too_many_descriptors_is_dropped(void **state)
{
    LINUX_ONLY;
    struct bb__shared_queue shared_queue = new_shared_queue();
    struct bb__shared_message message;
    int fds[BB_SHARED_QUEUE_FDS + 1] = {0};
    char control[CMSG_SPACE(sizeof fds)] = "";
    struct iovec part = {(char *)"many", 4};
    struct msghdr sent = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const struct cmsghdr header = {
        .cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(control, &header, sizeof header);
    memcpy(control + CMSG_LEN(0), fds, sizeof fds);
    int before = open_descriptors();
    assert_int_equal(sendmsg(shared_queue.in, &sent, 0), 4);
    assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_ELOST);
    assert_int_equal(open_descriptors(), before);
    end_shared_queue(&shared_queue);
}

static void test_a_send_to_a_full_queue_fails_at_once(void **state)
{
    LINUX_ONLY;
    static const char text[500];
    struct bb__shared_queue shared_queue = new_shared_queue();
    int sent = 0, code;
    while ((code = send_bytes(&shared_queue, text, sizeof text)) == BB_OK && sent < MESSAGES_MAX) sent++;
    assert_int_equal(code, BB_AGAIN);
    assert_true(sent > 100);
    struct bb__shared_message message;
    assert_int_equal(bb__shared_queue_take(&shared_queue, taken, &message), BB_OK);
    assert_int_equal(send_bytes(&shared_queue, text, sizeof text), BB_OK); /* room for one message again */
    int left = 0;
    while (bb__shared_queue_take(&shared_queue, taken, &message) == BB_OK) left++;
    assert_int_equal(left, sent);
    end_shared_queue(&shared_queue);
}

/* A user id that no other process has. For each user, the kernel limits the number of descriptors in unread
 * messages. So other processes of this user would use up a part of the limit. The superuser has no limit. */
#define NOBODY_ELSE 54321
#define FEW         20

static int in_child(int (*action)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) _exit(action());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Returns 0 if the queue was full after some messages, and had room again after a message was received.
 * Another result is the place of the error. */
static int too_many_references(void)
{
    const struct rlimit few = {FEW, FEW};
    struct bb__shared_queue shared_queue;
    struct bb__shared_message message;
    const int fd = 0;
    int sent = 0, code;
    if (getuid() == 0 && setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE) < 0) return 1;
    if (bb__shared_queue_open(&shared_queue) != BB_OK || setrlimit(RLIMIT_NOFILE, &few) < 0) return 2;
    while ((code = send_with(&shared_queue, "x", &fd, 1)) == BB_OK && sent < 10 * FEW) sent++;
    if (code != BB_AGAIN || errno != ETOOMANYREFS) return 3;
    if (send_with(&shared_queue, "x", NULL, 0) != BB_OK) return 4;
    if (bb__shared_queue_take(&shared_queue, taken, &message) != BB_OK || message.fd_count != 1) return 5;
    return send_with(&shared_queue, "x", &fd, 1) == BB_OK ? 0 : 6;
}

static void test_too_many_descriptors_under_way_are_a_full_queue(void **state)
{
    LINUX_ONLY;
    assert_int_equal(in_child(too_many_references), 0);
}

static void test_a_message_that_no_queue_can_hold_is_an_error(void **state)
{
    LINUX_ONLY;
    struct bb__shared_queue shared_queue = new_shared_queue();
    char *huge = calloc(1, 64 << 20);
    assert_int_equal(send_bytes(&shared_queue, huge, 64 << 20), BB_ESYSTEM);
    const int closed = dup(0);
    close(closed);
    assert_int_equal(send_with(&shared_queue, "x", &closed, 1), BB_ESYSTEM);
    assert_empty(&shared_queue);
    free(huge);
    end_shared_queue(&shared_queue);
}

/* ---- between processes ---- */

static void test_messages_outlive_the_process_that_has_sent_them(void **state)
{
    LINUX_ONLY;
    struct bb__shared_queue shared_queue = new_shared_queue();
    pid_t child = fork();
    int status;
    if (child == 0) {
        int fd = bb__shared_queue_make_file("kept", 4);
        if (send_with(&shared_queue, "one", &fd, 1) == BB_OK &&
            send_with(&shared_queue, "two", NULL, 0) == BB_OK)
            (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_take(&shared_queue, "one", 1);
    assert_take(&shared_queue, "two", 0);
    assert_empty(&shared_queue);
    end_shared_queue(&shared_queue);
}

/* ---- files ---- */

static void test_a_file_is_read_from_its_beginning_and_closed(void **state)
{
    (void)state;
    static char bytes[100000], read_back[sizeof bytes];
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 31 + i / 997);
    fail_file.interruptions = 2;
    fail_file.most = 30000;
    int fd = bb__shared_queue_make_file(bytes, sizeof bytes);
    fail_file_off();
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_true(bb__shared_queue_read_file(fd, read_back, sizeof bytes));
    assert_memory_equal(read_back, bytes, sizeof bytes);

    assert_true((fd = bb__shared_queue_make_file("short", 5)) >= 0);
    assert_false(bb__shared_queue_read_file(fd, read_back, 6));
    assert_true((fd = bb__shared_queue_make_file("", 0)) >= 0);
    assert_true(bb__shared_queue_read_file(fd, read_back, 0));
    assert_int_equal(open_descriptors(), before);
}

static void test_a_file_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    int before = open_descriptors();
    fail_file_full(3, ENOSPC);
    assert_int_equal(bb__shared_queue_make_file("four", 4), -1);
    fail_file_off();
    struct rlimit limit;
    limit_descriptors(&limit, 0);
    assert_int_equal(bb__shared_queue_make_file("four", 4), -1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_come_in_order_and_once),
        cmocka_unit_test(test_the_parts_of_a_message_become_one_message),
        cmocka_unit_test(test_the_longest_message_is_whole),
        cmocka_unit_test(test_descriptors_come_in_order_and_are_close_on_exec),
        cmocka_unit_test(test_a_sent_file_outlives_the_senders_descriptor),
        cmocka_unit_test(test_a_receiver_without_room_loses_one_message_only),
        cmocka_unit_test(test_a_message_with_too_many_descriptors_is_dropped),
        cmocka_unit_test(test_a_send_to_a_full_queue_fails_at_once),
        cmocka_unit_test(test_too_many_descriptors_under_way_are_a_full_queue),
        cmocka_unit_test(test_a_message_that_no_queue_can_hold_is_an_error),
        cmocka_unit_test(test_messages_outlive_the_process_that_has_sent_them),
        cmocka_unit_test(test_a_file_is_read_from_its_beginning_and_closed),
        cmocka_unit_test(test_a_file_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests_name("shared_queue", tests, NULL, NULL);
}
