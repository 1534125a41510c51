/* fate.h: the possible outcomes of a request. Each request has exactly one fate, so the number of requests
 * is the sum of all fates. Connections decide the fate, loaders count it, and the report prints it. */
#ifndef FATE_H
#define FATE_H

#include <stdint.h>
#include <stdio.h>

/* The names are the keys of the JSON report. */
#define FATES(X)                                                                                             \
    X(OK, "ok")           /* a complete response, status 200 to 399 */                                       \
    X(REFUSED, "refused") /* nobody listens */                                                               \
    X(RESET, "reset")     /* the server reset the connection */                                              \
    X(SHORT, "short")     /* the response ended early, or its framing is malformed */                        \
    X(TIMEOUT, "timeout") /* no complete response in time */                                                 \
    X(STATUS, "status")   /* a complete response, any other status */                                        \
    X(LOCAL, "local")     /* this side's fault: no port, no descriptor, no memory, no route */

enum fate {
#define FATE_ENUM(fate, name) FATE_##fate,
    FATES(FATE_ENUM)
#undef FATE_ENUM
        FATE_COUNT
};

extern const char *const fate_names[FATE_COUNT];

/* The fate of a request whose connection failed with this errno. */
enum fate fate_of_error(int error);

/* The number of requests with any fate. */
uint64_t fates_sum(const uint64_t fates[FATE_COUNT]);

/* "  short 3, local 12 (Too many open files)"; prints nothing if no request failed. `first_error`: errno of
 * each fate, 0: none; or NULL. */
void fates_print_failures(FILE *out, const uint64_t fates[FATE_COUNT], const int first_error[FATE_COUNT]);

/* Prints the members `requests`, `ok` and `errors` of a JSON object. */
void fates_print_json(FILE *out, const uint64_t fates[FATE_COUNT]);

#endif
