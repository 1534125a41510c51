/* rb_reply.c: turns Rack's triplet into a response of the core. Any function of this file may raise. The core
 * then has a response that was begun but not sent, and the next bb_reply_begin() discards it. */
#include "rb_bontebok.h"

#include <string.h>
#include <strings.h>

/* Parts of an Array body that go to the core in one call. */
#define SLICES 64

static ID id_to_i, id_each, id_call, id_close, id_closed_p, id_owner, id_to_ary;

/* ---- status and fields ---- */

/* Rack 2 allows any object with `to_i`. It is called once, and everything else uses its number. Returns 0 for
 * an object that is no status. */
static int number_of(VALUE status)
{
    VALUE number = FIXNUM_P(status) ? status : rb_check_funcall(status, id_to_i, 0, NULL);
    return FIXNUM_P(number) && FIX2LONG(number) == (int)FIX2LONG(number) ? (int)FIX2LONG(number) : 0;
}

/* given: what the application has returned as the status. */
static void begin(struct bbr_exchange *exchange, int status, VALUE given)
{
    int code = bb_reply_begin(exchange->lane->core, status);
    if (code == BB_ESTATUS) rb_raise(bbr_eInvalidReply, "the status is invalid: %+" PRIsVALUE, given);
    if (RB_UNLIKELY(status == 101) && !exchange->request->head.upgrade)
        rb_raise(bbr_eInvalidReply, "the status is 101, but the client has not asked for an upgrade");
    bbr_reply_check(exchange, code);
}

/* Rack 2 joins the lines of one field with LF. Each line becomes a field with the same name, so that no line
 * can become another field. Empty lines are left out. */
static int add_joined_lines(struct bb_lane *core, struct bb_slice name, struct bb_slice value)
{
    const char *end = value.at + value.len, *feed = memchr(value.at, '\n', value.len);
    if (!feed) return BB_EVALUE;
    for (const char *line = value.at;; line = feed + 1) {
        feed = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((feed ? feed : end) - line);
        int code = len > 0 ? bb_reply_field(core, name.at, name.len, line, len) : BB_OK;
        if (code != BB_OK || !feed) return code;
    }
}

/* Called if the core has not taken the field as it is. Inlined, this would cost registers in add_line(). */
NOINLINE(static void add_lines_or_raise(struct bbr_exchange *exchange, VALUE name, VALUE value, int code));
static void add_lines_or_raise(struct bbr_exchange *exchange, VALUE name, VALUE value, int code)
{
    if (code == BB_EVALUE) code = add_joined_lines(exchange->lane->core, bbr_bytes(name), bbr_bytes(value));
    RB_GC_GUARD(name);
    RB_GC_GUARD(value);
    if (code == BB_OK) return;
    if (code == BB_ENAME) rb_raise(bbr_eInvalidReply, "the field %+" PRIsVALUE " has an invalid name", name);
    if (code == BB_EVALUE) /* the message omits the value, which may be a secret */
        rb_raise(bbr_eInvalidReply, "the field %+" PRIsVALUE " has an invalid value", name);
    bbr_reply_check(exchange, code);
}

/* Fields whose names begin with "rack." are for the server. An empty String has a NUL at its end. */
static inline bool is_for_server(struct bb_slice name)
{
    return RB_UNLIKELY((name.at[0] | 0x20) == 'r') && name.len >= 5 && strncasecmp(name.at, "rack.", 5) == 0;
}

static void add_line(struct bbr_exchange *exchange, VALUE name, VALUE given)
{
    VALUE value = RB_LIKELY(RB_TYPE_P(given, T_STRING)) ? given : rb_obj_as_string(given);
    struct bb_slice name_bytes = bbr_bytes(name), bytes = bbr_bytes(value);
    if (is_for_server(name_bytes)) return;
    int code = bb_reply_field(exchange->lane->core, name_bytes.at, name_bytes.len, bytes.at, bytes.len);
    if (RB_UNLIKELY(code != BB_OK)) add_lines_or_raise(exchange, name, value, code);
    RB_GC_GUARD(name);
    RB_GC_GUARD(value);
}

static bool is_hijack(VALUE name)
{
    static const char hijack[] = "rack.hijack";
    return RSTRING_LEN(name) == sizeof hijack - 1 &&
           memcmp(RSTRING_PTR(name), hijack, sizeof hijack - 1) == 0;
}

