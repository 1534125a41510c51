/* sock.h: wraps the system calls on stream sockets. EINTR and EAGAIN are handled here. Used by all layers
 * above. Knows no HTTP. */
#ifndef BB_SOCK_H
#define BB_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#define BB_PEER_MAX 48 /* INET6_ADDRSTRLEN is 46 */

/* A mask: what to wait for on a socket, and what a wait may report. */
enum bb__interest {
    BB_INTEREST_NONE = 0, /* only BB_INTEREST_TROUBLE */
    BB_INTEREST_READ = EPOLLIN,
    BB_INTEREST_WRITE = EPOLLOUT,
    BB_INTEREST_TROUBLE = EPOLLERR | EPOLLHUP, /* always reported */
};

/* Makes an inherited descriptor non-blocking and close-on-exec; on a TCP listener (*tcp) also sets
 * TCP_NODELAY, which accepted connections inherit. BB_OK or BB_ESYSTEM. */
int bb__sock_prepare_listener(int fd, bool *tcp);

/* Returns the port to which a TCP socket is bound; 0: none. */
uint16_t bb__sock_port(int fd);

/* Returns a hash of the address to which a socket is bound, the same in each process; 0: no address. */
uint64_t bb__sock_address(int fd);

/* Accepts one connection: non-blocking, close-on-exec. peer: the client's address as text: "127.0.0.1" for
 * unix sockets, the IPv4 form of an IPv4-mapped IPv6 address. BB_OK; BB_AGAIN: the queue is empty;
 * BB_ESYSTEM: the errno is for bb__sock_is_exhaustion() (the connection stays in the queue), or the
 * descriptor cannot accept, for example because the listener was shut down. */
int bb__sock_accept(int listener, int *fd, char peer[BB_PEER_MAX]);

/* Tells whether the error means that the process or the system is out of descriptors or memory. */
bool bb__sock_is_exhaustion(int error);

/* Tells whether the error of accept4() means that the descriptor is not a listener, or was shut down. */
bool bb__sock_is_useless(int error);

/* Tells whether bytes have come that were not read yet. */
bool bb__sock_has_bytes(int fd);

/* Tells whether the client cannot read any more: it has reset the connection or, on a unix socket, closed it.
 * half_closed: a client that will send no more counts as gone, too. Over TCP such a client and one that has
 * closed the connection look the same until something is sent. */
bool bb__sock_client_gone(int fd, bool half_closed);

/* Reads up to len bytes. BB_OK with *got > 0; BB_AGAIN; BB_EOF; BB_EGONE (reset, or any other error). */
int bb__sock_recv(int fd, char *bytes, size_t len, size_t *got);

/* Sends what the socket takes. BB_OK with *sent > 0; BB_AGAIN: it takes nothing now; BB_EGONE. */
int bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);

/* Like bb__sock_send(), for the last bytes of a TCP connection: the FIN leaves in the same segment, and
 * the peer is woken once. If the socket does not take all bytes, the connection is not ended. On systems
 * other than Linux the FIN leaves in its own segment. */
int bb__sock_send_last(int fd, const char *bytes, size_t len, size_t *sent);

/* Waits until fd takes bytes, wake_fd is readable, or timeout_ms has passed (-1: no limit). BB_OK;
 * BB_AGAIN: wake_fd, or a signal; BB_EGONE: the time has passed. */
int bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);

/* Returns how much of the sent data the peer has not taken. Over TCP: bytes without acknowledgement; on a
 * unix socket: bytes with the kernel's overhead. If the number gets smaller, the peer takes data. -1: the
 * system does not tell. */
int bb__sock_untaken(int fd);

/* Returns ms since the peer's last bytes came over TCP, at the resolution of the kernel's tick; 0:
 * unknown. */
unsigned bb__sock_silence(int fd);

/* Ends sending; the peer reads EOF. */
void bb__sock_end_sending(int fd);

/* Ends the connection, even if other processes have its descriptor. */
void bb__sock_shut(int fd);

/* Closes. If the process has ever forked, a child may have a copy of the descriptor, and the peer would
 * wait for that child's end. So the connection is shut down first. */
void bb__sock_close(int fd);

/* Closes so that the peer sees an error (RST) instead of an end of file. On a unix socket the peer can
 * only see the end. Bytes that were not delivered yet are dropped. */
void bb__sock_reset(int fd);

/* Closes the descriptor in a child that only inherited it. The connection lives on. */
void bb__sock_abandon(int fd);

/* Call it before each fork: from then on bb__sock_close() shuts the connection down first. */
void bb__sock_process_forks(void);

#endif
