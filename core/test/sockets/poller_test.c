/* poller_test.c: the set of descriptors that a lane waits for. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "sockets/poller.h"
#include "sockets/wakeup.h"
#include "support/descriptors.h"
#include "support/sleeping.h"

static struct {
    struct bb__poller poller;
    struct bb__batch batch;
    int ours, theirs; /* the two ends of a socket pair */
    int descriptors;
} fixture;

static int set_up(void **state)
{
    int fds[2];
    (void)state;
    fixture.descriptors = open_descriptors();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    fixture.ours = fds[0], fixture.theirs = fds[1];
    assert_int_equal(bb__poller_open(&fixture.poller), BB_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bb__poller_close(&fixture.poller);
    bb__poller_close(&fixture.poller); /* the second call has no effect */
    close(fixture.ours);
    close(fixture.theirs);
    assert_int_equal(open_descriptors(), fixture.descriptors);
    return 0;
}

/* Polls once. Returns the number of events. */
static int look(void)
{
    bb__poller_wait(&fixture.poller, &fixture.batch, 0);
    return fixture.batch.count;
}

static void test_the_events_that_were_asked_for_are_reported(void **state)
{
    (void)state;
    int tag;
    assert_int_equal(bb__poller_add(&fixture.poller, fixture.ours, BB_INTEREST_READ, &tag), BB_OK);
    assert_int_equal(look(), 0);
    assert_true(bb__batch_empty(&fixture.batch));

    assert_int_equal(send(fixture.theirs, "x", 1, 0), 1);
    for (int again = 0; again < 2; again++) { /* level-triggered, so the event is reported twice */
        assert_int_equal(look(), 1);
        assert_false(bb__batch_empty(&fixture.batch));
        assert_ptr_equal(fixture.batch.events[0].data.ptr, &tag);
        assert_int_equal(fixture.batch.events[0].events, BB_INTEREST_READ);
    }
    assert_int_equal(bb__poller_change(&fixture.poller, fixture.ours, BB_INTEREST_NONE, &tag), BB_OK);
    assert_int_equal(look(), 0);
    assert_int_equal(bb__poller_change(&fixture.poller, fixture.ours, BB_INTEREST_WRITE, &tag), BB_OK);
    assert_int_equal(look(), 1);
    assert_int_equal(fixture.batch.events[0].events, BB_INTEREST_WRITE);
    bb__poller_remove(&fixture.poller, fixture.ours);
    assert_int_equal(look(), 0);
}

static void test_a_hang_up_is_always_reported(void **state)
{
    (void)state;
    int tag;
    assert_int_equal(bb__poller_add(&fixture.poller, fixture.ours, BB_INTEREST_NONE, &tag), BB_OK);
    shutdown(fixture.theirs, SHUT_RDWR);
    assert_int_equal(look(), 1);
    assert_true(fixture.batch.events[0].events & POLLHUP);
}

static void test_a_descriptor_that_cannot_be_watched_is_an_error(void **state)
{
    (void)state;
    int tag;
    assert_int_equal(bb__poller_add(&fixture.poller, -1, BB_INTEREST_READ, &tag), BB_ESYSTEM);
    assert_int_equal(bb__poller_change(&fixture.poller, fixture.ours, BB_INTEREST_READ, &tag), BB_ESYSTEM);
    bb__poller_remove(&fixture.poller, fixture.ours);
}

static void test_events_of_a_freed_tag_are_forgotten(void **state)
{
    (void)state;
    int first, second;
    struct bb__wakeup raised;
    assert_int_equal(bb__wakeup_open(&raised), BB_OK);
    bb__wakeup_raise(&raised);
    assert_int_equal(bb__poller_add(&fixture.poller, fixture.ours, BB_INTEREST_WRITE, &first), BB_OK);
    assert_int_equal(bb__poller_add(&fixture.poller, raised.fd, BB_INTEREST_READ, &second), BB_OK);
    assert_int_equal(look(), 2);
    bb__batch_forget(&fixture.batch, &first);
    for (int i = 0; i < 2; i++) assert_ptr_not_equal(fixture.batch.events[i].data.ptr, &first);
    bb__batch_forget(&fixture.batch, &second);
    for (int i = 0; i < 2; i++) assert_null(fixture.batch.events[i].data.ptr);
    bb__wakeup_close(&raised);
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

static void test_a_signal_ends_the_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = ignore};
    const struct timeval soon = {.tv_usec = 2000}; /* repeated, in case the poller does not wait yet */
    const struct itimerval repeated = {.it_value = soon, .it_interval = soon}, never = {.it_value = {0}};
    fixture.batch.count = 5;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &repeated, NULL);
    bb__poller_wait(&fixture.poller, &fixture.batch, -1); /* would wait for ever without the signal */
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(fixture.batch.count, 0);
}

/* Fills the wakeup: it accepts no more bytes. */
static void fill(const struct bb__wakeup *wakeup)
{
#ifdef BB_PORTABLE
    char byte = 0;
    while (write(wakeup->in, &byte, 1) == 1) continue;
#else
    assert_int_equal(eventfd_write(wakeup->fd, UINT64_MAX - 1), 0);
#endif
}

