/* rb_send.c: hands a response's body to the core: bytes or a file. Waits for the client if the core takes no
 * more bytes. rb_reply.c and rb_stream.c use it. */
#include "rb_bontebok.h"

void bbr_reply_fail(struct bbr_exchange *exchange, int code)
{
    if (code == BB_EGONE) {
        bbr_lane_leave_if_child(exchange->lane); /* a forked child gets BB_EGONE for every response */
        exchange->gone = true;
        rb_raise(bbr_eClientGone, "%s", bb_error_text(code));
    }
    bbr_raise(code);
}

VALUE bbr_reply_string(VALUE part)
{
    if (RB_LIKELY(RB_TYPE_P(part, T_STRING))) return part;
    VALUE string = rb_check_string_type(part);
    if (NIL_P(string))
        rb_raise(bbr_eInvalidReply, "a part of the body must be a String, not an object of %" PRIsVALUE,
                 bbr_class_name(part));
    return string;
}

int bbr_send_once(struct bbr_exchange *exchange, const struct bb_slice *slices, size_t count, bool last,
                  uint64_t *taken)
{
    *taken = 0;
    /* If the application has rescued ClientGone, bytes of the body are missing, so no more bytes may be
     * sent. */
    int code = exchange->gone ? BB_EGONE : bb_reply_write(exchange->lane->core, slices, count, last, taken);
    bbr_reply_check(exchange, code);
    return code;
}

void bbr_send_wait(struct bbr_exchange *exchange)
{
    bbr_reply_check(exchange, bbr_wait(exchange->lane, bb_reply_wait));
}

bool bbr_send_slices(struct bbr_exchange *exchange, const struct bb_slice *slices, size_t count, bool last,
                     uint64_t *taken)
{
    if (RB_LIKELY(bbr_send_once(exchange, slices, count, last, taken) == BB_OK)) return true;
    bbr_send_wait(exchange);
    return false;
}

void bbr_reply_flush(struct bbr_exchange *exchange, bool last)
{
    uint64_t taken;
    while (!bbr_send_slices(exchange, NULL, 0, last, &taken)) continue;
}
