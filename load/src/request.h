/* request.h: the one request of a run, its bytes prepared once and sent as often as wanted. */
#ifndef REQUEST_H
#define REQUEST_H

#include "options.h"
#include "target.h"

struct request {
    char *bytes; /* head and body */
    size_t len;
    bool is_head; /* the answer has no body, RFC 9110 9.3.2 */
    bool closes;  /* it says that no other one follows on its connection */
};

/* Prepares the request that the options describe. Returns 0 or an errno: of reading the body's file, or
 * ENOMEM. The bytes are freed with request_free(). */
int request_build(struct request *request, const struct options *options, const struct target *target);
void request_free(struct request *request);

#endif
