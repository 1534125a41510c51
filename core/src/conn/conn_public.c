/* conn_public.c: see conn_public.h. */
#include "conn/conn_public.h"
#include "conn/conn_admission.h"
#include "conn/conn_body.h"
#include "conn/conn_report.h"
#include "files/file_cache.h"
#include "http/h1_fields.h"
#include "http/h1_scan.h"
#include "representation/precondition.h"
#include "system/access_log.h"

/* A response under construction. */
struct answer {
    struct bb__file_entry *entry;
    const struct bb__representation *file; /* the chosen one */
    struct bb__h1_reply reply;
    struct bb__file_body body;
    size_t head_len;
    uint64_t began; /* us; 0: the access log does not need it */
};

/* ---- which requests ---- */

static bool is(const struct bb_slice *text, const char *wanted, size_t len)
{
    return text->len == len && memcmp(text->at, wanted, len) == 0;
}

/* A target in absolute form may have the scheme https. */
static bool has_own_scheme(const struct bb_head *head)
{
    return head->target.at[0] == '/' || (head->target.len > 4 && head->target.at[4] == ':');
}

/* Some clients offer HTTP/2 with each first request: Java's HttpClient, curl --http2. The offer needs no
 * answer (RFC 9110 7.8). Another protocol is for the application. */
__attribute__((noinline)) static bool wants_other_protocol(const struct bb_head *head)
{
    bool several = false;
    struct bb_slice protocol = bb__field_only(head, "upgrade", &several);
    return several || !bb__is_word(protocol.at, protocol.len, "h2c");
}

static bool may_be_file(const struct bb_head *head)
{
    bool reads = is(&head->method, "GET", 3) || is(&head->method, "HEAD", 4);
    return reads && !head->chunked && head->content_length == 0 && !head->expect_continue &&
           has_own_scheme(head) && !(head->upgrade && wants_other_protocol(head));
}

/* ---- waiting for the disk ---- */

static enum bb__conn_next await_look(struct bb__conn *conn, struct bb__conn_context *context)
{
    uint64_t limit = context->settings->write_timeout;
    if (conn->state != BB_CONN_LOOK) conn->look_since = context->now;
    conn->state = BB_CONN_LOOK;
    conn->want = BB_INTEREST_NONE;
    if (limit > 0 && bb__elapsed(context->now, conn->look_since) >= limit)
        return bb__conn_reject(conn, context, BB_REASON_SLOW_DISK, 0);
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_DISK, context->now);
    return BB_CONN_WAIT;
}

bool bb__conn_is_answered(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_next *next)
{
    if (conn->look_answers != bb__file_cache_answers(context->files)) return true;
    *next = await_look(conn, context);
    return false;
}

/* The wait for the disk is no wait for a lane. A request that has come through the shared queue has waited
 * for a lane before. */
static void excuse_look(struct bb__conn *conn)
{
    uint64_t *ready_at = &conn->wait.ready_at;
    if (*ready_at > 0) *ready_at = bb__excused(*ready_at, conn->look_since * 1000, bb__clock_us());
}

static void end_look(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (conn->state != BB_CONN_LOOK) return;
    bb__timeout_clear(context->timeouts, &conn->timeout);
    conn->state = BB_CONN_HEAD;
    conn->want = BB_INTEREST_READ;
    excuse_look(conn);
}

/* ---- the head ---- */

static struct bb__validators validators_of(const struct bb__representation *file)
{
    const char *etag = bb__buf_bytes(&file->head) + file->etag_at;
    return (struct bb__validators){.etag = {file->etag_len > 0 ? etag : NULL, file->etag_len},
                                   .has_modified = file->has_modified,
                                   .modified = file->modified};
}

static enum bb__precondition check(const struct answer *answer, const struct bb__conn_context *context)
{
    if (!bb__is_conditional(&context->head)) return BB_PRECONDITION_HOLDS;
    const struct bb__validators validators = validators_of(answer->file);
    return bb__precondition_check(&context->head, &validators, (int64_t)(bb__clock_real_us() / 1000000));
}

