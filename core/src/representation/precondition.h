/* precondition.h: the preconditions of a request (RFC 9110 13): whether the client may have the file, and
 * whether it already has it. Used for files that the core serves. Not for If-Range (http/h1_range.h), nor for
 * requests that change something. */
#ifndef BB_PRECONDITION_H
#define BB_PRECONDITION_H

#include "bontebok.h"

struct bb__validators {
    struct bb_slice etag; /* as it is sent, with W/ if it is weak; `at` is NULL: none */
    bool has_modified;    /* false: no Last-Modified */
    int64_t modified;     /* seconds since 1970: the value of Last-Modified */
};

enum bb__precondition {
    BB_PRECONDITION_HOLDS,
    BB_PRECONDITION_NOT_MODIFIED, /* answer with 304 */
    BB_PRECONDITION_FAILED,       /* answer with 412 */
};

/* Checks the preconditions in the order of RFC 9110 13.2.2, for a GET or HEAD of a representation that
 * exists. now: seconds since 1970.
 *
 * If-Match and If-None-Match may come several times. "*" counts only if it is the whole value of a field. In
 * a list, an element that is not an entity tag matches nothing. The list goes on after the next comma. So a
 * malformed If-Match gives 412, and a malformed If-None-Match gives the whole file.
 *
 * If-Modified-Since and If-Unmodified-Since are ignored if the value is no valid date, if the field comes
 * twice, or if the representation has no Last-Modified. */
enum bb__precondition bb__precondition_check(const struct bb_head *request,
                                             const struct bb__validators *validators, int64_t now);

/* Returns whether the request has Range, or a field whose name begins with "If-". Without such a field, it
 * asks neither for a precondition nor for a range. Cheap: it runs for each request for a file. */
bool bb__is_conditional(const struct bb_head *request);

#endif
