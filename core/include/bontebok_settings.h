/* bontebok_settings.h: the part of bontebok.h about the settings of a worker. bontebok.h includes this file.
 */
#ifndef BONTEBOK_SETTINGS_H
#define BONTEBOK_SETTINGS_H

#include <stdint.h>

/* What bb_settings_set() reads. The value of a time is in ms. */
enum bb_setting_kind {
    BB_SETTING_UNKNOWN, /* no setting has this name */
    BB_SETTING_SWITCH,  /* true, yes, on, 1; false, no, off, 0. In any letter case. The value is 1 or 0 */
    BB_SETTING_COUNT,   /* a whole number */
    BB_SETTING_BYTES,   /* 65536, 64K, 1M, 2G. In any letter case. 64KB and 64KiB mean the same as 64K */
    BB_SETTING_TIME,    /* 30, 0.5, 500ms, 30s, 2m, 1h. Without a unit: seconds. At most a year */
    BB_SETTING_TEXT,    /* a NUL-terminated text */
};

/* Names, kinds and defaults: see docs/CONFIGURATION.md. The option spool_threshold there is two settings:
 * spool_threshold for requests and response_buffer for responses. 0 means "no limit", but it is a limit in
 * max_target, max_field_bytes, max_fields, spool_threshold and response_buffer, and no time in
 * keepalive_timeout, keepalive_drain and graceful_timeout. */
#define BB_SETTINGS(X)                                                                                       \
    X(max_target, BYTES, 16 * 1024)                                                                          \
    X(max_field_bytes, BYTES, 64 * 1024)                                                                     \
    X(max_fields, COUNT, 128)                                                                                \
    X(max_body, BYTES, 0)                                                                                    \
    X(allow_underscore_headers, SWITCH, 0)                                                                   \
    X(header_timeout, TIME, 30 * 1000)                                                                       \
    X(body_timeout, TIME, 60 * 1000)                                                                         \
    X(min_body_rate, BYTES, 500)                                                                             \
    X(write_timeout, TIME, 60 * 1000)                                                                        \
    X(keepalive_timeout, TIME, 75 * 1000)                                                                    \
    X(keepalive_drain, TIME, 2 * 1000)                                                                       \
    X(graceful_timeout, TIME, 30 * 1000)                                                                     \
    X(max_keepalive_requests, COUNT, 0)                                                                      \
    X(max_connections, COUNT, 0)                                                                             \
    X(spool_threshold, BYTES, 1024 * 1024)                                                                   \
    X(spool_max, BYTES, 1024 * 1024 * 1024)                                                                  \
    X(response_buffer, BYTES, 1024 * 1024)                                                                   \
    X(request_timeout, TIME, 0)                                                                              \
    X(request_timeout_soft, TIME, 0)                                                                         \
    X(worker_timeout, TIME, 0)                                                                               \
    X(check_client_connection, SWITCH, 0)                                                                    \
    X(queue_timeout, TIME, 0)                                                                                \
    X(max_queue, COUNT, 0)                                                                                   \
    X(chunked_transfer, SWITCH, 1)

#define BB_ACCESS_LOG_FORMAT_MAX 1024

/* Names, sizes with the NUL, and defaults of the texts:
 * spool_dir: directory of spool files. server_name: value of the Server field; empty: no Server field.
 * trusted_proxies: at most 128, separated by spaces. access_log: target of the access
 * log, see below; empty: no log. health_paths: separated by spaces, see max_queue (bontebok.h). ready_path,
 * live_path: see bontebok_scoreboard.h; empty: off. x_sendfile: see bb_reply_named_file(); empty: off.
 * unbuffered_bodies: paths separated by spaces, see bb_request_read(). public: directories, one per line, see
 * bb_public_open(); empty: none. public_headers: one per line: "/PREFIX NAME: VALUE". */
#define BB_SETTINGS_TEXT(X)                                                                                  \
    X(spool_dir, 256, "/tmp")                                                                                \
    X(server_name, 64, "")                                                                                   \
    X(trusted_proxies, 6144, "unix 127.0.0.0/8 ::1")                                                         \
    X(access_log, 256, "")                                                                                   \
    X(access_log_format, BB_ACCESS_LOG_FORMAT_MAX, "combined")                                               \
    X(health_paths, 256, "")                                                                                 \
    X(ready_path, 256, "")                                                                                   \
    X(live_path, 256, "")                                                                                    \
    X(x_sendfile, 1024, "")                                                                                  \
    X(unbuffered_bodies, 1024, "")                                                                           \
    X(public, 4096, "")                                                                                      \
    X(public_headers, 4096, "")

struct bb_settings {
#define BB_SETTING_NUMBER(name, kind, default_value) uint64_t name;
#define BB_SETTING_ARRAY(name, size, default_value)  char name[size];
    BB_SETTINGS(BB_SETTING_NUMBER)
    BB_SETTINGS_TEXT(BB_SETTING_ARRAY)
#undef BB_SETTING_NUMBER
#undef BB_SETTING_ARRAY
};

/* Size of a buffer for the NUL-terminated text that says why a setting is wrong. The text can have a target
 * of the access log in it, of up to 255 bytes. */
#define BB_FAULT_MAX 320

/* Fills *settings with the defaults above. */
void bb_settings_init(struct bb_settings *settings);

/* Sets one setting to the value that the text means (see enum bb_setting_kind). Returns BB_OK; BB_EFORMAT:
 * *settings is as before, and `fault` is the rest of a sentence that begins with the setting's name: "is no
 * setting". */
int bb_settings_set(struct bb_settings *settings, const char *name, const char *text,
                    char fault[BB_FAULT_MAX]);

/* Returns the kind of the setting with this name. */
enum bb_setting_kind bb_settings_kind(const char *name);

/* ---- access log ---- */

/* The access log has a line for each request that the host or the core has answered, and for each aborted
 * request. A lane collects lines in memory. It writes them when no request has come for 20 ms, after a
 * request that took at least 20 ms, when the oldest line is a second old, or when the memory is full. Lines
 * that the target does not accept stay in memory. If the memory is full, new lines are lost, and an event
 * reports their number. A lane never waits for a socket. It waits for a pipe only if the pipe is standard
 * output or error, cannot be opened again, and the kernel has no RWF_NOWAIT for it. Values of access_log:
 *
 *     /path   a file to append to, created if missing; or a FIFO. With permission to read, the core opens
 *             the FIFO for reading, too. Then the FIFO keeps lines until another process reads them
 *     -       standard output; /dev/stdout means the same, and /dev/stderr is standard error
 *     syslog:KEY=VALUE,...     datagrams (RFC 3164). Defaults: socket=/dev/log, facility=local7,
 *                              severity=info, tag=bontebok
 *
 * access_log_format is a name (common, combined, ltsv, json) or a format in Apache's notation, see
 * docs/LOGS.md. A pipe without a reader does not end the process: see SIGPIPE in bontebok_file.h. */

/* Checks the access log: compiles the format, opens the target and closes it. Returns BB_OK; BB_EFORMAT: a
 * setting is wrong, and `fault` says why; BB_ESYSTEM: the target cannot be opened, and errno says why. */
int bb_access_log_check(const struct bb_settings *settings, char fault[BB_FAULT_MAX]);

#endif
