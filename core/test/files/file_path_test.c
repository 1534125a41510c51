/* file_path_test.c: the name of the file that a path stands for, without a file system.
 * public_paths_test.c has paths and real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files/file_path.h"
#include "support/guard.h"

static struct guard guard;

/* NULL: the path names no file. */
static const char *decoded(const char *path, size_t len)
{
    static struct bb__file_path to;
    const struct bb_slice slice = {guard_put(&guard, path, len), len};
    memset(&to, 0x5a, sizeof to);
    if (!bb__file_path_decode(slice, &to)) return NULL;
    assert_int_equal(to.path[0], '/');
    assert_int_equal(strlen(to.path), 1 + to.len);
    assert_int_equal(to.hash, bb__name_hash(to.path + 1, to.len));
    return to.path;
}

static void assert_decoded(const char *path, const char *wanted)
{
    const char *name = decoded(path, strlen(path));
    if (!wanted && name) fail_msg("%s is %s", path, name);
    if (wanted && !name) fail_msg("%s is no name", path);
    if (wanted) assert_string_equal(name, wanted);
}

/* { path, what it is decoded to }. NULL: no file. */
static const char *const decodings[][2] = {
    /* the root, and "/" at the end */
    {"/", "/"},
    {"/a", "/a"},
    {"/a/", "/a"},
    {"/a/b", "/a/b"},
    {"/a/b/", "/a/b"},
    {"", NULL},
    {"a", NULL},
    {"*", NULL},
    {"%2Fa", NULL},
    /* empty segments */
    {"//", NULL},
    {"//a", NULL},
    {"/a//", NULL},
    {"/a//b", NULL},
    {"///", NULL},
    /* percent-encoding (RFC 3986 2.1) */
    {"/%41", "/A"},
    {"/%7e", "/~"},
    {"/%7E", "/~"},
    {"/%2b", "/+"},
    {"/%25", "/%"},
    {"/%2525", "/%25"},
    {"/%252e%252e", "/%2e%2e"},
    {"/a%20b", "/a b"},
    {"/a%3Fb%23c", "/a?b#c"},
    {"/%c3%a9", "/\303\251"},
    {"/\303\251", "/\303\251"},
    {"/%c0%ae%c0%ae/a", "/\300\256\300\256/a"},
    {"/%ff", "/\377"},
    {"/%0a%7f%01", "/\n\177\001"},
    {"/%aF%Fa", "/\257\372"},
    {"/%41/%42/", "/A/B"},
    {"/%", NULL},
    {"/%4", NULL},
    {"/%zz", NULL},
    {"/%4z", NULL},
    {"/%z4", NULL},
    {"/%:0", NULL},
    {"/%/0", NULL},
    {"/%@0", NULL},
    {"/%`0", NULL},
    {"/%g0", NULL},
    {"/%G0", NULL},
    {"/%%41", NULL},
    {"/%4%31", NULL},
    {"/%+1", NULL},
    {"/%0x41", NULL},
    {"/%u0041", NULL},
    {"/%/a", NULL},
    {"/a%", NULL},
    {"/a/%4", NULL},
    /* bytes that no name has here */
    {"/%00", NULL},
    {"/a%00", NULL},
    {"/a.txt%00.css", NULL},
    {"/%2F", NULL},
    {"/%2f", NULL},
    {"/a%2Fb", NULL},
    {"/a%2f", NULL},
    {"/..%2fa", NULL},
    {"/%5C", NULL},
    {"/%5c", NULL},
    {"/\\", NULL},
    {"/a\\b", NULL},
    {"/..\\a", NULL},
    {"/a%5c..%5cb", NULL},
    {"\\a", NULL},
    /* dots */
    {"/.", NULL},
    {"/./", NULL},
    {"/./a", NULL},
    {"/a/.", NULL},
    {"/a/./b", NULL},
    {"/..", NULL},
    {"/../", NULL},
    {"/../a", NULL},
    {"/a/..", NULL},
    {"/a/../", NULL},
    {"/a/../b", NULL},
    {"/%2e", NULL},
    {"/%2E%2E", NULL},
    {"/.%2e/a", NULL},
    {"/%2e./a", NULL},
    {"/a/%2e%2e/b", NULL},
    {"/...", NULL},
    {"/....//a", NULL},
    {"/.hidden", NULL},
    {"/%2ehidden", NULL},
    {"/.git/config", NULL},
    {"/a/.git/config", NULL},
    {"/a/.hidden/", NULL},
    {"/..a", NULL},
    {"/a.", "/a."},
    {"/a../b", "/a../b"},
    {"/a..b", "/a..b"},
    {"/a.b.c", "/a.b.c"},
    {"/a%2eb", "/a.b"},
    {"/a/b.", "/a/b."},
    /* RFC 8615 */
    {"/.well-known", "/.well-known"},
    {"/.well-known/", "/.well-known"},
    {"/.well-known/x", "/.well-known/x"},
    {"/%2ewell-known/x", "/.well-known/x"},
    {"/.well%2dknown/x", "/.well-known/x"},
    {"/.well-known/.x", NULL},
    {"/.well-known/..", NULL},
    {"/.well-known/../a", NULL},
    {"/.well-known/.well-known", NULL},
    {"/a/.well-known/x", NULL},
    {"/.well-known.", NULL},
    {"/.well-knownx/a", NULL},
    {"/.well-know/a", NULL},
    {"/.Well-Known/x", NULL},
    {"//.well-known/x", NULL},
    /* bytes that mean nothing here */
    {"/a;b=c", "/a;b=c"},
    {"/a:b", "/a:b"},
    {"/C:/a", "/C:/a"},
    {"/~user/*", "/~user/*"},
    {"/a+b", "/a+b"},
    {"/a&b=c,d!$'()@", "/a&b=c,d!$'()@"},
    {"/a%3f", "/a?"},
    {"/-rf", "/-rf"},
    {"/%20", "/ "},
    {"/A/b", "/A/b"},
};

