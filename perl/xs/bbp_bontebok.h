/* bbp_bontebok.h: what the C files of the Perl binding share, and the map of the binding. The binding runs a
 * loop around bb_lane_next(). It makes a PSGI environment from each request. The application returns a PSGI
 * response, and the binding sends it. The binding includes only the core's public header. lib/ (the server's
 * Perl code) passes a code reference to Bontebok::Core->new, and the binding reports to this code reference.
 *
 * Map: the sections are in the order of the files, from the lowest (bbp_bytes.c) to the highest
 * (Bontebok.xs). A file calls only files whose sections come before its own.
 *
 * Names: a function with the prefix bbp_ ("Bontebok in Perl") is called from other files. A function without
 * the prefix is static.
 *
 * Two rules hold in every file. First, a call that may run Perl code may leave by longjmp(). No frame of the
 * core is on the stack then. No function holds memory or a descriptor across such a call: it makes mortal
 * SVs, or stores the SV in the exchange. bbp_serve() catches every exception and every exit(). Second, a
 * pointer into an SV is taken after the last call that may run Perl code: overloading, magic, a signal
 * handler (PERL_ASYNC_CHECK) and DESTROY run Perl code. */
#ifndef BBP_BONTEBOK_H
#define BBP_BONTEBOK_H

#include <bontebok.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include <XSUB.h>

#define BBP_LISTENERS_MAX 64
#define BBP_IDS           256

/* The env's keys that the binding itself sets. bbp_env.c has their names. */
enum bbp_name {
    BBP_REQUEST_METHOD,
    BBP_PATH_INFO,
    BBP_QUERY_STRING,
    BBP_REQUEST_URI,
    BBP_SERVER_NAME,
    BBP_SERVER_PORT,
    BBP_SERVER_PROTOCOL,
    BBP_REMOTE_ADDR,
    BBP_REMOTE_PORT,
    BBP_CONTENT_LENGTH,
    BBP_PSGI_INPUT,
    BBP_HARAKIRI,
    BBP_NAMES,
};

/* ---- the structs that all files use ---- */

/* A request and its response. */
struct bbp_exchange {
    const struct bb_request *request; /* NULL: between two requests */
    HV *env;                          /* owned; in a worker, while the application has the request */
    SV *body;                         /* owned; the body whose `close` must still be called, or NULL */
    CV *responder;                    /* owned; what the application's code reference gets, or NULL */
    SV *writer;                       /* owned; the object behind the writer, or NULL */
    bool answered;                    /* the responder has got a response */
    bool streams;                     /* the responder has returned a writer, and the writer is not closed */
    bool bodyless;                    /* what the writer gets is not sent */
    bool returned;                    /* the application and the response are done, without an exception */
    bool gone;                        /* the client has closed the connection, or does not read */
    bool torn;     /* bytes of the body are missing: an exception has ended a send, or a send is not done */
    bool complete; /* the core has the whole response; otherwise the request ends with bb_reply_abort() */
};

struct bbp_shared;
struct bbp_public;

/* The words that a worker says to its master. A word is a byte. The first words are those of enum bb_tell. */
enum bbp_word {
    BBP_WORD_LEAVE = BB_TELLS, /* replace me: I serve until then, or I end now */
    BBP_WORD_READY,
    BBP_WORDS,
};

/* The orders of the master. An order is a byte, too. */
enum bbp_order {
    BBP_ORDER_LEAVE,  /* end, and leave the listeners' queues and the connections to the other workers */
    BBP_ORDER_FINISH, /* every worker ends */
    BBP_ORDER_STOP,   /* end after the current request */
    BBP_ORDERS,
};

