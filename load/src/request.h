/* request.h: one request of a run, its bytes prepared once and sent as often as wanted. */
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

/* What --body names: read once, since a pipe has it only once. */
struct body {
    char *bytes;
    size_t len;
};

/* Returns 0 or an errno. The bytes are the caller's to free, in each case. */
int body_read(struct body *body, const char *path);

/* Prepares the request that the options describe, with this body, or none if it is NULL. Returns 0 or an
 * errno. The bytes are freed with request_free(). */
int request_build(struct request *request, const struct options *options, const struct body *body,
                  const struct target *target);
void request_free(struct request *request);

/* Prepares that of the URL, then those of --also. Returns 0 or an errno. *requests is freed with
 * requests_free(), in each case. */
int requests_build(struct request **requests, const struct options *options, const struct body *body,
                   const struct target *target);
void requests_free(struct request *requests, const struct options *options);

#endif