/* The validators of a young file are weak, so If-Range does not hold (RFC 9110 13.1.5). */
static bool wants_ranges(const struct answer *answer, const struct bb_head *request)
{
    return bb__h1_asks_for_ranges(request) &&
           !(answer->entry->is_young && bb__field_next(request, "if-range", &(unsigned){0}));
}

static int choose_body(struct answer *answer, struct bb__conn_context *context, bool is_modified)
{
    struct bb__h1_reply *reply = &answer->reply;
    struct bb__buf *head = &context->answer;
    uint64_t size = answer->file->stamp.size;
    if (!is_modified) return bb__h1_reply_not_modified(reply, head);
    reply->has_length = true;
    reply->content_length = size;
    if (wants_ranges(answer, &context->head)) {
        char boundary[BB_BOUNDARY_LEN];
        bb__conn_file_make_boundary(boundary);
        return bb__h1_reply_file(reply, head, &context->head, size, boundary, &answer->body);
    }
    answer->body.pieces[0] = (struct bb__file_piece){.len = size};
    answer->body.count = 1;
    answer->body.length = size;
    return BB_OK;
}

static int make_head(struct answer *answer, const struct bb__conn *conn, struct bb__conn_context *context,
                     bool is_modified)
{
    const struct bb__buf *own = &answer->file->head;
    answer->reply = (struct bb__h1_reply){.head_method = conn->head_method,
                                          .minor_version = context->head.minor_version,
                                          .chunked_transfer = context->settings->chunked_transfer != 0,
                                          .keep_alive = bb__conn_may_keep_alive(conn, context),
                                          .status = 200};
    int code = bb__buf_append(&context->answer, bb__buf_bytes(own), bb__buf_len(own));
    if (code == BB_OK) code = choose_body(answer, context, is_modified);
    if (code == BB_OK)
        code = bb__h1_reply_head(&answer->reply, &context->answer, answer->body.length, &context->date,
                                 context->settings->server_name);
    answer->head_len = bb__buf_len(&context->answer);
    return code;
}

/* ---- sending ---- */

/* A small body is copied behind the head. The connection sends a large one from the file. */
static int add_body(struct answer *answer, struct bb__conn *conn, struct bb__conn_context *context)
{
    const struct bb__representation *file = answer->file;
    if (answer->reply.framing == BB_FRAMING_NONE) {
        answer->body.length = 0;
        return BB_OK;
    }
    if (bb__conn_file_copy(&context->answer, file->fd, file->bytes, &answer->body)) {
        bb__count(&context->counts, BB_COUNT_BYTES_OUT, answer->body.length);
        return BB_OK;
    }
    if (file->fd < 0) return BB_ENOMEM;
    return bb__conn_file_attach(conn, file->fd, answer->entry, &answer->body);
}

/* The connection keeps what the socket does not take. */
static int send_rest(struct bb__conn *conn, struct bb__conn_context *context, size_t sent)
{
    const struct bb__buf *bytes = &context->answer;
    uint64_t file = bb__conn_file_left(conn);
    if (bb__buf_append(&conn->out, bb__buf_bytes(bytes) + sent, bb__buf_len(bytes) - sent) != BB_OK)
        return BB_ENOMEM;
    int code = bb__conn_flush(conn, context);
    bb__count(&context->counts, BB_COUNT_BYTES_OUT, file - bb__conn_file_left(conn));
    return code;
}

/* Over TCP the FIN is sent with the last bytes, as in lane/reply.c. */
static int send_answer(struct bb__conn *conn, struct bb__conn_context *context)
{
    const char *bytes = bb__buf_bytes(&context->answer);
    size_t len = bb__buf_len(&context->answer), sent = 0;
    bool is_last = conn->tcp && !conn->keep_alive && !conn->file;
    int code = conn->file ? bb__sock_send_more(conn->fd, bytes, len, &sent)
               : is_last  ? bb__sock_send_last(conn->fd, bytes, len, &sent)
                          : bb__sock_send(conn->fd, bytes, len, &sent);
    conn->large = conn->file || len > BB_FILE_SMALL;
    if (code == BB_EGONE) return code;
    if (code == BB_AGAIN) sent = 0;
    return conn->file || sent < len ? send_rest(conn, context, sent) : BB_OK;
}

