/* sigpipe.h: calls that have no MSG_NOSIGNAL, sendfile(2) and write(2) to a pipe, and that must not end the
 * process if nobody reads. For the host's own writes, the action of SIGPIPE that the host has chosen stays in
 * effect. See docs/decisions/0022-the-host-keeps-its-sigpipe.md. Used by file_source.c and log_sink.c. */
#ifndef BB_SIGPIPE_H
#define BB_SIGPIPE_H

/* Prepares the process for the other two calls. If SIGPIPE has its default action, replaces the action by a
 * handler. Outside of the other two calls, the handler does what the default action does. One system call;
 * one more if the action was the default one. */
void bb__sigpipe_prepare(void);

/* Between these two calls, this thread survives SIGPIPE, and the call that raises it fails with EPIPE. No
 * system calls. */
void bb__sigpipe_hold(void);
void bb__sigpipe_release(void);

#endif
