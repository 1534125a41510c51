/* rb_file.c: files that the core sends, so that no Ruby String gets their bytes: a body with `to_path`, and
 * the fields X-Sendfile and X-Accel-Redirect. rb_reply.c uses it. */
#include "rb_bontebok.h"

#include <unistd.h>

static ID id_to_path;

/* Returns the path as a String, or nil if the body names no file. */
static VALUE path_of(struct bbr_exchange *exchange, VALUE body)
{
    bool limited = bbr_time_stop(exchange);
    VALUE path = rb_check_funcall(body, id_to_path, 0, NULL);
    if (limited) bbr_time_go_on_limited(exchange);
    return path == Qundef || NIL_P(path) ? Qnil : rb_get_path(path);
}

bool bbr_file_reply(struct bbr_exchange *exchange, VALUE body)
{
    struct bb_lane *core = exchange->lane->core;
    int fd;
    uint64_t size;
    if (!bb_reply_takes_file(core, UINT64_MAX)) return false;
    VALUE path = path_of(exchange, body);
    if (NIL_P(path) || bb_file_open(core, StringValueCStr(path), &fd, &size) != BB_OK) return false;
    RB_GC_GUARD(path);
    if (!bb_reply_takes_file(core, size)) {
        (void)close(fd);
        return false;
    }
    bbr_reply_check(exchange, bb_reply_file(core, fd, size));
    return true;
}

bool bbr_file_reply_named(struct bbr_exchange *exchange)
{
    bool answered;
    bbr_reply_check(exchange, bb_reply_named_file(exchange->lane->core, &answered));
    return answered;
}

void bbr_init_file(void)
{
    id_to_path = rb_intern("to_path");
}