/* The worker and the lane of this process. */
struct bbp_core {
    struct bb_worker *worker;
    struct bb_lane *lane;             /* NULL before bbp_serve() */
    struct bb_scoreboard *scoreboard; /* owned; NULL: see `shared` */
    struct bbp_shared *shared;        /* NULL: this process serves alone */
    struct bbp_public *public;        /* held: the files that the core serves */
    int channel;                      /* owned if `shared`: the socket to the master */
    ino_t channel_id;                 /* bbp_orders.c */
    uint64_t graceful_timeout;        /* ms */
    char words[BBP_WORDS];
    char orders[BBP_ORDERS];
    pthread_t reader; /* bbp_orders.c */
    bool has_orders;
    atomic_bool frees;          /* the reader ends without an order */
    UV requests_left;           /* until this worker asks for a replacement; 0: it does not */
    pthread_mutex_t drain_lock; /* bbp_shared_drain() */
    bool drains_all;
    pid_t pid;
    SV *report;                       /* owned; a code reference, see Bontebok.xs */
    SV *app;                          /* owned; NULL before bbp_core_serve() */
    CV *respond;                      /* owned; the part of a request that may raise (bbp_serve.c) */
    CV *run_handlers;                 /* owned; runs Perl's signal handlers (bbp_signal.c) */
    HV *templates[BBP_LISTENERS_MAX]; /* owned; the part of the env that depends on the listener only */
    unsigned listeners;
    SV *names[BBP_NAMES]; /* owned; the env's keys that every request has */
    SV *keys[BBP_IDS]; /* owned; keys[id]: the env's key for the field name with this id (bb_field.id). NULL:
                          no such field was seen yet. &PL_sv_undef: the env does not show the field */
    SV *no_input;      /* owned; the psgi.input of requests without a body, or NULL */
    struct bbp_exchange exchange;
    I32 scope;         /* depth of Perl's scopes when bbp_serve() began */
    COP *caller;       /* the statement that has called bbp_serve() */
    atomic_bool stops; /* bbp_serve() returns after the current request */
    bool exits;        /* the application has called exit(); the process ends when the lane is drained */
    bool reports_exit;
    int exit_status; /* its argument */
};

/* ---- bbp_bytes.c ---- */

/* Returns the text of this SV in bytes; undef is empty. May run Perl code (overloading, magic). *bytes points
 * into the SV or into a mortal SV. False: the text has a character above 255. */
bool bbp_bytes(pTHX_ SV *sv, struct bb_slice *bytes);

/* Returns whether the SV is a string of bytes that can be sent as it is. */
static inline bool bbp_is_plain(const SV *sv)
{
    return (SvFLAGS(sv) & (SVf_POK | SVf_UTF8 | SVs_GMG)) == SVf_POK;
}

/* ---- bbp_settings.c ---- */

/* Fills *settings from a hash of names and texts. Raises if one is wrong. */
void bbp_settings_read(pTHX_ struct bb_settings *settings, HV *given);

/* Returns a new SV with the reason why a worker cannot have these settings, or undef. */
SV *bbp_settings_faults(pTHX_ HV *given);

/* ---- bbp_report.c ---- */

/* Reports to lib. These three never raise. error: NULL, or the exception. */
void bbp_report(pTHX_ struct bbp_core *core, const char *level, SV *message, SV *error);
void bbp_report_events(pTHX_ struct bbp_core *core);

/* Logs a failure of the current request, with its method and path. text: follows them; may be "". */
void bbp_report_failure(pTHX_ struct bbp_core *core, const char *text, SV *error);

/* The method and the path of the current request. A long path is cut. */
struct bbp_label {
    char text[256];
    size_t len;
};
struct bbp_label bbp_report_label(const struct bbp_core *core);

/* Returns whether a call with G_EVAL has ended with an exception. The exception may be an object that is
 * false, or an object whose overloading dies. */
static inline bool bbp_has_raised(pTHX)
{
    return SvROK(ERRSV) || SvTRUE_nomg(ERRSV);
}

/* Ends a process that the application has forked, without END blocks. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void bbp_leave_child(pTHX_ int status);

bool bbp_is_child(const struct bbp_core *core);

/* Notes that this Perl thread serves, or that it has ended. False: another server runs in this process. */
bool bbp_begin_serving(pTHX);
void bbp_end_serving(void);

/* Returns whether this is a Perl thread that the application has started. It has copies of all values, and
 * these copies may outlive the server. */
bool bbp_is_other_thread(pTHX);

/* ---- bbp_signal.c ---- */

