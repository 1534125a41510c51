/* shared_queue.c: see shared_queue.h. The queue is a pair of SOCK_SEQPACKET sockets. All processes have both
 * ends. */
#ifndef BB_PORTABLE

#include "system/shared_queue.h"
#include "base/clock.h"
#include "bontebok.h"
#include "sockets/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(struct bb__shared_stamp) == 24, "another size needs another BB_LAYOUT");

/* Room for thousands of messages; the system's own limit may be lower. */
#define QUEUE_BYTES (1024 * 1024)

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(BB_SHARED_QUEUE_FDS * sizeof(int))];
};

/* Does not use CMSG_SPACE(), because its padding may have room for another descriptor. */
#define CONTROL_LEN CMSG_LEN(BB_SHARED_QUEUE_FDS * sizeof(int))

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t len = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

/* Returns whether fd is a unix socket of type SOCK_SEQPACKET. Other sockets do not keep messages apart, or
 * cannot carry descriptors. */
static bool is_fit(int fd)
{
    int domain = option_of(fd, SO_DOMAIN), type = option_of(fd, SO_TYPE);
    if (domain >= 0 && domain != AF_UNIX)
        errno = EAFNOSUPPORT;
    else if (domain >= 0 && type != SOCK_SEQPACKET)
        errno = EPROTOTYPE;
    return domain == AF_UNIX && type == SOCK_SEQPACKET;
}

static void enlarge(int fd)
{
    static const int bytes = QUEUE_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

int bb__shared_queue_open(struct bb__shared_queue *shared_queue)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) return BB_ESYSTEM;
    *shared_queue = (struct bb__shared_queue){.in = pair[0], .out = pair[1]};
    enlarge(shared_queue->in);
    return BB_OK;
}

int bb__shared_queue_adopt(struct bb__shared_queue *shared_queue, int in, int out)
{
    if (!is_fit(in) || !is_fit(out) || !bb__descriptor_prepare(in) || !bb__descriptor_prepare(out))
        return BB_ESYSTEM;
    *shared_queue = (struct bb__shared_queue){.has_peers = true, .in = in, .out = out};
    enlarge(shared_queue->in);
    return BB_OK;
}

void bb__shared_queue_close(struct bb__shared_queue *shared_queue)
{
    (void)close(shared_queue->in);
    (void)close(shared_queue->out);
}

/* ETOOMANYREFS: the unread messages of this user have as many descriptors as one process may open. */
static bool is_full(int error)
{
    return error == EAGAIN || error == ETOOMANYREFS || error == ENOBUFS || error == ENOMEM;
}

static int send_message(const struct bb__shared_queue *shared_queue, struct iovec *parts, size_t count,
                        const int *fds, size_t fd_count)
{
    union control control;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    if (fd_count > 0) {
        memset(&control, 0, sizeof control);
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(fd_count * sizeof *fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), fds, fd_count * sizeof *fds);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof *fds);
    }
    while (sendmsg(shared_queue->in, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (errno != EINTR) return is_full(errno) ? BB_AGAIN : BB_ESYSTEM;
    return BB_OK;
}

/* Counts the request after sending, because a message that could not be sent must not count. */
static int send_stamped(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *stamp,
                        const struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    struct iovec all[1 + BB_SHARED_QUEUE_PARTS] = {{stamp, sizeof *stamp}};
    stamp->turn = shared_queue->turns ? atomic_load(shared_queue->turns) : 0;
    if (count > 0) memcpy(all + 1, parts, count * sizeof *parts);
    int code = send_message(shared_queue, all, 1 + count, fds, fd_count);
    if (code == BB_OK && stamp->has_request && shared_queue->turns)
        (void)atomic_fetch_add(shared_queue->turns, 1);
    return code;
}

int bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                          const struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    struct bb__shared_stamp stamp = {.since = since > 0 ? since : bb__clock_us(), .has_request = since > 0};
    return send_stamped(shared_queue, &stamp, parts, count, fds, fd_count);
}

void bb__shared_queue_nudge(const struct bb__shared_queue *shared_queue)
{
    /* If the queue is full, its messages wake waiting threads without a nudge. */
    (void)bb__shared_queue_send(shared_queue, 0, NULL, 0, NULL, 0);
}

static void take_descriptors(struct bb__shared_message *message, struct msghdr *received)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(received);
    message->fd_count = 0;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return;
    message->fd_count = (header->cmsg_len - CMSG_LEN(0)) / sizeof *message->fds;
    memcpy(message->fds, CMSG_DATA(header), message->fd_count * sizeof *message->fds);
}

static void drop_descriptors(struct bb__shared_message *message)
{
    while (message->fd_count > 0) (void)close(message->fds[--message->fd_count]);
}

int bb__shared_queue_send_back(const struct bb__shared_queue *shared_queue, char *bytes,
                               struct bb__shared_message *message)
{
    const struct iovec part = {bytes, message->len};
    struct bb__shared_stamp stamp = message->stamp;
    int code = send_stamped(shared_queue, &stamp, &part, 1, message->fds, message->fd_count);
    if (code == BB_OK) drop_descriptors(message);
    return code;
}

int bb__shared_queue_take(const struct bb__shared_queue *shared_queue, char *bytes,
                          struct bb__shared_message *message)
{
    union control control;
    struct iovec room[2] = {{&message->stamp, sizeof message->stamp}, {bytes, BB_SHARED_QUEUE_BYTES}};
    struct msghdr received = {
        .msg_iov = room, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = CONTROL_LEN};
    ssize_t got;
    while ((got = recvmsg(shared_queue->out, &received, MSG_CMSG_CLOEXEC)) < 0)
        if (errno != EINTR) return errno == EAGAIN ? BB_AGAIN : BB_ESYSTEM;
    message->len = (size_t)got > sizeof message->stamp ? (size_t)got - sizeof message->stamp : 0;
    take_descriptors(message, &received);
    if (!(received.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return BB_OK;
    drop_descriptors(message);
    return BB_ELOST;
}

/* Receives the descriptors of the message, and closes them. */
bool bb__shared_queue_fits(const struct bb__shared_queue *shared_queue)
{
    union control control;
    struct bb__shared_message message;
    struct iovec room = {&message.stamp, sizeof message.stamp};
    struct msghdr received = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CONTROL_LEN};
    while (recvmsg(shared_queue->out, &received, MSG_PEEK | MSG_CMSG_CLOEXEC) < 0)
        if (errno != EINTR) return true;
    take_descriptors(&message, &received);
    drop_descriptors(&message);
    return !(received.msg_flags & MSG_CTRUNC);
}

/* This recv() has no room for control data, so it creates no descriptors. The descriptor may be
 * blocking, because bb_scoreboard_waiting() does not adopt the queue. */
int bb__shared_queue_look(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *first)
{
    ssize_t got;
    while ((got = recv(shared_queue->out, first, sizeof *first, MSG_PEEK | MSG_DONTWAIT)) < 0)
        if (errno != EINTR) return BB_AGAIN;
    return got == sizeof *first ? BB_OK : BB_AGAIN;
}

#endif
