/* rb_bontebok.h: what the C files of the Ruby binding share, and the map of the binding. The binding runs a
 * loop around bb_lane_next(). It makes a Rack environment from each request. It makes a response from each
 * triplet that the application returns. The binding includes only the core's public header. It uses no
 * constant of lib/ (the server's Ruby code). lib passes a callable to Lane.new, and the binding reports to
 * this callable.
 *
 * Map: the sections are in the order of the files, from the lowest (rb_util.c) to the highest (rb_init.c). A
 * file calls only files whose sections come before its own.
 *
 * Names: a function with the prefix bbr_ ("Bontebok in Ruby") is called from other files. A function without
 * the prefix is static.
 *
 * Two rules hold in every file. First, a call that may run Ruby code may leave by longjmp(), so no function
 * holds memory or a descriptor across such a call. One rb_ensure() around the whole loop (rb_lane.c) ends an
 * unfinished request. Second, a pointer into a Ruby object, or to the struct of one that can be closed, is
 * taken after the last call that may run Ruby code or release the GVL. Conversions such as NUM2INT() may run
 * Ruby code. If a pointer is needed for longer, it points into a frozen copy. If something is allocated
 * before the last use of the pointer, RB_GC_GUARD(object) comes after that use. Otherwise a compacting GC may
 * move the object, and with it the bytes of a short String.
 */
#ifndef RB_BONTEBOK_H
#define RB_BONTEBOK_H

#include <bontebok.h>
#include <ruby.h>
#include <sys/types.h>

#include "rb_detached.h"
#include "rb_failure.h"
#include "rb_request_body.h"
#include "rb_shared.h"

#define BBR_LISTENERS_MAX 64
#define BBR_NEVER         UINT64_MAX

/* ---- the structs that all files use ---- */

/* The core's worker, and how many Ruby objects hold it. The GC frees objects in any order, but the lanes must
 * be freed before the worker. So the last holder frees the worker. */
struct bbr_worker {
    struct bb_worker *core;
    struct bbr_scoreboard *scoreboard, *counter; /* held; NULL: there is none */
    struct bbr_metrics *metrics;                 /* held; NULL: there are none */
    struct bbr_public *pub;                      /* held; NULL: no files are served */
    pid_t pid;
    unsigned holders;
    /* The GVL guards all fields below. */
    uint64_t requests;      /* requests that the worker's lanes have served */
    uint64_t requests_then; /* value of `requests` when lib last called Worker#rest (rb_worker.c) */
    unsigned in_hand;       /* requests that the worker's lanes have now */
    /* Worker#rest has returned true, and no request has come since then. The next request must be reported to
     * lib as :busy. */
    bool resting;
    bool soft_limit; /* request_timeout_soft is set */
    bool x_sendfile; /* the option x_sendfile is set */
    /* lib does its out-of-band work when `requests` has reached `out_of_band` and the worker is idle. If
     * `requests` reaches `out_of_band_latest` first, lib does the work although the worker is not idle.
     * BBR_NEVER: lib has ordered no work. */
    uint64_t out_of_band, out_of_band_latest;
};

/* The part of the env that depends on the listener. */
struct bbr_endpoint {
    VALUE template; /* a Hash; the env of each request is a copy of this Hash */
    VALUE name, port;
    bool unix_socket;
};

struct bbr_shapes;

struct bbr_lane {
    struct bb_lane *core;
    struct bbr_worker *worker;
    pid_t pid;
    VALUE worker_object, app, report, on_error, no_input;
    VALUE finished, after_reply; /* the Arrays in every env of the lane (rb_finish.c) */
    VALUE keys[256]; /* keys[id]: the env's key for the field name with this id (bb_field.id). 0: no such
                        field was seen yet. nil: the env does not show the field */
    struct bbr_endpoint *endpoints;
    unsigned endpoint_count;
    struct bbr_shapes *shapes;     /* NULL unless the option frozen_env is set */
    struct bbr_exchange *exchange; /* NULL: no thread runs Lane#serve */
    bool raising;                  /* another thread is raising RequestTimeout in the lane's thread */
    bool show_errors;
    bool http_version; /* the fixed part of the env has HTTP_VERSION */
    bool asterisk;     /* PATH_INFO of "OPTIONS *" is "*", else it is empty */
    uint64_t max_requests;
};