static void test_a_wakeup_is_raised_and_cleared(void **state)
{
    (void)state;
    int tag;
    struct bb__wakeup wakeup;
    assert_int_equal(bb__wakeup_open(&wakeup), BB_OK);
    assert_int_equal(bb__poller_add(&fixture.poller, wakeup.fd, BB_INTEREST_READ, &tag), BB_OK);
    bb__wakeup_raise(&wakeup);
    bb__wakeup_raise(&wakeup);
    assert_int_equal(look(), 1);
    bb__wakeup_clear(&wakeup);
    assert_int_equal(look(), 0);
    bb__wakeup_clear(&wakeup);

    fill(&wakeup);
    errno = ENOENT;
    bb__wakeup_raise(&wakeup); /* a signal handler may call this, so errno does not change */
    assert_int_equal(errno, ENOENT);
    assert_int_equal(look(), 1);
    bb__wakeup_clear(&wakeup);
    assert_int_equal(look(), 0);
    bb__wakeup_close(&wakeup);
}

/* The kernel wakes only one of several waiters (EPOLLEXCLUSIVE). The test sees this flag only indirectly:
 * epoll rejects a later change with EINVAL. */
static void test_a_shared_listener_is_watched_exclusively(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(sa_family_t);
    int tag, listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 8), 0);
    len = sizeof address;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(bb__poller_add_shared(&fixture.poller, listener, &tag), BB_OK);
    assert_int_equal(look(), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
    assert_int_equal(look(), 1);
    assert_ptr_equal(fixture.batch.events[0].data.ptr, &tag);
#ifndef BB_PORTABLE
    assert_int_equal(bb__poller_change(&fixture.poller, listener, BB_INTEREST_READ, &tag), BB_ESYSTEM);
    assert_int_equal(errno, EINVAL);
#endif
    close(listener);
    close(client);
}

static int look_at(struct bb__poller *poller)
{
    struct bb__batch found;
    bb__poller_wait(poller, &found, 0);
    return found.count;
}

static void test_a_poller_in_a_poller_is_reported_once_for_each_event(void **state)
{
    (void)state;
    int tag, own_tag;
    struct bb__poller inner;
    struct bb__wakeup wakeup;
    assert_int_equal(bb__poller_open(&inner), BB_OK);
    assert_int_equal(bb__wakeup_open(&wakeup), BB_OK);
    assert_int_equal(bb__poller_add(&inner, wakeup.fd, BB_INTEREST_READ, &own_tag), BB_OK);
    assert_int_equal(bb__poller_add_poller(&fixture.poller, &inner, &tag), BB_OK);
    assert_int_equal(look(), 0);
    for (int event = 0; event < 3; event++) {
        bb__wakeup_raise(&wakeup);
        assert_int_equal(look(), 1);
        assert_ptr_equal(fixture.batch.events[0].data.ptr, &tag);
        assert_int_equal(look(), 0);
        assert_int_equal(look_at(&inner), 1); /* level-triggered */
        assert_int_equal(look_at(&inner), 1);
        assert_int_equal(look(), 0);
        bb__wakeup_clear(&wakeup);
        assert_int_equal(look_at(&inner), 0);
    }
    bb__poller_remove_poller(&fixture.poller, &inner);
    bb__wakeup_raise(&wakeup);
    assert_int_equal(look(), 0);
    bb__poller_close(&inner);
    bb__wakeup_close(&wakeup);
}

struct waiter {
    struct bb__poller *poller;
    int tag, found;
    atomic_int id;
    pthread_t thread;
};

static void *wait_for_events(void *argument)
{
    struct waiter *waiter = argument;
    struct bb__batch found;
    atomic_store(&waiter->id, gettid());
    do assert_int_equal(bb__poller_wait(waiter->poller, &found, -1), BB_OK);
    while (found.count == 0);
    waiter->found = found.count;
    return NULL;
}

/* A descriptor that another thread adds wakes a thread that waits already. */
static void test_another_thread_may_add_a_descriptor(void **state)
{
    (void)state;
    struct waiter waiter = {.poller = &fixture.poller};
    struct bb__wakeup wakeup;
    assert_int_equal(bb__wakeup_open(&wakeup), BB_OK);
    bb__wakeup_raise(&wakeup);
    assert_int_equal(pthread_create(&waiter.thread, NULL, wait_for_events, &waiter), 0);
    while (atomic_load(&waiter.id) == 0 || !sleeps(atomic_load(&waiter.id))) sched_yield();
    assert_int_equal(bb__poller_add(&fixture.poller, wakeup.fd, BB_INTEREST_READ, &waiter.tag), BB_OK);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(waiter.found, 1);
    bb__poller_remove(&fixture.poller, wakeup.fd);
    bb__wakeup_close(&wakeup);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FIXTURE(test_the_events_that_were_asked_for_are_reported),
        IN_FIXTURE(test_a_hang_up_is_always_reported),
        IN_FIXTURE(test_a_descriptor_that_cannot_be_watched_is_an_error),
        IN_FIXTURE(test_events_of_a_freed_tag_are_forgotten),
        IN_FIXTURE(test_a_signal_ends_the_wait),
        IN_FIXTURE(test_a_wakeup_is_raised_and_cleared),
        IN_FIXTURE(test_a_shared_listener_is_watched_exclusively),
        IN_FIXTURE(test_a_poller_in_a_poller_is_reported_once_for_each_event),
        IN_FIXTURE(test_another_thread_may_add_a_descriptor),
    };
    return cmocka_run_group_tests_name("poller", tests, NULL, NULL);
}