static void test_decode(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decodings / sizeof *decodings; i++)
        assert_decoded(decodings[i][0], decodings[i][1]);
}

/* A NUL and other bytes that a request cannot have. */
static void test_any_byte(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char path[] = {'/', 'a', (char)byte, '/', 'b'};
        const char *name = decoded(path, sizeof path);
        bool fails = byte == '/' || byte == '\\' || byte == '%' || byte == '\0';
        assert_int_equal(name == NULL, fails);
        if (name) assert_memory_equal(name, path, sizeof path);
    }
}

/* The longest name is BB_FILE_PATH_MAX - 2 bytes: before it is "/", and behind it is NUL. */
static void test_the_longest_path(void **state)
{
    static char path[3 * BB_FILE_PATH_MAX];
    (void)state;
    memset(path, 'a', sizeof path);
    path[0] = '/';
    assert_non_null(decoded(path, BB_FILE_PATH_MAX - 1));
    assert_null(decoded(path, BB_FILE_PATH_MAX));
    assert_null(decoded(path, sizeof path));
    for (size_t at = 1; at < sizeof path - 3; at += 3) memcpy(path + at, "%41", 3);
    assert_non_null(decoded(path, 1 + 3 * (BB_FILE_PATH_MAX - 2)));
    assert_null(decoded(path, 1 + 3 * (BB_FILE_PATH_MAX - 1)));
    memset(path, 'a', sizeof path);
    path[0] = path[BB_FILE_PATH_MAX - 2] = '/';
    assert_int_equal(strlen(decoded(path, BB_FILE_PATH_MAX - 1)), BB_FILE_PATH_MAX - 2);
}

/* { path, .html, /index.html }. NULL: no candidate. */
static const char *const candidates[][3] = {
    {"/", NULL, "/index.html"},
    {"/about", "/about.html", "/about/index.html"},
    {"/about/", "/about.html", "/about/index.html"},
    {"/a/b", "/a/b.html", "/a/b/index.html"},
    {"/a.unknown", "/a.unknown.html", "/a.unknown/index.html"},
    {"/v1.2", "/v1.2.html", "/v1.2/index.html"},
    {"/a.", "/a..html", "/a./index.html"},
    {"/a.css/b", "/a.css/b.html", "/a.css/b/index.html"},
    {"/css", "/css.html", "/css/index.html"},
    {"/.well-known", "/.well-known.html", "/.well-known/index.html"},
    {"/a.css", NULL, NULL},
    {"/a.css/", NULL, NULL},
    {"/a.CSS", NULL, NULL},
    {"/a.html", NULL, NULL},
    {"/index.html", NULL, NULL},
    {"/b/a.js", NULL, NULL},
    {"/a.b.js", NULL, NULL},
    {"/a.css.gz", NULL, NULL},
    {"/a%2ejs", NULL, NULL},
};

