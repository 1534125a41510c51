/* log_line.c: see log_line.h. */
#include "log/log_line.h"
#include "base/letters.h"
#include "log/log_escape.h"

/* A line under construction. The fixed parts always fit (bb__log_format.fixed). The values share the rest. */
struct line {
    char *at;
    size_t spare;
    bool full; /* the current value was cut: nothing more is added to it */
    const struct bb__log_format *format;
    const struct bb__log_entry *entry;
    const struct bb__log_time *time;
};

/* ---- values ---- */

static void put_nothing(struct line *line)
{
    line->at = line->format->json ? BB_PUT_LITERAL(line->at, "null") : BB_PUT_LITERAL(line->at, "-");
}

static void put_quote(struct line *line)
{
    if (line->format->json) *line->at++ = '"';
}

static void put_escaped(struct line *line, struct bb_slice bytes)
{
    if (line->full || bytes.len == 0) return;
    line->at = line->format->json ? bb__log_escape_json(line->at, &line->spare, bytes)
                                  : bb__log_escape(line->at, &line->spare, bytes);
    line->full = line->spare == 0;
}

static void put_value(struct line *line, struct bb_slice bytes)
{
    if (bytes.len == 0) {
        put_nothing(line);
        return;
    }
    put_quote(line);
    put_escaped(line, bytes);
    put_quote(line);
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[20], *first = digits + sizeof digits;
    if (number == BB_LOG_UNKNOWN) {
        put_nothing(line);
        return;
    }
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    line->at = bb__put(line->at, first, (size_t)(digits + sizeof digits - first));
}

static uint64_t in_units_of(uint64_t unit, uint64_t microseconds)
{
    return microseconds == BB_LOG_UNKNOWN ? BB_LOG_UNKNOWN : microseconds / unit;
}

/* ---- time ---- */

static void put_fraction(struct line *line, unsigned digits)
{
    uint64_t rest = line->entry->time % 1000000;
    if (digits == 3) rest /= 1000;
    for (unsigned place = digits; place-- > 0; rest /= 10) line->at[place] = (char)('0' + rest % 10);
    line->at += digits;
}

static void put_time(struct line *line)
{
    const struct bb__log_time *time = line->time;
    if (!line->format->json) {
        line->at = bb__put(line->at, time->local_text, time->local_len);
        return;
    }
    put_quote(line);
    line->at = bb__put(line->at, time->utc_text, time->utc_len);
    *line->at++ = '.';
    put_fraction(line, 3);
    *line->at++ = 'Z';
    put_quote(line);
}

/* Writes the time in a strftime() format of the configuration. A line feed (%n) becomes a space, because it
 * would end the line. */
static void put_time_as(struct line *line, const char *form)
{
    size_t len = strftime(line->at, BB_LOG_TIME_AS_MAX, form, &line->time->local);
    for (size_t i = 0; i < len; i++, line->at++)
        if (*line->at == '\n') *line->at = ' ';
    if (len == 0) put_nothing(line);
}

/* ---- the request ---- */

/* If the parser rejected a request, nobody knows which parts of its head are valid. */
static bool is_understood(const struct bb__log_entry *entry)
{
    return entry->line.len == 0 && entry->head->target.len > 0;
}

#define PROTOCOL_LEN (sizeof "HTTP/1.1" - 1)

/* The protocol at the end of a request line that the parser rejected. The fault is often in a field. */
static struct bb_slice last_protocol(struct bb_slice line)
{
    if (line.len <= PROTOCOL_LEN) return (struct bb_slice){0};
    const char *last = line.at + line.len - PROTOCOL_LEN;
    bool is_protocol = memcmp(last - 1, " HTTP/", sizeof " HTTP/" - 1) == 0 && last[5] >= '0' &&
                       last[5] <= '9' && last[6] == '.' && last[7] >= '0' && last[7] <= '9';
    return is_protocol ? (struct bb_slice){last, PROTOCOL_LEN} : (struct bb_slice){0};
}

static struct bb_slice protocol_of(const struct bb__log_entry *entry)
{
    if (!is_understood(entry)) return last_protocol(entry->line);
    return (struct bb_slice){entry->head->minor_version > 0 ? "HTTP/1.1" : "HTTP/1.0", PROTOCOL_LEN};
}

static void put_request_line(struct line *line)
{
    const struct bb_head *head = line->entry->head;
    if (!is_understood(line->entry)) {
        put_value(line, line->entry->line);
        return;
    }
    put_quote(line);
    put_escaped(line, head->method);
    *line->at++ = ' ';
    put_escaped(line, head->target);
    line->at = BB_PUT_LITERAL(line->at, " HTTP/1.");
    *line->at++ = head->minor_version > 0 ? '1' : '0';
    put_quote(line);
}

