/* rb_input_lines.c: the methods of rack.input that read lines and characters. rb_input.c has the other
 * methods. */
#include "request/rb_input.h"

#include <string.h>

static ID id_chomp;

/* ---- what a line is ---- */

/* The arguments of gets: (separator = $/, limit = nil, chomp: false). */
struct line_form {
    VALUE separator; /* a frozen String; nil: the whole rest is one line; empty: paragraphs */
    long limit;      /* bytes of a line before chomp; negative: no limit */
    bool chomp;
};

/* While a reader waits for an unbuffered body, another thread may change the application's String. */
static struct line_form form_of(int argc, VALUE *argv)
{
    VALUE first, second, options, chomp = Qundef;
    int given = rb_scan_args(argc, argv, "02:", &first, &second, &options);
    if (!NIL_P(options)) rb_get_kwargs(options, &id_chomp, 0, 1, &chomp);
    struct line_form form = {.separator = rb_rs, .limit = -1, .chomp = chomp != Qundef && RTEST(chomp)};
    VALUE string = given > 0 ? rb_check_string_type(first) : Qnil;
    if (given == 2 && !NIL_P(first) && NIL_P(string)) StringValue(first); /* raises */
    if (given == 1 && !NIL_P(first) && NIL_P(string)) {
        form.limit = NUM2LONG(first);
    } else if (given > 0) {
        form.separator = string;
        if (!NIL_P(second)) form.limit = NUM2LONG(second);
    }
    if (!NIL_P(form.separator)) form.separator = rb_str_new_frozen(form.separator);
    return form;
}

static struct line_form form_of_each(int argc, VALUE *argv, const char *name)
{
    struct line_form form = form_of(argc, argv);
    if (form.limit == 0) rb_raise(rb_eArgError, "invalid limit: 0 for %s", name);
    return form;
}

/* ---- one line ---- */

static bool ends_with(VALUE line, struct bb_slice end)
{
    size_t len = (size_t)RSTRING_LEN(line);
    return len >= end.len && memcmp(RSTRING_PTR(line) + len - end.len, end.at, end.len) == 0;
}

/* Appends bytes to the line up to and including the given byte, at most limit bytes. False: the byte was not
 * found. */
static bool append_to(struct input *input, VALUE line, int byte, uint64_t limit)
{
    while (limit > 0) {
        struct bb_slice bytes = bbr_input_ahead(input);
        if (bytes.len == 0) break;
        if (bytes.len > limit) bytes.len = (size_t)limit;
        const char *found = byte < 0 ? NULL : memchr(bytes.at, byte, bytes.len);
        if (found) bytes.len = (size_t)(found + 1 - bytes.at);
        rb_str_cat(line, bytes.at, (long)bytes.len);
        input->position += bytes.len;
        limit -= bytes.len;
        if (found) return true;
    }
    return false;
}

/* Appends bytes up to and including the separator. True: the separator was found. A separator may lie across
 * two windows of the spool, so the search is for its last byte. */
static bool append_line(struct input *input, VALUE line, struct bb_slice separator, long limit)
{
    int last = separator.len > 0 ? (unsigned char)separator.at[separator.len - 1] : -1;
    uint64_t most = limit < 0 ? UINT64_MAX : (uint64_t)limit;
    while (append_to(input, line, last, most - (uint64_t)RSTRING_LEN(line)))
        if (ends_with(line, separator)) return true;
    return false;
}

/* If the separator is a single byte, also removes a carriage return before the separator. StringIO does so
 * for any single byte, not only for a line feed. */
static void chomp(VALUE line, struct bb_slice separator)
{
    long len = RSTRING_LEN(line) - (long)separator.len;
    if (separator.len == 1 && len > 0 && RSTRING_PTR(line)[len - 1] == '\r') len--;
    rb_str_set_len(line, len);
}

static void skip_line_feeds(struct input *input)
{
    for (;;) {
        struct bb_slice bytes = bbr_input_ahead(input);
        if (bytes.len == 0 || *bytes.at != '\n') return;
        input->position++;
    }
}