/* True: Perl code of a signal handler must not run at once, because the core runs. */
extern volatile sig_atomic_t bbp_signal_is_deferred;

/* Makes signals with a handler of Perl end the lane's wait. */
void bbp_signal_begin(pTHX_ struct bbp_core *core);
void bbp_signal_end(pTHX_ struct bbp_core *core);

/* Returns whether handlers may have to run. */
bool bbp_signal_is_pending(pTHX);

/* Runs the handlers of the signals that have come. An exception of a handler is logged. */
void bbp_signal_dispatch(pTHX_ struct bbp_core *core);

/* Makes what bbp_signal_dispatch() calls. */
CV *bbp_signal_handlers(pTHX);

/* ---- bbp_shared.c ---- */

/* Makes what a master and its workers share, for this number of lanes. The caller owns it, and calls
 * bbp_shared_release(). Raises the system's error. */
struct bbp_shared *bbp_shared_new(pTHX_ unsigned lanes);

/* Frees it when its last user has released it. NULL is allowed. */
void bbp_shared_release(struct bbp_shared *shared);

/* Makes the core of this process one of the workers. channel: the socket to the master; the caller still owns
 * it. bytes: a string with the byte of each word, and of each order. Raises the system's error. */
void bbp_shared_join(pTHX_ struct bbp_core *core, struct bbp_shared *shared, int channel, SV *bytes);
void bbp_shared_leave(struct bbp_core *core);

/* Says a word to the master, if there is one. */
void bbp_shared_tell(struct bbp_core *core, enum bbp_word word);

/* Any thread. Begins the graceful end. all: every worker ends, and this one accepts its share of the
 * connections in the listeners' queues. Otherwise the other workers accept them. */
void bbp_shared_drain(struct bbp_core *core, bool all);

/* For the master: clears the slots of a worker that has ended, and returns the method and the path of a
 * worker's long request. */
void bbp_shared_clear(struct bbp_shared *shared, int pid);
SV *bbp_shared_label(pTHX_ struct bbp_shared *shared, int pid);

/* ---- bbp_public.c ---- */

/* Opens the directories of the setting public. The caller owns the result, and calls bbp_public_release().
 * Raises the sentence of bb_public_open(). */
struct bbp_public *bbp_public_open(pTHX_ HV *given);

/* The directories stay open until each user has released them. NULL is allowed in the second one. */
struct bbp_public *bbp_public_hold(struct bbp_public *public);
void bbp_public_release(struct bbp_public *public);

/* Lets the worker serve the files. Call it between bb_worker_scoreboard() and bb_worker_start_io_thread().
 * Returns a code of the core. */
int bbp_public_serve(struct bbp_core *core);

/* ---- bbp_orders.c ---- */

/* Starts the thread that obeys the master, if there is one. Call it when the lane exists. False: the system
 * has no thread. bbp_orders_end() ends it: call it before the lane is freed. */
bool bbp_orders_begin(struct bbp_core *core);
void bbp_orders_end(struct bbp_core *core);

/* ---- bbp_process.c ---- */

/* Blocks the signals that a master or a worker handles, or unblocks them. */
void bbp_process_hold_signals(bool hold);

/* Waits until one of these descriptors is readable, a signal has come, or the time is over; -1: no limit.
 * Runs signal handlers. */
void bbp_process_wait(pTHX_ AV *numbers, int ms);

/* Returns "ended", "stopped" or "continued" if a child process has; NULL: nothing is new. */
const char *bbp_process_state(pid_t pid, int *status);

/* Returns a child that has ended, and for which nobody has waited; 0: there is none. */
pid_t bbp_process_ended_child(void);

/* Lets this process get TERM when its parent dies (Linux only). False: the parent has died already. */
bool bbp_process_follow(pid_t parent);

/* ---- bbp_keys.c ---- */

/* Returns the env's key for this field; the core or a mortal owns it. NULL: the env does not show the field.
 */
SV *bbp_keys_of(pTHX_ struct bbp_core *core, const struct bb_field *field);

/* ---- bbp_input.c ---- */

