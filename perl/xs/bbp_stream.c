/* bbp_stream.c: PSGI's delayed response and streaming. The application has returned a code reference, and the
 * binding calls it with the responder. The responder gets a response. If the response has no body, the
 * responder returns a writer: an object with `write` and `close`. After the response, the application may
 * work on for long, so the binding calls bb_reply_pause(). */
#include "bbp_bontebok.h"

#include <sys/socket.h>

/* ---- the writer ---- */

/* The object has a pointer, so the application must not assign to it. The binding clears the pointer when the
 * request ends, because the application may keep the writer. */
static struct bbp_core *core_of(pTHX_ SV *object)
{
    return SvIOK(object) ? INT2PTR(struct bbp_core *, SvIVX(object)) : NULL;
}

static SV *new_writer(pTHX_ struct bbp_core *core)
{
    core->exchange.writer = newSViv(PTR2IV(core));
    core->exchange.streams = true;
    SV *reference = sv_bless(newRV_inc(core->exchange.writer), gv_stashpvs("Bontebok::Writer", GV_ADD));
    SvREADONLY_on(core->exchange.writer);
    return reference;
}

static struct bbp_core *open_core(pTHX_ SV *object)
{
    struct bbp_core *core = core_of(aTHX_ object);
    if (!core || !core->exchange.streams) croak("Bontebok: the writer is closed");
    if (bbp_is_child(core)) croak("Bontebok: the writer belongs to another process");
    return core;
}

/* A response to HEAD sends nothing that would fail when the client has left. Without this look, an endless
 * stream would never end. */
static bool client_has_left(const struct bbp_core *core)
{
    char byte;
    return recv(bb_request_fd(core->lane), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void bbp_writer_write(pTHX_ SV *object, SV *part)
{
    struct bbp_core *core = open_core(aTHX_ object);
    if (!core->exchange.bodyless)
        bbp_send_part(aTHX_ core, part);
    else if (client_has_left(core))
        bbp_check(aTHX_ core, BB_EGONE);
}

void bbp_writer_close(pTHX_ SV *object)
{
    struct bbp_core *core = open_core(aTHX_ object);
    core->exchange.streams = false;
    if (core->exchange.gone) return;
    if (!core->exchange.bodyless) bbp_send_rest(aTHX_ core, true);
    bb_reply_pause(core->lane);
}

/* ---- the responder ---- */

/* The head is sent at once, because the application may write nothing for a long time. */
static SV *begin_stream(pTHX_ struct bbp_core *core, AV *response)
{
    struct bbp_exchange *exchange = &core->exchange;
    bbp_reply_begin(aTHX_ core, response);
    bbp_check(aTHX_ core, bb_reply_head(core->lane, BB_LENGTH_UNKNOWN));
    exchange->bodyless = bb_reply_bodyless(core->lane);
    bbp_send_rest(aTHX_ core, exchange->bodyless);
    return new_writer(aTHX_ core);
}

static SV *take_response(pTHX_ struct bbp_core *core, SV *given)
{
    if (!core) croak("Bontebok: the responder was called after its request");
    if (bbp_is_other_thread(aTHX)) croak("Bontebok: the responder belongs to another thread");
    if (bbp_is_child(core)) croak("Bontebok: the responder belongs to another process");
    if (core->exchange.answered) croak("Bontebok: the responder was called twice");
    AV *response = bbp_array_of(aTHX_ given);
    if (!response) croak("Bontebok: the responder needs an array reference");
    if (av_len(response) < 1) croak("Bontebok: the response needs at least status and headers");
    core->exchange.answered = true; /* overloading in the response may call the responder */
    if (av_len(response) == 1) return begin_stream(aTHX_ core, response);
    bbp_reply(aTHX_ core, response);
    bb_reply_pause(core->lane);
    return newSV(0);
}

static XSPROTO(respond)
{
    dXSARGS;
    if (items != 1) croak("Usage: $responder->([$status, $headers, $body])");
    /* ST() points into Perl's stack, and a call that runs Perl code may move the stack. */
    SV *result = take_response(aTHX_ CvXSUBANY(cv).any_ptr, ST(0));
    ST(0) = sv_2mortal(result);
    XSRETURN(1);
}

static SV *new_responder(pTHX_ struct bbp_core *core)
{
    CV *responder = newXS(NULL, respond, __FILE__);
    CvXSUBANY(responder).any_ptr = core;
    core->exchange.responder = responder;
    return newRV_inc((SV *)responder);
}

void bbp_stream_run(pTHX_ struct bbp_core *core, SV *code)
{
    SV *responder = sv_2mortal(new_responder(aTHX_ core));
    dSP;
    PUSHMARK(SP);
    XPUSHs(responder);
    PUTBACK;
    (void)call_sv(code, G_VOID | G_DISCARD);
    if (bbp_is_child(core)) return;
    struct bbp_exchange *exchange = &core->exchange;
    if (!exchange->answered) croak("Bontebok: the responder was not called");
    if (!exchange->complete && !exchange->streams && !exchange->gone)
        croak("Bontebok: the response has failed, and the application has caught the exception");
}

void bbp_stream_detach(pTHX_ struct bbp_core *core)
{
    struct bbp_exchange *exchange = &core->exchange;
    if (exchange->writer) SvIV_set(exchange->writer, 0);
    if (exchange->responder) CvXSUBANY(exchange->responder).any_ptr = NULL;
    SvREFCNT_dec(exchange->writer);
    SvREFCNT_dec(exchange->responder);
    exchange->writer = NULL;
    exchange->responder = NULL;
}
