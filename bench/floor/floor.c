/*
 * floor.c: the least that a server can do: a fixed response to each read. It is the baseline of bench/quick
 * and bench/burst, and a row of bench/mixed.
 *
 *   floor close unix:/path|PORT              accept, read, write, close (TCP: FIN in the response's segment)
 *   floor kept  unix:/path|PORT              epoll, read, write; connections are kept alive
 *   floor timed unix:/path|PORT WORKERS      like close, in WORKERS processes; sleeps or computes as
 *                                            bench/apps/timed.ru does: /sleep/MS, /burn/MS
 *
 * Not a real server: it treats each read as one request. SIGTERM ends it.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BATCH        16
#define REQUEST_SIZE 16384

static const char close_response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-App: hello\r\n"
                                     "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 14\r\n"
                                     "Connection: close\r\n\r\nHello, World!\n";
static const char kept_response[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-App: hello\r\n"
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

static bool receive(int fd, char request[REQUEST_SIZE])
{
    ssize_t len = recv(fd, request, REQUEST_SIZE - 1, 0);
    if (len > 0) request[len] = '\0';
    return len > 0;
}

static bool answer(int fd, const char *bytes, size_t len, int flags)
{
    return send(fd, bytes, len, MSG_NOSIGNAL | flags) == (ssize_t)len;
}

static double cpu_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static void take_time(const char *request)
{
    double milliseconds;
    if (sscanf(request, "%*s /burn/%lf", &milliseconds) == 1) {
        double limit = cpu_ms() + milliseconds;
        while (cpu_ms() < limit) continue;
    } else if (sscanf(request, "%*s /sleep/%lf", &milliseconds) == 1) {
        usleep((useconds_t)(milliseconds * 1e3));
    }
}

static void serve_closing(int listener, bool tcp, bool timed)
{
    char request[REQUEST_SIZE];
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        if (receive(fd, request)) {
            if (timed) take_time(request);
            (void)answer(fd, close_response, sizeof close_response - 1, tcp ? MSG_MORE : 0);
        }
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
    char request[REQUEST_SIZE];
    int poller = epoll_create1(0);
    watch(poller, listener);
    for (;;) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(poller, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                watch(poller, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
            else if (!receive(fd, request) || !answer(fd, kept_response, sizeof kept_response - 1, 0))
                close(fd);
        }
    }
}

/* The calling process is one of the workers. The other workers end when the calling process ends. */
static void fork_workers(int count)
{
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 1; i < count; i++) {
        pid_t pid = fork();
        if (pid < 0) fail("fork");
        if (pid > 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        return;
    }
}

int main(int argc, char **argv)
{
    bool timed = argc == 4 && strcmp(argv[1], "timed") == 0;
    bool kept = argc == 3 && strcmp(argv[1], "kept") == 0;
    if (!timed && !kept && (argc != 3 || strcmp(argv[1], "close") != 0)) {
        fprintf(stderr, "usage: floor close|kept unix:/path|PORT, or floor timed unix:/path|PORT WORKERS\n");
        return 2;
    }
    bool tcp = strncmp(argv[2], "unix:", 5) != 0;
    int fd = tcp ? listen_on_port(argv[2]) : listen_on_path(argv[2] + 5);
    if (listen(fd, 1024) < 0) fail("listen");
    if (timed) fork_workers(atoi(argv[3]));
    if (kept)
        serve_kept(fd);
    else
        serve_closing(fd, tcp, timed);
    return 0;
}
