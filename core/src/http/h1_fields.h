/* h1_fields.h: interprets the fields that the core itself understands: Host, Content-Length,
 * Transfer-Encoding, Connection and Expect. Also notes that there is an X-Request-Start. The head parser
 * finds the names and values, and calls this file for each field in order. */
#ifndef BB_H1_FIELDS_H
#define BB_H1_FIELDS_H

#include "bontebok.h"

/* Facts from the fields so far that bb_head does not hold. */
struct bb__field_facts {
    bool host;       /* a Host field has come */
    bool close;      /* a Connection field has this option */
    bool keep_alive; /* a Connection field has this option */
};

/* Takes in one field. The request line's part of the head must be set. May point the value of Host to the
 * authority of the target. Returns BB_OK or the status to send. */
int bb__field_understand(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field);

/* Call it when all fields have come. Returns BB_OK or the status to send. */
int bb__fields_end(struct bb_head *head, const struct bb__field_facts *facts);

#endif
