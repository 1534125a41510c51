/* rb_detached.h: the part of rb_bontebok.h about responses that may leave their lane, and about work after a
 * response. rb_bontebok.h includes this file. */
#ifndef RB_DETACHED_H
#define RB_DETACHED_H

struct bbr_exchange;
struct bbr_lane;

/* ---- rb_each.c ---- */

/* Sends the parts that the body's `each` yields, and ends the body. */
void bbr_each_reply(struct bbr_exchange *exchange, VALUE body);
void bbr_each_detach(VALUE each);

/* ---- rb_file.c ---- */

/* Sends the file that the body's `to_path` names. False: the body has no `to_path`, `to_path` is nil, or the
 * file cannot be opened or is not the whole body. The caller then sends the body in the usual way. */
bool bbr_file_reply(struct bbr_exchange *exchange, VALUE body);

/* Sends the file that X-Sendfile or X-Accel-Redirect names, if the option x_sendfile is set. False: nothing
 * was sent. */
bool bbr_file_reply_named(struct bbr_exchange *exchange);

/* ---- rb_finish.c ---- */

/* Returns the work that is left after the response: an Array for bbr_finish_run(). body: the body to close,
 * or nil. */
VALUE bbr_finish_take(struct bbr_exchange *exchange, VALUE body);

/* Called before a request. Drops callables that were added between two requests, when their own request had
 * ended. Replaces Arrays that the application has frozen. */
void bbr_finish_forget(const struct bbr_exchange *exchange);

/* Notes why the response is incomplete. */
void bbr_finish_failed(VALUE rest, VALUE error);

/* False: the work was done, or this is a process that the application has forked. */
bool bbr_finish_is_due(VALUE rest);

/* If the work is due, closes the body, and calls rack.after_reply and rack.response_finished. Raises nothing.
 * Returns nil. */
VALUE bbr_finish_run(VALUE rest);

/* ---- rb_protocol.c ---- */

/* rack.protocol of the env: the protocols that the client offers in Upgrade. */
VALUE bbr_protocol_offers(const struct bb_request *request);

/* The protocol that the application has chosen by the response's rack.protocol, or nil. */
VALUE bbr_protocol_chosen(const struct bbr_exchange *exchange, VALUE headers);

/* ---- rb_stream.c ---- */

/* Returns the Stream of the current response, whose head has been made. The Stream has the connection. */
VALUE bbr_stream_new(struct bbr_exchange *exchange);

/* Sends the head, or waits until the client's socket has all bytes. */
void bbr_stream_flush(VALUE stream);

/* Called before the request ends. If the application has closed the Stream, the lane gets the connection
 * back. Otherwise the Stream goes on, and takes the exchange's body with it. */
void bbr_stream_leave(VALUE stream);

/* Called if the application has failed. Resets the connection. */
void bbr_stream_abort(VALUE stream);

/* ---- rb_hijack.c ---- */

/* Takes the connection of the current request, and returns its socket. Bytes that the client has sent behind
 * the request are in the socket's read buffer. */
VALUE bbr_hijack_socket(struct bbr_exchange *exchange);

/* Sends the head, and calls the value of the response's field rack.hijack with the socket. If the callable
 * does not return, resets the connection. */
void bbr_hijack_reply(struct bbr_exchange *exchange, VALUE callable);

void bbr_init_each(void);
void bbr_init_file(void);
void bbr_init_finish(void);
void bbr_init_protocol(void);
void bbr_init_stream(VALUE core);
void bbr_init_hijack(void);
void bbr_init_lane_calls(VALUE core);

#endif
