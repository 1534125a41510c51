/* request.c: see request.h. */
#include "request.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the field's value from the -H options, or NULL. */
static const char *given_field(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->field_count; i++) {
        size_t name_len = strcspn(options->fields[i], ":");
        if (text_is_word(options->fields[i], name_len, name)) return options->fields[i] + name_len + 1;
    }
    return NULL;
}

static bool is_one_of(const char *method, const char *const *methods)
{
    while (*methods && strcmp(method, *methods) != 0) methods++;
    return *methods != NULL;
}

int body_read(struct body *body, const char *path)
{
    *body = (struct body){0};
    FILE *file = fopen(path, "rbe");
    if (!file) return errno;
    FILE *copy = open_memstream(&body->bytes, &body->len);
    char block[16 * 1024];
    size_t got;
    errno = 0;
    while (copy && (got = fread(block, 1, sizeof block, file)) > 0) fwrite(block, 1, got, copy);
    bool failed = !copy || ferror(file) || ferror(copy);
    int error = errno ? errno : EIO;
    fclose(file);
    if (copy && fclose(copy) != 0) failed = true;
    return failed ? error : 0;
}

static void write_head(FILE *out, const struct request *request, const struct options *options,
                       const struct body *body, const struct target *target)
{
    static const char *const with_content[] = {"POST", "PUT", "PATCH", NULL};
    const char *slash = *target->resource == '/' ? "" : "/";

    fprintf(out, "%s %s%.*s HTTP/1.1\r\n", options->method, slash, target->resource_len, target->resource);
    if (!given_field(options, "host"))
        fprintf(out, "Host: %.*s\r\n", target->authority_len, target->authority);
    for (size_t i = 0; i < options->field_count; i++) fprintf(out, "%s\r\n", options->fields[i]);
    if (request->closes && !given_field(options, "connection")) fputs("Connection: close\r\n", out);
    /* If the method expects content, Content-Length is sent even without content, RFC 9110 8.6. */
    if (body || is_one_of(options->method, with_content)) {
        fprintf(out, "Content-Length: %zu\r\n", body ? body->len : 0);
    }
    fputs("\r\n", out);
}

int request_build(struct request *request, const struct options *options, const struct body *body,
                  const struct target *target)
{
    const char *connection = given_field(options, "connection");

    *request = (struct request){
        .is_head = strcmp(options->method, "HEAD") == 0,
        .closes = options->close || (connection && text_list_has(connection, strlen(connection), "close")),
    };
    FILE *out = open_memstream(&request->bytes, &request->len);
    if (!out) return errno;
    write_head(out, request, options, body, target);
    if (body) fwrite(body->bytes, 1, body->len, out);
    bool failed = ferror(out);
    return fclose(out) != 0 || failed ? ENOMEM : 0;
}

void request_free(struct request *request)
{
    free(request->bytes);
}

int requests_build(struct request **requests, const struct options *options, const struct body *body,
                   const struct target *target)
{
    struct target other = *target;
    *requests = calloc(options->also_count + 1, sizeof **requests);
    if (!*requests) return ENOMEM;
    int error = request_build(*requests, options, body, target);
    for (size_t i = 0; !error && i < options->also_count; i++) {
        other.resource = options->also[i].resource;
        other.resource_len = (int)strlen(other.resource);
        error = request_build(*requests + 1 + i, options, body, &other);
    }
    return error;
}

void requests_free(struct request *requests, const struct options *options)
{
    for (size_t i = 0; requests && i <= options->also_count; i++) request_free(&requests[i]);
    free(requests);
}