static void add_field(struct bbr_exchange *exchange, VALUE given_name, VALUE value)
{
    VALUE name = rb_obj_as_string(given_name);
    if (RB_LIKELY(RB_TYPE_P(value, T_STRING)) || !RB_TYPE_P(value, T_ARRAY)) {
        if (RB_UNLIKELY(!RB_TYPE_P(value, T_STRING)) && is_hijack(name))
            exchange->partial = value;
        else
            add_line(exchange, name, value);
        return;
    }
    for (long i = 0; i < RARRAY_LEN(value); i++) add_line(exchange, name, rb_ary_entry(value, i));
}

static int add_hash_field(VALUE name, VALUE value, VALUE exchange)
{
    add_field((struct bbr_exchange *)exchange, name, value);
    return ST_CONTINUE;
}

static VALUE collect_field(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, pairs))
{
    return rb_ary_push(pairs, argc == 1 ? yielded : rb_ary_new_from_values(argc, argv));
}

/* Adds the fields of headers that are not a plain Hash. The pairs are collected first, because the object may
 * keep the block and call it after the response. */
static void add_each_field(struct bbr_exchange *exchange, VALUE headers)
{
    if (!rb_respond_to(headers, id_each))
        rb_raise(bbr_eInvalidReply, "the headers, of %" PRIsVALUE ", do not respond to each",
                 bbr_class_name(headers));
    VALUE pairs = rb_ary_new();
    rb_block_call(headers, id_each, 0, NULL, collect_field, pairs);
    for (long i = 0; i < RARRAY_LEN(pairs); i++) {
        VALUE pair = rb_check_array_type(rb_ary_entry(pairs, i));
        if (NIL_P(pair) || RARRAY_LEN(pair) != 2)
            rb_raise(bbr_eInvalidReply, "the headers, of %" PRIsVALUE ", yield no pairs",
                     bbr_class_name(headers));
        add_field(exchange, rb_ary_entry(pair, 0), rb_ary_entry(pair, 1));
    }
}

static void add_fields(struct bbr_exchange *exchange, VALUE headers)
{
    if (RB_TYPE_P(headers, T_HASH) &&
        (RBASIC_CLASS(headers) == rb_cHash || rb_method_basic_definition_p(CLASS_OF(headers), id_each)))
        rb_hash_foreach(headers, add_hash_field, (VALUE)exchange);
    else
        add_each_field(exchange, headers);
}

/* Ends the head and chooses the framing of the body. True: the response has a body. */
static bool end_head(struct bbr_exchange *exchange, uint64_t body_length)
{
    bbr_reply_check(exchange, bb_reply_head(exchange->lane->core, body_length));
    return !bb_reply_bodyless(exchange->lane->core);
}

/* ---- Array bodies ---- */

/* The position in an Array body: `part` is the first part that is not completely sent, and `offset` is the
 * number of its bytes that are sent. */
struct cursor {
    long part;
    size_t offset;
};

static size_t take_slices(struct bb_slice slices[SLICES], VALUE parts, struct cursor from)
{
    size_t count = 0;
    for (long i = from.part; i < RARRAY_LEN(parts) && count < SLICES; i++, from.offset = 0) {
        VALUE part = RARRAY_AREF(parts, i);
        if (!RB_TYPE_P(part, T_STRING)) rb_raise(bbr_eInvalidReply, "the body was changed while it was sent");
        struct bb_slice bytes = bbr_bytes(part);
        size_t skip = from.offset < bytes.len ? from.offset : bytes.len;
        slices[count++] = (struct bb_slice){bytes.at + skip, bytes.len - skip};
    }
    return count;
}

static void advance(struct cursor *cursor, const struct bb_slice *slices, size_t count, uint64_t taken)
{
    for (size_t i = 0; i < count; i++) {
        if (taken < slices[i].len) {
            cursor->offset += (size_t)taken;
            return;
        }
        taken -= slices[i].len;
        cursor->part++;
        cursor->offset = 0;
    }
}

