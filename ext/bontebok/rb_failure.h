/* rb_failure.h: the part of rb_bontebok.h about failures of the application, and about processes that the
 * application forks. rb_bontebok.h includes this file. */
#ifndef RB_FAILURE_H
#define RB_FAILURE_H

struct bbr_exchange;
struct bbr_lane;

/* ---- rb_process.c ---- */

/* Ends a process that the application has forked. Flushes all IOs, as Ruby's exit does, but runs no exit
 * handlers, because the exit handlers belong to the server. */
NORETURN(void bbr_leave_child(int status));

/* The exit status of a child that was ended by this exception, or by nil: that of a SystemExit, or
 * EXIT_FAILURE. */
int bbr_child_status(VALUE error);

/* Whether this is a process that the application has forked inside of a request. */
bool bbr_lane_is_child(const struct bbr_lane *lane);

/* If bbr_lane_is_child() is true, ends the process and sends nothing to the client. */
void bbr_lane_leave_if_child(const struct bbr_lane *lane);

/* ---- rb_error.c ---- */

/* Logs a failure of the application. The log line has the request's method and path, then `text`. */
void bbr_log_failure(struct bbr_exchange *exchange, const char *text, VALUE error);

/* Called when code of the application has returned, or has raised this exception. If bbr_lane_is_child() is
 * true, logs the exception and ends the process. error: nil: there is none. */
void bbr_leave_if_child(struct bbr_exchange *exchange, VALUE error);

/* Logs the failure, calls on_error and returns its result. Reports "leave" if the application has asked this
 * process to end. */
VALUE bbr_tell_failure(struct bbr_exchange *exchange, VALUE error);

/* Whether the error is the RequestTimeout that was raised in this request. */
bool bbr_is_timeout(const struct bbr_exchange *exchange, VALUE error);

/* Called if a response of on_error is not sent. Closes the body of this response. */
void bbr_drop_response(struct bbr_exchange *exchange, VALUE response);

/* Handles a failure after the response, or between two requests. The client does not see such a failure. */
void bbr_failed_late(struct bbr_exchange *exchange, VALUE error);

/* Logs that the body is incomplete, if this is why bb_reply_end() has failed with `code`. */
void bbr_failed_short(struct bbr_exchange *exchange, int code);

/* ---- rb_failed.c ---- */

/* Handles a failure of the application. Logs it, and reports "leave" if the application has asked this
 * process to end. If no byte was sent, responds with the result of on_error, or with 500 or 504. */
void bbr_failed(struct bbr_exchange *exchange, VALUE error);

#endif
