/* sock_test.c: the result code of each function for stream sockets, with real sockets. sock_end_test.c tests
 * how connections end. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "sockets/sock.h"
#include "sockets/wakeup.h"
#include "support/descriptors.h"
#include "support/socket_pair.h"

static int descriptors;

static int set_up(void **state)
{
    (void)state;
    descriptors = open_descriptors();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(open_descriptors(), descriptors);
    return 0;
}

/* ---- listeners ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* Returns a listener on an address that the kernel chooses, or -1 if the family is not available. */
static int listen_on(int family, union address *address, socklen_t *len)
{
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    memset(address, 0, sizeof *address);
    address->any.sa_family = (sa_family_t)family;
    *len = sizeof address->v4;
    if (family == AF_INET) address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (family == AF_INET6) address->v6.sin6_addr = in6addr_any, *len = sizeof address->v6;
    if (family == AF_UNIX) *len = sizeof(sa_family_t); /* the kernel chooses an abstract name */
    if (bind(fd, &address->any, *len) < 0) {
        close(fd);
        return -1;
    }
    assert_int_equal(listen(fd, 8), 0);
    *len = sizeof *address;
    assert_int_equal(getsockname(fd, &address->any, len), 0);
    bool tcp;
    assert_int_equal(bb__sock_prepare_listener(fd, &tcp), BB_OK);
    assert_int_equal(tcp, family != AF_UNIX);
    return fd;
}

/* ---- accept ---- */

static void test_a_listener_becomes_non_blocking(void **state)
{
    (void)state;
    union address address;
    socklen_t len;
    int fd = listen_on(AF_INET, &address, &len), on = 0;
    len = sizeof on;
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_equal(on, 1);
    close(fd);
    bool tcp;
    assert_int_equal(bb__sock_prepare_listener(fd, &tcp), BB_ESYSTEM);
}

static void test_accept_on_an_empty_queue_says_again(void **state)
{
    (void)state;
    union address address;
    socklen_t len;
    struct bb__peer peer;
    int listener = listen_on(AF_UNIX, &address, &len), fd;
    assert_int_equal(bb__sock_accept(listener, &fd, &peer), BB_AGAIN);
    close(listener);
}

/* Returns the port of the socket's own end; 0: unix socket. */
static unsigned port_of(int fd)
{
    union address address;
    socklen_t len = sizeof address;
    assert_int_equal(getsockname(fd, &address.any, &len), 0);
    if (address.any.sa_family == AF_INET) return ntohs(address.v4.sin_port);
    return address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port) : 0;
}

static void assert_peer(int family, const union address *address, socklen_t len, int listener,
                        const char *text)
{
    struct bb__peer peer;
    int fd, client = socket(family, SOCK_STREAM, 0), on = 0;
    assert_int_equal(connect(client, &address->any, len), 0);
    assert_int_equal(bb__sock_accept(listener, &fd, &peer), BB_OK);
    assert_string_equal(peer.address, text);
    assert_int_equal(peer.port, port_of(client));
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    len = sizeof on;
    if (family != AF_UNIX) {
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
        assert_int_equal(on, 1);
    }
    close(fd);
    close(client);
}

static void test_accept_tells_the_address_of_the_peer(void **state)
{
    (void)state;
    union address address;
    socklen_t len;
    int listener = listen_on(AF_INET, &address, &len);
    assert_peer(AF_INET, &address, len, listener, "127.0.0.1");
    close(listener);

    listener = listen_on(AF_UNIX, &address, &len);
    assert_peer(AF_UNIX, &address, len, listener, "127.0.0.1");
    close(listener);

    listener = listen_on(AF_INET6, &address, &len);
    if (listener < 0) skip();
    union address v4 = {.v4 = {.sin_family = AF_INET, .sin_port = address.v6.sin6_port}};
    v4.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_peer(AF_INET, &v4, sizeof v4.v4, listener, "127.0.0.1");
    address.v6.sin6_addr = in6addr_loopback;
    assert_peer(AF_INET6, &address, len, listener, "::1");
    close(listener);
}

static void test_each_number_of_an_address_has_its_digits(void **state)
{
    (void)state;
    static const char *const texts[] = {"127.0.0.9", "127.10.99.100", "127.109.199.255", "127.200.205.250"};
    union address address;
    socklen_t len;
    int listener = listen_on(AF_INET, &address, &len);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sockaddr_in from = {.sin_family = AF_INET};
        struct bb__peer peer;
        int fd, client = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(inet_pton(AF_INET, texts[i], &from.sin_addr), 1);
        assert_int_equal(bind(client, (struct sockaddr *)&from, sizeof from), 0);
        assert_int_equal(connect(client, &address.any, len), 0);
        assert_int_equal(bb__sock_accept(listener, &fd, &peer), BB_OK);
        assert_string_equal(peer.address, texts[i]);
        close(fd);
        close(client);
    }
    close(listener);
}

static void test_accept_fails_if_no_descriptor_is_left(void **state)
{
    (void)state;
    union address address;
    socklen_t len;
    struct bb__peer peer;
    struct rlimit before, few;
    int listener = listen_on(AF_UNIX, &address, &len), fd, client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(client, &address.any, len), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)client + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int code = bb__sock_accept(listener, &fd, &peer), error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

    assert_int_equal(code, BB_ESYSTEM);
    assert_int_equal(error, EMFILE);
    assert_true(bb__sock_is_exhaustion(error));
    assert_int_equal(bb__sock_accept(listener, &fd, &peer),
                     BB_OK); /* the connection was still in the queue */
    close(fd);
    close(client);
    close(listener);
}

