/* client.c: the hostile clients of the chaos test. They break off, stall, read slowly, reset connections, and
 * send garbage. The body of each response with status 200 must be chaos_text. See chaos.h. */
#include "chaos.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CROWD 40 /* connections that one client opens at once */

struct client {
    const struct chaos_addresses *addresses;
    struct chaos_random random;
    pthread_t thread;
    uint64_t ends_at; /* ms */
    int fd;
    unsigned whole;    /* responses that were read to their end */
    bool slow;         /* pauses between two reads */
    char bytes[16384]; /* received, not used yet */
    size_t at, end;
};

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- connections ---- */

static int open_connection(struct client *client)
{
    bool tcp = one_in(&client->random, 2);
    struct timeval longest = {.tv_usec = 300 * 1000};
    int little = 4096;
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *address = tcp ? (const struct sockaddr *)&client->addresses->tcp
                                         : (const struct sockaddr *)&client->addresses->local;
    socklen_t len = tcp ? sizeof client->addresses->tcp : sizeof(sa_family_t) + 6;
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    if (one_in(&client->random, 2)) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    if (connect(fd, address, len) == 0) return fd;
    close(fd);
    return -1;
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

static void end(struct client *client)
{
    if (one_in(&client->random, 3))
        reset(client->fd);
    else
        close(client->fd);
}

static void pause_a_little(struct client *client, unsigned ms)
{
    if (one_in(&client->random, 3)) usleep(below(&client->random, ms * 1000));
}

static bool say(struct client *client, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(client->fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* ---- responses ---- */

/* Returns -1 at the end of the connection, and if nothing comes. */
static int next_byte(struct client *client)
{
    if (client->at == client->end) {
        size_t most = client->slow ? 1 + below(&client->random, 2000) : sizeof client->bytes;
        if (client->slow) usleep(below(&client->random, 5000));
        ssize_t got = recv(client->fd, client->bytes, most, 0);
        if (got <= 0) return -1;
        client->at = 0;
        client->end = (size_t)got;
    }
    return (unsigned char)client->bytes[client->at++];
}

static bool read_line(struct client *client, char *line, size_t size)
{
    size_t len = 0;
    for (int byte; (byte = next_byte(client)) != '\n';) {
        if (byte < 0) return false;
        if (len + 1 < size && byte != '\r') line[len++] = (char)byte;
    }
    line[len] = '\0';
    return true;
}

/* Reads bytes of a body that are at the position `at` of the text. */
static bool read_text(struct client *client, uint64_t at, uint64_t len, bool check)
{
    for (; len > 0; at++, len--) {
        int byte = next_byte(client);
        if (byte < 0) return false;
        if (check && (at >= TEXT_LENGTH || (char)byte != chaos_text[at]))
            chaos_fail("a response has a wrong byte at %llu", (unsigned long long)at);
    }
    return true;
}

static bool read_chunks(struct client *client, bool check)
{
    char line[64];
    for (uint64_t at = 0, len; read_line(client, line, sizeof line); at += len) {
        len = strtoull(line, NULL, 16);
        if (!read_text(client, at, len, check) || !read_line(client, line, sizeof line)) return false;
        if (len == 0) return true;
    }
    return false;
}

/* Returns the status, or 0 if the connection ends in the middle. *length: UINT64_MAX if there is no
 * Content-Length. */
static int read_head(struct client *client, uint64_t *length, bool *chunked)
{
    char line[4096];
    *length = UINT64_MAX;
    *chunked = false;
    if (!read_line(client, line, sizeof line)) return 0;
    int status = strncmp(line, "HTTP/1.1 ", 9) == 0 ? atoi(line + 9) : 0;
    if (status == 0) chaos_fail("no status line: %.60s", line);
    while (read_line(client, line, sizeof line)) {
        if (line[0] == '\0') return status;
        if (strncasecmp(line, "content-length:", 15) == 0) *length = strtoull(line + 15, NULL, 10);
        if (strncasecmp(line, "transfer-encoding:", 18) == 0) *chunked = true;
    }
    return 0;
}

/* Reads one response, with the interim responses before it. False: there is no next response. */
static bool read_response(struct client *client)
{
    uint64_t length;
    bool chunked;
    int status;
    do status = read_head(client, &length, &chunked);
    while (status >= 100 && status < 200 && status != 101);
    if (status == 0) return false;
    bool check = status == 200, whole = false;
    if (chunked)
        whole = read_chunks(client, check);
    else if (status != 101 && length != UINT64_MAX)
        whole = read_text(client, 0, length, check);
    else
        (void)read_text(client, 0, UINT64_MAX, true);
    client->whole += whole && check;
    return whole;
}

/* ---- what a client does with a connection ---- */

static bool ask(struct client *client, const char *fields)
{
    static const char *const paths[] = {"/", "/health", "/?a=b", "/a.txt", "/b.txt", "/file", "/a.txt/b"};
    char request[512];
    int len = snprintf(request, sizeof request, "GET %s HTTP/1.%d\r\nHost: x\r\n%s\r\n",
                       paths[below(&client->random, sizeof paths / sizeof *paths)],
                       one_in(&client->random, 10) ? 0 : 1, fields);
    return say(client, request, (size_t)len);
}

static void behave(struct client *client)
{
    for (unsigned count = 1 + below(&client->random, 5); count > 0; count--) {
        if (!ask(client, count == 1 ? "Connection: close\r\n" : "") || !read_response(client)) return;
        pause_a_little(client, 20);
    }
}

static void pipeline(struct client *client)
{
    unsigned count = 1 + below(&client->random, 12);
    for (unsigned i = 0; i < count; i++)
        if (!ask(client, "")) return;
    for (unsigned i = below(&client->random, count + 1); i > 0; i--)
        if (!read_response(client)) return;
}

static void drip_head(struct client *client)
{
    static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t i = 0; i < sizeof head - 1 - below(&client->random, 10); i++) {
        if (!say(client, head + i, 1)) return;
        pause_a_little(client, 20);
    }
    (void)read_response(client);
}

static bool send_text(struct client *client, size_t at, size_t len, bool chunked)
{
    char line[32];
    int chunk_len = snprintf(line, sizeof line, "%zx\r\n", len);
    if (chunked && !say(client, line, (size_t)chunk_len)) return false;
    return say(client, chaos_text + at, len) && (!chunked || say(client, "\r\n", 2));
}

/* The upload breaks off, stalls, or is whole. */
static void upload(struct client *client)
{
    bool chunked = one_in(&client->random, 2), expects = one_in(&client->random, 3);
    size_t length = below(&client->random, one_in(&client->random, 2) ? 500 : 150 * 1000), at = 0;
    char head[256], framing[64];
    snprintf(framing, sizeof framing, chunked ? "Transfer-Encoding: chunked" : "Content-Length: %zu", length);
    int len = snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n\r\n",
                       one_in(&client->random, 2) ? "/unbuffered" : "/",
                       expects ? "Expect: 100-continue\r\n" : "", framing);
    if (!say(client, head, (size_t)len)) return;
    if (expects) pause_a_little(client, 50);
    while (at < length && !one_in(&client->random, 30)) {
        size_t part = 1 + below(&client->random, 30 * 1000);
        if (part > length - at) part = length - at;
        if (!send_text(client, at, part, chunked)) break;
        at += part;
        pause_a_little(client, 30);
    }
    if (chunked && at == length) (void)say(client, "0\r\n\r\n", 5);
    if (!one_in(&client->random, 5) && read_response(client)) behave(client);
}

static void stay_silent(struct client *client)
{
    usleep(below(&client->random, 200 * 1000));
    if (one_in(&client->random, 2) && say(client, "G", 1)) usleep(below(&client->random, 100 * 1000));
}

static void send_garbage(struct client *client)
{
    char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)below(&client->random, 256);
    if (one_in(&client->random, 2)) memcpy(bytes, "GET / HTTP/1.1\r\n", 16);
    (void)say(client, bytes, sizeof bytes);
    (void)next_byte(client);
}

