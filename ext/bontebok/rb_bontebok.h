/* rb_bontebok.h: what the files of the Ruby binding share with each other. The binding is a loop around
 * bb_lane_next() and turns the requests it hands out into Rack environments and Rack's triplets into replies.
 * It includes the core's public header alone and knows no constant of lib/: what it has to say goes to the
 * callable that it was given.
 *
 * Names: bbr_ ("Bontebok in Ruby") reaches from file to file, a bare verb is static.
 *
 * Two rules hold everywhere in here. Whatever may run Ruby code may leave by longjmp(): so nothing that must
 * be given back is held across it; one rb_ensure() around the whole loop (rb_lane.c) ends a request that was
 * left in the middle. And a pointer into a Ruby object is taken after the last call that may run Ruby code or
 * release the GVL. If something is allocated before its last use, RB_GC_GUARD(object) comes after that: else
 * a compacting GC may move the object, and the bytes of a short String are in the object itself.
 */
#ifndef RB_BONTEBOK_H
#define RB_BONTEBOK_H

#include <bontebok.h>
#include <ruby.h>
#include <sys/types.h>

#define BBR_LISTENERS_MAX 64

/* ---- rb_util.c ---- */

extern VALUE bbr_eInvalidReply; /* what the application answered is no answer */
extern VALUE bbr_eClientGone;   /* what each, or a stream's write, raises when nobody reads any more */
extern VALUE bbr_eTimeout;      /* what is raised in a request that takes too long */

/* Raises for a negative code. */
NORETURN(void bbr_raise(int code));

/* A new binary String of these bytes. */
static inline VALUE bbr_string(struct bb_slice bytes)
{
    return rb_str_new(bytes.at, (long)bytes.len);
}

/* The one frozen binary String with the bytes of this one. */
VALUE bbr_fixed(VALUE string);

/* The one frozen String that a literal in a source file is as well: a lookup by it compares no bytes. */
VALUE bbr_key(const char *name, size_t len);

