/* request_read.h: what lane_detach.c uses of request_read.c. The contracts for the host are in
 * bontebok_body.h. */
#ifndef BB_REQUEST_READ_H
#define BB_REQUEST_READ_H

#include "lane/lane.h"

/* Call this before the unbuffered body of the current request is read. Sends "100 Continue" if the client
 * waits for it. BB_OK; BB_ENOMEM; BB_EGONE. */
int bb__request_begin_to_read(struct bb_lane *lane);

/* Blocks until the descriptor has bytes, or if `sends` takes bytes, as bb_request_wait(). */
void bb__request_await(struct bb_lane *lane, int fd, bool sends);

#endif
