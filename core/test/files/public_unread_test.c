/* public_unread_test.c: directories of `public` whose names cannot be read, and files that cannot be opened.
 * The clock stands still until the test moves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/fail_names.h"
#include "files/public_case.h"
#include "support/fake_clock.h"
#include "support/few_descriptors.h"

static int begin(void **state)
{
    (void)state;
    make_public_files();
    return 0;
}

static void serve(int error)
{
    host = host_new_default(AF_UNIX); /* reads the names of its descriptors */
    fail_names = error;
    host_enter_public(host, public_dir, "");
    client = client_new(host);
}

static void ask(const char *request, const char *body)
{
    client_say(client, request);
    while (!client_receive(client)) {
        host_turn_with_helper(host);
        fake_clock_advance(BB_DISK_TICK);
    }
    assert_response(client, 200, body);
}

/* An error hides no file. The names are read again a second later, although the directory has not changed. */
static void test_an_error_of_the_disk(void **state)
{
    (void)state;
    serve(EIO);
    const struct bb__name_set *names = &host->worker->files->tree.roots[0]->names;
    assert_true(names->is_full);
    ask(GET("/a"), "a");
    ask(GET("/d/a"), "d/a");
    ask(GET("/none"), "GET /none ");
    fail_names = 0;
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/none"), "GET /none ");
    ask(GET("/d/a"), "d/a");
    assert_false(names->is_full);
    assert_int_equal(names->count, 2);
}

/* The known file is sent, because the application would answer 404. */
static void test_no_descriptors(void **state)
{
    (void)state;
    write_public_at("large", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    serve(0);
    ask(GET("/d/a"), "d/a");
    ask(GET("/large"), NULL);
    limit_descriptors(0);
    for (int i = 0; i < 3; i++) {
        fake_clock_advance(BB_FILE_VALID);
        ask(GET("/d/a"), "d/a");
    }
    unlimit_descriptors();
    write_public("d/a", "again");
    fake_clock_advance(BB_FILE_VALID);
    ask(GET("/d/a"), "again");
}

/* A server of files may let a file be opened that it does not let be read. The next candidate counts. */
static void test_a_file_that_may_be_opened_only(void **state)
{
    (void)state;
    assert_int_equal(symlink("a", public_path("page")), 0);
    write_public_at("page.html", NULL, 2 * BB_FILE_SMALL, OLD_TIME);
    serve(0);
    fail_read = EACCES;
    ask(GET("/page"), NULL);
    int before = open_descriptors();
    for (int i = 0; i < 3; i++) {
        fake_clock_advance(BB_FILE_VALID);
        ask(GET("/page"), NULL);
    }
    fail_read = 0;
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_error_of_the_disk, begin, end_public),
        cmocka_unit_test_setup_teardown(test_a_file_that_may_be_opened_only, begin, end_public),
        cmocka_unit_test_setup_teardown(test_no_descriptors, begin, end_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