static void assert_candidate(const struct bb__file_path *path, enum bb__file_candidate candidate,
                             const char *wanted)
{
    struct bb__file_path to;
    bool found = bb__file_path_candidate(path, candidate, &to);
    assert_int_equal(found, wanted != NULL);
    if (!wanted) return;
    assert_string_equal(to.path, wanted);
    assert_int_equal(to.len, strlen(wanted) - 1);
    assert_int_equal(to.hash, bb__name_hash(wanted + 1, to.len));
}

static void test_candidates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct bb__file_path path;
        const struct bb_slice slice = {candidates[i][0], strlen(candidates[i][0])};
        assert_true(bb__file_path_decode(slice, &path));
        assert_candidate(&path, BB_CANDIDATE_PLAIN, path.len > 0 ? path.path : NULL);
        assert_candidate(&path, BB_CANDIDATE_HTML, candidates[i][1]);
        assert_candidate(&path, BB_CANDIDATE_INDEX, candidates[i][2]);
    }
}

static void test_the_longest_candidates(void **state)
{
    struct bb__file_path path, to;
    char text[BB_FILE_PATH_MAX];
    (void)state;
    memset(text, 'a', sizeof text);
    text[0] = '/';
    for (size_t len = BB_FILE_PATH_MAX - 16; len < BB_FILE_PATH_MAX; len++) {
        assert_true(bb__file_path_decode((struct bb_slice){text, len}, &path));
        assert_true(bb__file_path_candidate(&path, BB_CANDIDATE_PLAIN, &to));
        assert_int_equal(bb__file_path_candidate(&path, BB_CANDIDATE_HTML, &to), len + 5 < BB_FILE_PATH_MAX);
        assert_int_equal(bb__file_path_candidate(&path, BB_CANDIDATE_INDEX, &to),
                         len + 11 < BB_FILE_PATH_MAX);
    }
}

/* { path, first segment, whether it is the only one }. NULL: it needs decoding. */
static const struct {
    const char *path, *segment;
    bool only;
} firsts[] = {
    {"/", "", true},       {"/a", "a", true},     {"/a/", "a", true},  {"/a/b", "a", false},
    {"/a//", "a", false},  {"//", "", true},      {"//a", "", false},  {"/a/%41", "a", false},
    {"/a%41", NULL, true}, {"/a\\b", NULL, true}, {"/%", NULL, true},  {"/..", "..", true},
    {"/a;b", "a;b", true}, {"/a/\\", "a", false}, {"/\\", NULL, true},
};

static void test_the_first_segment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        size_t len = strlen(firsts[i].path);
        const struct bb_slice path = {guard_put(&guard, firsts[i].path, len), len};
        const struct bb__first_segment first = bb__file_path_first(path);
        assert_int_equal(first.is_plain, firsts[i].segment != NULL);
        if (!first.is_plain) continue;
        assert_true(first.hash == bb__name_hash(firsts[i].segment, strlen(firsts[i].segment)));
        assert_int_equal(first.is_only, firsts[i].only);
    }
}

static void test_extensions(void **state)
{
    static const char *const rows[][2] = {
        {"/a.css", "css"}, {"/a.b.css", "css"}, {"/a", ""},   {"/", ""},
        {"/a.css/b", ""},  {"/a.", ""},         {"/a..", ""}, {"/.well-known/a.CSS", "CSS"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bb__file_path path;
        assert_true(bb__file_path_decode((struct bb_slice){rows[i][0], strlen(rows[i][0])}, &path));
        struct bb_slice extension = bb__file_path_extension(&path);
        assert_int_equal(extension.len, strlen(rows[i][1]));
        assert_memory_equal(extension.at, rows[i][1], extension.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_any_byte),
        cmocka_unit_test(test_the_longest_path),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_the_longest_candidates),
        cmocka_unit_test(test_the_first_segment),
        cmocka_unit_test(test_extensions),
    };
    guard = guard_new(3 * BB_FILE_PATH_MAX);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_free(&guard);
    return failed;
}
