/* log_line_fuzz.c: compiles any bytes as an access log format, and writes the log line of a request in this
 * format. The line must have one line feed, at its end, and must fit into its buffer. Bytes from a client
 * must be escaped.
 *
 * Input: a format, a NUL, and the bytes that a client sent.
 */
#include <assert.h>
#include <stdlib.h>

#include "log/log_line.h"

static char line[BB_LOG_LINE_MIN], notation[BB_ACCESS_LOG_FORMAT_MAX];

static void check_line(const struct bb__log_format *format, struct bb_slice sent)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nA: b\r\nX-Request-Id: c\r\n\r\n";
    struct bb__log_time time = {0};
    struct bb__buf kept = {0};
    struct bb_field fields[2] = {
        {.name = "a", .name_len = 1, .value = sent.at, .value_len = (uint32_t)sent.len},
        {.name = "Referer", .name_len = 7}};
    fields[1].value = sent.at;
    fields[1].value_len = (uint32_t)sent.len;
    struct bb_head head = {.method = sent,
                           .target = sent,
                           .path = sent,
                           .query = sent,
                           .authority = sent,
                           .host = sent,
                           .fields = fields,
                           .field_count = 2};
    struct bb__log_entry entry = {.head = &head,
                                  .peer = "192.0.2.1",
                                  .status = 200,
                                  .body_length = UINT64_MAX - 1,
                                  .duration = UINT64_MAX - 1,
                                  .queued = BB_LOG_UNKNOWN,
                                  .response = &kept,
                                  .port = 65535,
                                  .pid = 1 << 30,
                                  .connection = '+'};
    bb__log_keep(format, &kept, response, sizeof response - 1);
    size_t len = bb__log_line(format, &entry, &time, line, sizeof line);
    assert(len > 0 && len <= sizeof line && memchr(line, '\n', len) == line + len - 1);
    bb__buf_free(&kept);
}

/* These formats have no byte that needs an escape. So their lines must have no such byte, whatever the client
 * sent. */
static void check_escapes(struct bb_slice sent)
{
    static const char *const formats[] = {"%r%U%q%{a}i", "json"};
    struct bb__log_format format;
    char fault[BB_FAULT_MAX];
    for (size_t i = 0; i < 2; i++) {
        int code = bb__log_format_compile(&format, formats[i], fault);
        assert(code == BB_OK);
        check_line(&format, sent);
        for (const char *at = line; *at != '\n'; at++) {
            unsigned char byte = (unsigned char)*at;
            assert(byte >= 0x20 && byte != 0x7f && (i == 1 || (byte < 0x80 && byte != '"')));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *nul = size > 0 ? memchr(bytes, '\0', size) : NULL;
    size_t notation_len = nul ? (size_t)(nul - bytes) : size;
    if (notation_len >= sizeof notation) return 0;
    memcpy(notation, bytes, notation_len);
    notation[notation_len] = '\0';

    /* The client's bytes get a heap block of their own, so that ASan detects a read beyond the block. */
    size_t sent_len = nul ? size - notation_len - 1 : 0;
    char *sent = malloc(sent_len);
    assert(sent || sent_len == 0);
    if (sent_len > 0) memcpy(sent, nul + 1, sent_len);
    struct bb_slice slice = {sent, sent_len};

    struct bb__log_format format;
    char fault[BB_FAULT_MAX];
    int code = bb__log_format_compile(&format, notation, fault);
    assert(code == BB_OK || (code == BB_EFORMAT && strlen(fault) > 0));
    if (code == BB_OK) check_line(&format, slice);
    check_escapes(slice);
    free(sent);
    return 0;
}
