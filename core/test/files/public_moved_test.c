/* public_moved_test.c: a request that comes from another worker. During a deploy the sender may have other
 * files of `public`, or none, so the receiver looks for the file itself. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/conn_transfer_case.h"
#include "files/public_dir.h"
#include "support/fake_micros.h"

static struct move *move;

/* Only the receiver has files. */
static int begin_public(void **state)
{
    char fault[BB_FAULT_MAX];
    struct bb_settings settings;
    (void)state;
    make_public_dir();
    make_public_subdir("d");
    write_public("a", "the file");
    bb_settings_init(&settings);
    strcpy(settings.public, public_dir);
    assert_int_equal(bb_public_open(&public_files, &settings, fault), BB_OK);
    move = begin();
    assert_int_equal(bb_worker_public(move->to.worker, public_files), BB_OK);
    move->to.context.files = move->to.worker->files;
    return 0;
}

static int end_public(void **state)
{
    (void)state;
    end(move);
    bb_public_free(public_files);
    remove_public_dir();
    return 0;
}

static void assert_received(const char *status, const char *body)
{
    char bytes[1000];
    ssize_t got = recv(move->sockets.theirs, bytes, sizeof bytes - 1, MSG_DONTWAIT);
    assert_true(got > 0);
    bytes[got] = '\0';
    assert_memory_equal(bytes, status, strlen(status));
    assert_string_equal(strstr(bytes, "\r\n\r\n") + 4, body);
}

static void test_the_receiver_sends_its_file(void **state)
{
    (void)state;
    say_text(move, GET("/a"), BB_CONN_REQUEST);
    move_it(move);
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_received("HTTP/1.1 200 OK\r\n", "the file");
    assert_int_equal(move->conn->served, 1);
    assert_int_equal(move->conn->state, BB_CONN_HEAD);
}

static void test_what_is_no_file_is_the_hosts(void **state)
{
    (void)state;
    say_text(move, GET("/b"), BB_CONN_REQUEST);
    move_request(move);
    assert_target(move, "/b");
    assert_int_equal(move->conn->served, 1);
}

static void test_a_request_with_a_body(void **state)
{
    (void)state;
    say_text(move, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", BB_CONN_REQUEST);
    move_request(move);
    assert_body(move, "hi", 2);
    assert_int_equal(move->conn->served, 1);
}

static enum bb__conn_next await_helper(void)
{
    struct bb__conn_context *context = &move->to.context;
    enum bb__conn_next next = BB_CONN_WAIT;
    while (next == BB_CONN_WAIT) {
        while (helper_is_busy(move->to.worker)) sched_yield();
        fake_clock_advance(BB_DISK_TICK);
        context->now = fake_clock;
        if (bb__timeout_take_due(&move->to.timeouts, fake_clock))
            next = bb__conn_on_timeout(move->conn, context);
    }
    return next;
}

/* The request has waited for a lane before the receiver has to wait for the disk, which does not count. */
static void test_the_receiver_waits_for_the_disk(void **state)
{
    (void)state;
    say_text(move, GET("/d/b"), BB_CONN_REQUEST);
    move->conn->wait.ready_at = fake_clock * 1000;
    fake_clock_advance(200);
    move_it(move);
    move->to.context.now = fake_clock;
    assert_int_equal(bb__conn_resume(move->conn, &move->to.context), BB_CONN_WAIT);
    assert_int_equal(move->conn->state, BB_CONN_LOOK);
    assert_int_equal(await_helper(), BB_CONN_REQUEST);
    assert_int_equal(move->conn->state, BB_CONN_SERVED);
    assert_int_equal(move->conn->served, 1);
    assert_int_equal(fake_clock * 1000 - move->conn->wait.ready_at, 200 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_receiver_sends_its_file, begin_public, end_public),
        cmocka_unit_test_setup_teardown(test_what_is_no_file_is_the_hosts, begin_public, end_public),
        cmocka_unit_test_setup_teardown(test_a_request_with_a_body, begin_public, end_public),
        cmocka_unit_test_setup_teardown(test_the_receiver_waits_for_the_disk, begin_public, end_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
