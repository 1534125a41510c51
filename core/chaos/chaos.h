/* chaos.h: shared by the files of the chaos test. See chaos.c. */
#ifndef BB_CHAOS_H
#define BB_CHAOS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "bontebok.h"

#define CLIENTS     24
#define LANES       3
#define FILE_LENGTH (300 * 1000) /* bytes of the file that responses send */

/* The addresses of one round: TCP and a unix socket. */
struct chaos_addresses {
    struct sockaddr_in tcp;
    struct sockaddr_un local;
};

struct chaos_random {
    uint64_t state;
};

/* Returns a number from 0 to limit - 1. limit must not be 0. */
static inline unsigned below(struct chaos_random *random, unsigned limit)
{
    random->state = random->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(random->state >> 33) % limit;
}

static inline bool one_in(struct chaos_random *random, unsigned limit)
{
    return below(random, limit) == 0;
}

/* Each body is this text from its first byte on. So each byte of a response can be checked. */
#define TEXT_LENGTH (1 << 20)
extern char chaos_text[TEXT_LENGTH];

/* chaos.c: prints why, and ends the process with status 1. */
_Noreturn void chaos_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* client.c: runs the clients for `duration` ms. Returns the number of whole responses. */
unsigned chaos_clients(const struct chaos_addresses *addresses, uint64_t seed, unsigned duration);

/* host.c: the host (the program that calls the core) of one round. */
struct chaos_host;
struct chaos_host *chaos_host_start(struct bb_worker *worker, uint64_t seed, const char *directory);
void chaos_host_tick(struct chaos_host *host, struct chaos_random *random);

/* Waits until the lanes have drained and the streams have ended, and frees both. Returns the number of served
 * requests. */
unsigned chaos_host_finish(struct chaos_host *host);

#endif
