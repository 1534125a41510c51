/* log_format.c: see log_format.h. The directives are those of Apache's mod_log_config that make sense without
 * Apache. Access log middleware for Plack and Rack supports the same directives. */
#include "log/log_format.h"

#include <stdio.h>
#include <string.h>

/* ---- the formats that have a name ---- */

#define COMMON "%h %l %u %t \"%r\" %>s %b"

/* In the JSON format, log_line.c adds the quotes of the values. */
static const struct {
    const char *name, *notation;
    bool json;
} named[] = {
    {"common", COMMON, false},
    {"combined", COMMON " \"%{Referer}i\" \"%{User-Agent}i\"", false},
    {"ltsv",
     "time:%t\thost:%h\tforwardedfor:%{X-Forwarded-For}i\treq:%r\tstatus:%>s\tsize:%B\treferer:%{Referer}i\t"
     "ua:%{User-Agent}i\tvhost:%V\treqtime_microsec:%D\tqueue_microsec:%{queue}n\t"
     "proxy_queue_microsec:%{proxy_queue}n\treqid:%{request_id}n\treason:%{reason}n\tpid:%P",
     false},
    {"json",
     "{\"time\":%t,\"host\":%h,\"forwarded_for\":%{X-Forwarded-For}i,\"method\":%m,\"path\":%U,\"query\":%q,"
     "\"protocol\":%H,\"status\":%>s,\"bytes\":%B,\"referer\":%{Referer}i,\"user_agent\":%{User-Agent}i,"
     "\"vhost\":%V,\"duration_us\":%D,\"queue_us\":%{queue}n,\"proxy_queue_us\":%{proxy_queue}n,"
     "\"request_id\":%{request_id}n,\"reason\":%{reason}n,\"connection\":%X,\"pid\":%P}",
     true},
};

/* ---- the directives ---- */

/* Bytes of the longest number, fixed word or missing value, with JSON's quotes. */
#define NUMBER_MAX 22
#define TIME_MAX   64
/* Bytes around an escaped value: quotes, and "..." if the value is cut. */
#define VALUE_MAX 5
/* Bytes around the escaped method and target of a request line. */
#define REQUEST_LINE_MAX (VALUE_MAX + sizeof "  HTTP/1.1")

struct directive {
    char letter;
    uint8_t kind;
    uint8_t most;
    const char *name; /* %{name}letter; NULL: without braces; "": any name */
};

static const struct directive directives[] = {
    {'h', BB_LOG_PEER, VALUE_MAX, NULL},
    {'a', BB_LOG_PEER, VALUE_MAX, NULL},
    {'l', BB_LOG_NOTHING, NUMBER_MAX, NULL},
    {'u', BB_LOG_NOTHING, NUMBER_MAX, NULL}, /* the core does not know the application's users */
    {'t', BB_LOG_TIME, TIME_MAX, NULL},
    {'t', BB_LOG_TIME, TIME_MAX, "begin"},
    {'t', BB_LOG_TIME_SECONDS, NUMBER_MAX, "sec"},
    {'t', BB_LOG_TIME_MILLISECONDS, NUMBER_MAX, "msec"},
    {'t', BB_LOG_TIME_MICROSECONDS, NUMBER_MAX, "usec"},
    {'t', BB_LOG_TIME_THOUSANDTHS, NUMBER_MAX, "msec_frac"},
    {'t', BB_LOG_TIME_MILLIONTHS, NUMBER_MAX, "usec_frac"},
    {'t', BB_LOG_TIME_AS, BB_LOG_TIME_AS_MAX, ""},
    {'r', BB_LOG_REQUEST_LINE, REQUEST_LINE_MAX, NULL},
    {'m', BB_LOG_METHOD, VALUE_MAX, NULL},
    {'U', BB_LOG_PATH, VALUE_MAX, NULL},
    {'q', BB_LOG_QUERY, VALUE_MAX + 1, NULL},
    {'H', BB_LOG_PROTOCOL, NUMBER_MAX, NULL},
    {'s', BB_LOG_STATUS, NUMBER_MAX, NULL},
    {'b', BB_LOG_BYTES, NUMBER_MAX, NULL},
    {'B', BB_LOG_BYTES_OR_ZERO, NUMBER_MAX, NULL},
    {'D', BB_LOG_MICROSECONDS, NUMBER_MAX, NULL},
    {'T', BB_LOG_SECONDS, NUMBER_MAX, NULL},
    {'T', BB_LOG_SECONDS, NUMBER_MAX, "s"},
    {'T', BB_LOG_MILLISECONDS, NUMBER_MAX, "ms"},
    {'T', BB_LOG_MICROSECONDS, NUMBER_MAX, "us"},
    {'v', BB_LOG_HOST, VALUE_MAX, NULL},
    {'V', BB_LOG_AUTHORITY, VALUE_MAX, NULL},
    {'p', BB_LOG_PORT, NUMBER_MAX, NULL},
    {'P', BB_LOG_PID, NUMBER_MAX, NULL},
    {'X', BB_LOG_CONNECTION, NUMBER_MAX, NULL},
    {'i', BB_LOG_REQUEST_FIELD, VALUE_MAX, ""},
    {'o', BB_LOG_RESPONSE_FIELD, VALUE_MAX, ""},
    {'n', BB_LOG_QUEUE, NUMBER_MAX, "queue"},
    {'n', BB_LOG_PROXY_QUEUE, NUMBER_MAX, "proxy_queue"},
    {'n', BB_LOG_REQUEST_ID, VALUE_MAX, "request_id"},
    {'n', BB_LOG_REASON, VALUE_MAX, "reason"},
};

