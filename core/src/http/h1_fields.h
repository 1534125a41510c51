/* h1_fields.h: interprets the fields that the core itself understands: Host, Content-Length,
 * Transfer-Encoding, Connection and Expect. Also notes that there is an X-Request-Start. Used by the head
 * parser, field by field in their order: the parser finds names and values, this file judges them. */
#ifndef BB_H1_FIELDS_H
#define BB_H1_FIELDS_H

#include "bontebok.h"

/* Facts from the fields so far for which bb_head has no member. */
struct bb__field_facts {
    bool host;  /* a Host field has come */
    bool close; /* options of the Connection fields */
    bool keep_alive;
};

/* Takes in one field. The request line's part of the head must be set. May point the value of Host to the
 * authority of the target. Returns BB_OK or the status to send. */
int bb__field_understand(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field);

/* Call it when all fields have come. Returns BB_OK or the status to send. */
int bb__fields_end(struct bb_head *head, const struct bb__field_facts *facts);

#endif
