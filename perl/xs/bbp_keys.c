/* bbp_keys.c: makes the key in the PSGI environment (env) for a field name (RFC 3875 4.1.18: "HTTP_" and the
 * name in capitals, with "_" for "-"). The core gives an id (bb_field.id) to each name that the lane has
 * learned, and the binding keeps the key of each id: a shared string, whose hash is known. Keys of names
 * without an id are made for each request. bbp_env.c uses this file. */
#include "bbp_bontebok.h"

#include <string.h>

/* Keys that no field may set, because the application gives these keys another meaning. HTTP_PROXY is a proxy
 * setting of many HTTP clients (CVE-2016-5385). The other three come only from field names with an
 * underscore. The application could mistake them for the fields that frame and describe the body. */
static bool is_reserved(const char *key, size_t len)
{
    static const char *const reserved[] = {"HTTP_PROXY", "HTTP_CONTENT_LENGTH", "HTTP_CONTENT_TYPE",
                                           "HTTP_TRANSFER_ENCODING"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (len == strlen(reserved[i]) && memcmp(key, reserved[i], len) == 0) return true;
    return false;
}

/* toupper() depends on the locale, so it is not used. */
static char upper(char letter)
{
    if (letter == '-') return '_';
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

static SV *prefixed_key(pTHX_ const struct bb_field *field)
{
    SV *buffer = sv_2mortal(newSVpvs("HTTP_"));
    size_t prefix = SvCUR(buffer), len = prefix + field->name_len;
    char *name = SvGROW(buffer, len + 1);
    for (size_t i = 0; i < field->name_len; i++) name[prefix + i] = upper(field->name[i]);
    return is_reserved(name, len) ? NULL : newSVpvn_share(name, (I32)len, 0);
}

/* Returns a new SV, or NULL. */
static SV *make_key(pTHX_ const struct bb_field *field)
{
    switch (field->kind) {
    case BB_FIELD_CONTENT_LENGTH:
        return newSVpvs_share("CONTENT_LENGTH");
    case BB_FIELD_CONTENT_TYPE:
        return newSVpvs_share("CONTENT_TYPE");
    case BB_FIELD_TRANSFER_ENCODING:
        return NULL; /* the body is decoded */
    default:
        return prefixed_key(aTHX_ field);
    }
}

SV *bbp_keys_of(pTHX_ struct bbp_core *core, const struct bb_field *field)
{
    if (field->id == 0) {
        SV *key = make_key(aTHX_ field);
        return key ? sv_2mortal(key) : NULL;
    }
    SV **kept = &core->keys[field->id];
    if (!*kept && !(*kept = make_key(aTHX_ field))) *kept = &PL_sv_undef;
    return *kept == &PL_sv_undef ? NULL : *kept;
}
