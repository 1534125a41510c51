/* rb_env_shape.c: builds the env (Rack environment of a request) if the option frozen_env is set. A value
 * that is the same as in the last request of the same shape (see below) is not made again. rb_env.c uses this
 * file. The file is not for requests with a repeated field name, or with a name that has no id (bb_field.id).
 *
 * A shape is a listener and the ordered names of a request's fields. Clients send few shapes, again and
 * again, mostly with the same values. Each shape owns a template Hash with its keys and the last values.
 * These values are frozen, and the requests share them. A request gets a copy of the template in which only
 * the different values are replaced.
 *
 *   slots    method | server name | server port | peer | field 0 | field 1 | ...
 *   a slot   key, the value in the template, the number of requests in a row with another value
 */
#include "rb_bontebok.h"

#include <string.h>

#define SHAPES          16
#define SHAPE_FIELDS    64
#define FIXED_SLOTS     4
#define RELEARN_AFTER   8    /* misses in a row; fewer are not worth a store into the old template */
#define VALUE_MAX_BYTES 1024 /* longer values are not kept */
#define SEEN            64

struct slot {
    VALUE key;   /* nil: the env does not show the field */
    VALUE value; /* Qfalse: never kept */
    uint8_t misses;
};

struct shape {
    uint32_t hash;
    unsigned listener, field_count;
    uint8_t ids[SHAPE_FIELDS];
    VALUE template;
    struct slot slots[FIXED_SLOTS + SHAPE_FIELDS];
};

struct bbr_shapes {
    struct shape shapes[SHAPES];
    unsigned count, last, replaced;
    uint32_t seen[SEEN]; /* hashes of recent shapes; a shape is kept from its second request on */
};

struct bbr_shapes *bbr_shapes_new(void)
{
    return ZALLOC(struct bbr_shapes);
}

size_t bbr_shapes_size(void)
{
    return sizeof(struct bbr_shapes);
}

void bbr_shapes_each_value(struct bbr_shapes *shapes, void (*visit)(VALUE *))
{
    for (unsigned i = 0; i < shapes->count; i++) {
        struct shape *shape = &shapes->shapes[i];
        visit(&shape->template);
        for (unsigned j = 0; j < FIXED_SLOTS + shape->field_count; j++) {
            visit(&shape->slots[j].key);
            visit(&shape->slots[j].value);
        }
    }
}

void bbr_shapes_forget(struct bbr_shapes *shapes)
{
    shapes->count = shapes->last = 0;
}

/* ---- which shape ---- */

/* False: too many fields, a name without an id, or two names that may share a key. */
static bool read_ids(const struct bb_head *head, uint8_t ids[SHAPE_FIELDS])
{
    if (head->repeats || head->field_count > SHAPE_FIELDS) return false;
    for (unsigned i = 0; i < head->field_count; i++) {
        if (head->fields[i].id == 0) return false;
        ids[i] = head->fields[i].id;
    }
    return true;
}

/* FNV-1a. Collisions are harmless, because matches() compares the ids. */
static uint32_t hash_of(unsigned listener, const uint8_t *ids, unsigned count)
{
    uint32_t hash = 2166136261U ^ listener;
    for (unsigned i = 0; i < count; i++) hash = (hash ^ ids[i]) * 16777619U;
    return hash;
}

static bool matches(const struct shape *shape, uint32_t hash, const struct bb_request *request,
                    const uint8_t *ids)
{
    return shape->hash == hash && shape->listener == request->listener &&
           shape->field_count == request->head.field_count &&
           memcmp(shape->ids, ids, shape->field_count) == 0;
}

static struct shape *find(struct bbr_shapes *shapes, uint32_t hash, const struct bb_request *request,
                          const uint8_t *ids)
{
    if (shapes->count > 0 && matches(&shapes->shapes[shapes->last], hash, request, ids))
        return &shapes->shapes[shapes->last];
    for (unsigned i = 0; i < shapes->count; i++) {
        if (!matches(&shapes->shapes[i], hash, request, ids)) continue;
        shapes->last = i;
        return &shapes->shapes[i];
    }
    return NULL;
}

/* Without this check, a client that never sends the same names twice would cost a template per request. */
static bool seen_before(struct bbr_shapes *shapes, uint32_t hash)
{
    uint32_t *seen = &shapes->seen[hash % SEEN];
    if (*seen == hash) return true;
    *seen = hash;
    return false;
}

/* ---- learning ---- */

/* Returns an empty place for another shape. If all places are in use, the oldest shape is replaced. */
static struct shape *make_room(struct bbr_shapes *shapes)
{
    unsigned place = shapes->count < SHAPES ? shapes->count++ : shapes->replaced++ % SHAPES;
    memset(&shapes->shapes[place], 0, sizeof *shapes->shapes);
    shapes->last = place;
    return &shapes->shapes[place];
}