/* An empty query is logged as empty text, not as "-", because the query follows the path. */
static void put_query(struct line *line)
{
    const struct bb_slice *query = &line->entry->head->query;
    put_quote(line);
    if (query->len > 0) *line->at++ = '?';
    put_escaped(line, *query);
    put_quote(line);
}

static bool is_same_name(struct bb_slice name, const char *other, size_t len)
{
    return name.len == len && bb__is_same_word(name.at, other, len);
}

/* A field that comes several times is logged as one list (RFC 9110 5.3). count: values written so far. */
static void put_list_item(struct line *line, struct bb_slice value, unsigned count)
{
    if (count == 0) put_quote(line);
    if (count > 0) put_escaped(line, (struct bb_slice){", ", 2});
    put_escaped(line, value);
}

static void end_list(struct line *line, unsigned count)
{
    if (count > 0)
        put_quote(line);
    else
        put_nothing(line);
}

static void put_request_field(struct line *line, struct bb_slice name)
{
    const struct bb_head *head = line->entry->head;
    unsigned count = 0;
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        if (field->value_len == 0 || !is_same_name(name, field->name, field->name_len)) continue;
        put_list_item(line, (struct bb_slice){field->value, field->value_len}, count++);
    }
    end_list(line, count);
}

/* ---- the response ---- */

/* Takes the next field line of a response head. Returns false at the end of the head. */
static bool next_field(const char **at, const char *end, struct bb_slice *name, struct bb_slice *value)
{
    const char *colon = memchr(*at, ':', (size_t)(end - *at));
    const char *feed = memchr(*at, '\n', (size_t)(end - *at));
    if (!colon || !feed || colon > feed) return false;
    *name = (struct bb_slice){*at, (size_t)(colon - *at)};
    *value = (struct bb_slice){colon + 2, (size_t)(feed - 1 - (colon + 2))}; /* after ": ", before CR LF */
    *at = feed + 1;
    return true;
}

static bool has_response_field(const struct bb__log_entry *entry, struct bb_slice wanted)
{
    if (bb__buf_len(entry->response) == 0) return false;
    const char *at = bb__buf_bytes(entry->response), *end = at + bb__buf_len(entry->response);
    struct bb_slice name, value;
    while (at < end && next_field(&at, end, &name, &value))
        if (value.len > 0 && is_same_name(wanted, name.at, name.len)) return true;
    return false;
}

static void put_response_field(struct line *line, struct bb_slice wanted)
{
    const struct bb__buf *kept = line->entry->response;
    if (bb__buf_len(kept) == 0) {
        put_nothing(line);
        return;
    }
    const char *at = bb__buf_bytes(kept), *end = at + bb__buf_len(kept);
    struct bb_slice name, value;
    unsigned count = 0;
    while (at < end && next_field(&at, end, &name, &value))
        if (value.len > 0 && is_same_name(wanted, name.at, name.len)) put_list_item(line, value, count++);
    end_list(line, count);
}

static const struct bb_slice request_id = {"X-Request-Id", sizeof "X-Request-Id" - 1};

/* The application's field is preferred, because the application makes a new id if the client's id is not
 * usable. */
static void put_request_id(struct line *line)
{
    if (has_response_field(line->entry, request_id))
        put_response_field(line, request_id);
    else
        put_request_field(line, request_id);
}

static bool is_wanted(const struct bb__log_format *format, struct bb_slice name)
{
    for (unsigned i = 0; i < format->response_count; i++) {
        const struct bb__log_step *step = &format->steps[format->response_steps[i]];
        struct bb_slice field = {format->text + step->at, step->len};
        if (step->kind == BB_LOG_REQUEST_ID) field = request_id;
        if (is_same_name(field, name.at, name.len)) return true;
    }
    return false;
}

void bb__log_keep(const struct bb__log_format *format, struct bb__buf *kept, const char *head, size_t len)
{
    const char *end = head + len, *feed = memchr(head, '\n', len);
    struct bb_slice name, value;
    bb__buf_clear(kept);
    for (const char *at = feed ? feed + 1 : end, *first = at; at < end; first = at) {
        if (!next_field(&at, end, &name, &value)) return;
        if (is_wanted(format, name)) (void)bb__buf_append(kept, first, (size_t)(at - first));
    }
}

/* ---- the line ---- */