static void send_array(struct bbr_exchange *exchange, VALUE parts)
{
    struct cursor cursor = {0};
    for (;;) {
        struct bb_slice slices[SLICES];
        uint64_t taken = 0;
        size_t count = take_slices(slices, parts, cursor);
        bool last = cursor.part + (long)count >= RARRAY_LEN(parts);
        if (!bbr_send_slices(exchange, slices, count, last, &taken)) {
            advance(&cursor, slices, count, taken);
            continue;
        }
        if (last) return;
        cursor = (struct cursor){.part = cursor.part + (long)count};
    }
}

/* Returns the body as an Array of Strings. Nearly always this is the body itself. *total: its length in
 * bytes. */
static VALUE measure(VALUE parts, uint64_t *total)
{
    long count = 0;
    *total = 0;
    for (; count < RARRAY_LEN(parts) && RB_TYPE_P(RARRAY_AREF(parts, count), T_STRING); count++)
        *total += (uint64_t)RSTRING_LEN(RARRAY_AREF(parts, count));
    if (count == RARRAY_LEN(parts)) return parts;

    VALUE strings = rb_ary_new();
    *total = 0;
    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        VALUE string = bbr_reply_string(rb_ary_entry(parts, i));
        rb_ary_push(strings, string);
        *total += (uint64_t)RSTRING_LEN(string);
    }
    return strings;
}

static void reply_array(struct bbr_exchange *exchange, VALUE body)
{
    uint64_t total;
    VALUE parts = measure(body, &total);
    if (end_head(exchange, total))
        send_array(exchange, parts);
    else
        bbr_reply_flush(exchange, true);
    RB_GC_GUARD(parts);
}

/* ---- other bodies ---- */

static bool is_class_of_proxies(VALUE class)
{
    static const char name[] = "Rack::BodyProxy";
    VALUE found = rb_mod_name(class);
    return !NIL_P(found) && RSTRING_LEN(found) == sizeof name - 1 &&
           memcmp(RSTRING_PTR(found), name, sizeof name - 1) == 0;
}

/* Rack::BodyProxy is Rack's own wrapper of bodies. A second `close` of a BodyProxy does nothing. Rack::Events
 * and others have subclasses. If a subclass has its own `close`, the result is false, because a second call
 * of that method may do harm. */
static bool is_body_proxy(VALUE body)
{
    VALUE class = CLASS_OF(body);
    if (is_class_of_proxies(class)) return true;
    do {
        class = rb_class_superclass(class);
        if (NIL_P(class)) return false;
    } while (!is_class_of_proxies(class));
    VALUE method = rb_obj_method(body, ID2SYM(id_close));
    return rb_funcallv(method, id_owner, 0, NULL) == class;
}

/* SPEC requires that `to_ary` closes the body, but some bodies leave the close to the server. `closed?`
 * proves nothing, because it may describe the file that the body reads. So `to_ary` is called only if there
 * is nothing to close, if a second `close` does no harm, or if the body (against SPEC) has neither `each` nor
 * `call`. If the application gives the length, nothing is gained by `to_ary`, and that of Rails can raise: it
 * calls `each` without a block, which a part of a file (Rack::Files) needs. */
static bool may_use_to_ary(struct bbr_exchange *exchange, VALUE body)
{
    if (bb_reply_has_length(exchange->lane->core) && rb_respond_to(body, id_each)) return false;
    if (exchange->body == Qundef || is_body_proxy(body)) return true;
    if (rb_respond_to(body, id_each) || rb_respond_to(body, id_call)) return false;
    if (!rb_respond_to(body, id_closed_p)) return false;
    exchange->body_tells_closed = !RTEST(rb_funcallv(body, id_closed_p, 0, NULL));
    return true;
}

/* The Array that to_ary returns, or nil. */
static VALUE array_of(struct bbr_exchange *exchange, VALUE body)
{
    if (!may_use_to_ary(exchange, body)) return Qnil;
    bool limited = bbr_time_stop(exchange);
    VALUE parts = rb_check_funcall(body, id_to_ary, 0, NULL);
    if (limited) bbr_time_go_on_limited(exchange);
    return RB_TYPE_P(parts, T_ARRAY) ? parts : Qnil;
}

/* The head is sent with the first part. */
static void reply_each(struct bbr_exchange *exchange, VALUE body)
{
    if (end_head(exchange, BB_LENGTH_UNKNOWN))
        bbr_each_reply(exchange, body);
    else
        bbr_reply_flush(exchange, true);
}

