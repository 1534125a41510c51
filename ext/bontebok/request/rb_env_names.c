/* rb_env_names.c: makes the key in the Rack environment (env) for a field name (RFC 3875 4.1.18: "HTTP_" and
 * the name in capitals, with "_" for "-"). The core gives an id (bb_field.id) to each name that a lane has
 * learned, and the lane keeps the key of each id. Keys of names without an id are made for each request.
 * rb_env.c and rb_env_shape.c use this file. */
#include "rb_bontebok.h"

#include <string.h>

/* Keys that no field may set, because the application gives these keys another meaning. HTTP_VERSION is the
 * binding's own key. HTTP_PROXY is a proxy setting of many HTTP clients (CVE-2016-5385). The other three come
 * only from field names with an underscore. The application could mistake them for the fields that frame and
 * describe the body. */
static bool is_reserved(const char *key, size_t len)
{
    static const char *const reserved[] = {"HTTP_VERSION", "HTTP_PROXY", "HTTP_CONTENT_LENGTH",
                                           "HTTP_CONTENT_TYPE", "HTTP_TRANSFER_ENCODING"};
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

static VALUE prefixed_key(const struct bb_field *field)
{
    static const char prefix[] = "HTTP_";
    const size_t prefix_len = sizeof prefix - 1, len = prefix_len + field->name_len;
    VALUE buffer;
    char *name = ALLOCV_N(char, buffer, len);
    memcpy(name, prefix, prefix_len);
    for (size_t i = 0; i < field->name_len; i++) name[prefix_len + i] = upper(field->name[i]);
    VALUE key = is_reserved(name, len) ? Qnil : bbr_key(name, len);
    ALLOCV_END(buffer);
    return key;
}

static VALUE make_key(const struct bb_field *field)
{
    switch (field->kind) {
    case BB_FIELD_CONTENT_LENGTH:
        return bbr_env_keys[BBR_CONTENT_LENGTH];
    case BB_FIELD_CONTENT_TYPE:
        return bbr_env_keys[BBR_CONTENT_TYPE];
    case BB_FIELD_TRANSFER_ENCODING:
        return Qnil; /* the body is decoded */
    default:
        return prefixed_key(field);
    }
}

VALUE bbr_names_key(struct bbr_exchange *exchange, const struct bb_field *field)
{
    if (field->id == 0) return make_key(field);
    VALUE *kept = &exchange->lane->keys[field->id];
    if (!*kept) RB_OBJ_WRITE(exchange->self, kept, make_key(field));
    return *kept;
}
