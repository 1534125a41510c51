/* sock.c: see sock.h. */
#include "sockets/sock.h"
#include "bontebok.h"
#include "sockets/descriptor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef BB_PORTABLE
#include <sys/syscall.h>
#endif

#if defined __has_feature
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#if defined MSG_MORE && !defined BB_PORTABLE
#define HOLD_FOR_MORE MSG_MORE
#else
#define HOLD_FOR_MORE 0
#endif

static atomic_bool process_forked;

int bb__sock_prepare_listener(int fd, bool *tcp)
{
    if (!bb__descriptor_prepare(fd)) return BB_ESYSTEM;

    int on = 1; /* fails on a unix socket, which does not need the option */
    *tcp = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    return BB_OK;
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

uint16_t bb__sock_port(int fd)
{
    union address address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    if (getsockname(fd, &address.any, &len) < 0) return 0;
    if (address.any.sa_family == AF_INET) return ntohs(address.v4.sin_port);
    return address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port) : 0;
}

/* FNV-1a. A stronger hash is not needed, because no attacker chooses the addresses. */
uint64_t bb__sock_address(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0) return 0;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (socklen_t i = 0; i < len && i < sizeof address; i++)
        hash = (hash ^ ((const unsigned char *)&address)[i]) * UINT64_C(1099511628211);
    return hash;
}

static size_t put_decimal(char *at, unsigned byte)
{
    size_t len = 0;
    if (byte >= 100) at[len++] = (char)('0' + byte / 100);
    if (byte >= 10) at[len++] = (char)('0' + byte / 10 % 10);
    at[len++] = (char)('0' + byte % 10);
    return len;
}

static void put_v4(char text[BB_PEER_MAX], const unsigned char bytes[4])
{
    size_t len = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0) text[len++] = '.';
        len += put_decimal(text + len, bytes[i]);
    }
    text[len] = '\0';
}

static void put_peer(struct bb__peer *peer, const union address *address)
{
    switch (address->any.sa_family) {
    case AF_INET:
        put_v4(peer->address, (const unsigned char *)&address->v4.sin_addr);
        peer->port = ntohs(address->v4.sin_port);
        break;
    case AF_INET6:
        if (IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr))
            put_v4(peer->address, address->v6.sin6_addr.s6_addr + 12);
        else
            inet_ntop(AF_INET6, &address->v6.sin6_addr, peer->address, BB_PEER_MAX);
        peer->port = ntohs(address->v6.sin6_port);
        break;
    default:
        *peer = (struct bb__peer){"127.0.0.1", 0};
    }
}

/* Returns whether the error of accept4() belongs to the new connection, not to the listener: see
 * accept(2). */
static bool is_of_the_connection(int error)
{
    switch (error) {
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
#ifdef ENONET
    case ENONET:
#endif
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPERM:
        return true;
    default:
        return false;
    }
}