static void ask_for_more(struct client *client)
{
    static const char *const fields[] = {"Connection: Upgrade\r\nUpgrade: chaos\r\n",
                                         "Range: bytes=5-100000\r\n", "Range: bytes=0-9,100-200000,5-6\r\n"};
    if (!ask(client, fields[below(&client->random, 3)])) return;
    (void)say(client, "bytes of another protocol", 25);
    (void)read_response(client);
}

/* The core itself responds, between two responses of the host. */
static void probe(struct client *client)
{
    static const char probes[] =
        "GET /ready HTTP/1.1\r\nHost: x\r\n\r\nHEAD /ready HTTP/1.1\r\nHost: x\r\n\r\n";
    if (!ask(client, "") || !say(client, probes, sizeof probes - 1) || !read_response(client)) return;
    while (next_byte(client) >= 0) continue;
}

/* Many connections at once. Bytes come on some of them later. */
static void crowd(struct client *client)
{
    int fds[CROWD];
    for (int i = 0; i < CROWD; i++) fds[i] = open_connection(client);
    for (int i = 0; i < CROWD; i++)
        if (fds[i] >= 0 && one_in(&client->random, 2)) (void)send(fds[i], "G", 1, MSG_NOSIGNAL);
    pause_a_little(client, 50);
    for (int i = 0; i < CROWD; i++) {
        if (fds[i] < 0) continue;
        if (one_in(&client->random, 3))
            reset(fds[i]);
        else
            close(fds[i]);
    }
}

static void *attack(void *argument)
{
    static void (*const acts[])(struct client *) = {behave,       behave, pipeline,    drip_head,
                                                    upload,       upload, stay_silent, send_garbage,
                                                    ask_for_more, probe,  crowd};
    struct client *client = argument;
    while (now_ms() < client->ends_at) {
        client->fd = open_connection(client);
        if (client->fd < 0) {
            usleep(5000);
            continue;
        }
        client->at = client->end = 0;
        client->slow = one_in(&client->random, 4);
        acts[below(&client->random, sizeof acts / sizeof *acts)](client);
        end(client);
    }
    return NULL;
}

unsigned chaos_clients(const struct chaos_addresses *addresses, uint64_t seed, unsigned duration)
{
    static struct client clients[CLIENTS];
    unsigned whole = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.addresses = addresses, .random = {seed * 10000 + i}};
        clients[i].ends_at = now_ms() + duration;
        if (pthread_create(&clients[i].thread, NULL, attack, &clients[i]) != 0) chaos_fail("pthread_create");
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        whole += clients[i].whole;
    }
    return whole;
}
