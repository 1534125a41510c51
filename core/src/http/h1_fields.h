/* h1_fields.h: interprets the fields that the core itself understands: Host, Content-Length,
 * Transfer-Encoding, Connection and Expect. Also notes whether Upgrade and X-Request-Start are present. The
 * head parser calls these functions for each field, in order. */
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

#endif
