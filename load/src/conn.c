/* conn.c: see conn.h.
 *
 *                 conn_begin           all sent             response complete
 *   closed, idle ------------> sending ---------> receiving ----------------> idle, or closed
 *                  ^  |           |                   |
 *                  |  | no room   +---- lost ---------+--> closed, or begun again on a new connection, once
 *                  +--+
 */
#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ANY_SEGMENT 536 /* bytes that are one segment on any path, RFC 9293 3.7.1 */

void conn_close(struct conn *conn)
{
    if (conn->fd >= 0) close(conn->fd);
    conn->fd = -1;
    conn->is_connected = false;
    conn->watched = 0;
    conn->responses = 0;
}

void conn_give_up(struct conn *conn, enum fate fate, int error)
{
    conn_close(conn);
    conn->fate = fate;
    conn->error = error;
}

static enum conn_wants fail(struct conn *conn, enum fate fate, int error)
{
    conn_give_up(conn, fate, error);
    return CONN_ENDED;
}

/* Binds the socket to the next source address 127.0.0.x, but not to a port. Each source address has its
 * own ports. With 127.0.0.1 alone, connections in TIME_WAIT would use up the ports within seconds.
 * connect() chooses a port without a connection to this server. Connections to other servers may use the
 * same port. */
static int bind_source(int fd, struct conn_setup *setup)
{
    int on = 1;
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl((uint32_t)IN_LOOPBACKNET << 24 | setup->next_source);
    setup->next_source = setup->next_source < CONN_LAST_SOURCE ? setup->next_source + 1 : CONN_FIRST_SOURCE;
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) < 0) return -1;
    return bind(fd, (const struct sockaddr *)&source, sizeof source);
}

/* Returns 0 or -1 with errno. */
static int open_socket(struct conn *conn, struct conn_setup *setup)
{
    const struct target *target = setup->target;
    int on = 1;
    conn->fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (conn->fd < 0 || target->address.ss_family == AF_UNIX) return conn->fd < 0 ? -1 : 0;

    /* With TCP_NODELAY a request of several segments does not wait for the server's delayed ACK. A request of
     * one segment that is alone on its connection never waits. */
    bool may_wait = !conn->request->closes || conn->request->len > ANY_SEGMENT;
    if (may_wait && setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) return -1;
    bool rotates = target->is_loopback4 && (conn->request->closes || conn->was_open);
    conn->was_open = true;
    return rotates ? bind_source(conn->fd, setup) : 0;
}

/* True if no program can have read the request, because the server has certainly closed its end before any
 * byte of the request arrived. If bytes were sent, only a FIN (is_end) can prove this, because the FIN
 * acknowledges all bytes that arrived before the server sent it. A reset acknowledges nothing. Bytes that
 * were sent to a unix socket have arrived. (TIOCOUTQ is SIOCOUTQ of tcp(7); musl does not have the header
 * of SIOCOUTQ.) */
static bool has_not_arrived(const struct conn *conn, const struct conn_setup *setup, bool is_end)
{
    int unacknowledged;
    if (conn->sent == 0) return true;
    if (!is_end || setup->target->address.ss_family == AF_UNIX) return false;
    return ioctl(conn->fd, TIOCOUTQ, &unacknowledged) == 0 && (size_t)unacknowledged >= conn->sent;
}

/* Called if the connection has ended or failed before the response was complete. If a kept-alive
 * connection has certainly ended before the request arrived (RFC 9112 9.3.1), the request is sent again on
 * a new connection. This happens only once, because the new connection has no earlier response. In all
 * other cases the request has failed. */
static enum conn_wants lose(struct conn *conn, struct conn_setup *setup, int error, bool is_end)
{
    if (conn->responses > 0 && !conn->response.begun && has_not_arrived(conn, setup, is_end)) {
        if (conn->sent > 0) setup->resent++;
        conn_close(conn);
        conn->sent = 0;
        return conn_send(conn, setup);
    }
    return fail(conn, error ? fate_of_error(error) : FATE_SHORT, error);
}

static enum conn_wants complete(struct conn *conn, bool has_surplus)
{
    bool is_ok = conn->response.status >= 200 && conn->response.status < 400;
    if (has_surplus) return fail(conn, FATE_SHORT, 0);
    conn->fate = is_ok ? FATE_OK : FATE_STATUS;
    conn->error = 0;
    conn->responses++;
    /* A response may come before the whole request was sent. On an open connection, the server would read
     * the rest of this request as the next request. */
    if (conn->request->closes || !conn->response.keep_alive || conn->sent < conn->request->len)
        conn_close(conn);
    return CONN_ENDED;
}

/* `sending_failed`: errno of the send() that has failed, or 0. */
static enum conn_wants receive(struct conn *conn, struct conn_setup *setup, int sending_failed)
{
    ssize_t got = recv(conn->fd, setup->buffer, setup->buffer_size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR) && !sending_failed) return CONN_READ;
    if (got < 0) return lose(conn, setup, sending_failed ? sending_failed : errno, false);
    if (got == 0) {
        if (response_ends_with_connection(&conn->response)) return complete(conn, false);
        return lose(conn, setup, sending_failed, true);
    }
    size_t used;
    switch (response_feed(&conn->response, setup->buffer, (size_t)got, &used)) {
    case RESPONSE_DONE:
        return complete(conn, used < (size_t)got);
    case RESPONSE_MALFORMED:
        return fail(conn, FATE_SHORT, 0);
    case RESPONSE_MORE:
        break;
    }
    return CONN_READ;
}

enum conn_wants conn_receive(struct conn *conn, struct conn_setup *setup)
{
    enum conn_wants wants = receive(conn, setup, 0);
    return wants == CONN_READ && conn->sent < conn->request->len ? CONN_WRITE : wants;
}

enum conn_wants conn_send(struct conn *conn, struct conn_setup *setup)
{
    if (conn->fd < 0 && open_socket(conn, setup) < 0) return fail(conn, FATE_LOCAL, errno);
    if (!conn->is_connected) {
        const struct target *target = setup->target;
        if (connect(conn->fd, (const struct sockaddr *)&target->address, target->address_len) < 0 &&
            errno != EINPROGRESS) {
            if (errno == EAGAIN && target->address.ss_family == AF_UNIX) return CONN_ROOM;
            return fail(conn, fate_of_error(errno), errno);
        }
        conn->is_connected = true;
    }
    /* Does not wait for a connect() in progress. On loopback, the connection is already established.
     * Otherwise send() fails with EAGAIN. */
    while (conn->sent < conn->request->len) {
        ssize_t taken =
            send(conn->fd, conn->request->bytes + conn->sent, conn->request->len - conn->sent, MSG_NOSIGNAL);
        if (taken < 0 && errno == EAGAIN) return CONN_WRITE;
        if (taken < 0 && errno == EINTR) continue;
        /* A server that rejects a long body sends a response and closes, so a response may have arrived. */
        if (taken < 0) return receive(conn, setup, errno);
        conn->sent += (size_t)taken;
    }
    return CONN_READ;
}

enum conn_wants conn_begin(struct conn *conn, struct conn_setup *setup, const struct request *request)
{
    conn->sent = 0;
    conn->request = request;
    response_start(&conn->response, conn->request->is_head);
    return conn_send(conn, setup);
}