/* nil: no line is left. */
static VALUE next_line(struct input *input, struct line_form *form)
{
    static const struct bb_slice two_line_feeds = {"\n\n", 2};
    struct bb_slice separator =
        NIL_P(form->separator) ? (struct bb_slice){"", 0} : bbr_bytes(form->separator);
    bool paragraph = separator.len == 0 && !NIL_P(form->separator);
    if (paragraph) {
        separator = two_line_feeds;
        skip_line_feeds(input);
    }
    if (bbr_input_ahead(input).len == 0) return Qnil;
    VALUE line = bbr_string((struct bb_slice){"", 0});
    bool found = append_line(input, line, separator, form->limit);
    if (found && paragraph) skip_line_feeds(input);
    if (found && form->chomp) chomp(line, separator);
    input->lineno++;
    RB_GC_GUARD(form->separator);
    return line;
}

/* ---- lines ---- */

/* gets: the next line, or nil. */
static VALUE input_gets(int argc, VALUE *argv, VALUE self)
{
    struct line_form form = form_of(argc, argv);
    struct input *input = bbr_input_readable(self);
    VALUE line = form.limit == 0 ? bbr_string((struct bb_slice){"", 0}) : next_line(input, &form);
    rb_lastline_set(line);
    return line;
}

static VALUE input_readline(int argc, VALUE *argv, VALUE self)
{
    return bbr_input_or_eof(input_gets(argc, argv, self));
}

static VALUE input_each_line(int argc, VALUE *argv, VALUE self)
{
    RETURN_ENUMERATOR(self, argc, argv);
    struct line_form form = form_of_each(argc, argv, "each_line");
    for (VALUE line; !NIL_P(line = next_line(bbr_input_readable(self), &form));) rb_yield(line);
    return self;
}

static VALUE input_readlines(int argc, VALUE *argv, VALUE self)
{
    struct line_form form = form_of_each(argc, argv, "readlines");
    VALUE lines = rb_ary_new();
    for (VALUE line; !NIL_P(line = next_line(bbr_input_readable(self), &form));) rb_ary_push(lines, line);
    return lines;
}

static VALUE input_lineno(VALUE self)
{
    return LONG2NUM(bbr_input_of(self)->lineno);
}

/* Requests without a body share one Input, which has no line number. */
static VALUE input_set_lineno(VALUE self, VALUE number)
{
    long lineno = NUM2LONG(number);
    struct input *input = bbr_input_of(self);
    if (input->size > 0 || input->unbuffered) input->lineno = lineno;
    return number;
}

/* ---- characters, which are bytes ---- */

static VALUE input_getbyte(VALUE self)
{
    struct input *input = bbr_input_readable(self);
    struct bb_slice bytes = bbr_input_ahead(input);
    if (bytes.len == 0) return Qnil;
    input->position++;
    return INT2FIX((unsigned char)*bytes.at);
}

static VALUE input_getc(VALUE self)
{
    VALUE byte = input_getbyte(self);
    if (NIL_P(byte)) return Qnil;
    char character = (char)FIX2INT(byte);
    return bbr_string((struct bb_slice){&character, 1});
}

static VALUE input_readbyte(VALUE self)
{
    return bbr_input_or_eof(input_getbyte(self));
}

static VALUE input_readchar(VALUE self)
{
    return bbr_input_or_eof(input_getc(self));
}

static VALUE input_each_byte(VALUE self)
{
    RETURN_ENUMERATOR(self, 0, NULL);
    for (VALUE byte; !NIL_P(byte = input_getbyte(self));) rb_yield(byte);
    return self;
}

static VALUE input_each_char(VALUE self)
{
    RETURN_ENUMERATOR(self, 0, NULL);
    for (VALUE character; !NIL_P(character = input_getc(self));) rb_yield(character);
    return self;
}

void bbr_init_input_lines(VALUE core)
{
    VALUE class = rb_const_get(core, rb_intern("Input"));
    id_chomp = rb_intern("chomp");
    rb_define_method(class, "gets", input_gets, -1);
    rb_define_method(class, "readline", input_readline, -1);
    rb_define_method(class, "each_line", input_each_line, -1);
    rb_define_method(class, "readlines", input_readlines, -1);
    rb_define_method(class, "lineno", input_lineno, 0);
    rb_define_method(class, "lineno=", input_set_lineno, 1);
    rb_define_method(class, "getbyte", input_getbyte, 0);
    rb_define_method(class, "getc", input_getc, 0);
    rb_define_method(class, "readbyte", input_readbyte, 0);
    rb_define_method(class, "readchar", input_readchar, 0);
    rb_define_method(class, "each_byte", input_each_byte, 0);
    rb_define_method(class, "each_char", input_each_char, 0);
    rb_define_alias(class, "each", "each_line");
}