static bool is_named(const struct directive *directive, struct bb_slice name)
{
    if (!directive->name || !name.at) return !directive->name && !name.at;
    if (directive->name[0] == '\0') return name.len > 0;
    return strlen(directive->name) == name.len && memcmp(directive->name, name.at, name.len) == 0;
}

static bool begins_with(struct bb_slice name, const char *word)
{
    return name.len >= strlen(word) && memcmp(name.at, word, strlen(word)) == 0;
}

/* Removes "begin:", which asks for the time when the request came. The log has no other time. Rejects "end"
 * and "end:" (the time when the response ended), because strftime() would write these words into each
 * line. */
static bool is_known_time(struct bb_slice *name)
{
    static const char begin[] = "begin:";
    if (!name->at) return true;
    if (begins_with(*name, begin))
        *name = (struct bb_slice){name->at + sizeof begin - 1, name->len - (sizeof begin - 1)};
    return !begins_with(*name, "end:") && !(name->len == 3 && begins_with(*name, "end"));
}

static const struct directive *find(char letter, struct bb_slice name)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (directives[i].letter == letter && is_named(&directives[i], name)) return &directives[i];
    return NULL;
}

/* ---- compiling ---- */

static int fail(char *fault, const char *what, const char *at, size_t len)
{
    if (len > BB_FAULT_MAX / 2) len = BB_FAULT_MAX / 2;
    (void)snprintf(fault, BB_FAULT_MAX, "format: %s%.*s", what, (int)len, at);
    return BB_EFORMAT;
}

static struct bb__log_step *add_step(struct bb__log_format *format, enum bb__log_kind kind)
{
    if (format->count == BB_LOG_STEPS_MAX) return NULL;
    struct bb__log_step *step = &format->steps[format->count++];
    *step = (struct bb__log_step){.kind = (uint8_t)kind, .at = (uint16_t)format->text_len};
    return step;
}

/* Adds a byte of text. All text between two directives is one step. */
static bool add_text(struct bb__log_format *format, char byte)
{
    struct bb__log_step *step = format->count > 0 ? &format->steps[format->count - 1] : NULL;
    if (!step || step->kind != BB_LOG_TEXT) step = add_step(format, BB_LOG_TEXT);
    if (!step) return false;
    format->text[format->text_len++] = byte;
    step->len++;
    format->fixed++;
    return true;
}

