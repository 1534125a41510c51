/* public_memory_test.c: each memory allocation of a look-up and of a response with a file fails once. The
 * client gets the file, the application's response, 503, or a connection that is closed. Nothing leaks. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_dir.h"
#include "files/slow_disk.h"
#include "io_thread/fail_thread.h"
#include "support/client.h"
#include "support/fail_alloc.h"
#include "support/fake_clock.h"

#define ASK(path, fields) "GET " path " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"
#define MEDIUM            10000
#define VERY_LARGE        (4 << 20) /* the kernel buffers only a part of it */

static int begin(void **state)
{
    (void)state;
    make_public_dir();
    make_public_subdir("d");
    make_public_subdir("d/e");
    write_public("d/a.css", "small");
    write_public("d/a.css.gz", "packed");
    for (char name[] = "d/e/A"; name[4] <= 'z'; name[4]++) write_public(name, "deep");
    write_public_at("d/medium", NULL, MEDIUM, OLD_TIME);
    make_old(public_path("d/e"), OLD_TIME);
    make_old(public_path("d"), OLD_TIME);
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    return 0;
}

static int end(void **state)
{
    (void)state;
    remove_public_dir();
    return 0;
}

/* Responds like app_echo(), but its allocations may fail. */
static void app_may_fail(struct host *host, const struct bb_request *request)
{
    char text[64];
    uint64_t taken;
    const struct bb_slice *target = &request->head.target;
    int len = snprintf(text, sizeof text, "GET %.*s ", (int)target->len, target->at);
    const struct bb_slice part = {text, (size_t)len};
    int code = bb_reply_begin(host->lane, 200);
    if (code == BB_OK) code = bb_reply_head(host->lane, part.len);
    if (code == BB_OK) code = bb_reply_write(host->lane, &part, 1, true, &taken);
    if (code == BB_OK)
        (void)bb_reply_end(host->lane);
    else
        bb_reply_abort(host->lane);
}

static struct host *new_host(void)
{
    struct bb_settings settings = host_settings();
    strcpy(settings.access_log, "/dev/null");
    struct host *host = host_new(&settings, AF_UNIX);
    host->app = app_may_fail;
    host_enter_public(host, public_dir, "/d/ X-Rule: yes\n/ X-All: yes");
    return host;
}

/* ---- the start ---- */

static void test_each_allocation_of_the_start_fails_once(void **state)
{
    char fault[BB_FAULT_MAX];
    int code;
    unsigned n;
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.public, public_dir);
    strcpy(settings.public_headers, "/d/ X-Rule: yes");
    struct host *host = host_new(&settings, AF_UNIX);
    int descriptors = open_descriptors();
    for (n = 1; fail_alloc_at(n), code = bb_public_open(&public_files, &settings, fault), fail_alloc_off();
         n++) {
        assert_int_equal(code, BB_ENOMEM);
        assert_null(public_files);
        assert_int_equal(open_descriptors(), descriptors);
    }
    assert_int_equal(code, BB_OK);
    assert_true(n > 3);
    bb_lane_free(host->lane);
    host->lane = NULL;
    /* The names of the directory are read later if there is no memory for them now. */
    for (n = 1; fail_alloc_at(n), code = bb_worker_public(host->worker, public_files), fail_alloc_off();
         n++) {
        if (code != BB_OK) {
            assert_int_equal(code, BB_ENOMEM);
            continue;
        }
        assert_non_null(host->worker->files);
        bb_worker_free(host->worker);
        assert_int_equal(bb_worker_new(&host->worker, &settings), BB_OK);
    }
    assert_int_equal(code, BB_OK);
    assert_true(n > 3);
    host_leave_public(host);
}

/* ---- requests ---- */

struct scenario {
    const char *request, *body; /* body: NULL: letters */
    size_t letters;
    const char *application; /* the response if the application decides */
};

