/* public_change_test.c: files of `public` that change while the server runs. The clock stands still until the
 * test moves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/public_case.h"
#include "support/fake_clock.h"

static int begin(void **state)
{
    (void)state;
    make_public_dir();
    return 0;
}

static void ask(const char *request, int status, const char *body)
{
    client_say(client, request);
    while (!client_receive(client)) {
        host_turn_with_helper(host);
        fake_clock_advance(BB_DISK_TICK);
    }
    assert_response(client, status, body);
}

static void replace(const char *name, const char *text, int64_t seconds)
{
    char new[TEMPORARY_PATH + 8];
    write_public_at("new", text, strlen(text), seconds);
    snprintf(new, sizeof new, "%s/new", public_dir);
    assert_int_equal(rename(new, public_path(name)), 0);
    make_old(public_dir, OLD_TIME);
}

static void test_a_replaced_file(void **state)
{
    (void)state;
    write_public("a", "first");
    serve_public();
    ask(GET("/a"), 200, "first");
    replace("a", "again", OLD_TIME); /* the same size and time: only the inode and ctime differ */
    ask(GET("/a"), 200, "first");
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "again");
    replace("a", "third", OLD_TIME + 5);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "third");
    assert_string_equal(client_field(client, "Last-Modified"), "Tue, 14 Nov 2023 22:13:25 GMT");
}

static void test_a_new_and_a_removed_file(void **state)
{
    (void)state;
    make_public_subdir("d");
    write_public("d/x", "x");
    serve_public();
    ask(GET("/a"), 200, "GET /a ");
    ask(GET("/d/a"), 200, "GET /d/a ");
    write_public("a", "a");
    write_public("d/a", "d/a");
    make_old(public_path("d"), OLD_TIME + 1);
    make_old(public_dir, OLD_TIME + 1);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "a");
    ask(GET("/d/a"), 200, "d/a");
    assert_int_equal(unlink(public_path("a")), 0);
    assert_int_equal(unlink(public_path("d/a")), 0);
    make_old(public_dir, OLD_TIME + 2);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "GET /a ");
    ask(GET("/d/a"), 200, "GET /d/a ");
}

/* A directory that has just changed may change again without another time. */
static void test_a_young_directory_is_read_again(void **state)
{
    struct timespec now;
    (void)state;
    serve_public();
    ask(GET("/a"), 200, "GET /a ");
    clock_gettime(CLOCK_REALTIME, &now);
    make_old(public_dir, now.tv_sec + 60 * 60);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "GET /a ");
    write_public("a", "a");
    clock_gettime(CLOCK_REALTIME, &now);
    make_old(public_dir, now.tv_sec);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "a");
    write_public("b", "b");
    make_old(public_dir, now.tv_sec);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/b"), 200, "b");
}

/* A file that has just been written has a weak tag, and is read again until it is old. */
static void test_a_young_file(void **state)
{
    struct timespec now;
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    write_public_at("a", "1", 1, now.tv_sec);
    serve_public();
    ask(GET("/a"), 200, "1");
    bool is_weak = strncmp(client_field(client, "ETag"), "W/\"", 3) == 0;
    int fd = open(public_path("a"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "2", 1), 1);
    close(fd);
    make_old(public_path("a"), now.tv_sec);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "2");
    clock_gettime(CLOCK_REALTIME, &now);
    assert_true(is_weak);
    write_public_at("zero", "0", 1, 0);
    make_old(public_dir, OLD_TIME + 1);
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/zero"), 200, "0");
    assert_null(client_field(client, "ETag"));
    assert_null(client_field(client, "Last-Modified"));
}

static size_t length_of(const char *path)
{
    char request[64];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    ask(request, 200, NULL);
    return strtoul(client_field(client, "Content-Length"), NULL, 10);
}

/* A response with the old length would have only a part of the new content, but would look whole. */
static void test_a_large_file_is_written_again(void **state)
{
    (void)state;
    write_public_at("large", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    serve_public();
    size_t before = length_of("/large");
    write_public_at("large", NULL, 4 * BB_FILE_SMALL, OLD_TIME + 5);
    assert_int_equal(length_of("/large"), before + 2 * BB_FILE_SMALL);
    assert_string_equal(client_field(client, "Last-Modified"), "Tue, 14 Nov 2023 22:13:25 GMT");
    replace("large", "small", OLD_TIME);
    assert_int_equal(length_of("/large"), 5);
}

/* Times that have no place in 64 bits of ns. The file system may keep another time. */
static void test_times_of_other_centuries(void **state)
{
    (void)state;
    write_public_at("late", "late", 4, INT64_C(32503680000));
    write_public_at("early", "early", 5, INT64_C(-32503680000));
    serve_public();
    ask(GET("/late"), 200, "late");
    assert_non_null(client_field(client, "Last-Modified"));
    ask(GET("/early"), 200, "early");
    assert_null(client_field(client, "Last-Modified"));
}

static void test_the_directory_is_removed(void **state)
{
    (void)state;
    write_public("a", "a");
    serve_public();
    ask(GET("/a"), 200, "a");
    remove_public_dir();
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/a"), 200, "GET /a ");
    assert_int_equal(mkdir(public_dir, 0755), 0); /* for end_public() */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_replaced_file, begin, end_public),
        cmocka_unit_test_setup_teardown(test_a_new_and_a_removed_file, begin, end_public),
        cmocka_unit_test_setup_teardown(test_a_young_directory_is_read_again, begin, end_public),
        cmocka_unit_test_setup_teardown(test_a_young_file, begin, end_public),
        cmocka_unit_test_setup_teardown(test_a_large_file_is_written_again, begin, end_public),
        cmocka_unit_test_setup_teardown(test_times_of_other_centuries, begin, end_public),
        cmocka_unit_test_setup_teardown(test_the_directory_is_removed, begin, end_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
