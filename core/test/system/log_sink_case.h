/* log_sink_case.h: shared by the tests of log sinks: a directory for each test, the paths of a log and of a
 * renamed log, open sinks, and lines. */
#ifndef BB_TEST_LOG_SINK_CASE_H
#define BB_TEST_LOG_SINK_CASE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/descriptors.h"
#include "support/fail_file.h"
#include "support/files.h"
#include "system/log_sink.h"

struct place {
    char directory[TEMPORARY_PATH];
    char path[100]; /* in the directory */
    char other[100];
    int descriptors;
};

static inline int begin(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(mkdtemp(temporary_path(place->directory)));
    snprintf(place->path, sizeof place->path, "%s/log", place->directory);
    snprintf(place->other, sizeof place->other, "%s/log.1", place->directory);
    place->descriptors = open_descriptors();
    *state = place;
    return 0;
}

static inline int end(void **state)
{
    struct place *place = *state;
    fail_file_off();
    assert_int_equal(open_descriptors(), place->descriptors);
    unlink(place->path);
    unlink(place->other);
    assert_int_equal(rmdir(place->directory), 0);
    free(place);
    return 0;
}

static inline struct bb__log_sink opened(const char *target)
{
    struct bb__log_sink sink;
    char fault[BB_FAULT_MAX];
    assert_int_equal(bb__log_sink_open(&sink, target, fault), BB_OK);
    return sink;
}

static int write_error;

static inline size_t say(struct bb__log_sink *sink, const char *lines)
{
    write_error = 0;
    return bb__log_sink_write(sink, lines, strlen(lines), &write_error);
}

/* 5000 lines of 100 bytes. The caller frees them. */
static inline char *many_lines(void)
{
    char *lines = malloc(500001);
    memset(lines, 'a', 500000);
    for (int i = 1; i <= 5000; i++) lines[100 * i - 1] = '\n';
    lines[500000] = '\0';
    return lines;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
