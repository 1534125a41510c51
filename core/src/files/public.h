/* public.h: the directories of `public` and the rules of `public_headers`, as one object that a master and
 * its workers share. Read-only after bb_public_open(). Used by the other files of files/. The files
 * themselves are in file_cache.h. */
#ifndef BB_PUBLIC_H
#define BB_PUBLIC_H

#include "base/buf.h"
#include "bontebok.h"
#include "http/h1_reply.h"

struct bb__public_directory {
    int fd;
    bool is_local; /* no call to the file system waits for a network or for another process */
};

/* A line of public_headers. */
struct bb__field_rule {
    struct bb_slice prefix, name, value;
};

struct bb_public {
    struct bb__public_directory *directories;
    unsigned directory_count;
    struct bb__field_rule *rules;
    unsigned rule_count;
    char *text; /* a copy of public_headers, to which the rules point */
};

/* In field_rules.c: reads pub->text. BB_OK, BB_ENOMEM or BB_EFORMAT with `fault`. */
int bb__field_rules_parse(struct bb_public *pub, char fault[BB_FAULT_MAX]);

/* Adds the fields that a file with this path gets. path: decoded, with the first "/". For each name, the
 * rules with the longest prefix. BB_OK or BB_ENOMEM. */
int bb__field_rules_apply(const struct bb_public *pub, struct bb_slice path, struct bb__h1_reply *reply,
                          struct bb__buf *head);

/* Whether a file with this path gets a field of this name (in lower case). */
bool bb__field_rules_have(const struct bb_public *pub, struct bb_slice path, const char *name);

#endif
