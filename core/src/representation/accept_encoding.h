/* accept_encoding.h: which content coding a request gets (Accept-Encoding, RFC 9110 12.5.3). Used for files
 * that are there in several codings. Does not encode. */
#ifndef BB_ACCEPT_ENCODING_H
#define BB_ACCEPT_ENCODING_H

#include "bontebok.h"

enum bb__coding { BB_CODING_IDENTITY, BB_CODING_BR, BB_CODING_ZSTD, BB_CODING_GZIP, BB_CODINGS };

/* Chooses among the codings of `available` (bit 1 << coding; identity is always available) by all
 * Accept-Encoding fields of the request. The highest q-value wins; at equal q the order is br, zstd, gzip,
 * identity. Identity, if neither it nor "*" is in the list, is acceptable, but after all others. "x-gzip" is
 * gzip. If a coding is listed twice, its last item counts. An item that is malformed is ignored. The result
 * is also identity without the field, and if nothing that is available is acceptable. */
enum bb__coding bb__coding_choose(const struct bb_head *request, unsigned available);

#endif
