/* h1_fields.h: interprets the fields that the core itself understands: Host, Content-Length,
 * Transfer-Encoding, Connection and Expect. Also notes whether Upgrade and X-Request-Start are present. The
 * head parser calls bb__field_understand() for each field, in order. Also finds the fields of a parsed head
 * by their names. */
#ifndef BB_H1_FIELDS_H
#define BB_H1_FIELDS_H

#include "bontebok.h"

/* Facts about the fields so far, in addition to struct bb_head. */
struct bb__field_facts {
    bool host;       /* a Host field has come */
    bool close;      /* a Connection field has this option */
    bool keep_alive; /* a Connection field has this option */
    bool upgrade;    /* a Connection field has this option */
};

/* Interprets one field. The request line must be in *head already. If the target has an authority, the value
 * of Host becomes this authority. Returns BB_OK or a reason (enum bb__reason) to reject the request. */
int bb__field_understand(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field);

/* Call this after the last field. Returns BB_OK or a reason. */
int bb__fields_end(struct bb_head *head, const struct bb__field_facts *facts);

/* Returns the first field of this name (in any letter case) from fields[*place] on, and moves *place behind
 * it. NULL: there is none. */
const struct bb_field *bb__field_next(const struct bb_head *head, const char *name, unsigned *place);

/* Returns the value of the only field of this name (in any letter case); `at` is NULL if there is none. If
 * there are two or more, *several becomes true. */
struct bb_slice bb__field_only(const struct bb_head *head, const char *name, bool *several);

/* Takes the next element of a comma-separated list, without surrounding white space. The element may be
 * empty. At first `rest` is the whole value. Returns false if no element is left. Not for lists with quoted
 * strings, which may have commas. */
bool bb__field_element(struct bb_slice *rest, struct bb_slice *element);

#endif
