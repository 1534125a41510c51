/* sock.h: the system calls on stream sockets, wrapped once: EINTR and EAGAIN end here. Knows no HTTP. */
#ifndef BB_SOCK_H
#define BB_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#define BB_PEER_MAX 48 /* INET6_ADDRSTRLEN is 46 */

/* What one can wait for on a socket, and what a wait may find; a mask. */
enum bb__interest {
    BB_INTEREST_NONE = 0, /* only trouble */
    BB_INTEREST_READ = EPOLLIN,
    BB_INTEREST_WRITE = EPOLLOUT,
    BB_INTEREST_TROUBLE = EPOLLERR | EPOLLHUP, /* is told without being asked for */
};

/* Makes an inherited descriptor non-blocking and close-on-exec; on a TCP listener (*tcp) also sets
 * TCP_NODELAY, which accepted connections inherit. BB_OK or BB_ESYSTEM. */
int bb__sock_prepare_listener(int fd, bool *tcp);

/* The port that a TCP socket is bound to; 0: it has none. */
uint16_t bb__sock_port(int fd);

/* A number for the address that it is bound to, the same in each process; 0: it has none. */
uint64_t bb__sock_address(int fd);

/* Accepts one connection: non-blocking, close-on-exec. peer: its address as text, "127.0.0.1" for unix
 * sockets, the IPv4 form of a mapped IPv6 address. BB_OK; BB_AGAIN: the queue is empty; BB_ESYSTEM: errno is
 * an exhaustion (the connection stays in the queue), or nothing can be accepted here, as from a listener that
 * was shut down. */
int bb__sock_accept(int listener, int *fd, char peer[BB_PEER_MAX]);

/* Whether an error means that the process or the system is out of descriptors or memory. */
bool bb__sock_is_exhaustion(int error);

/* Whether accept4()'s error means that the descriptor is no listener, or was shut down: it will never be one
 * again. */
bool bb__sock_is_useless(int error);

/* Whether bytes have come that are not read yet. */
bool bb__sock_has_bytes(int fd);

/* Whether nobody is there any more who could read: it was reset, or, on a unix socket, closed. half_closed:
 * or who will send no more; over TCP one that has closed looks no different, until something is sent to it.
 */
bool bb__sock_client_gone(int fd, bool half_closed);

/* Reads up to len bytes. BB_OK with *got > 0; BB_AGAIN; BB_EOF; BB_EGONE (reset, or any other error). */
int bb__sock_recv(int fd, char *bytes, size_t len, size_t *got);

/* Sends what the socket takes. BB_OK with *sent > 0; BB_AGAIN: it takes nothing now; BB_EGONE. */
int bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);

/* bb__sock_send() of the last bytes that a TCP connection will carry: the FIN leaves in the same segment, and
 * the peer is woken once. As long as the socket does not take them all, the connection is not ended.
 * Elsewhere than on Linux the FIN follows by itself. */
int bb__sock_send_last(int fd, const char *bytes, size_t len, size_t *sent);

/* Waits until fd takes bytes, wake_fd is readable, or timeout_ms (-1: none) is over. BB_OK; BB_AGAIN: woken;
 * BB_EGONE: over. */
int bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);

/* How much of what was sent the peer has not taken: bytes that TCP has no acknowledgement for, memory on a
 * unix socket. Less than before: it is taking. -1: the system does not tell. */
int bb__sock_untaken(int fd);

/* ms, since the peer's last bytes came over TCP, at the kernel's tick; 0: the system does not tell. */
unsigned bb__sock_silence(int fd);

/* No more will be sent; the peer reads EOF. */
void bb__sock_end_sending(int fd);

/* The end of the connection, whoever else has its descriptor. */
void bb__sock_shut(int fd);

/* Closes. If the process has ever forked, a child may hold a duplicate: the peer must not wait for that
 * child's end, so the connection is shut down first. */
void bb__sock_close(int fd);

/* Closes so that the peer sees an error, not an end (RST; on a unix socket it can only see the end). What was
 * not delivered yet is thrown away. */
void bb__sock_reset(int fd);

/* Closes in a child that only inherited the connection: it lives on. */
void bb__sock_abandon(int fd);

/* Called before each fork: from now on bb__sock_close() shuts down first. */
void bb__sock_process_forks(void);

#endif
