/* bbp_reply.c: turns PSGI's array reference (status, headers, body) into a response of the core. Any function
 * of this file may raise. The core then has a response that was begun but not sent, and the next
 * bb_reply_begin() discards it. */
#include "bbp_bontebok.h"

/* Parts of an array body that go to the core in one call. */
#define SLICES 64

/* Bytes per getline: the value behind `$/`, see PSGI, "Body". */
#define BLOCK 65536

/* ---- status and fields ---- */

static int number_of(pTHX_ SV *status)
{
    SvGETMAGIC(status);
    if (SvIOK(status)) return SvIVX(status) == (int)SvIVX(status) ? (int)SvIVX(status) : 0;
    if (!looks_like_number(status)) return 0;
    IV number = SvIV_nomg(status);
    return number == (int)number && (NV)number == SvNV_nomg(status) ? (int)number : 0;
}

static SV *element(pTHX_ AV *array, I32 index)
{
    SV **found = av_fetch(array, index, FALSE);
    return found ? *found : &PL_sv_undef;
}

/* Overloading and magic run code, and this code may remove the SV from the response. */
static void keep(pTHX_ SV *sv)
{
    (void)sv_2mortal(SvREFCNT_inc_NN(sv));
}

/* The message omits the value, which may be a secret. */
static void refuse_field(pTHX_ struct bbp_core *core, struct bb_slice name, int code)
{
    SV *shown = sv_newmortal();
    (void)pv_pretty(shown, name.at, name.len, 80, NULL, NULL, PERL_PV_PRETTY_DUMP);
    if (code == BB_ENAME) croak("Bontebok: the field %s has an invalid name", SvPV_nolen(shown));
    if (code == BB_EVALUE) croak("Bontebok: the field %s has an invalid value", SvPV_nolen(shown));
    bbp_check(aTHX_ core, code);
}

static void add_field(pTHX_ struct bbp_core *core, SV *given_name, SV *given_value)
{
    struct bb_slice name, value;
    if (!bbp_bytes(aTHX_ given_name, &name)) croak("Bontebok: a field name has a wide character");
    if (!bbp_bytes(aTHX_ given_value, &value)) {
        (void)bbp_bytes(aTHX_ given_name, &name);
        croak("Bontebok: the field %.*s has a wide character", (int)name.len, name.at);
    }
    /* The conversion of the value may have run code that has changed the name. */
    if (!bbp_is_plain(given_value) && !bbp_bytes(aTHX_ given_name, &name)) return;
    int code = bb_reply_field(core->lane, name.at, name.len, value.at, value.len);
    if (code < 0) refuse_field(aTHX_ core, name, code);
}

static void add_fields(pTHX_ struct bbp_core *core, AV *headers)
{
    if (av_len(headers) % 2 == 0) croak("Bontebok: the headers have an odd number of elements");
    for (I32 i = 0; i < av_len(headers); i += 2) {
        SV *name = element(aTHX_ headers, i), *value = element(aTHX_ headers, i + 1);
        if (!bbp_is_plain(name) || !bbp_is_plain(value)) {
            keep(aTHX_ name);
            keep(aTHX_ value);
        }
        add_field(aTHX_ core, name, value);
    }
}

void bbp_reply_begin(pTHX_ struct bbp_core *core, AV *response)
{
    keep(aTHX_(SV *) response);
    SV *status = element(aTHX_ response, 0);
    keep(aTHX_ status);
    int number = number_of(aTHX_ status);
    /* A proxy would read the next bytes on the connection as another protocol. */
    if (number == 101 && !core->exchange.request->head.upgrade)
        croak("Bontebok: the status is 101, but the client has not asked for an upgrade");
    int code = bb_reply_begin(core->lane, number);
    if (code == BB_ESTATUS) {
        struct bb_slice text;
        (void)bbp_bytes(aTHX_ status, &text);
        croak("Bontebok: the status is no number from 100 to 999: %.*s", (int)text.len, text.at);
    }
    bbp_check(aTHX_ core, code);
    AV *headers = bbp_array_of(aTHX_ element(aTHX_ response, 1));
    if (!headers) croak("Bontebok: the headers are no array reference");
    keep(aTHX_(SV *) headers);
    add_fields(aTHX_ core, headers);
}

/* Ends the head and chooses the framing of the body. True: the response has a body. */
static bool end_head(pTHX_ struct bbp_core *core, uint64_t body_length)
{
    bbp_check(aTHX_ core, bb_reply_head(core->lane, body_length));
    return !bb_reply_bodyless(core->lane);
}

/* ---- array bodies ---- */

/* The position in an array body: `part` is the first part that is not completely sent, and `offset` is the
 * number of its bytes that are sent. */
struct cursor {
    SSize_t part;
    size_t offset;
};

