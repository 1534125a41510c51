/* h1_fields.h: what the fields that the core itself understands say: Host, Content-Length, Transfer-Encoding,
 * Connection, Expect; and that there is an X-Request-Start. Used by the head parser, field by field in their
 * order; it finds names and values, this file judges them. */
#ifndef BB_H1_FIELDS_H
#define BB_H1_FIELDS_H

#include "bontebok.h"

/* What the fields so far have said and bb_head has no place for. */
struct bb__field_facts {
    bool host;  /* a Host field has come */
    bool close; /* options of Connection */
    bool keep_alive;
};

/* Takes one field in; of the head the request line's part is set. May point the value of Host to the
 * authority of the target. Returns BB_OK or the status to answer. */
int bb__field_understand(struct bb_head *head, struct bb__field_facts *facts, struct bb_field *field);

/* All fields have come. Returns BB_OK or the status to answer. */
int bb__fields_end(struct bb_head *head, const struct bb__field_facts *facts);

#endif
