/* shared_queue_adopt_test.c: a worker adopts a shared queue that other processes also have. Tests which
 * descriptors are accepted as the two ends of a queue. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "shared_queue_case.h"

static void test_a_queue_of_other_processes_is_adopted(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_int_equal(bb__shared_queue_adopt(&shared_queue, pair[0], pair[1]), BB_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fcntl(pair[i], F_GETFD), FD_CLOEXEC);
        assert_true(fcntl(pair[i], F_GETFL) & O_NONBLOCK);
    }
    assert_int_equal(send_with(&shared_queue, "x", NULL, 0), BB_OK);
    assert_take(&shared_queue, "x", 0);
    assert_empty(&shared_queue);
    bb__shared_queue_close(&shared_queue);
}

static void test_a_bad_descriptor_is_not_adopted(void **state)
{
    (void)state;
    struct bb__shared_queue shared_queue;
    int pair[2], before = open_descriptors();
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    int closed = dup(0);
    close(closed);
    assert_int_equal(bb__shared_queue_adopt(&shared_queue, closed, pair[1]), BB_ESYSTEM);
    assert_int_equal(bb__shared_queue_adopt(&shared_queue, pair[0], closed), BB_ESYSTEM);
    assert_int_equal(bb__shared_queue_adopt(&shared_queue, -1, -1), BB_ESYSTEM);
    assert_int_equal(open_descriptors(), before + 2);
    close(pair[0]);
    close(pair[1]);
}

/* A queue must keep message boundaries and carry descriptors. */
static void test_another_kind_of_socket_is_not_adopted(void **state)
{
    (void)state;
    static const struct {
        int domain, type, error;
    } others[] = {
        {AF_UNIX, SOCK_STREAM, EPROTOTYPE},
        {AF_UNIX, SOCK_DGRAM, EPROTOTYPE},
        {AF_INET, SOCK_STREAM, EAFNOSUPPORT},
    };
    struct bb__shared_queue shared_queue;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int other = socket(others[i].domain, others[i].type, 0);
        for (int end = 0; end < 2; end++) {
            int in = end ? pair[0] : other, out = end ? other : pair[1];
            assert_int_equal(bb__shared_queue_adopt(&shared_queue, in, out), BB_ESYSTEM);
            assert_int_equal(errno, others[i].error);
        }
        assert_int_equal(fcntl(other, F_GETFD), 0);
        close(other);
    }
    int file = open("/dev/null", O_RDWR);
    assert_int_equal(bb__shared_queue_adopt(&shared_queue, file, pair[1]), BB_ESYSTEM);
    assert_int_equal(errno, ENOTSOCK);
    close(file);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_queue_of_other_processes_is_adopted),
        cmocka_unit_test(test_a_bad_descriptor_is_not_adopted),
        cmocka_unit_test(test_another_kind_of_socket_is_not_adopted),
    };
    return cmocka_run_group_tests_name("shared_queue_adopt", tests, NULL, NULL);
}
