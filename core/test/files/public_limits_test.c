/* public_limits_test.c: the limits of the cache of files, and of the names that it knows. If one is reached,
 * all files are still found. Asks the cache itself, because there are many files. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/file_cache.h"
#include "files/public_dir.h"
#include "support/client.h"

static struct bb__file_cache *cache;

static int begin(void **state)
{
    (void)state;
    make_public_dir();
    return 0;
}

static void serve(void)
{
    open_public(public_dir, "");
    cache = bb__file_cache_new(public_files, 0, 0);
    assert_non_null(cache);
}

static int end(void **state)
{
    (void)state;
    assert_true(bb__file_cache_stop(cache));
    bb__file_cache_free(cache, false);
    bb_public_free(public_files);
    cache = NULL; /* the next test may be left out */
    public_files = NULL;
    remove_public_dir();
    return 0;
}

/* Returns the entry of a file, or NULL. */
static struct bb__file_entry *look_up(const char *path)
{
    struct bb__file_entry *entry;
    enum bb__file_found found;
    const struct bb_slice slice = {path, strlen(path)};
    while ((found = bb__file_cache_find(cache, slice, bb__clock_ms(), &entry)) == BB_FILE_LATER ||
           found == BB_FILE_SOON)
        sched_yield();
    return found == BB_FILE_FOUND ? entry : NULL;
}

/* The file begins with this text. */
static void assert_file(const char *path, const char *text)
{
    struct bb__file_entry *entry = look_up(path);
    if (!entry) fail_msg("%s is not found", path);
    const struct bb__representation *file = &entry->representations[BB_CODING_IDENTITY];
    assert_true(file->stamp.size >= strlen(text));
    assert_memory_equal(file->bytes, text, strlen(text));
    bb__file_entry_release(entry);
}

static void assert_no_file(const char *path)
{
    assert_null(look_up(path));
}

/* Two results are valid at a time. */
static const char *numbered(const char *format, int number)
{
    static char texts[2][64];
    static unsigned next;
    char *text = texts[next++ % 2];
    (void)snprintf(text, sizeof texts[0], format, number);
    return text;
}

static void test_entries(void **state)
{
    enum { FILES = BB_ENTRIES_MAX + 100 };
    (void)state;
    for (int i = 0; i < FILES; i++) write_public(numbered("%d", i), numbered("%d", i));
    serve();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FILES; i++) assert_file(numbered("/%d", i), numbered("%d", i));
    assert_int_equal(cache->count, BB_ENTRIES_MAX);
    assert_int_equal(cache->descriptors, 0);
}

/* An entry that is used often is not dropped. */
static void test_the_oldest_entry_is_dropped(void **state)
{
    enum { FILES = BB_ENTRIES_MAX + 100 };
    LINUX_ONLY; /* elsewhere the helper replaces the entry each second */
    write_public("often", "often");
    for (int i = 0; i < FILES; i++) write_public(numbered("%d", i), "a");
    serve();
    struct bb__file_entry *often = look_up("/often");
    for (int i = 0; i < FILES; i++) {
        assert_file(numbered("/%d", i), "a");
        if (i % 1000 == 0) assert_file("/often", "often");
    }
    assert_int_equal(cache->count, BB_ENTRIES_MAX);
    assert_true(often->cache.is_in);
    bb__file_entry_release(often);
}

/* The names say so, and clients can ask for as many as they like. */
static void test_paths_that_are_no_files_take_no_entries(void **state)
{
    (void)state;
    write_public("a", "a");
    make_public_subdir("d");
    serve();
    assert_file("/a", "a");
    assert_no_file("/d/first"); /* the helper reads the names */
    unsigned count = cache->count;
    for (int i = 0; i < 100; i++) assert_no_file(numbered("/d/%d", i));
    assert_int_equal(cache->count, count);
}

static void test_bytes_in_memory(void **state)
{
    enum { FILES = BB_FILE_BYTES_MAX / BB_FILE_SMALL + 20 };
    (void)state;
    for (int i = 0; i < FILES; i++) write_public_at(numbered("%d", i), NULL, BB_FILE_SMALL, OLD_TIME);
    serve();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FILES; i++) assert_file(numbered("/%d", i), "abcdefghijklmnopqrstuvwxyz");
    assert_int_equal(cache->bytes, BB_FILE_BYTES_MAX);
    assert_int_equal(cache->count, BB_FILE_BYTES_MAX / BB_FILE_SMALL);
}

