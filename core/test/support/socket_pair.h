/* socket_pair.h: two connected sockets. `ours` is the server's, `theirs` the client's. */
#ifndef BB_TEST_SOCKET_PAIR_H
#define BB_TEST_SOCKET_PAIR_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    int ours, theirs;
};

static inline struct pair unix_pair(void)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    return (struct pair){fds[0], fds[1]};
}

static inline struct pair tcp_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct pair pair = {.theirs = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(connect(pair.theirs, (struct sockaddr *)&address, len), 0);
    assert_true((pair.ours = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    close(listener);
    return pair;
}

#endif