static const struct scenario scenarios[] = {
    {GET("/d/a.css"), "small", 0, "GET /d/a.css "},
    {ASK("/d/a.css", "Accept-Encoding: gzip\r\n"), "packed", 0, "GET /d/a.css "},
    {ASK("/d/a.css", "Range: bytes=1-2\r\n"), "ma", 0, "GET /d/a.css "},
    {GET("/d/e/b"), "deep", 0, "GET /d/e/b "},
    {GET("/d/e/none"), "GET /d/e/none ", 0, "GET /d/e/none "},
    {GET("/d/medium"), NULL, MEDIUM, "GET /d/medium "},
    {GET("/large"), NULL, VERY_LARGE, "GET /large "},
};

static bool has_file(const struct client *client, const struct scenario *scenario)
{
    const char *bytes = bb__buf_bytes(&client->body);
    size_t len = bb__buf_len(&client->body) - 1;
    if (scenario->body) return strcmp(bytes, scenario->body) == 0;
    for (size_t i = 0; i < len; i += 997)
        if (bytes[i] != (char)('a' + i % 26)) return false;
    return len == scenario->letters;
}

/* A whole response is the right one. If the lane sends only a part, the client sees that it is cut. */
static void assert_right(struct client *client, const struct scenario *scenario)
{
    bool is_whole = client_read(client, true);
    if (!is_whole) {
        assert_int_not_equal(client->end, CLIENT_OPEN);
        return;
    }
    if (client->status == 503) return;
    assert_true(client->status == 200 || client->status == 206);
    if (!has_file(client, scenario)) assert_string_equal(bb__buf_bytes(&client->body), scenario->application);
}

/* There is no helper, because fail_alloc.h is not for threads: the lane waits for the disk itself. */
static int begin_without_helper(void **state)
{
    (void)state;
    fail_thread.error = EAGAIN;
    return 0;
}

static int allow_helper(void **state)
{
    (void)state;
    fail_thread.error = 0;
    return 0;
}

/* Runs a scenario in which the nth allocation fails. Returns false if there are fewer. warm: the cache has
 * the file. */
static bool run_with_failure(const struct scenario *scenario, unsigned n, bool warm)
{
    struct host *host = new_host();
    struct client *client = client_new(host);
    if (warm) {
        client_say(client, scenario->request);
        assert_right(client, scenario);
    }
    client_say(client, scenario->request);
    fail_alloc_at(n);
    host_settle(host);
    bool failed = fail_alloc_off();
    assert_right(client, scenario);
    client_free(client);
    client = client_new_saying(host, scenario->request); /* the next client gets the file */
    assert_true(client_read(client, true));
    assert_true(has_file(client, scenario));
    client_free(client);
    host_settle_to(host, 0);
    assert_int_equal(atomic_load(&host->worker->spool_budget.used), 0);
    host_leave_public(host);
    return failed;
}

static void test_each_allocation_of_a_request_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        for (int warm = 0; warm < 2; warm++) {
            unsigned n = 1;
            while (run_with_failure(&scenarios[i], n, warm)) n++;
            assert_true(warm || n > 3);
        }
}

/* ---- the helper ---- */

/* Until a second has passed, the response is 503. */
static void test_the_helper_has_no_memory(void **state)
{
    (void)state;
    struct host *host = new_host();
    slow_disk_set(true);
    struct client *client = client_new_saying(host, GET("/d/e/b"));
    host_settle(host);
    slow_disk_await();
    fail_alloc_at(1);
    slow_disk_set(false);
    while (!atomic_load(&fail_alloc.failed)) sched_yield();
    assert_true(fail_alloc_off());
    while (helper_is_busy(host->worker)) sched_yield();
    fake_clock_advance(BB_DISK_TICK);
    assert_response(client, 503, NULL);
    client_free(client);
    fake_clock_advance(BB_FILE_VALID);
    client = client_new_saying(host, GET("/d/e/b"));
    while (!client_receive(client)) {
        host_turn_with_helper(host);
        fake_clock_advance(BB_DISK_TICK);
    }
    assert_response(client, 200, "deep");
    client_free(client);
    host_leave_public(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_of_the_start_fails_once),
        cmocka_unit_test_setup_teardown(test_each_allocation_of_a_request_fails_once, begin_without_helper,
                                        allow_helper),
        cmocka_unit_test(test_the_helper_has_no_memory),
    };
    return cmocka_run_group_tests_name("public_memory", tests, begin, end);
}