/* The names of such a directory are not known, so a path that is no file costs a system call. */
static void test_names_of_a_directory(void **state)
{
    enum { FILES = BB_NAMES_MAX + 1 };
    char path[TEMPORARY_PATH + 16];
    (void)state;
    make_public_subdir("d");
    write_public("d/a", "d/a");
    make_old(public_path("d"), OLD_TIME);
    write_public("0", "all");
    (void)snprintf(path, sizeof path, "%s", public_path("0"));
    for (int i = 1; i < FILES; i++) assert_int_equal(link(path, public_path(numbered("%d", i))), 0);
    make_old(public_dir, OLD_TIME);
    serve();
    assert_true(cache->tree.roots[0]->names.is_full);
    assert_file("/0", "all");
    assert_file("/16384", "all");
    assert_file("/d/a", "d/a");
    assert_no_file("/none");
    assert_no_file("/none/none");
    assert_no_file("/d/none");
}

static void test_directories(void **state)
{
    enum { DIRS = BB_DIRS_MAX + 5 };
    (void)state;
    for (int i = 0; i < DIRS; i++) {
        assert_int_equal(mkdir(public_path(numbered("%d", i)), 0755), 0);
        write_public(numbered("%d/a", i), numbered("%d", i));
        make_old(public_path(numbered("%d", i)), OLD_TIME);
    }
    serve();
    for (int i = 0; i < DIRS; i++) {
        assert_file(numbered("/%d/a", i), numbered("%d", i));
        assert_no_file(numbered("/%d/b", i));
    }
    assert_true(cache->tree.count <= BB_DIRS_MAX);
}

/* The tree cannot keep all directories of one path. */
static void test_a_deep_path(void **state)
{
    enum { DEPTH = BB_DIRS_MAX + 5 };
    char path[2 * DEPTH + 8] = "";
    (void)state;
    for (int i = 0; i < DEPTH; i++) {
        strcat(path, "/d");
        assert_int_equal(mkdir(public_path(path + 1), 0755), 0);
        make_old(public_path(path + 1), OLD_TIME);
    }
    strcat(path, "/a");
    write_public(path + 1, "deep");
    serve();
    assert_file(path, "deep");
    assert_true(cache->tree.count <= BB_DIRS_MAX);
}

static void put_names(const char *path, size_t count)
{
    struct bb__dir_look look = {.has_names = true, .names = {.count = count}};
    assert_int_equal(bb__dir_tree_put(&cache->tree, 0, path, strlen(path), &look, 0, 1), BB_OK);
}

static void test_names_of_all_directories(void **state)
{
    (void)state;
    serve();
    put_names("a", BB_DIR_NAMES_MAX / 2);
    put_names("b", BB_DIR_NAMES_MAX / 2);
    assert_int_equal(cache->tree.count, 2);
    put_names("b", 1);
    assert_int_equal(cache->tree.name_count, BB_DIR_NAMES_MAX / 2 + 1);
    put_names("c", BB_DIR_NAMES_MAX / 2);
    assert_int_equal(cache->tree.count, 1);
    assert_int_equal(cache->tree.name_count, BB_DIR_NAMES_MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entries, begin, end),
        cmocka_unit_test_setup_teardown(test_the_oldest_entry_is_dropped, begin, end),
        cmocka_unit_test_setup_teardown(test_paths_that_are_no_files_take_no_entries, begin, end),
        cmocka_unit_test_setup_teardown(test_bytes_in_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_names_of_a_directory, begin, end),
        cmocka_unit_test_setup_teardown(test_directories, begin, end),
        cmocka_unit_test_setup_teardown(test_a_deep_path, begin, end),
        cmocka_unit_test_setup_teardown(test_names_of_all_directories, begin, end),
    };
    return cmocka_run_group_tests_name("public_limits", tests, NULL, NULL);
}