static void note(const struct answer *answer, const struct bb__conn *conn, struct bb__conn_context *context)
{
    bb__count(&context->counts, bb__counter_of_status((unsigned)answer->reply.status), 1);
    bb__count(&context->counts, BB_COUNT_FILES, 1);
    if (!context->log) return;
    struct bb_slice head = {bb__buf_bytes(&context->answer), answer->head_len};
    bb__conn_log_file(conn, context, answer->reply.status, answer->body.length, head, answer->began);
}

static enum bb__conn_next send_file(struct answer *answer, struct bb__conn *conn,
                                    struct bb__conn_context *context, bool is_modified)
{
    bb__buf_clear(&context->answer);
    int code = make_head(answer, conn, context, is_modified);
    if (code == BB_OK) code = add_body(answer, conn, context);
    if (code != BB_OK) return BB_CONN_CLOSE;
    conn->keep_alive = answer->reply.keep_alive;
    note(answer, conn, context);
    code = send_answer(conn, context);
    return code < 0 ? BB_CONN_CLOSE : bb__conn_response_done(conn, context);
}

static enum bb__conn_next choose(struct answer *answer, struct bb__conn *conn,
                                 struct bb__conn_context *context)
{
    struct bb__file_entry *entry = answer->entry;
    bool has_variants = entry->codings != 1U << BB_CODING_IDENTITY;
    enum bb__coding coding =
        has_variants ? bb__coding_choose(&context->head, entry->codings) : BB_CODING_IDENTITY;
    answer->file = &entry->representations[coding];
    enum bb__precondition verdict = check(answer, context);
    context->files_sent++;
    (void)bb__conn_serve(conn, context);
    if (verdict == BB_PRECONDITION_FAILED) {
        bb__count(&context->counts, BB_COUNT_FILES, 1);
        return bb__conn_reply(conn, context,
                              &(struct bb__h1_error){.status = 412, .head_method = conn->head_method});
    }
    return send_file(answer, conn, context, verdict == BB_PRECONDITION_HOLDS);
}

static enum bb__conn_next respond(struct bb__conn *conn, struct bb__conn_context *context,
                                  struct bb__file_entry *entry, uint64_t began)
{
    struct answer answer = {.entry = entry, .began = began};
    enum bb__conn_next next = choose(&answer, conn, context);
    bb__buf_free(&answer.body.text);
    bb__file_entry_release(entry);
    bb__file_cache_close_unused(context->files);
    return next;
}

/* When the request came, in us; 0: the access log does not need it. The time of a wait for the disk is known
 * in ms. */
static uint64_t time_of(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    if (!context->log) return 0;
    if (conn->state == BB_CONN_LOOK) return conn->look_since * 1000;
    return context->log->format->wants_clock ? bb__clock_us() : 0;
}

/* Not inlined, because most requests are for no file. may: of bb__file_cache_may_have(). */
__attribute__((noinline)) static bool look(struct bb__conn *conn, struct bb__conn_context *context,
                                           enum bb__file_found may, enum bb__conn_next *next)
{
    struct bb__file_entry *entry;
    uint64_t began = time_of(conn, context);
    if (may == BB_FILE_FOUND)
        may = bb__file_cache_find(context->files, context->head.path, context->now, &entry);
    if (may == BB_FILE_SOON) conn->look_answers--;
    if (may == BB_FILE_SOON || may == BB_FILE_LATER) {
        *next = await_look(conn, context);
        return true;
    }
    end_look(conn, context);
    if (may == BB_FILE_NONE) return false;
    *next = may == BB_FILE_FOUND ? respond(conn, context, entry, began)
                                 : bb__conn_reject(conn, context, BB_REASON_NO_DESCRIPTOR, 0);
    return true;
}

bool bb__conn_send_public(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_next *next)
{
    if (!may_be_file(&context->head)) return false;
    conn->look_answers = bb__file_cache_answers(context->files);
    enum bb__file_found may = bb__file_cache_may_have(context->files, context->head.path, context->now);
    if (may == BB_FILE_NONE && conn->state != BB_CONN_LOOK) return false;
    return look(conn, context, may, next);
}