/* The state of Lane#serve: one request and its response. The struct is on the C stack of Lane#serve. The GC
 * finds the VALUEs there, and no store needs a write barrier. */
struct bbr_exchange {
    VALUE self; /* the Lane */
    struct bbr_lane *lane;
    VALUE thread;

    const struct bb_request *request; /* NULL between two requests */
    VALUE env;
    VALUE input;            /* nil, or the Input that reads this request's body */
    VALUE each;             /* nil, or the object of the block of `each` (rb_each.c) */
    VALUE stream;           /* nil, or the Stream of this response */
    VALUE status, headers;  /* of the application's response, or nil */
    VALUE partial;          /* the value of the response's field rack.hijack, or nil */
    VALUE error;            /* nil, or the exception that has ended the request */
    VALUE body;             /* the body that must still be closed, or Qundef */
    bool body_tells_closed; /* to_ary may have closed the body, so ask `closed?` before `close` */
    unsigned interims;      /* interim responses that were begun; a field of one may begin another */
    bool gone;              /* the client has closed the connection, or does not read */
    bool detached;          /* the connection has left the lane: hijacked, or it belongs to the stream */
    bool hijacked;          /* the application has the connection's socket */
    bool broken;            /* no complete response was sent; the request must end with bb_reply_abort() */
    bool limited;           /* RequestTimeout may be raised now */
    bool timed_out;         /* RequestTimeout was raised in this request, or is being raised */
};

/* ---- rb_util.c ---- */

extern VALUE bbr_eInvalidReply; /* the application has returned no valid response */
extern VALUE bbr_eClientGone;   /* raised if the client is gone when the application sends or reads bytes */
extern VALUE bbr_eBadBody;      /* raised if the application reads a body that the core rejects */
extern VALUE bbr_eTimeout;      /* raised in a request that takes too long */

/* Raises the exception for a negative code. */
NORETURN(void bbr_raise(int code));

/* Returns a new binary String of these bytes. */
static inline VALUE bbr_string(struct bb_slice bytes)
{
    return rb_str_new(bytes.at, (long)bytes.len);
}

/* Returns the interned binary String with the bytes of this String. */
VALUE bbr_fixed(VALUE string);

/* Returns the interned UTF-8 String of this name. An equal literal in a Ruby source file is the same object,
 * so a Hash lookup by that literal compares no bytes. */
VALUE bbr_key(const char *name, size_t len);

