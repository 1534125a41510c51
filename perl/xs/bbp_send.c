/* bbp_send.c: hands the body's bytes to the core, and waits for the client if the core takes no more bytes.
 * bbp_reply.c and bbp_stream.c use it. */
#include "bbp_bontebok.h"

#include <string.h>

void bbp_check(pTHX_ struct bbp_core *core, int code)
{
    if (code >= 0) return;
    if (code == BB_EGONE) {
        if (bbp_is_child(core)) bbp_leave_child(aTHX_ EXIT_SUCCESS); /* the core refuses a forked child */
        core->exchange.gone = true;
    }
    if (code == BB_ESYSTEM || code == BB_EDISK)
        croak("Bontebok: %s: %s", bb_error_text(code), Strerror(errno));
    croak("Bontebok: %s", bb_error_text(code));
}

bool bbp_send(pTHX_ struct bbp_core *core, const struct bb_slice *slices, size_t count, bool last,
              uint64_t *taken)
{
    struct bbp_exchange *exchange = &core->exchange;
    /* If the application has caught the exception, bytes of the body are missing, so no more may be sent. */
    if (exchange->torn) croak("Bontebok: an earlier part of the body was not completely sent");
    /* Overloading, magic or a signal handler has ended the response. Further bytes would be read as the next
     * response on the connection. */
    if (exchange->complete) croak("Bontebok: the response is complete");
    bbp_signal_is_deferred = true;
    int code = exchange->gone ? BB_EGONE : bb_reply_write(core->lane, slices, count, last, taken);
    exchange->complete = exchange->complete || (last && code == BB_OK);
    bool waits = code == BB_AGAIN;
    if (waits) code = bb_reply_wait(core->lane);
    bbp_signal_is_deferred = false;
    if (waits) {
        exchange->torn = true; /* also for a handler that writes */
        PERL_ASYNC_CHECK();
        exchange->torn = false;
    }
    bbp_check(aTHX_ core, code);
    return !waits;
}

void bbp_send_rest(pTHX_ struct bbp_core *core, bool last)
{
    uint64_t taken;
    while (!bbp_send(aTHX_ core, NULL, 0, last, &taken)) continue;
}

/* Returns the part as a string of bytes that lives until the mortals are freed. */
static SV *bytes_of(pTHX_ SV *part)
{
    struct bb_slice bytes;
    if (bbp_is_plain(part)) return sv_2mortal(SvREFCNT_inc_NN(part));
    if (!bbp_bytes(aTHX_ part, &bytes)) croak("Bontebok: the body has a wide character");
    return sv_2mortal(newSVpvn(bytes.at, bytes.len));
}

/* A signal handler may change the string while the client is slow. */
static bool is_same(const SV *string, struct bb_slice bytes)
{
    return bbp_is_plain(string) && SvPVX_const(string) == bytes.at && SvCUR(string) == bytes.len;
}

void bbp_send_part(pTHX_ struct bbp_core *core, SV *part)
{
    SV *string = bytes_of(aTHX_ part);
    struct bb_slice whole = {SvPVX_const(string), SvCUR(string)}, rest = whole;
    while (rest.len > 0) {
        uint64_t taken = 0;
        if (bbp_send(aTHX_ core, &rest, 1, false, &taken)) return;
        if (!is_same(string, whole)) croak("Bontebok: the body was changed while it was sent");
        rest.at += taken;
        rest.len -= (size_t)taken;
    }
}

void bbp_send_text(struct bbp_core *core, int status, const char *text)
{
    static const char name[] = "content-type", type[] = "text/plain; charset=utf-8";
    struct bb_slice part = {text, strlen(text)};
    uint64_t taken;
    bool sent = bb_reply_begin(core->lane, status) == BB_OK &&
                bb_reply_field(core->lane, name, sizeof name - 1, type, sizeof type - 1) == BB_OK &&
                bb_reply_head(core->lane, part.len) == BB_OK;
    bool bodyless = sent && bb_reply_bodyless(core->lane);
    sent = sent && bb_reply_write(core->lane, &part, bodyless ? 0 : 1, true, &taken) == BB_OK;
    core->exchange.complete = sent;
}
