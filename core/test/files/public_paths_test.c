/* public_paths_test.c: which file of a real directory a request's target gets, as a table. file_path_test.c
 * has the decoding alone, conn_public_test.c the responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "public_paths_table.h"
#include "support/client.h"

/* ---- the directory ---- */

#define TARGETS (sizeof targets / sizeof *targets)

static char outside[TEMPORARY_PATH]; /* a file and a directory outside of the directory of `public` */

static void write_named(const char *name)
{
    char parent[BB_FILE_PATH_MAX];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
        (void)mkdir(public_path(parent), 0755);
    }
    write_public(name, name);
}

static void make_outside(void)
{
    char first[TEMPORARY_PATH];
    memcpy(first, public_dir, sizeof first);
    make_public_dir();
    write_public("outside.txt", "outside.txt");
    memcpy(outside, public_dir, sizeof outside);
    memcpy(public_dir, first, sizeof first);
}

static void make_tree(void)
{
    char to[200];
    make_public_dir();
    assert_int_equal(chmod(public_dir, 0755), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) write_named(files[i]);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        assert_int_equal(symlink(links[i][1], public_path(links[i][0])), 0);
    make_outside();
    assert_int_equal(symlink(outside, public_path("out")), 0);
    snprintf(to, sizeof to, "%s/outside.txt", outside);
    assert_int_equal(symlink(to, public_path("out.txt")), 0);
    snprintf(to, sizeof to, "../%s/outside.txt", strrchr(outside, '/') + 1);
    assert_int_equal(symlink(to, public_path("up.txt")), 0);
    snprintf(to, sizeof to, "%s/hello.txt", public_dir);
    assert_int_equal(symlink(to, public_path("absolute")), 0);
    assert_int_equal(mkfifo(public_path("fifo"), 0644), 0);
    assert_int_equal(mknod(public_path("socket"), S_IFSOCK | 0644, 0), 0);
    make_old(public_dir, OLD_TIME);
}

static void remove_tree(void)
{
    remove_public_dir();
    memcpy(public_dir, outside, sizeof outside);
    remove_public_dir();
}

/* ---- the tests ---- */

/* The lane asks the helper again after some ms, and no descriptor shows this to client_wait(). */
static void await_bytes(struct client *client)
{
    uint64_t since = real_ms();
    while (!client_receive(client)) {
        if (real_ms() - since > WAIT_LIMIT) fail_msg("the host does not answer");
        host_turn(client->host);
        poll(&(struct pollfd){.fd = client->fd, .events = POLLIN}, 1, 1);
    }
}

static void assert_served(struct client *client, const char *prefix, const char *target, const char *file)
{
    static char request[5 * BB_FILE_PATH_MAX];
    unsigned served = client->host->served;
    snprintf(request, sizeof request, "GET %s%s HTTP/1.1\r\nHost: x\r\n\r\n", prefix, target);
    client_say(client, request);
    await_bytes(client);
    assert_true(client_read(client, true));
    const char *body = bb__buf_bytes(&client->body);
    bool is_file = client->host->served == served;
    if (client->status != 200) fail_msg("%s: %d", target, client->status);
    if (is_file != (file != NULL)) fail_msg("%s: %s", target, is_file ? body : "the application");
    if (file && strcmp(body, file) != 0) fail_msg("%s: %s, not %s", target, body, file);
}

/* Twice on each connection, because the second answer comes from the cache. */
static void test_the_table(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    struct client *client = client_new(host);
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < TARGETS; i++) assert_served(client, "", targets[i][0], targets[i][1]);
    client_free(client);
    host_leave_public(host);
}

/* A target in absolute form (RFC 9112 3.2.2). The core serves no https, so such a target is the
 * application's. */
static void test_absolute_form(void **state)
{
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    struct client *client = client_new(host);
    for (size_t i = 0; i < TARGETS; i++) assert_served(client, "http://x:80", targets[i][0], targets[i][1]);
    assert_served(client, "HTTP://y", "", "index.html");
    assert_served(client, "http://y", "?hello.txt", "index.html");
    assert_served(client, "https://x", "/hello.txt", NULL);
    assert_served(client, "HTTPS://x", "", NULL);
    client_free(client);
    host_leave_public(host);
}