static inline struct bb_slice bbr_bytes(VALUE string)
{
    return (struct bb_slice){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

/* The argument `length` of a method that reads as IO#read: bytes, or LONG_MAX for nil. Raises ArgumentError
 * if it is negative. */
long bbr_read_length(VALUE length);

/* Protects a VALUE from the GC until the process ends, and returns the VALUE. */
VALUE bbr_keep(VALUE object);

/* Returns the name of the object's class, a String. rb_obj_classname() returns a pointer to bytes, which the
 * GC may free too early if the class has no name. */
static inline VALUE bbr_class_name(VALUE object)
{
    return rb_class_path(rb_obj_class(object));
}

/* Calls a function that may raise. Returns nil, or the exception that the function raised. A kill of the
 * thread, or a throw to a catch outside of Lane#serve, is not caught. */
VALUE bbr_attempt(VALUE (*function)(VALUE), VALUE argument);

/* Calls lib's callable `report` with level, message and error. Ignores exceptions that it raises. */
void bbr_report(struct bbr_exchange *exchange, const char *level, VALUE message, VALUE error);
void bbr_report_to(VALUE report, const char *level, VALUE message, VALUE error);

/* Returns the text of the event for the log, a String. */
VALUE bbr_event_text(const struct bb_event *event);

const char *bbr_event_level(const struct bb_event *event);

/* ---- rb_wait.c ---- */

/* Calls bb_lane_wait(), bb_reply_wait() or bb_reply_wait_until_sent() without the GVL. Returns the code of
 * the call. */
int bbr_wait(struct bbr_lane *lane, int (*call)(struct bb_lane *core));

/* Waits until the descriptor is ready, at most about a second. events: RB_WAITFD_IN or RB_WAITFD_OUT. A fiber
 * of a non-blocking thread waits in the fiber scheduler, so that other fibers of the thread can run.
 * Otherwise calls wait(argument) without the GVL, or IO#wait if `wait` is NULL. */
void bbr_wait_for_descriptor(int fd, int events, void *(*wait)(void *), void *argument);

/* ---- rb_process.c: rb_failure.h ---- */

/* ---- rb_env_keys.c ---- */

/* The keys that the binding itself sets. */
enum bbr_env_key {
    BBR_REQUEST_METHOD,
    BBR_PATH_INFO,
    BBR_QUERY_STRING,
    BBR_REQUEST_URI,
    BBR_SERVER_NAME,
    BBR_SERVER_PORT,
    BBR_SERVER_PROTOCOL,
    BBR_REMOTE_ADDR,
    BBR_CONTENT_LENGTH,
    BBR_CONTENT_TYPE,
    BBR_HTTP_VERSION,
    BBR_RACK_INPUT,
    BBR_QUEUE_TIME,
    BBR_PROXY_TIME,
    BBR_PROTOCOL,
    BBR_HIJACK_IO,
    BBR_RESPONSE_FINISHED,
    BBR_AFTER_REPLY,
    BBR_ENV_KEYS,
};
extern VALUE bbr_env_keys[BBR_ENV_KEYS];
extern VALUE bbr_empty; /* the interned empty String */

/* "GET /path" of an env, without the query, for the log. The bytes may have any encoding. */
VALUE bbr_env_label(VALUE env);

/* SERVER_PORT of a request that names a host. */
struct bb_slice bbr_env_port(const struct bb_head *head);

/* ---- rb_error.c: rb_failure.h ---- */

/* ---- rb_time.c ---- */

/* Like bbr_attempt(), but request_timeout_soft may interrupt the function. */
VALUE bbr_attempt_limited(VALUE (*function)(VALUE), struct bbr_exchange *exchange);

/* bbr_time_stop() begins a part of a request that request_timeout_soft must not interrupt. It raises a
 * RequestTimeout that is already queued for this thread. It returns the old value of exchange->limited. If
 * true, call bbr_time_go_on_limited() at the end of that part. */
bool bbr_time_stop_limited(struct bbr_exchange *exchange);
void bbr_time_go_on_limited(struct bbr_exchange *exchange);

static inline bool bbr_time_stop(struct bbr_exchange *exchange)
{
    return RB_UNLIKELY(exchange->lane->worker->soft_limit) && bbr_time_stop_limited(exchange);
}

static inline VALUE bbr_attempt_in_time(VALUE (*function)(VALUE), struct bbr_exchange *exchange)
{
    if (RB_UNLIKELY(exchange->lane->worker->soft_limit)) return bbr_attempt_limited(function, exchange);
    return bbr_attempt(function, (VALUE)exchange);
}

/* ---- rb_env_names.c ---- */

/* A field's value, as the env shows it. */
static inline struct bb_slice bbr_field_value(const struct bb_head *head, const struct bb_field *field)
{
    /* The authority of an absolute target replaces Host, RFC 9112 3.2.2. Without an absolute target the
     * authority has the same bytes as Host. */
    if (field->kind == BB_FIELD_HOST) return head->authority;
    return (struct bb_slice){field->value, field->value_len};
}

/* The env's key for a field, or nil if the env does not show the field. */
VALUE bbr_names_key(struct bbr_exchange *exchange, const struct bb_field *field);

/* ---- rb_env_shape.c ---- */

struct bbr_shapes *bbr_shapes_new(void);
size_t bbr_shapes_size(void);
void bbr_shapes_each_value(struct bbr_shapes *shapes, void (*visit)(VALUE *));
void bbr_shapes_forget(struct bbr_shapes *shapes); /* all of them: a value of their templates has changed */

/* Returns the env of a request, without target, protocol and body. Qundef: the lane has no template for the
 * field names of this request. */
VALUE bbr_shapes_env(struct bbr_exchange *exchange);

/* ---- rb_input_receive.c, rb_input.c, rb_input_read.c, rb_input_lines.c: rb_request_body.h ---- */

/* ---- rb_env.c ---- */

/* Returns a Hash with the values that all requests to a listener share. It also has the keys that each
 * request sets. */
VALUE bbr_env_template(VALUE base, const struct bbr_endpoint *endpoint, VALUE no_input);

/* The env of the current request. */
VALUE bbr_env_build(struct bbr_exchange *exchange);

/* ---- rb_send.c ---- */

/* Raises the exception for a failure code of the core. */
NORETURN(void bbr_reply_fail(struct bbr_exchange *exchange, int code));

static inline void bbr_reply_check(struct bbr_exchange *exchange, int code)
{
    if (RB_UNLIKELY(code < 0)) bbr_reply_fail(exchange, code);
}

/* Sends slices of the body. Returns BB_OK: the core has taken all of them; BB_AGAIN: the core has taken
 * *taken bytes, and the caller has to wait for the client. Does not run Ruby code, unless it raises. */
int bbr_send_once(struct bbr_exchange *exchange, const struct bb_slice *slices, size_t count, bool last,
                  uint64_t *taken);

/* Waits for the client. Only for the thread that serves the request. During the wait, other threads may have
 * changed the Strings, so the caller must fetch the pointers to their bytes again. */
void bbr_send_wait(struct bbr_exchange *exchange);

/* Calls both. True: the core has taken all slices. */
bool bbr_send_slices(struct bbr_exchange *exchange, const struct bb_slice *slices, size_t count, bool last,
                     uint64_t *taken);

/* Sends the head, or the pending bytes. last: also ends the body. */
void bbr_reply_flush(struct bbr_exchange *exchange, bool last);

/* The String of a body part. Raises if the part is not a String. */
VALUE bbr_reply_string(VALUE part);

/* ---- rb_reply.c ---- */

/* Responds to the current request with the triplet that the application has returned. */
void bbr_reply(struct bbr_exchange *exchange, VALUE triplet);

/* Sends an interim response, before the response to the current request. */
void bbr_reply_interim(struct bbr_exchange *exchange, int status, VALUE headers);

/* The binding's own response: a text. */
void bbr_reply_text(struct bbr_exchange *exchange, int status, VALUE text);

/* ---- rb_failed.c: rb_failure.h ---- */

/* ---- rb_serve.c ---- */

/* Serves until the worker has drained. argument: the exchange. */
VALUE bbr_serve(VALUE argument);

/* Cleans up after bbr_serve(), also after an unwind. argument: the exchange. */
VALUE bbr_stop_serving(VALUE argument);

/* ---- rb_scoreboard.c, rb_metrics.c, rb_public.c: rb_shared.h ---- */

/* ---- rb_settings.c, rb_worker.c ---- */

/* The settings of a Hash or nil. Its keys are those of SETTINGS, and the names of the texts. */
struct bb_settings bbr_settings_of(VALUE given);

/* Returns the C struct of a Ruby object of the class Worker, and holds the struct until bbr_worker_release().
 * Raises if the object is no Worker, is not initialized, or is closed. */
struct bbr_worker *bbr_worker_hold(VALUE object);
void bbr_worker_release(struct bbr_worker *worker);

/* Returns the C struct of a Ruby object of the class Worker, without holding it. Raises as bbr_worker_hold().
 */
struct bbr_worker *bbr_worker_of(VALUE object);

/* The listeners of a Worker: an Array of [name, port, true for a unix socket]. */
VALUE bbr_worker_listeners(VALUE object);

/* ---- rb_worker_links.c: only methods of Worker ---- */

/* ---- rb_lane.c, rb_lane_time.c ---- */

/* Returns the C struct of a Ruby object of the class Lane. Raises if the object is not initialized, or is
 * closed. */
struct bbr_lane *bbr_lane_of(VALUE self);

/* ---- rb_init.c ---- */

/* Init_bontebok() calls each of these once. */
void bbr_init_util(VALUE bontebok, VALUE core);
void bbr_init_env_keys(void);
void bbr_init_failed(void);
void bbr_init_serve(void);
void bbr_init_lane_time(VALUE core);
void bbr_init_scoreboard(VALUE core);
void bbr_init_metrics(VALUE core);
void bbr_init_public(VALUE core);
void bbr_init_worker(VALUE core);
void bbr_init_worker_links(VALUE core);
void bbr_init_lane(VALUE core);
void bbr_init_env(void);
void bbr_init_reply(void);
void bbr_init_error(void);
void bbr_init_process(VALUE core);

#endif
