/* field_rules.c: the setting public_headers: fields of the responses with files. A line is
 *
 *     /assets/ Cache-Control: public, max-age=31536000, immutable
 *
 * a prefix of the decoded path, and a field. See public.h. */
#include "base/letters.h"
#include "files/public.h"
#include "http/h1_scan.h"

#include <stdio.h>
#include <string.h>

/* The core sets these fields itself. If a rule could set them, they could contradict the file. */
static const char *const own_fields[] = {"content-length", "content-range",    "connection", "date",
                                         "etag",           "last-modified",    "server",     "accept-ranges",
                                         "vary",           "transfer-encoding"};

static bool is_named(const struct bb__field_rule *rule, const char *name)
{
    return bb__is_word(rule->name.at, rule->name.len, name);
}

static bool is_own_field(const struct bb__field_rule *rule)
{
    for (size_t i = 0; i < sizeof own_fields / sizeof *own_fields; i++)
        if (is_named(rule, own_fields[i])) return true;
    return false;
}

/* Splits "PREFIX NAME: VALUE". */
static bool split(struct bb_slice line, struct bb__field_rule *rule)
{
    const char *end = line.at + line.len, *blank = memchr(line.at, ' ', line.len);
    if (line.len == 0 || line.at[0] != '/' || !blank) return false;
    const char *name = blank;
    while (name < end && *name == ' ') name++;
    const char *colon = memchr(name, ':', (size_t)(end - name));
    if (!colon) return false;
    rule->prefix = (struct bb_slice){line.at, (size_t)(blank - line.at)};
    rule->name = (struct bb_slice){name, (size_t)(colon - name)};
    rule->value = bb__trim(colon + 1, end);
    return rule->value.len > 0;
}

/* Whether the core sends this field. It drops hop-by-hop fields (RFC 9110 7.6.1). BB_OK with *fault, which is
 * NULL if the rule is right; BB_ENOMEM. */
static int check(const struct bb__field_rule *rule, const char **fault)
{
    struct bb__h1_reply reply = {0};
    struct bb__buf head = {0};
    *fault = is_own_field(rule) ? "the server sets this field itself" : NULL;
    if (*fault) return BB_OK;
    int code = bb__h1_reply_start(&reply, &head, 200);
    size_t before = bb__buf_len(&head);
    if (code == BB_OK)
        code =
            bb__h1_reply_field(&reply, &head, rule->name.at, rule->name.len, rule->value.at, rule->value.len);
    if (code == BB_ENAME)
        *fault = "the name is not valid";
    else if (code == BB_EVALUE)
        *fault = "the value is not valid";
    else if (code == BB_OK && bb__buf_len(&head) == before)
        *fault = "this field belongs to the connection";
    bb__buf_free(&head);
    return code == BB_ENOMEM ? code : BB_OK;
}

static int reject(char fault[BB_FAULT_MAX], struct bb_slice line, const char *why)
{
    int len = line.len < 160 ? (int)line.len : 160;
    (void)snprintf(fault, BB_FAULT_MAX, "public_headers: %.*s: %s", len, line.at, why);
    return BB_EFORMAT;
}

static int parse_line(struct bb_public *pub, struct bb_slice line, char fault[BB_FAULT_MAX])
{
    struct bb__field_rule *rule = &pub->rules[pub->rule_count];
    if (!split(line, rule)) return reject(fault, line, "must be '/PREFIX NAME: VALUE'");
    const char *why;
    if (check(rule, &why) != BB_OK) return BB_ENOMEM;
    if (why) return reject(fault, line, why);
    pub->rule_count++;
    return BB_OK;
}

int bb__field_rules_parse(struct bb_public *pub, char fault[BB_FAULT_MAX])
{
    for (const char *line = pub->text; *line;) {
        size_t len = strcspn(line, "\n");
        int code = parse_line(pub, (struct bb_slice){line, len}, fault);
        if (code != BB_OK) return code;
        line += len + (line[len] == '\n');
    }
    return BB_OK;
}

/* ---- the fields of one file ---- */

static bool applies(const struct bb__field_rule *rule, struct bb_slice path)
{
    return rule->prefix.len <= path.len && memcmp(rule->prefix.at, path.at, rule->prefix.len) == 0;
}

static bool has_same_name(const struct bb__field_rule *one, const struct bb__field_rule *other)
{
    return one->name.len == other->name.len && bb__is_same_word(one->name.at, other->name.at, one->name.len);
}

/* Whether a rule for the same name has a longer prefix. */
static bool is_replaced(const struct bb_public *pub, const struct bb__field_rule *rule, struct bb_slice path)
{
    for (unsigned i = 0; i < pub->rule_count; i++) {
        const struct bb__field_rule *other = &pub->rules[i];
        if (other->prefix.len > rule->prefix.len && applies(other, path) && has_same_name(rule, other))
            return true;
    }
    return false;
}

int bb__field_rules_apply(const struct bb_public *pub, struct bb_slice path, struct bb__h1_reply *reply,
                          struct bb__buf *head)
{
    for (unsigned i = 0; i < pub->rule_count; i++) {
        const struct bb__field_rule *rule = &pub->rules[i];
        if (!applies(rule, path) || is_replaced(pub, rule, path)) continue;
        int code =
            bb__h1_reply_field(reply, head, rule->name.at, rule->name.len, rule->value.at, rule->value.len);
        if (code != BB_OK) return code;
    }
    return BB_OK;
}

bool bb__field_rules_have(const struct bb_public *pub, struct bb_slice path, const char *name)
{
    for (unsigned i = 0; i < pub->rule_count; i++)
        if (is_named(&pub->rules[i], name) && applies(&pub->rules[i], path)) return true;
    return false;
}