static inline struct bb_slice bbr_bytes(VALUE string)
{
    return (struct bb_slice){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

/* Keeps for the life of the process, and returns, a VALUE that C holds. */
VALUE bbr_keep(VALUE object);

/* The name of its class, a String. The bytes behind rb_obj_classname() may be collected before they are used,
 * when the class has none. */
static inline VALUE bbr_class_name(VALUE object)
{
    return rb_class_path(rb_obj_class(object));
}

/* Calls a function that may unwind. nil, or the exception it raised; any other way out (the thread is killed,
 * a throw to a catch outside of Lane#serve) goes on, to the ensure there. */
VALUE bbr_attempt(VALUE (*function)(VALUE), VALUE argument);

/* What the log is to say, as a String, and how loud: the name of a level. */
VALUE bbr_event_text(const struct bb_event *event);
const char *bbr_event_level(const struct bb_event *event);

/* ---- rb_worker.c ---- */

/* The core's worker and who holds it. The GC frees objects in any order, the core wants the lanes to go
 * first. */
struct bbr_worker {
    struct bb_worker *core;
    pid_t pid;
    unsigned holders;
    uint64_t requests;      /* that its lanes have served; counted under the GVL, as all that follows */
    uint64_t requests_then; /* when Worker#rest was called last */
    unsigned in_hand;       /* requests that its lanes have now */
    bool resting;           /* the next request is to be reported */
    bool soft_limit;        /* request_timeout_soft is set */
    /* After so many lib has its turn: at the first moment with nothing to do; at the latest. */
    uint64_t out_of_band, out_of_band_latest;
};

#define BBR_NEVER UINT64_MAX

void bbr_worker_release(struct bbr_worker *worker);

/* The core's scoreboard of a Scoreboard; raises if it has none. Whoever uses it keeps the object. */
struct bb_scoreboard *bbr_scoreboard(VALUE object);

/* The core's worker of a Worker, held until released. Raises unless it is one and was initialized. */
struct bbr_worker *bbr_worker_hold(VALUE object);

/* What it was told of its listeners: an Array of [name, port, true for a unix socket]. */
VALUE bbr_worker_listeners(VALUE object);

/* ---- rb_lane.c ---- */

/* What the env knows of a listener. */
struct bbr_endpoint {
    VALUE template; /* Hash: the env of each request is a copy of it */
    VALUE name, port;
    bool unix_socket;
};

struct bbr_shapes;

struct bbr_lane {
    struct bb_lane *core;
    struct bbr_worker *worker;
    pid_t pid;
    VALUE worker_object, app, report, on_error, no_input;
    VALUE keys[256]; /* by bb_field.id: 0 not seen yet, nil never handed on, else the env's key */
    struct bbr_endpoint *endpoints;
    unsigned endpoint_count;
    struct bbr_shapes *shapes;     /* NULL unless frozen_env */
    struct bbr_exchange *exchange; /* what Lane#serve has in its hands; NULL: nobody serves */
    bool raising;                  /* another thread is about to raise RequestTimeout in it */
    bool show_errors;
    bool http_version, rack2; /* what the fixed part of the env is made for */
    uint64_t max_requests;
};

/* What Lane#serve has in its hands. It stands on that method's C stack: the GC finds the VALUEs there, and no
 * store needs a write barrier. */
struct bbr_exchange {
    VALUE self; /* the Lane */
    struct bbr_lane *lane;
    VALUE thread;

    const struct bb_request *request; /* NULL between two requests */
    VALUE env;
    VALUE input;            /* nil, or the Input that reads this request's body */
    VALUE stream;           /* nil, or the Stream of this reply */
    VALUE body;             /* Qundef, or the body whose close is still owed */
    bool body_tells_closed; /* to_ary is all that it has, and may have closed it: ask before closing */
    bool gone;              /* the client */
    bool broken;            /* no whole answer left: abort */
    bool limited;           /* the application has it: RequestTimeout may be raised in it */
    bool timed_out;         /* it was, or is about to be */
};

/* Of a Lane; raises unless it was initialized. */
struct bbr_lane *bbr_lane_of(VALUE self);

/* rb_util.c: tells lib; what the callable raises is swallowed. */
void bbr_report(struct bbr_exchange *exchange, const char *level, VALUE message, VALUE error);

/* ---- rb_process.c ---- */

/* Ends a process that the application has forked, as Ruby's exit would, but for exit handlers: they are the
 * server's. */
NORETURN(void bbr_leave_child(int status));

/* Is this a process that the application has forked inside of a request? */
bool bbr_lane_is_child(const struct bbr_lane *lane);

/* Ends such a process, without a word to the client. */
void bbr_lane_leave_if_child(const struct bbr_lane *lane);

/* ---- rb_wait.c ---- */

/* Waits for a request, or until the lane is woken; other threads run meanwhile. */
void bbr_wait_for_request(struct bbr_lane *lane);

/* Waits until the client has taken some of the reply; other threads run meanwhile. Returns what
 * bb_reply_wait() does.
 */
int bbr_wait_for_client(struct bbr_lane *lane);

/* ---- rb_error.c ---- */

/* Logs a failure of the application. text follows the request's method and path. */
void bbr_log_failure(struct bbr_exchange *exchange, const char *text, VALUE error);

/* Logs it, reports "leave" if the application asked this process to end, and returns what on_error does. */
VALUE bbr_tell_failure(struct bbr_exchange *exchange, VALUE error);

/* Whether it is the RequestTimeout that was raised in this request. */
bool bbr_is_timeout(const struct bbr_exchange *exchange, VALUE error);

/* Closes the body of an answer of on_error that is not sent. */
void bbr_drop_answer(struct bbr_exchange *exchange, VALUE answer);

/* The application failed where no answer can be saved or spoilt: after it, or between two requests. */
void bbr_failed_late(struct bbr_exchange *exchange, VALUE error);

/* The body ended before its Content-Length; the core has aborted the reply. */
void bbr_failed_short(struct bbr_exchange *exchange);

/* ---- rb_time.c ---- */

/* bbr_attempt() of what belongs to a request, in which request_timeout_soft may end it. */
VALUE bbr_attempt_limited(VALUE (*function)(VALUE), struct bbr_exchange *exchange);

/* Around a part of it that request_timeout_soft must not cut in two. stop raises an exception that was on its
 * way, and returns whether the time was limited: only then it goes on. */
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

/* ---- rb_env_keys.c, rb_env_names.c, rb_env_shape.c, rb_env.c ---- */

/* What the env of every request to a listener has in common, with room for the rest. */
VALUE bbr_env_template(VALUE base, const struct bbr_endpoint *endpoint, VALUE no_input);

/* The env of the current request. */
VALUE bbr_env_build(struct bbr_exchange *exchange);

/* "GET /path" of an env, without the query, for the log: bytes in any encoding. */
VALUE bbr_env_label(VALUE env);

/* A field's value, as the env shows it. */
static inline struct bb_slice bbr_field_value(const struct bb_head *head, const struct bb_field *field)
{
    /* The authority of an absolute target replaces Host, RFC 9112 3.2.2; else it is the same bytes. */
    if (field->kind == BB_FIELD_HOST) return head->authority;
    return (struct bb_slice){field->value, field->value_len};
}

/* SERVER_PORT of a request that names a host. */
struct bb_slice bbr_env_port(const struct bb_head *head);

/* The env's key for a field, or nil: not handed on. */
VALUE bbr_names_key(struct bbr_exchange *exchange, const struct bb_field *field);

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
    BBR_ENV_KEYS,
};
extern VALUE bbr_env_keys[BBR_ENV_KEYS];
extern VALUE bbr_empty; /* the one empty String */

struct bbr_shapes *bbr_shapes_new(void);
size_t bbr_shapes_size(void);
void bbr_shapes_each_value(struct bbr_shapes *shapes, void (*visit)(VALUE *));

/* The env of a request whose field names came before, in that order: all but the target, the protocol and the
 * body. Qundef: none that is known. */
VALUE bbr_shapes_env(struct bbr_exchange *exchange);

/* ---- rb_input.c ---- */

/* rack.input of a request with a body; it borrows the bytes until it is detached. */
VALUE bbr_input_new(const struct bb_request *request);
VALUE bbr_input_empty(void);
void bbr_input_detach(VALUE input);

/* ---- rb_send.c ---- */

/* Raises what the code, a failure, means. */
NORETURN(void bbr_reply_fail(struct bbr_exchange *exchange, int code));

/* Raises if the code is a failure. */
static inline void bbr_reply_check(struct bbr_exchange *exchange, int code)
{
    if (RB_UNLIKELY(code < 0)) bbr_reply_fail(exchange, code);
}

/* Sends one run of slices. True: the core took all; false: *taken says how much, and the client has taken
 * something since. Pointers into Strings are stale then: other threads ran. */
bool bbr_send_slices(struct bbr_exchange *exchange, const struct bb_slice *slices, size_t count, bool last,
                     uint64_t *taken);

/* Sends one part of the body, waiting for the client where it must. */
void bbr_reply_part(struct bbr_exchange *exchange, VALUE part);

/* Sends the head, or what is pending; last: and the body's end. */
void bbr_reply_flush(struct bbr_exchange *exchange, bool last);

/* The String that a body part is; else raises. */
VALUE bbr_reply_string(VALUE part);

/* ---- rb_reply.c, rb_stream.c, rb_failed.c ---- */

/* The application failed: logs it, answers with what on_error returns, else with 500, if nothing has been
 * sent, and reports "leave" if it asked this process to end. */
void bbr_failed(struct bbr_exchange *exchange, VALUE error);

/* Answers the current request with what the application returned. */
void bbr_reply(struct bbr_exchange *exchange, VALUE triplet);

/* The binding's own answer: a text. */
void bbr_reply_text(struct bbr_exchange *exchange, int status, VALUE text);

/* The writing end of the current reply: the block that each yields to, or what call is given. */
VALUE bbr_stream_new(struct bbr_exchange *exchange);
VALUE bbr_stream_yielded(RB_BLOCK_CALL_FUNC_ARGLIST(part, stream));
void bbr_stream_finish(VALUE stream);
void bbr_stream_detach(VALUE stream);

/* ---- rb_serve.c ---- */

/* Serves until the worker has drained; argument: the exchange. */
VALUE bbr_serve(VALUE argument);

/* What is due when that was left, whichever way. */
VALUE bbr_stop_serving(VALUE argument);

/* Each file's part of Init. */
void bbr_init_util(VALUE bontebok, VALUE core);
void bbr_init_env_keys(void);
void bbr_init_failed(void);
void bbr_init_serve(void);
void bbr_init_lane_time(VALUE core);
void bbr_init_input_lines(VALUE core);
void bbr_init_scoreboard(VALUE core);
void bbr_init_worker(VALUE core);
void bbr_init_lane(VALUE core);
void bbr_init_env(void);
void bbr_init_input(VALUE core);
void bbr_init_reply(void);
void bbr_init_stream(VALUE core);
void bbr_init_error(void);
void bbr_init_process(VALUE core);

#endif