static bool add_directive(struct bb__log_format *format, const struct directive *directive,
                          struct bb_slice name)
{
    struct bb__log_step *step = add_step(format, (enum bb__log_kind)directive->kind);
    if (!step) return false;
    if (directive->name && directive->name[0] == '\0') {
        memcpy(format->text + format->text_len, name.at, name.len);
        format->text_len += name.len;
        format->text[format->text_len++] = '\0';
        step->len = (uint16_t)name.len;
    }
    format->fixed += directive->most;
    switch (directive->kind) {
    case BB_LOG_MICROSECONDS:
    case BB_LOG_MILLISECONDS:
    case BB_LOG_SECONDS:
    case BB_LOG_QUEUE:
    case BB_LOG_TIME_MILLISECONDS:
    case BB_LOG_TIME_MICROSECONDS:
    case BB_LOG_TIME_THOUSANDTHS:
    case BB_LOG_TIME_MILLIONTHS:
        format->wants_clock = true;
        break;
    case BB_LOG_RESPONSE_FIELD:
    case BB_LOG_REQUEST_ID:
        format->response_steps[format->response_count++] = (uint8_t)(format->count - 1);
        break;
    }
    return true;
}

/* Compiles the directive after a "%". *at points after the "%", and is moved past the directive. "<" and ">"
 * are ignored. In Apache they select the first or last request of an internal redirect. */
static int take_directive(struct bb__log_format *format, const char **at, char *fault)
{
    const char *first = *at - 1, *here = *at;
    struct bb_slice name = {0};
    if (*here == '%') {
        *at = here + 1;
        return add_text(format, '%') ? BB_OK : fail(fault, "too many directives", "", 0);
    }
    if (*here == '<' || *here == '>') here++;
    if (*here == '{') {
        const char *end = strchr(here, '}');
        if (!end) return fail(fault, "no } after ", first, strlen(first));
        name = (struct bb_slice){here + 1, (size_t)(end - here - 1)};
        here = end + 1;
    }
    if (*here == '\0') return fail(fault, "an unfinished directive: ", first, strlen(first));
    char letter = *here++;
    bool is_known = letter != 't' || is_known_time(&name);
    const struct directive *directive = is_known ? find(letter, name) : NULL;
    if (!directive) return fail(fault, "unknown directive ", first, (size_t)(here - first));
    *at = here;
    return add_directive(format, directive, name) ? BB_OK : fail(fault, "too many directives", "", 0);
}

/* Returns the character that an escape stands for. *at points after the backslash. Apache's configuration
 * file has the same escapes. */
static char unescaped(const char **at)
{
    static const char from[] = "t\"\\", to[] = "\t\"\\";
    const char *found = **at == '\0' ? NULL : strchr(from, **at);
    if (!found) return '\\';
    ++*at;
    return to[found - from];
}

static int compile(struct bb__log_format *format, const char *at, char *fault)
{
    while (*at != '\0') {
        char byte = *at++;
        if (byte == '%' && *at == '\0') return fail(fault, "a % at its end", "", 0);
        if (byte == '%') {
            int code = take_directive(format, &at, fault);
            if (code != BB_OK) return code;
            continue;
        }
        if (byte == '\\') byte = unescaped(&at);
        if (!add_text(format, byte)) return fail(fault, "too many directives", "", 0);
    }
    return BB_OK;
}

static bool has_directive(const struct bb__log_format *format)
{
    for (unsigned i = 0; i < format->count; i++)
        if (format->steps[i].kind != BB_LOG_TEXT) return true;
    return false;
}

int bb__log_format_compile(struct bb__log_format *format, const char *notation, char fault[BB_FAULT_MAX])
{
    memset(format, 0, sizeof *format);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(notation, named[i].name) != 0) continue;
        notation = named[i].notation;
        format->json = named[i].json;
        break;
    }
    if (notation[0] == '\0') return fail(fault, "empty", "", 0);
    if (strchr(notation, '\n'))
        return fail(fault, "a line feed is not allowed: each request is one line", "", 0);
    if (strlen(notation) >= BB_ACCESS_LOG_FORMAT_MAX) return fail(fault, "too long", "", 0);
    int code = compile(format, notation, fault);
    if (code != BB_OK) return code;
    if (!has_directive(format))
        return fail(fault, "neither the name of a format nor a text with directives: ", notation,
                    strlen(notation));
    if (!add_text(format, '\n')) return fail(fault, "too many directives", "", 0);
    if (format->fixed + BB_LOG_VALUES_MIN > BB_LOG_LINE_MIN)
        return fail(fault, "lines would be too long", "", 0);
    return BB_OK;
}
