/* h1_target.h: request targets and authorities (RFC 9112 3.2, RFC 3986 3.2). Used by the head parser alone,
 * once it knows where the target begins and ends; it decodes and normalizes nothing. */
#ifndef BB_H1_TARGET_H
#define BB_H1_TARGET_H

#include "bontebok.h"

/* Takes head->target apart: path, query and, in absolute form, authority, host and port. `mark` is its first
 * "?", or its end; method and target are set. Returns BB_OK or 400. */
int bb__target_split(struct bb_head *head, const char *mark);

/* Splits uri-host [ ":" port ]. Returns false when it is not that, or the host is empty. */
bool bb__authority_split(struct bb_slice authority, struct bb_slice *host, struct bb_slice *port);

#endif
