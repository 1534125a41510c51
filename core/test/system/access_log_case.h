/* access_log_case.h: shared by the tests of the access log: a directory for the log of each test, and a host
 * (program that calls the core) that writes a log. The clock is fake, so lines are written only when the test
 * moves the clock. */
#ifndef BB_TEST_ACCESS_LOG_CASE_H
#define BB_TEST_ACCESS_LOG_CASE_H

#include "support/client.h"
#include "support/fail_file.h"
#include "support/fake_clock.h"
#include "support/files.h"

#define GET "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static char directory[TEMPORARY_PATH], path[100], renamed[100];

static inline int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(temporary_path(directory)));
    snprintf(path, sizeof path, "%s/log", directory);
    snprintf(renamed, sizeof renamed, "%s/log.1", directory);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    fail_file_off();
    unlink(path);
    unlink(renamed);
    assert_int_equal(rmdir(directory), 0);
    return 0;
}

static inline struct host *new_host(const char *format, int family)
{
    struct bb_settings settings = host_settings();
    settings.max_body = 1000;
    settings.max_target = 100;
    settings.spool_threshold = 10;
    strcpy(settings.access_log, path);
    strcpy(settings.access_log_format, format);
    return host_new(&settings, family);
}

static inline void assert_log(const char *lines)
{
    assert_string_equal(content(path), lines);
}

/* Advances the clock by BB_LOG_AGE, so that the host writes all lines. */
static inline void let_a_second_pass(struct host *host)
{
    fake_clock_advance(BB_LOG_AGE);
    host_turn(host);
}

static inline void ask(struct host *host, const char *request, int status)
{
    struct client *client = client_new(host);
    client_say(client, request);
    assert_response(client, status, NULL);
    client_free(client);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
