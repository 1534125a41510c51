/* bbp_env.c: builds the PSGI environment of a request (PSGI 1.1). The env is a copy of the listener's
 * template, into which the values of the request are stored. Each value is a new SV, which the application
 * may change: Plack::Middleware::ReverseProxy assigns to psgi.url_scheme in place.
 *
 * Most of a request's cost is the SVs and hash stores in this file. Think twice before you add another one.
 */
#include "bbp_bontebok.h"

#include <string.h>

/* Perl makes room for these keys in the template, and so in every env. Most requests have fewer. More room
 * costs more to copy and to free. */
#define EXPECTED_KEYS 32

void bbp_env_make_names(pTHX_ struct bbp_core *core)
{
    static const char *const names[BBP_NAMES] = {
        [BBP_REQUEST_METHOD] = "REQUEST_METHOD",   [BBP_PATH_INFO] = "PATH_INFO",
        [BBP_QUERY_STRING] = "QUERY_STRING",       [BBP_REQUEST_URI] = "REQUEST_URI",
        [BBP_SERVER_NAME] = "SERVER_NAME",         [BBP_SERVER_PORT] = "SERVER_PORT",
        [BBP_SERVER_PROTOCOL] = "SERVER_PROTOCOL", [BBP_REMOTE_ADDR] = "REMOTE_ADDR",
        [BBP_REMOTE_PORT] = "REMOTE_PORT",         [BBP_CONTENT_LENGTH] = "CONTENT_LENGTH",
        [BBP_PSGI_INPUT] = "psgi.input",           [BBP_HARAKIRI] = "psgix.harakiri.commit",
    };
    for (int i = 0; i < BBP_NAMES; i++) core->names[i] = newSVpvn_share(names[i], (I32)strlen(names[i]), 0);
}

/* Takes over the value. */
static void set(pTHX_ HV *env, SV *name, SV *value)
{
    if (!hv_store_ent(env, name, value, SvSHARED_HASH(name))) SvREFCNT_dec(value);
}

static SV *text(pTHX_ struct bb_slice bytes)
{
    return newSVpvn(bytes.at ? bytes.at : "", bytes.len);
}

HV *bbp_env_template(pTHX_ struct bbp_core *core, HV *base, SV *name, SV *port)
{
    HV *template = newHVhv(base);
    hv_ksplit(template, EXPECTED_KEYS);
    set(aTHX_ template, core->names[BBP_SERVER_NAME], newSVsv(name));
    set(aTHX_ template, core->names[BBP_SERVER_PORT], newSVsv(port));
    /* A client on a unix socket has no address. Starlet and Gazelle set the same values. */
    set(aTHX_ template, core->names[BBP_REMOTE_ADDR], newSV(0));
    set(aTHX_ template, core->names[BBP_REMOTE_PORT], newSViv(0));
    return template;
}

/* ---- the path ---- */

static int hex(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    char letter = (char)(digit | 0x20);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Returns NULL if an escape is malformed. */
static SV *decoded(pTHX_ struct bb_slice path)
{
    SV *result = text(aTHX_ path);
    const char *from = SvPVX(result), *end = from + path.len;
    char *to = memchr(from, '%', path.len);
    if (!to) return result;
    for (from = to; from < end; from++, to++) {
        *to = *from;
        if (*from != '%') continue;
        int high = end - from > 2 ? hex(from[1]) : -1, low = high >= 0 ? hex(from[2]) : -1;
        if (low < 0) {
            SvREFCNT_dec(result);
            return NULL;
        }
        *to = (char)(high << 4 | low);
        from += 2;
    }
    *to = '\0';
    SvCUR_set(result, to - SvPVX(result));
    return result;
}

/* PATH_INFO begins with a slash or is empty, so that of "OPTIONS *" is empty. */
static SV *path_info(pTHX_ struct bb_slice path)
{
    if (path.len == 1 && *path.at == '*') path.len = 0;
    return decoded(aTHX_ path);
}

/* REQUEST_URI has no scheme and no host, even if the target is in absolute form (RFC 9112 3.2.2). */
static SV *request_uri(pTHX_ const struct bb_head *head)
{
    if (*head->target.at == '/' || head->path.len == head->target.len) return text(aTHX_ head->target);
    SV *uri = text(aTHX_ head->path);
    if (!head->query.at) return uri;
    sv_catpvs(uri, "?"); /* also before an empty query */
    sv_catpvn(uri, head->query.at, head->query.len);
    return uri;
}

/* ---- the rest ---- */

/* Appends a value to the earlier value of the same key, RFC 9110 5.3. Cookie has its own separator (RFC 9113
 * 8.2.3). */
static bool join(pTHX_ HV *env, SV *name, const struct bb_field *field)
{
    HE *entry = hv_fetch_ent(env, name, FALSE, SvSHARED_HASH(name));
    if (!entry) return false;
    sv_catpvn(HeVAL(entry), field->kind == BB_FIELD_COOKIE ? "; " : ", ", 2);
    sv_catpvn(HeVAL(entry), field->value, field->value_len);
    return true;
}

static void set_fields(pTHX_ HV *env, struct bbp_core *core)
{
    const struct bb_head *head = &core->exchange.request->head;
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        SV *name = bbp_keys_of(aTHX_ core, field);
        if (!name || (head->repeats && join(aTHX_ env, name, field))) continue;
        set(aTHX_ env, name, newSVpvn(field->value, field->value_len));
    }
}

HV *bbp_env_new(pTHX_ struct bbp_core *core)
{
    const struct bb_request *request = core->exchange.request;
    const struct bb_head *head = &request->head;
    SV *path = path_info(aTHX_ head->path), **names = core->names;
    if (!path) return NULL;
    HV *env = newHVhv(core->templates[request->listener]);
    sv_2mortal((SV *)env);
    set(aTHX_ env, names[BBP_PATH_INFO], path);
    set(aTHX_ env, names[BBP_REQUEST_METHOD], text(aTHX_ head->method));
    set(aTHX_ env, names[BBP_REQUEST_URI], request_uri(aTHX_ head));
    set(aTHX_ env, names[BBP_QUERY_STRING], text(aTHX_ head->query));
    set(aTHX_ env, names[BBP_SERVER_PROTOCOL], newSVpvn(head->minor_version ? "HTTP/1.1" : "HTTP/1.0", 8));
    if (!request->peer_is_unix) { /* otherwise the template's values stay */
        set(aTHX_ env, names[BBP_REMOTE_ADDR], text(aTHX_ request->peer));
        set(aTHX_ env, names[BBP_REMOTE_PORT], newSVuv(request->peer_port));
    }
    set_fields(aTHX_ env, core);
    /* The application reads the decoded body, so the env shows the decoded length, and not the coding. */
    if (head->chunked)
        set(aTHX_ env, names[BBP_CONTENT_LENGTH], newSVpvf("%" UVuf, (UV)request->body_length));
    set(aTHX_ env, names[BBP_PSGI_INPUT], bbp_input_new(aTHX_ core));
    return env;
}