static bool number_of(const struct bb__log_entry *entry, enum bb__log_kind kind, uint64_t *number)
{
    switch (kind) {
    case BB_LOG_STATUS:
        *number = entry->status > 0 ? (uint64_t)entry->status : BB_LOG_UNKNOWN;
        return true;
    case BB_LOG_BYTES:
        *number = entry->body_length > 0 ? entry->body_length : BB_LOG_UNKNOWN;
        return true;
    case BB_LOG_BYTES_OR_ZERO:
        *number = entry->body_length;
        return true;
    case BB_LOG_MICROSECONDS:
        *number = entry->duration;
        return true;
    case BB_LOG_MILLISECONDS:
        *number = in_units_of(1000, entry->duration);
        return true;
    case BB_LOG_SECONDS:
        *number = in_units_of(1000000, entry->duration);
        return true;
    case BB_LOG_QUEUE:
        *number = entry->queued;
        return true;
    case BB_LOG_PROXY_QUEUE:
        *number = entry->proxy_queued;
        return true;
    case BB_LOG_TIME_SECONDS:
        *number = entry->time / 1000000;
        return true;
    case BB_LOG_TIME_MILLISECONDS:
        *number = entry->time / 1000;
        return true;
    case BB_LOG_TIME_MICROSECONDS:
        *number = entry->time;
        return true;
    case BB_LOG_PORT:
        *number = entry->port > 0 ? entry->port : BB_LOG_UNKNOWN;
        return true;
    case BB_LOG_PID:
        *number = (uint64_t)entry->pid;
        return true;
    default:
        return false;
    }
}

static bool value_of(const struct bb__log_entry *entry, enum bb__log_kind kind, struct bb_slice *value)
{
    switch (kind) {
    case BB_LOG_NOTHING:
        *value = (struct bb_slice){0};
        return true;
    case BB_LOG_PEER:
        *value = (struct bb_slice){entry->peer, strlen(entry->peer)};
        return true;
    case BB_LOG_METHOD:
        *value = entry->head->method;
        return true;
    case BB_LOG_PATH:
        *value = entry->head->path;
        return true;
    case BB_LOG_PROTOCOL:
        *value = protocol_of(entry);
        return true;
    case BB_LOG_HOST:
        *value = entry->head->host;
        return true;
    case BB_LOG_AUTHORITY:
        *value = entry->head->authority;
        return true;
    case BB_LOG_REASON:
        *value = (struct bb_slice){entry->reason, entry->reason ? strlen(entry->reason) : 0};
        return true;
    case BB_LOG_CONNECTION:
        *value = (struct bb_slice){&entry->connection, 1};
        return true;
    default:
        return false;
    }
}

static void put_step(struct line *line, const struct bb__log_step *step)
{
    const struct bb_slice text = {line->format->text + step->at, step->len};
    struct bb_slice value;
    uint64_t number;
    line->full = false;
    switch ((enum bb__log_kind)step->kind) {
    case BB_LOG_TEXT:
        line->at = bb__put(line->at, text.at, text.len);
        return;
    case BB_LOG_TIME:
        put_time(line);
        return;
    case BB_LOG_TIME_AS:
        put_time_as(line, text.at);
        return;
    case BB_LOG_TIME_THOUSANDTHS:
        put_fraction(line, 3);
        return;
    case BB_LOG_TIME_MILLIONTHS:
        put_fraction(line, 6);
        return;
    case BB_LOG_REQUEST_LINE:
        put_request_line(line);
        return;
    case BB_LOG_QUERY:
        put_query(line);
        return;
    case BB_LOG_REQUEST_FIELD:
        put_request_field(line, text);
        return;
    case BB_LOG_RESPONSE_FIELD:
        put_response_field(line, text);
        return;
    case BB_LOG_REQUEST_ID:
        put_request_id(line);
        return;
    default:
        if (number_of(line->entry, (enum bb__log_kind)step->kind, &number))
            put_number(line, number);
        else if (value_of(line->entry, (enum bb__log_kind)step->kind, &value))
            put_value(line, value);
    }
}

size_t bb__log_line(const struct bb__log_format *format, const struct bb__log_entry *entry,
                    struct bb__log_time *time, char *to, size_t max)
{
    struct line line = {
        .at = to, .spare = max - format->fixed, .format = format, .entry = entry, .time = time};
    bb__log_time_set(time, (int64_t)(entry->time / 1000000));
    for (unsigned i = 0; i < format->count; i++) put_step(&line, &format->steps[i]);
    return (size_t)(line.at - to);
}
