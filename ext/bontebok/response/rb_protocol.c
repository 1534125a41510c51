/* rb_protocol.c: rack.protocol (SPEC of Rack 3.1): the protocols that the client offers in Upgrade (RFC 9110
 * 7.8), and the protocol that the application chooses. */
#include "rb_bontebok.h"

static VALUE response_key;
static ID id_strip;

static void add_offers(VALUE offers, const struct bb_field *field)
{
    VALUE value = bbr_string((struct bb_slice){field->value, field->value_len});
    VALUE list = rb_str_split(value, ",");
    for (long i = 0; i < RARRAY_LEN(list); i++) {
        VALUE offer = rb_funcallv(rb_ary_entry(list, i), id_strip, 0, NULL);
        if (RSTRING_LEN(offer) > 0) rb_ary_push(offers, offer);
    }
}

VALUE bbr_protocol_offers(const struct bb_request *request)
{
    VALUE offers = rb_ary_new();
    for (unsigned i = 0; i < request->head.field_count; i++)
        if (request->head.fields[i].kind == BB_FIELD_UPGRADE) add_offers(offers, &request->head.fields[i]);
    return offers;
}

VALUE bbr_protocol_chosen(const struct bbr_exchange *exchange, VALUE headers)
{
    if (!exchange->request->head.upgrade || !RB_TYPE_P(headers, T_HASH)) return Qnil;
    return rb_hash_lookup(headers, response_key);
}

void bbr_init_protocol(void)
{
    id_strip = rb_intern("strip");
    response_key = bbr_keep(rb_str_freeze(rb_str_new_cstr("rack.protocol")));
}
