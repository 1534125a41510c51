/* sock.h: wraps the system calls on stream sockets. EINTR and EAGAIN are handled here. Used by all layers
 * above. Does not parse HTTP. */
#ifndef BB_SOCK_H
#define BB_SOCK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BB_PEER_MAX 48 /* INET6_ADDRSTRLEN is 46 */

/* The client's end of a connection. */
struct bb__peer {
    char address[BB_PEER_MAX]; /* NUL-terminated */
    uint16_t port;             /* 0: unix socket */
};

/* A mask: what to wait for on a socket, and what a wait may report. */
enum bb__interest {
    BB_INTEREST_NONE = 0, /* only BB_INTEREST_TROUBLE */
    BB_INTEREST_READ = POLLIN,
    BB_INTEREST_WRITE = POLLOUT,
    BB_INTEREST_TROUBLE = POLLERR | POLLHUP, /* always reported */
};

/* Makes an inherited listener non-blocking and close-on-exec. *tcp: the listener is a TCP socket. On a TCP
 * socket also sets TCP_NODELAY, which accepted connections inherit. BB_OK or BB_ESYSTEM. */
int bb__sock_prepare_listener(int fd, bool *tcp);

/* Returns the port to which a TCP socket is bound; 0: no port. */
uint16_t bb__sock_port(int fd);

/* Returns a hash of the address to which a socket is bound; 0: no address. Each process gets the same
 * hash. */
uint64_t bb__sock_address(int fd);

/* Accepts one connection: non-blocking, close-on-exec. peer: the client's address as text. For a unix socket
 * it is "127.0.0.1". An IPv4-mapped IPv6 address is written as IPv4. BB_OK; BB_AGAIN: the accept queue is
 * empty; BB_ESYSTEM with errno: no descriptors or memory are left (bb__sock_is_exhaustion()), or the
 * descriptor cannot accept (bb__sock_is_useless()). If descriptors or memory are missing, the connection
 * stays in the accept queue. */
int bb__sock_accept(int listener, int *fd, struct bb__peer *peer);

/* Returns whether the errno means that the process or the system is out of descriptors or memory. */
bool bb__sock_is_exhaustion(int error);

/* Returns whether the errno of accept4() means that the descriptor is not a listener, or was shut down. */
bool bb__sock_is_useless(int error);

/* Returns whether bytes have come that were not read yet. */
bool bb__sock_has_bytes(int fd);

/* Returns whether the client has ended its sending, and no byte is unread. */
bool bb__sock_is_at_end(int fd);

/* Returns whether the client has reset the connection or, on a unix socket, closed it. half_closed: also
 * returns true if the client has ended its sending; without Linux only if no byte is unread. Over TCP, a
 * client that has ended its sending looks like a client that has closed the connection, until the server
 * sends something. */
bool bb__sock_client_gone(int fd, bool half_closed);

/* Reads up to len bytes. BB_OK with *got > 0; BB_AGAIN; BB_EOF; BB_EGONE (reset, or any other error). */
int bb__sock_recv(int fd, char *bytes, size_t len, size_t *got);

/* Sends the bytes that the socket takes. BB_OK with *sent > 0; BB_AGAIN: the socket takes nothing now;
 * BB_EGONE. */
int bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);

/* Like bb__sock_send(), if more bytes follow at once. Over TCP the bytes wait up to 200 ms for these, so that
 * both share a segment. */
int bb__sock_send_more(int fd, const char *bytes, size_t len, size_t *sent);

/* Like bb__sock_send(), for the last bytes of a TCP connection: sends the FIN in the same segment, so the
 * peer is woken once. If the socket does not take all bytes, no FIN is sent. On systems other than Linux the
 * FIN has its own segment. */
int bb__sock_send_last(int fd, const char *bytes, size_t len, size_t *sent);

/* Waits until fd has or takes bytes, wake_fd is readable, or timeout_ms has passed (-1: no limit). BB_OK: fd
 * is ready; BB_AGAIN: wake_fd is readable, or a signal came; BB_EGONE: the time has passed. */
int bb__sock_wait_readable(int fd, bool or_writable, int wake_fd, int timeout_ms);
int bb__sock_wait_writable(int fd, int wake_fd, int timeout_ms);

/* Returns how many of the sent bytes the peer has not taken. Over TCP: bytes without acknowledgement; on a
 * unix socket: bytes with the kernel's overhead. If the number gets smaller, the peer takes data. -1:
 * unknown. */
int bb__sock_untaken(int fd);

/* Returns ms since the peer's last bytes came over TCP, at the resolution of the kernel's tick; 0:
 * unknown. */
unsigned bb__sock_silence(int fd);

/* Ends sending, so that the peer reads an end of file. */
void bb__sock_end_sending(int fd);

/* Ends the connection, even if other processes have its descriptor. */
void bb__sock_shut(int fd);

/* Closes the socket. If the process has ever forked, shuts the connection down first, because a child may
 * have a copy of the descriptor. Without the shutdown the peer would wait until the child ends. */
void bb__sock_close(int fd);

/* Closes the socket so that the peer sees an error (RST) instead of an end of file. On a unix socket the peer
 * sees an end of file. Bytes that were not delivered yet are dropped. */
void bb__sock_reset(int fd);

/* Closes only this descriptor. The connection stays open, because another process or the shared queue has a
 * copy of the descriptor. */
void bb__sock_abandon(int fd);

/* Call this before each fork: from then on bb__sock_close() shuts the connection down first. */
void bb__sock_process_forks(void);

#endif