static int accept_one(int listener, struct sockaddr *address, socklen_t *len)
{
#ifdef BB_PORTABLE
    int fd = accept(listener, address, len);
    if (fd < 0) return -1;
    fd = bb__descriptor_prepare_or_close(fd);
    if (fd < 0) errno = ECONNABORTED; /* the fault of this connection, not of the listener */
    return fd;
#else
    return accept4(listener, address, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
#endif
}

/* bb__sock_accept() skips at most this many failed connections in a row. If more fail, the connections are
 * not the cause. */
#define FAILED_MAX 64

int bb__sock_accept(int listener, int *fd, struct bb__peer *peer)
{
    union address address;
    for (int failed = 0; failed < FAILED_MAX; failed++) {
        socklen_t len = sizeof address;
        *fd = accept_one(listener, &address.any, &len);
        if (*fd >= 0 && len > 0) {
            put_peer(peer, &address);
            return BB_OK;
        }
        if (*fd >= 0) { /* BSD: the client reset the connection before it was accepted */
            (void)close(*fd);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return BB_AGAIN;
        /* Tries the next connection in the queue if a signal came, or if a connection failed before it was
         * accepted. */
        if (errno != EINTR && !is_of_the_connection(errno)) return BB_ESYSTEM;
    }
    return BB_AGAIN;
}

bool bb__sock_is_exhaustion(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

bool bb__sock_is_useless(int error)
{
    return error == EINVAL || error == EBADF || error == ENOTSOCK || error == EOPNOTSUPP;
}

bool bb__sock_has_bytes(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool bb__sock_is_at_end(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

#ifdef BB_PORTABLE
bool bb__sock_client_gone(int fd, bool half_closed)
{
    struct pollfd watched = {.fd = fd, .events = POLLOUT}; /* some systems report nothing without an event */
    if (poll(&watched, 1, 0) == 1 && watched.revents & BB_INTEREST_TROUBLE) return true;
    return half_closed && bb__sock_is_at_end(fd);
}
#else
bool bb__sock_client_gone(int fd, bool half_closed)
{
    struct pollfd watched = {.fd = fd, .events = half_closed ? POLLRDHUP : 0};
    return poll(&watched, 1, 0) == 1;
}
#endif

/* Each request makes these two system calls. In a process with threads, libc adds two atomic operations to
 * each call, because a thread may be cancelled during the call (pthread_cancel). Threads of this server are
 * never cancelled, so libc is bypassed. Sanitizers need the functions of libc. */
#if !defined BB_PORTABLE && defined SYS_recvfrom && defined SYS_sendto && !IS_SANITIZED
static ssize_t receive(int fd, char *bytes, size_t len, int flags)
{
    return syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);
}

static ssize_t transmit(int fd, const char *bytes, size_t len, int flags)
{
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}
#else
static ssize_t receive(int fd, char *bytes, size_t len, int flags)
{
    return recv(fd, bytes, len, flags);
}

static ssize_t transmit(int fd, const char *bytes, size_t len, int flags)
{
    return send(fd, bytes, len, flags);
}
#endif

int bb__sock_recv(int fd, char *bytes, size_t len, size_t *got)
{
    for (;;) {
        ssize_t count = receive(fd, bytes, len, MSG_DONTWAIT);
        if (count > 0) {
            *got = (size_t)count;
            return BB_OK;
        }
        if (count == 0) return BB_EOF;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return BB_AGAIN;
        if (errno != EINTR) return BB_EGONE;
    }
}

static int sent_or_not(ssize_t count, size_t *sent)
{
    if (count >= 0) {
        *sent = (size_t)count;
        return BB_OK;
    }
    *sent = 0;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? BB_AGAIN : BB_EGONE;
}

static int send_bytes(int fd, const char *bytes, size_t len, int flags, size_t *sent)
{
    ssize_t count;
    do count = transmit(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
    while (count < 0 && errno == EINTR);
    return sent_or_not(count, sent);
}

int bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent)
{
    return send_bytes(fd, bytes, len, 0, sent);
}

int bb__sock_send_more(int fd, const char *bytes, size_t len, size_t *sent)
{
    return send_bytes(fd, bytes, len, HOLD_FOR_MORE, sent);
}

int bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
    ssize_t done;
    do done = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (done < 0 && errno == EINTR);
    return sent_or_not(done, sent);
}

int bb__sock_send_last(int fd, const char *bytes, size_t len, size_t *sent)
{
    /* The kernel holds the bytes back (MSG_MORE) and sends them with the FIN of shutdown(). close() alone is
     * not enough, because it drops the response if the peer has sent bytes that were not read. */
    int code = send_bytes(fd, bytes, len, HOLD_FOR_MORE, sent);
    if (code == BB_OK && *sent == len) bb__sock_end_sending(fd);
    return code;
}

static int wait_for(short events, int fd, int wake_fd, int timeout_ms)
{
    struct pollfd watched[2] = {{.fd = fd, .events = events}, {.fd = wake_fd, .events = POLLIN}};
    int count = poll(watched, 2, timeout_ms);
    if (count < 0) return BB_AGAIN;
    if (count == 0) return BB_EGONE;
    return watched[1].revents ? BB_AGAIN : BB_OK;
}

int bb__sock_wait_readable(int fd, bool or_writable, int wake_fd, int timeout_ms)
{
    return wait_for(or_writable ? POLLIN | POLLOUT : POLLIN, fd, wake_fd, timeout_ms);
}

int bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms)
{
    return wait_for(POLLOUT, fd, wake_fd, timeout_ms);
}

int bb__sock_untaken(int fd)
{
    int untaken;
#ifdef SO_NWRITE /* macOS */
    socklen_t len = sizeof untaken;
    return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &untaken, &len) == 0 ? untaken : -1;
#elif defined FIONWRITE /* BSD */
    return ioctl(fd, FIONWRITE, &untaken) == 0 ? untaken : -1;
#else                   /* TIOCOUTQ equals SIOCOUTQ. Some libcs lack the header of SIOCOUTQ */
    return ioctl(fd, TIOCOUTQ, &untaken) == 0 ? untaken : -1;
#endif
}

unsigned bb__sock_silence(int fd)
{
#ifndef BB_PORTABLE
    struct tcp_info info;
    socklen_t len = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_last_data_recv : 0;
#else
    (void)fd;
    return 0;
#endif
}

void bb__sock_end_sending(int fd)
{
    (void)shutdown(fd, SHUT_WR);
}

void bb__sock_shut(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
}

void bb__sock_close(int fd)
{
    if (atomic_load_explicit(&process_forked, memory_order_relaxed)) bb__sock_shut(fd);
    (void)close(fd);
}

#ifdef BB_PORTABLE
/* If connect() cannot disconnect, the RST leaves with the last close(). After a fork of this process the peer
 * may read an end of file first (bb__sock_close()). */
void bb__sock_reset(int fd)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    const struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (connect(fd, &none, sizeof none) == 0)
        bb__sock_abandon(fd);
    else
        bb__sock_close(fd);
}
#else
void bb__sock_reset(int fd)
{
    /* connect() to AF_UNSPEC sends the RST at once, even if other processes have the socket open. SO_LINGER
     * with 0 would send it only after the last close(). With shutdown() alone the peer would read an end of
     * file. A unix socket has no RST, and is only shut down. */
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    (void)connect(fd, &none, sizeof none);
    bb__sock_shut(fd);
    (void)close(fd);
}
#endif

void bb__sock_abandon(int fd)
{
    (void)close(fd);
}

void bb__sock_process_forks(void)
{
    atomic_store_explicit(&process_forked, true, memory_order_relaxed);
}
