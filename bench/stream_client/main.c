/* main.c: many clients of one server, in one thread, for bench/stream. They receive SSE, or send WebSocket
 * messages and receive the echoes.
 *
 *   stream_client sse       PORT PATH CLIENTS SECONDS
 *   stream_client websocket PORT PATH CLIENTS SECONDS MESSAGES_PER_SECOND
 *
 * The program prints "ready" when each client has the head of its response, then measures, and prints one
 * line of JSON with the figures. Then it waits for the end of standard input, so that its caller can read the
 * server's CPU time while all clients are still there. If a client gets another response, or none, or loses
 * its connection, the line has only the reason. The whole run is bounded in time by alarm(2). */
#include "client.h"
#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_SECONDS 10  /* for all clients */
#define SETTLE_SECONDS  0.5 /* between the last head and the measurement */
#define ECHO_SECONDS    1.0 /* for the last echoes */
#define SPARE_SECONDS   20
#define EVENTS_MAX      64

static const char sse_fields[] = "Accept: text/event-stream\r\n";
static const char websocket_fields[] =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

static struct client *clients;
static unsigned client_count, open_count;
static int poller;
static take_messages *take;
static const char *status; /* the beginning of the expected status line */
static struct totals totals;

void fail(const char *format, ...)
{
    char reason[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    for (char *at = reason; *at; at++) {
        if (*at < ' ' || *at == '"' || *at == '\\') *at = ' ';
    }
    printf("{\"reason\": \"%s\"}\n", reason);
    exit(EXIT_FAILURE);
}

static void connect_client(struct client *client, uint16_t port, const char *request)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = CONNECT_SECONDS};
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0) fail("socket: %s", strerror(errno));
    setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* connect() takes it, too */
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(client->fd, (const struct sockaddr *)&address, sizeof address) < 0)
        fail("connect: %s", strerror(errno));
    if (send(client->fd, request, strlen(request), MSG_NOSIGNAL) < 0) fail("send: %s", strerror(errno));
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, client->fd, &event) < 0) fail("epoll: %s", strerror(errno));
}

/* Returns the length of the response's head, 0 if it is not complete. */
static size_t head_length(struct client *client)
{
    const char *end = memmem(client->buffer, client->len, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(client->buffer, status, strlen(status)) != 0)
        fail("%.*s", (int)strcspn(client->buffer, "\r"), client->buffer);
    client->is_open = true;
    open_count++;
    return (size_t)(end - client->buffer) + 4;
}

static void receive(struct client *client)
{
    ssize_t got = recv(client->fd, client->buffer + client->len, BUFFER_SIZE - client->len, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) fail("the server closes the stream%s", client->is_open ? "" : " without a response");
    client->len += (size_t)got;

    size_t used = 0;
    if (!client->is_open) used = head_length(client);
    if (client->is_open) used += take(client->buffer + used, client->len - used, clock_ns(), &totals);
    client->len -= used;
    if (client->len == BUFFER_SIZE) fail("the server sends something else than messages");
    memmove(client->buffer, client->buffer + used, client->len);
}

/* Receives until a time. Returns early, with true, if *counter reaches `enough`. */
static bool receive_until(uint64_t until_ns, const uint64_t *counter, uint64_t enough)
{
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        uint64_t now_ns = clock_ns();
        if (counter && *counter >= enough) return true;
        if (now_ns >= until_ns) return false;
        struct timespec wait = {.tv_sec = (time_t)((until_ns - now_ns) / NS_PER_SECOND),
                                .tv_nsec = (long)((until_ns - now_ns) % NS_PER_SECOND)};
        int ready = epoll_pwait2(poller, events, EVENTS_MAX, &wait, NULL);
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
    }
}

static uint64_t after(double seconds)
{
    return clock_ns() + (uint64_t)(seconds * (double)NS_PER_SECOND);
}

/* The server may serve the clients one by one, so the heads are received while clients connect. */
static void open_all(uint16_t port, const char *path, const char *fields)
{
    char request[1024];
    uint64_t limit_ns = after(CONNECT_SECONDS);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", path, fields);
    for (unsigned i = 0; i < client_count && clock_ns() < limit_ns; i++) {
        connect_client(&clients[i], port, request);
        receive_until(0, NULL, 0);
    }
    while (open_count < client_count && clock_ns() < limit_ns) receive_until(after(0.01), NULL, 0);
    if (open_count < client_count) fail("only %u of %u clients get a response", open_count, client_count);
    receive_until(after(SETTLE_SECONDS), NULL, 0);
}

/* Sends messages that are due evenly over the time, each on the next client. Latency counts from the due
 * time. Returns the number of messages. */
static uint64_t send_messages(double seconds, double rate)
{
    uint64_t start_ns = clock_ns(), count = (uint64_t)(seconds * rate);
    for (uint64_t sent = 0; sent < count; sent++) {
        uint64_t due_ns = start_ns + (uint64_t)((double)sent / rate * (double)NS_PER_SECOND);
        char frame[WEBSOCKET_FRAME_MAX];
        size_t len = websocket_frame(frame, due_ns);
        receive_until(due_ns, NULL, 0);
        if (send(clients[sent % client_count].fd, frame, len, MSG_NOSIGNAL) != (ssize_t)len)
            fail("a client cannot send: %s", strerror(errno));
    }
    return count;
}

static double latency_us(double percentile)
{
    return (double)histogram_percentile(&totals.latency, percentile) / (double)NS_PER_US;
}

static void report(double seconds)
{
    printf("{\"messages\": %" PRIu64
           ", \"seconds\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}\n",
           totals.messages, seconds, latency_us(0.5), latency_us(0.99), latency_us(1));
}

int main(int argc, char **argv)
{
    bool is_sse = argc == 6 && !strcmp(argv[1], "sse");
    if (!is_sse && (argc != 7 || strcmp(argv[1], "websocket") != 0)) return 2;
    double seconds = atof(argv[5]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm((unsigned)seconds + CONNECT_SECONDS + SPARE_SECONDS);
    take = is_sse ? sse_take : websocket_take;
    status = is_sse ? "HTTP/1.1 200" : "HTTP/1.1 101";
    client_count = (unsigned)atoi(argv[4]);
    clients = calloc(client_count, sizeof *clients);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (!clients || poller < 0) fail("no memory");

    open_all((uint16_t)atoi(argv[2]), argv[3], is_sse ? sse_fields : websocket_fields);
    puts("ready");
    totals = (struct totals){0};
    uint64_t start_ns = clock_ns();
    if (is_sse) {
        receive_until(after(seconds), NULL, 0);
    } else {
        uint64_t sent = send_messages(seconds, atof(argv[6]));
        if (!receive_until(after(ECHO_SECONDS), &totals.messages, sent))
            fail("only %" PRIu64 " of %" PRIu64 " messages come back", totals.messages, sent);
    }
    if (totals.messages == 0) fail("no message comes");
    report((double)(clock_ns() - start_ns) / (double)NS_PER_SECOND);
    while (getchar() != EOF) continue;
    return 0;
}