/* The value of a secret field is not kept beyond its request, and not compared with another client's value.
 */
static bool is_secret(const struct bb_field *field)
{
    return field->kind == BB_FIELD_COOKIE || field->kind == BB_FIELD_AUTHORIZATION;
}

static void fill_slot(VALUE self, struct slot *slot, VALUE template, VALUE key, bool secret)
{
    RB_OBJ_WRITE(self, &slot->key, key);
    if (!secret && !NIL_P(key)) RB_OBJ_WRITE(self, &slot->value, rb_hash_aref(template, key));
    slot->misses = RELEARN_AFTER; /* the template gets the first value at once */
}

static struct shape *learn(struct bbr_exchange *exchange, uint32_t hash, const uint8_t *ids)
{
    static const enum bbr_env_key fixed_keys[FIXED_SLOTS] = {BBR_REQUEST_METHOD, BBR_SERVER_NAME,
                                                             BBR_SERVER_PORT, BBR_REMOTE_ADDR};
    const struct bb_request *request = exchange->request;
    const struct bb_head *head = &request->head;
    VALUE self = exchange->self,
          template = rb_hash_dup(exchange->lane->endpoints[request->listener].template);
    struct shape *shape = make_room(exchange->lane->shapes);

    shape->field_count = head->field_count;
    RB_OBJ_WRITE(self, &shape->template, template);
    for (unsigned i = 0; i < FIXED_SLOTS; i++)
        fill_slot(self, &shape->slots[i], template, bbr_env_keys[fixed_keys[i]], false);
    for (unsigned i = 0; i < head->field_count; i++) {
        VALUE key = bbr_names_key(exchange, &head->fields[i]);
        if (!NIL_P(key)) rb_hash_aset(template, key, bbr_empty);
        fill_slot(self, &shape->slots[FIXED_SLOTS + i], template, key, is_secret(&head->fields[i]));
    }
    /* find() can match the shape only from here on. An exception above leaves a place that matches nothing.
     */
    memcpy(shape->ids, ids, head->field_count);
    shape->listener = request->listener;
    shape->hash = hash;
    return shape;
}

/* ---- the env ---- */

/* Stores a value into the env, unless the copy of the template has it already. */
static void put(VALUE self, VALUE env, const struct shape *shape, struct slot *slot, struct bb_slice value)
{
    if (NIL_P(slot->key)) return;
    if (slot->value) {
        struct bb_slice kept = bbr_bytes(slot->value);
        if (kept.len == value.len && memcmp(kept.at, value.at, value.len) == 0) {
            if (slot->misses > 0) slot->misses = 0;
            return;
        }
    }
    VALUE string = bbr_string(value);
    if (slot->value && slot->misses++ >= RELEARN_AFTER - 1 && value.len <= VALUE_MAX_BYTES) {
        rb_hash_aset(shape->template, slot->key, rb_obj_freeze(string));
        RB_OBJ_WRITE(self, &slot->value, string);
        slot->misses = 0;
    }
    rb_hash_aset(env, slot->key, string);
}

VALUE bbr_shapes_env(struct bbr_exchange *exchange)
{
    const struct bb_request *request = exchange->request;
    const struct bb_head *head = &request->head;
    struct bbr_lane *lane = exchange->lane;
    uint8_t ids[SHAPE_FIELDS];
    if (!read_ids(head, ids)) return Qundef;

    uint32_t hash = hash_of(request->listener, ids, head->field_count);
    struct shape *shape = find(lane->shapes, hash, request, ids);
    if (!shape) {
        if (!seen_before(lane->shapes, hash)) return Qundef;
        shape = learn(exchange, hash, ids);
    }

    const struct bbr_endpoint *endpoint = &lane->endpoints[request->listener];
    VALUE name = endpoint->name, port = endpoint->port;
    bool named = head->host.len > 0;
    const struct bb_slice fixed[FIXED_SLOTS] = {head->method, named ? head->host : bbr_bytes(name),
                                                named ? bbr_env_port(head) : bbr_bytes(port), request->peer};
    VALUE env = rb_hash_dup(shape->template);
    for (unsigned i = 0; i < FIXED_SLOTS; i++) put(exchange->self, env, shape, &shape->slots[i], fixed[i]);
    for (unsigned i = 0; i < head->field_count; i++)
        put(exchange->self, env, shape, &shape->slots[FIXED_SLOTS + i],
            bbr_field_value(head, &head->fields[i]));
    RB_GC_GUARD(name);
    RB_GC_GUARD(port);
    return env;
}
