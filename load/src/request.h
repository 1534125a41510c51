/* request.h: one request of a run. Its bytes are prepared once, and sent as often as needed. */
#ifndef REQUEST_H
#define REQUEST_H

#include "options.h"
#include "target.h"

struct request {
    char *bytes; /* head and body */
    size_t len;
    bool is_head; /* the response has no body, RFC 9110 9.3.2 */
    bool closes;  /* no other request follows on its connection */
};

/* The content of the --body file. It is read once, because a pipe can be read only once. */
struct body {
    char *bytes;
    size_t len;
};

/* Returns 0 or an errno. In both cases the caller frees body->bytes. */
int body_read(struct body *body, const char *path);

/* Prepares the request that the options describe. `body` may be NULL: no body. Returns 0 or an errno. Free
 * the bytes with request_free(). */
int request_build(struct request *request, const struct options *options, const struct body *body,
                  const struct target *target);
void request_free(struct request *request);

/* Prepares the request for the URL, then the requests of --also. Returns 0 or an errno. In both cases free
 * *requests with requests_free(). */
int requests_build(struct request **requests, const struct options *options, const struct body *body,
                   const struct target *target);
void requests_free(struct request *requests, const struct options *options);

#endif
