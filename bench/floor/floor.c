/*
 * floor.c: the least a server can do, as the zero of bench/quick: a fixed answer to whatever one read brings.
 *
 *   floor close unix:/path | floor close PORT     accept, read, write, close (TCP: the FIN with the answer)
 *   floor kept  unix:/path | floor kept  PORT     the same with epoll and kept-alive connections
 *
 * Not a server: one read is taken for one request. Ends with SIGTERM.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BATCH 16

static const char close_answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-App: hello\r\n"
                                   "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 14\r\n"
                                   "Connection: close\r\n\r\nHello, World!\n";
static const char kept_answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-App: hello\r\n"
                                  "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 14\r\n\r\n"
                                  "Hello, World!\n";

static int fail(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_on_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail(path);
    return fd;
}

static int listen_on_port(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail(port);
    return fd;
}

static bool answer(int fd, const char *bytes, size_t len, int flags)
{
    char request[16384];
    return recv(fd, request, sizeof request, 0) > 0 &&
           send(fd, bytes, len, MSG_NOSIGNAL | flags) == (ssize_t)len;
}

static void serve_closing(int listener, bool tcp)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        (void)answer(fd, close_answer, sizeof close_answer - 1, tcp ? MSG_MORE : 0);
        if (tcp) shutdown(fd, SHUT_WR);
        close(fd);
    }
}

static void watch(int poller, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

static void serve_kept(int listener)
{
    int poller = epoll_create1(0);
    watch(poller, listener);
    for (;;) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(poller, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                watch(poller, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
            else if (!answer(fd, kept_answer, sizeof kept_answer - 1, 0))
                close(fd);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: floor close|kept unix:/path|PORT\n");
        return 2;
    }
    bool tcp = strncmp(argv[2], "unix:", 5) != 0;
    int fd = tcp ? listen_on_port(argv[2]) : listen_on_path(argv[2] + 5);
    if (listen(fd, 1024) < 0) fail("listen");
    if (strcmp(argv[1], "close") == 0)
        serve_closing(fd, tcp);
    else
        serve_kept(fd);
    return 0;
}