/* Returns a new reference to psgi.input of the current request. Raises if there is no descriptor. */
SV *bbp_input_new(pTHX_ struct bbp_core *core);

/* Call this when the application has released the env. A handle that the application has changed, or that it
 * keeps, is not for the next request. May run Perl code (DESTROY). */
void bbp_input_release(pTHX_ struct bbp_core *core);

/* ---- bbp_env.c ---- */

/* Makes the keys in core->names. */
void bbp_env_make_names(pTHX_ struct bbp_core *core);

/* Adds the keys of a listener to a copy of the fixed part of the env. The caller owns the result. */
HV *bbp_env_template(pTHX_ struct bbp_core *core, HV *base, SV *name, SV *port);

/* Returns a new mortal env. NULL: the path has a malformed percent-encoding (RFC 3986 2.1). */
HV *bbp_env_new(pTHX_ struct bbp_core *core);

/* ---- bbp_send.c ---- */

/* Sends parts of the body. Returns whether all was taken; if not, the caller goes on behind *taken. Raises if
 * the client is gone. Runs signal handlers while it waits, and raises what they raise. */
bool bbp_send(pTHX_ struct bbp_core *core, const struct bb_slice *slices, size_t count, bool last,
              uint64_t *taken);

/* Sends one part that may follow others. */
void bbp_send_part(pTHX_ struct bbp_core *core, SV *part);

/* Sends the head and all bytes that the core holds. */
void bbp_send_rest(pTHX_ struct bbp_core *core, bool last);

/* Raises the exception for a negative code of the core. */
void bbp_check(pTHX_ struct bbp_core *core, int code);

/* Sends a response of the binding, for example "400 Bad Request". Never raises. */
void bbp_send_text(struct bbp_core *core, int status, const char *text);

/* ---- bbp_file.c ---- */

/* Sends the body as a file if it is one. Returns false otherwise. Call it after the fields. */
bool bbp_file_reply(pTHX_ struct bbp_core *core, SV *body);

/* ---- bbp_reply.c ---- */

/* Begins the response: the status and the fields of an array reference. Raises if they are wrong. */
void bbp_reply_begin(pTHX_ struct bbp_core *core, AV *response);

/* Sends the whole response. */
void bbp_reply(pTHX_ struct bbp_core *core, AV *response);

/* Returns the array behind a reference, or NULL. The second one is for code. May run Perl code (overloading).
 */
AV *bbp_array_of(pTHX_ SV *value);
SV *bbp_code_of(pTHX_ SV *value);

/* ---- bbp_stream.c ---- */

/* Calls the code reference that the application has returned, and sends the response that it gives to the
 * responder. */
void bbp_stream_run(pTHX_ struct bbp_core *core, SV *code);

/* Detaches the responder and the writer from the request, because the application may keep them. */
void bbp_stream_detach(pTHX_ struct bbp_core *core);

/* The methods of Bontebok::Writer. object: what the reference refers to. */
void bbp_writer_write(pTHX_ SV *object, SV *part);
void bbp_writer_close(pTHX_ SV *object);

/* ---- bbp_serve.c ---- */

/* Serves until the worker is drained, or until core->stops. If the application has called exit(), this
 * function does not return. */
void bbp_serve(pTHX_ struct bbp_core *core);

/* Makes the function that answers one request. */
CV *bbp_serve_respond(pTHX_ struct bbp_core *core);

/* ---- bbp_core.c ---- */

/* Creates the worker of this process. Raises if a setting is wrong. report: a code reference. The core holds
 * `public`. */
struct bbp_core *bbp_core_new(pTHX_ HV *settings, SV *report, struct bbp_public *public);

/* Adds a listener; the binding takes over fd. env: the fixed part of the env. Raises the system's error. */
void bbp_core_listen(pTHX_ struct bbp_core *core, int fd, HV *env, SV *name, SV *port);

/* Makes the lane and its I/O thread, and serves. self: the object that owns the core. Raises if it cannot
 * serve. */
void bbp_core_serve(pTHX_ struct bbp_core *core, SV *self, SV *app);

void bbp_core_free(pTHX_ struct bbp_core *core);

#endif
