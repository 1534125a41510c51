/* h1_target.h: splits request targets and authorities (RFC 9112 3.2, RFC 3986 3.2). Used by the head parser
 * for whole targets and for the Host field. It decodes and normalizes nothing. */
#ifndef BB_H1_TARGET_H
#define BB_H1_TARGET_H

#include "bontebok.h"

/* Splits head->target into path, query and, in absolute form, authority, host and port. `mark` is the first
 * "?" of the target, or its end. The caller has set head->method and head->target. Returns BB_OK or
 * BB_REASON_BAD_TARGET. */
int bb__target_split(struct bb_head *head, const char *mark);

/* Splits uri-host [ ":" port ]. Returns false if the authority does not have this form, or if the host is
 * empty. */
bool bb__authority_split(struct bb_slice authority, struct bb_slice *host, struct bb_slice *port);

#endif