static size_t take_slices(pTHX_ struct bb_slice slices[SLICES], AV *parts, struct cursor from)
{
    size_t count = 0;
    for (SSize_t i = from.part; i <= av_len(parts) && count < SLICES; i++, from.offset = 0) {
        SV *part = element(aTHX_ parts, (I32)i);
        if (!bbp_is_plain(part)) croak("Bontebok: the body was changed while it was sent");
        size_t skip = from.offset < SvCUR(part) ? from.offset : SvCUR(part);
        slices[count++] = (struct bb_slice){SvPVX_const(part) + skip, SvCUR(part) - skip};
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

static void send_array(pTHX_ struct bbp_core *core, AV *parts)
{
    struct cursor cursor = {0, 0};
    for (;;) {
        struct bb_slice slices[SLICES];
        uint64_t taken = 0;
        size_t count = take_slices(aTHX_ slices, parts, cursor);
        bool last = cursor.part + (SSize_t)count > av_len(parts);
        if (!bbp_send(aTHX_ core, slices, count, last, &taken)) {
            advance(&cursor, slices, count, taken);
            continue;
        }
        if (last) return;
        cursor = (struct cursor){cursor.part + (SSize_t)count, 0};
    }
}

static AV *converted(pTHX_ AV *parts, uint64_t *total)
{
    AV *strings = (AV *)sv_2mortal((SV *)newAV());
    *total = 0;
    for (I32 i = 0; i <= av_len(parts); i++) {
        struct bb_slice bytes;
        SV *part = element(aTHX_ parts, i);
        keep(aTHX_ part);
        if (!bbp_bytes(aTHX_ part, &bytes))
            croak("Bontebok: the body has a wide character in its part %d", (int)i);
        av_push(strings, newSVpvn(bytes.at, bytes.len));
        *total += bytes.len;
    }
    return strings;
}

/* Returns the body as an array of byte strings. Nearly always this is the body itself. *total: its length in
 * bytes. */
static AV *measure(pTHX_ AV *parts, uint64_t *total)
{
    *total = 0;
    for (I32 i = 0; i <= av_len(parts); i++) {
        SV *part = element(aTHX_ parts, i);
        if (!bbp_is_plain(part)) return converted(aTHX_ parts, total);
        *total += SvCUR(part);
    }
    return parts;
}

static void reply_array(pTHX_ struct bbp_core *core, AV *body)
{
    uint64_t total;
    AV *parts = measure(aTHX_ body, &total);
    if (end_head(aTHX_ core, total))
        send_array(aTHX_ core, parts);
    else
        bbp_send_rest(aTHX_ core, true);
}

/* ---- handles and objects ---- */

/* Returns a mortal, or NULL after the last part. */
static SV *next_part(pTHX_ SV *body)
{
    dSP;
    PUSHMARK(SP);
    XPUSHs(body);
    PUTBACK;
    (void)call_method("getline", G_SCALAR);
    SPAGAIN;
    SV *part = POPs;
    PUTBACK;
    SvGETMAGIC(part);
    return SvOK(part) ? part : NULL;
}

static void send_lines(pTHX_ struct bbp_core *core, SV *body)
{
    bool more = true;
    while (more) {
        ENTER;
        SAVETMPS;
        SV *part = next_part(aTHX_ body);
        more = part != NULL;
        if (more) bbp_send_part(aTHX_ core, part);
        FREETMPS;
        LEAVE;
    }
    bbp_send_rest(aTHX_ core, true);
}

/* Sets $/ until the enclosing scope ends, so that a handle returns blocks and not lines. */
static void read_blocks(pTHX)
{
    GV *separator = gv_fetchpvs("/", GV_ADD, SVt_PV);
    SV *block = sv_2mortal(newRV_noinc(newSViv(BLOCK)));
    (void)save_scalar(separator);
    sv_setsv_mg(GvSV(separator), block);
}

/* The head is sent with the first part. */
static void reply_lines(pTHX_ struct bbp_core *core, SV *body)
{
    if (!end_head(aTHX_ core, BB_LENGTH_UNKNOWN)) {
        bbp_send_rest(aTHX_ core, true);
        return;
    }
    ENTER;
    read_blocks(aTHX);
    send_lines(aTHX_ core, body);
    LEAVE;
}

static bool is_handle(pTHX_ SV *body)
{
    if (!SvROK(body)) return isGV_with_GP(body);
    SV *object = SvRV(body);
    return isGV_with_GP(object) || SvTYPE(object) == SVt_PVIO || SvOBJECT(object);
}

/* ---- the whole response ---- */

/* Returns a reference to this type, perhaps after overloading, or NULL. */
static SV *reference_to(pTHX_ svtype type, int overloading, SV *value)
{
    SvGETMAGIC(value);
    if (SvROK(value) && SvAMAGIC(value)) value = amagic_deref_call(value, overloading);
    return SvROK(value) && SvTYPE(SvRV(value)) == type ? value : NULL;
}

AV *bbp_array_of(pTHX_ SV *value)
{
    SV *reference = reference_to(aTHX_ SVt_PVAV, to_av_amg, value);
    return reference ? (AV *)SvRV(reference) : NULL;
}

SV *bbp_code_of(pTHX_ SV *value)
{
    return reference_to(aTHX_ SVt_PVCV, to_cv_amg, value);
}

void bbp_reply(pTHX_ struct bbp_core *core, AV *response)
{
    if (av_len(response) < 2) croak("Bontebok: the response needs three elements: status, headers and body");
    SV *body = sv_mortalcopy(element(aTHX_ response, 2));
    AV *parts = SvROK(body) && sv_isobject(body) ? NULL : bbp_array_of(aTHX_ body);
    if (!parts) {
        if (!is_handle(aTHX_ body)) croak("Bontebok: the body is neither an array reference nor a handle");
        core->exchange.body = SvREFCNT_inc(body);
    }
    bbp_reply_begin(aTHX_ core, response);
    if (parts)
        reply_array(aTHX_ core, parts);
    else if (!bbp_file_reply(aTHX_ core, body))
        reply_lines(aTHX_ core, body);
}