/* Targets that the parser rejects, and requests with other methods, get no file. */
static void test_other_targets(void **state)
{
    static const char *const bad[] = {"GET a#b.txt", "GET /a#b.txt",  "GET %2Fhello.txt", "GET hello.txt",
                                      "GET *",       "GET /a b.txt",  "GET ?hello.txt",   "GET ../hello.txt",
                                      "GET \\a",     "GET /\x01.txt", "GET file:///a"};
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char request[100];
        snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: x\r\n\r\n", bad[i]);
        struct client *client = client_new_saying(host, request);
        assert_true(client_read(client, true));
        if (client->status != 400) fail_msg("%s: %d", bad[i], client->status);
        client_free(client);
    }
    assert_int_equal(host->served, 0);
    struct client *client = client_new_saying(host, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_response(client, 200, "OPTIONS * ");
    client_free(client);
    host_leave_public(host);
}

/* Makes a file in 15 directories whose path has `len` bytes, and a variant of it. */
static const char *make_deep(size_t len)
{
    static char name[BB_FILE_PATH_MAX + 8];
    size_t at = 0;
    for (int depth = 0; depth < 15; depth++, at += sizeof NAME_250) {
        memcpy(name + at, NAME_250 "/", sizeof NAME_250);
        name[at + sizeof NAME_250 - 1] = '\0';
        (void)mkdir(public_path(name), 0755);
        name[at + sizeof NAME_250 - 1] = '/';
    }
    memset(name + at, 'd', len - at);
    strcpy(name + len, ".gz");
    write_public(name, "variant");
    name[len] = '\0';
    write_public(name, "deep");
    return name;
}

/* The longest name has BB_FILE_PATH_MAX - 2 bytes. Its variant has a longer name, and is not found. */
static void test_long_paths(void **state)
{
    static char path[16 * 1024 + 1] = "/";
    (void)state;
    struct host *host = host_new_default(AF_UNIX);
    for (size_t len = BB_FILE_PATH_MAX - 8; len < BB_FILE_PATH_MAX + 1; len++) (void)make_deep(len);
    host_enter_public(host, public_dir, "");
    struct client *client = client_new(host);
    for (size_t len = BB_FILE_PATH_MAX - 8; len < BB_FILE_PATH_MAX + 1; len++) {
        memcpy(path + 1, make_deep(len), len + 1);
        assert_served(client, "", path, len < BB_FILE_PATH_MAX - 1 ? "deep" : NULL);
        assert_int_equal(len < BB_FILE_PATH_MAX - 4, client_field(client, "Vary") != NULL);
    }
    memset(path + 1, 'a', host_settings().max_target - 1);
    assert_served(client, "", path, NULL);
    client_free(client);
    host_leave_public(host);
}

/* Root reads every file, so the process becomes another user while the host serves. */
static void test_unreadable_files(void **state)
{
    uid_t user = geteuid();
    (void)state;
    write_public("closed", "closed");
    write_public("closed.html", "closed.html");
    write_public("shut.html", "shut.html");
    make_public_subdir("private");
    write_public("private/a.txt", "private/a.txt");
    assert_int_equal(chmod(public_path("closed"), 0), 0);
    assert_int_equal(chmod(public_path("shut.html"), 0), 0);
    assert_int_equal(chmod(public_path("private"), 0), 0);
    struct host *host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    if (user == 0) assert_int_equal(seteuid(65534), 0);
    struct client *client = client_new(host);
    assert_served(client, "", "/hello.txt", "hello.txt");
    assert_served(client, "", "/shut.html", NULL);
    assert_served(client, "", "/shut", NULL);
    assert_served(client, "", "/private/a.txt", NULL);
    assert_served(client, "", "/private", NULL);
    assert_served(client, "", "/closed", "closed.html");
    if (user == 0) assert_int_equal(seteuid(0), 0);
    client_free(client);
    host_leave_public(host);
    assert_int_equal(chmod(public_path("private"), 0755), 0);
}

static int begin(void **state)
{
    (void)state;
    make_tree();
    return 0;
}

static int end(void **state)
{
    (void)state;
    remove_tree();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table),        cmocka_unit_test(test_absolute_form),
        cmocka_unit_test(test_other_targets),    cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_unreadable_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