static void test_accept_fails_on_a_descriptor_that_is_no_listener(void **state)
{
    (void)state;
    union address address;
    socklen_t len;
    struct bb__peer peer;
    int listener = listen_on(AF_INET, &address, &len), fd, datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    shutdown(listener, SHUT_RDWR);
    assert_int_equal(bb__sock_accept(listener, &fd, &peer), BB_ESYSTEM);
    assert_false(bb__sock_is_exhaustion(errno));
    close(listener);
    assert_int_equal(bb__sock_accept(listener, &fd, &peer), BB_ESYSTEM);
    assert_int_equal(bb__sock_accept(datagrams, &fd, &peer), BB_ESYSTEM);
    close(datagrams);
}

/* ---- receive and send ---- */

static void test_each_outcome_of_recv_has_its_code(void **state)
{
    (void)state;
    struct pair pair = tcp_pair();
    char bytes[8];
    size_t got = 0;
    assert_int_equal(bb__sock_recv(pair.ours, bytes, sizeof bytes, &got), BB_AGAIN);
    assert_int_equal(send(pair.theirs, "hello", 5, 0), 5);
    assert_int_equal(bb__sock_recv(pair.ours, bytes, 3, &got), BB_OK);
    assert_int_equal(got, 3);
    assert_memory_equal(bytes, "hel", 3);
    assert_int_equal(bb__sock_recv(pair.ours, bytes, sizeof bytes, &got), BB_OK);
    assert_int_equal(got, 2);
    shutdown(pair.theirs, SHUT_WR);
    assert_int_equal(bb__sock_recv(pair.ours, bytes, sizeof bytes, &got), BB_EOF);
    close(pair.theirs);
    close(pair.ours);

    pair = tcp_pair();
    bb__sock_reset(pair.theirs);
    assert_int_equal(bb__sock_recv(pair.ours, bytes, sizeof bytes, &got), BB_EGONE);
    bb__sock_close(pair.ours);
}

static void test_each_outcome_of_send_has_its_code(void **state)
{
    (void)state;
    struct pair pair = unix_pair();
    static char bytes[1 << 20];
    const struct iovec parts[2] = {{bytes, 1000}, {bytes, sizeof bytes - 1000}};
    size_t sent = 0, total = 0;
    int code;
    assert_int_equal(bb__sock_send(pair.ours, "hello", 5, &sent), BB_OK);
    assert_int_equal(sent, 5);
    while ((code = bb__sock_send_parts(pair.ours, parts, 2, &sent)) == BB_OK) total += sent;
    assert_int_equal(code, BB_AGAIN);
    assert_int_equal(sent, 0);
    assert_true(total > 1000);
    assert_int_equal(bb__sock_send(pair.ours, bytes, 1, &sent), BB_AGAIN);
    close(pair.theirs);
    /* Without MSG_NOSIGNAL a signal would end the test here. */
    assert_int_equal(bb__sock_send(pair.ours, bytes, 1, &sent), BB_EGONE);
    assert_int_equal(bb__sock_send_parts(pair.ours, parts, 2, &sent), BB_EGONE);
    bb__sock_close(pair.ours);
}

static void fill(int fd)
{
    static char bytes[1 << 16];
    size_t sent;
    while (bb__sock_send(fd, bytes, sizeof bytes, &sent) == BB_OK) continue;
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

static void test_each_end_of_a_wait_has_its_code(void **state)
{
    (void)state;
    struct pair pair = unix_pair();
    struct bb__wakeup wake;
    assert_int_equal(bb__wakeup_open(&wake), BB_OK);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, -1), BB_OK);
    fill(pair.ours);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, 0), BB_EGONE);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, 5), BB_EGONE);
    bb__wakeup_raise(&wake);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, -1), BB_AGAIN);
    bb__wakeup_clear(&wake);

    struct sigaction action = {.sa_handler = ignore};
    const struct timeval soon = {.tv_usec = 2000}; /* repeated, in case the test does not wait yet */
    const struct itimerval repeated = {.it_value = soon, .it_interval = soon}, never = {.it_value = {0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &repeated, NULL);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, 5000), BB_AGAIN);
    setitimer(ITIMER_REAL, &never, NULL);

    close(pair.theirs);
    assert_int_equal(bb__sock_wait_writable(pair.ours, wake.fd, -1), BB_OK); /* the next send will fail */
    bb__sock_close(pair.ours);
    bb__wakeup_close(&wake);
}

#define WATCHED(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(test_a_listener_becomes_non_blocking),
        WATCHED(test_accept_on_an_empty_queue_says_again),
        WATCHED(test_accept_tells_the_address_of_the_peer),
        WATCHED(test_each_number_of_an_address_has_its_digits),
        WATCHED(test_accept_fails_if_no_descriptor_is_left),
        WATCHED(test_accept_fails_on_a_descriptor_that_is_no_listener),
        WATCHED(test_each_outcome_of_recv_has_its_code),
        WATCHED(test_each_outcome_of_send_has_its_code),
        WATCHED(test_each_end_of_a_wait_has_its_code),
    };
    return cmocka_run_group_tests_name("sock", tests, NULL, NULL);
}