/* The head is sent before the body's `call`, because a streaming body may write nothing for a long time. */
static void reply_call(struct bbr_exchange *exchange, VALUE body)
{
    if (!end_head(exchange, BB_LENGTH_UNKNOWN)) {
        bbr_reply_flush(exchange, true);
        return;
    }
    VALUE stream = exchange->stream = bbr_stream_new(exchange);
    bbr_stream_flush(stream);
    rb_funcallv(body, id_call, 1, &stream);
}

static void reply_body(struct bbr_exchange *exchange, VALUE body)
{
    VALUE parts = array_of(exchange, body);
    if (!NIL_P(parts))
        reply_array(exchange, parts);
    else if (bbr_file_reply(exchange, body))
        return;
    else if (rb_respond_to(body, id_each))
        reply_each(exchange, body);
    else if (rb_respond_to(body, id_call))
        reply_call(exchange, body);
    else
        rb_raise(bbr_eInvalidReply, "the body, of %" PRIsVALUE ", responds neither to each nor to call",
                 bbr_class_name(body));
}

/* The client offers other protocols. If the application chooses one of them by rack.protocol, the status of
 * the response is 101 (SPEC of Rack 3.1). */
static void begin_upgradable(struct bbr_exchange *exchange, int status)
{
    VALUE protocol = bbr_protocol_chosen(exchange, exchange->headers);
    bool accepts = !NIL_P(protocol) && status >= 100 && status < 300;
    begin(exchange, accepts ? 101 : status, exchange->status);
    VALUE name = rb_str_new_cstr("upgrade");
    if (accepts && NIL_P(rb_hash_lookup(exchange->headers, name))) add_line(exchange, name, protocol);
}

void bbr_reply(struct bbr_exchange *exchange, VALUE triplet)
{
    VALUE response = rb_check_array_type(triplet);
    if (NIL_P(response) || RARRAY_LEN(response) != 3)
        rb_raise(bbr_eInvalidReply,
                 "the application must return an Array of status, headers and body, not %s of %" PRIsVALUE,
                 NIL_P(response) ? "an object" : "an Array", bbr_class_name(triplet));

    VALUE body = RARRAY_AREF(response, 2);
    exchange->status = RARRAY_AREF(response, 0);
    exchange->headers = RARRAY_AREF(response, 1);
    exchange->partial = Qnil;
    bool plain = !RB_SPECIAL_CONST_P(body) && RBASIC_CLASS(body) == rb_cArray;
    if (!plain && rb_respond_to(body, id_close)) exchange->body = body; /* may change the Array */

    int status = number_of(exchange->status);
    if (RB_UNLIKELY(exchange->request->head.upgrade))
        begin_upgradable(exchange, status);
    else
        begin(exchange, status, exchange->status);
    add_fields(exchange, exchange->headers);
    if (RB_UNLIKELY(exchange->lane->worker->x_sendfile) && bbr_file_reply_named(exchange)) return;
    if (RB_UNLIKELY(!NIL_P(exchange->partial)))
        bbr_hijack_reply(exchange, exchange->partial);
    else if (plain)
        reply_array(exchange, body);
    else
        reply_body(exchange, body);
}

void bbr_reply_interim(struct bbr_exchange *exchange, int status, VALUE headers)
{
    unsigned number = ++exchange->interims;
    begin(exchange, status, INT2FIX(status));
    add_fields(exchange, headers);
    if (exchange->interims != number)
        rb_raise(bbr_eInvalidReply, "a field of an interim response has sent another interim response");
    bbr_reply_check(exchange, bb_reply_interim(exchange->lane->core));
}

void bbr_reply_text(struct bbr_exchange *exchange, int status, VALUE text)
{
    bbr_reply_check(exchange, bb_reply_begin(exchange->lane->core, status));
    add_line(exchange, rb_str_new_cstr("content-type"), rb_str_new_cstr("text/plain; charset=utf-8"));
    reply_array(exchange, rb_ary_new_from_args(1, text));
}

void bbr_init_reply(void)
{
    id_to_i = rb_intern("to_i");
    id_each = rb_intern("each");
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_closed_p = rb_intern("closed?");
    id_owner = rb_intern("owner");
    id_to_ary = rb_intern("to_ary");
}
