/* reason.h: why the server rejects a request, or ends a connection early. The parsers in http return a reason
 * instead of a status. conn uses it for the response, for the server's log and for the access log
 * (%{reason}n). docs/LOGS.md lists the names and texts. A reason has no bytes of the client, so nobody can
 * forge a line of the log with it. */
#ifndef BB_REASON_H
#define BB_REASON_H

#include "bontebok.h"

/* BY_CLIENT: the client's mistake or decision, no problem of the server. Status 0: the client gets no
 * response. */
#define BB_REASONS(X)                                                                                        \
    /* another protocol */                                                                                   \
    X(TLS, "tls", 400, BY_CLIENT, "a TLS handshake: the server speaks plain HTTP")                           \
    X(HTTP2, "http2", 505, BY_CLIENT, "HTTP/2: the server speaks HTTP/1")                                    \
    X(PROXY_PROTOCOL, "proxy_protocol", 400, BY_CLIENT, "a PROXY protocol header, which is not supported")   \
    /* request line */                                                                                       \
    X(BAD_METHOD, "bad_method", 400, BY_CLIENT, "no valid method at the start of the request")               \
    X(LONG_METHOD, "long_method", 501, BY_CLIENT, "a method of more than 32 bytes")                          \
    X(CONNECT, "connect", 501, BY_CLIENT, "CONNECT: the server is no tunnel")                                \
    X(BAD_TARGET, "bad_target", 400, BY_CLIENT, "the target is neither a path nor a valid URL")              \
    X(LONG_TARGET, "long_target", 414, BY_CLIENT, "max_target: the target is too long")                      \
    X(BAD_VERSION, "bad_version", 400, BY_CLIENT, "no HTTP version after the target, or a space in it")      \
    X(VERSION, "version", 505, BY_CLIENT, "an HTTP version other than 1.x")                                  \
    /* field lines */                                                                                        \
    X(BARE_LF, "bare_lf", 400, BY_CLIENT, "a line ends with LF without CR")                                  \
    X(BARE_CR, "bare_cr", 400, BY_CLIENT, "a CR without LF")                                                 \
    X(CONTROL_BYTE, "control_byte", 400, BY_CLIENT, "a control byte in a field value")                       \
    X(FOLDED_LINE, "folded_line", 400, BY_CLIENT, "a field line begins with white space")                    \
    X(SPACE_IN_NAME, "space_in_name", 400, BY_CLIENT, "white space in a field name, or before its colon")    \
    X(BAD_NAME, "bad_name", 400, BY_CLIENT, "a field line without a valid name and a colon")                 \
    X(LARGE_FIELDS, "large_fields", 431, BY_CLIENT, "max_field_bytes: the field lines are too long")         \
    X(MANY_FIELDS, "many_fields", 431, BY_CLIENT, "max_fields: too many field lines")                        \
    /* fields that the server understands */                                                                 \
    X(NO_HOST, "no_host", 400, BY_CLIENT, "no Host field")                                                   \
    X(TWO_HOSTS, "two_hosts", 400, BY_CLIENT, "two Host fields")                                             \
    X(BAD_HOST, "bad_host", 400, BY_CLIENT, "a Host field that is no valid host")                            \
    X(TWO_LENGTHS, "two_lengths", 400, BY_CLIENT, "two Content-Length fields")                               \
    X(BAD_LENGTH, "bad_length", 400, BY_CLIENT, "a Content-Length that is no number")                        \
    X(LENGTH_AND_CHUNKED, "length_and_chunked", 400, BY_CLIENT, "Content-Length beside Transfer-Encoding")   \
    X(BAD_CODING, "bad_coding", 400, BY_CLIENT, "a Transfer-Encoding that is not valid")                     \
    X(CODING_IN_1_0, "coding_in_1_0", 400, BY_CLIENT, "Transfer-Encoding in an HTTP/1.0 request")            \
    X(UNKNOWN_CODING, "unknown_coding", 501, BY_CLIENT, "a transfer coding other than chunked")              \
    X(EXPECTATION, "expectation", 417, BY_CLIENT, "an Expect field other than 100-continue")                 \
    /* body */                                                                                               \
    X(BAD_CHUNK_SIZE, "bad_chunk_size", 400, BY_CLIENT, "a chunk without a valid size")                      \
    X(BAD_CHUNK_EXTENSION, "bad_chunk_extension", 400, BY_CLIENT, "a chunk extension that is not valid")     \
    X(LONG_CHUNK_EXTENSION, "long_chunk_extension", 400, BY_CLIENT, "the chunk extensions are too long")     \
    X(BAD_CHUNK_END, "bad_chunk_end", 400, BY_CLIENT, "no line end after the bytes of a chunk")              \
    X(BAD_TRAILER, "bad_trailer", 400, BY_CLIENT, "a trailer line that is not valid")                        \
    X(LARGE_TRAILERS, "large_trailers", 431, BY_CLIENT, "max_field_bytes or max_fields: too many trailers")  \
    X(LARGE_BODY, "large_body", 413, BY_CLIENT, "max_body: the body is too large")                           \
    /* time */                                                                                               \
    X(HEADER_TIMEOUT, "header_timeout", 408, BY_CLIENT, "header_timeout: the head came too slowly")          \
    X(BODY_TIMEOUT, "body_timeout", 408, BY_CLIENT,                                                          \
      "body_timeout or min_body_rate: the body came too slowly")                                             \
    X(CLIENT_GONE, "client_gone", 499, BY_CLIENT,                                                            \
      "the client has closed the connection: its request is not served")                                     \
    X(REQUEST_TIMEOUT, "request_timeout", 504, BY_SERVER,                                                    \
      "the application has not answered within request_timeout")                                             \
    /* no room */                                                                                            \
    X(QUEUE_FULL, "queue_full", 503, BY_SERVER, "max_queue: too many requests wait for a worker")            \
    X(QUEUE_TIMEOUT, "queue_timeout", 503, BY_SERVER, "queue_timeout: no worker has had time for a request") \
    X(NO_ROOM, "no_room", 503, BY_SERVER, "no room for more connections: an incomplete request is rejected") \
    X(SLOWEST, "slowest", 408, BY_SERVER, "no room for more connections: the slowest request is ended")      \
    X(SLOWEST_READER, "slowest_reader", 0, BY_SERVER,                                                        \
      "no room for more connections: the slowest reader is reset")                                           \
    X(SPOOL_FULL, "spool_full", 507, BY_SERVER, "spool: spool_max reached")                                  \
    X(SPOOL_UNWRITABLE, "spool_unwritable", 507, BY_SERVER,                                                  \
      "spool: a request body cannot be written to spool_dir")                                                \
    X(NO_SPOOL, "no_spool", 503, BY_SERVER, "spool: no memory, or no file in spool_dir, for a request body") \
    X(NO_DESCRIPTOR, "no_descriptor", 503, BY_SERVER, "public: no descriptor, or no memory, for a file")     \
    /* failures */                                                                                           \
    X(OTHER_WORKER, "other_worker", 503, BY_SERVER,                                                          \
      "a request was passed on by a worker of another version or configuration")                             \
    X(UNWATCHED, "unwatched", 0, BY_SERVER,                                                                  \
      "the poller failed: a connection cannot be watched, and is reset")                                     \
    X(UNSENT, "unsent", 0, BY_SERVER, "shared queue: a request cannot be passed on")                         \
    X(SLOW_DISK, "slow_disk", 503, BY_SERVER, "public: the disk has not found a file within write_timeout")  \
    X(FILE_SHORTER, "file_shorter", 0, BY_SERVER,                                                            \
      "a file became shorter while it was sent: its connection is reset")                                    \
    X(FILE_UNREADABLE, "file_unreadable", 0, BY_SERVER,                                                      \
      "a file cannot be read while it is sent: its connection is reset")

enum bb__reason {
    BB_REASON_NONE,
    BB_REASON_BASE = 15, /* a function that returns a reason may also return BB_OK or BB_AGAIN */
#define BB_REASON_ENUM(code, name, status, by, text) BB_REASON_##code,
    BB_REASONS(BB_REASON_ENUM)
#undef BB_REASON_ENUM
        BB_REASONS_END
};

struct bb__reason_facts {
    const char *name; /* for the access log; NULL for BB_REASON_NONE */
    const char *text; /* for the server's log */
    uint16_t status;  /* 0: the client gets no response */
    bool by_client;
};

extern const struct bb__reason_facts bb__reasons[BB_REASONS_END];

/* Returns whether the code of a parser is a reason. */
static inline bool bb__is_reason(int code)
{
    return code > BB_REASON_BASE;
}

#endif
