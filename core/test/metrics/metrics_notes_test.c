/* metrics_notes_test.c: the notes of the metrics, memory that code of the application has damaged, and no
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "support/fail_alloc.h"

enum { LANES = 3 };

static struct bb_metrics *metrics;
static struct bb_metrics_note notes[BB_METRICS_NOTES];

static int open_metrics(void **state)
{
    (void)state;
    return bb_metrics_new(&metrics, LANES) == BB_OK ? 0 : -1;
}

static int close_metrics(void **state)
{
    (void)state;
    bb_metrics_free(metrics);
    return 0;
}

/* ---- notes ---- */

static void note(unsigned number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "note %u", number);
    bb_metrics_note(metrics, BB_NOTE_DEPLOY, text, (size_t)len);
}

/* Asserts that the notes are those with the numbers from `first` to `last`. */
static void assert_notes(unsigned first, unsigned last)
{
    char text[32];
    assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_DEPLOY, notes), last - first + 1);
    for (unsigned i = 0; first + i <= last; i++) {
        (void)snprintf(text, sizeof text, "note %u", first + i);
        assert_string_equal(notes[i].text, text);
        assert_true(notes[i].time > 1600000000000);
    }
}

static void test_the_last_20_notes_of_a_kind_are_kept_in_order(void **state)
{
    (void)state;
    assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_DEPLOY, notes), 0);
    for (unsigned i = 0; i < 3 * BB_METRICS_NOTES; i++) {
        note(i);
        assert_notes(i < BB_METRICS_NOTES ? 0 : i + 1 - BB_METRICS_NOTES, i);
    }
    assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_END, notes), 0);
}

static void test_more_notes_than_32_bits_count_keep_their_order(void **state)
{
    (void)state;
    atomic_store(&metrics->memory->notes[BB_NOTE_DEPLOY].written, (UINT64_C(1) << 32) - 7);
    for (unsigned i = 0; i < 2 * BB_METRICS_NOTES; i++) note(i);
    assert_notes(BB_METRICS_NOTES, 2 * BB_METRICS_NOTES - 1);
}

/* Only damage brings `written` there. No note is shown twice. */
static void test_at_the_end_of_64_bits_each_note_is_shown_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BB_METRICS_NOTES; i++) note(i);
    for (uint64_t left = 0; left < 2 * BB_METRICS_NOTES; left++) {
        unsigned seen = 0;
        atomic_store(&metrics->memory->notes[BB_NOTE_DEPLOY].written, UINT64_MAX - left);
        assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_DEPLOY, notes), BB_METRICS_NOTES);
        for (int i = 0; i < BB_METRICS_NOTES; i++) {
            unsigned number;
            assert_int_equal(sscanf(notes[i].text, "note %u", &number), 1);
            seen |= 1U << number;
        }
        assert_int_equal(seen, (1U << BB_METRICS_NOTES) - 1);
    }
}

static void test_a_text_is_cut_and_ends_with_a_zero(void **state)
{
    (void)state;
    char text[BB_METRICS_NOTE_MAX + 100];
    memset(text, 'x', sizeof text);
    for (size_t len = BB_METRICS_NOTE_MAX - 2; len < sizeof text; len++) {
        size_t kept = len < BB_METRICS_NOTE_MAX ? len : BB_METRICS_NOTE_MAX - 1;
        bb_metrics_note(metrics, BB_NOTE_END, text, len);
        unsigned count = bb_metrics_notes(metrics, BB_NOTE_END, notes);
        assert_int_equal(strlen(notes[count - 1].text), kept);
    }
    bb_metrics_note(metrics, BB_NOTE_END, "a\0b", 3);
    bb_metrics_note(metrics, BB_NOTE_END, "short", 5); /* nothing is left of the note that was here */
    bb_metrics_note(metrics, BB_NOTE_END, "", 0);
    assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_END, notes), BB_METRICS_NOTES);
    assert_memory_equal(notes[BB_METRICS_NOTES - 3].text, "a\0b\0", 4);
    assert_string_equal(notes[BB_METRICS_NOTES - 2].text, "short");
    assert_string_equal(notes[BB_METRICS_NOTES - 1].text, "");
    for (int i = 5; i < BB_METRICS_NOTE_MAX; i++) assert_int_equal(notes[BB_METRICS_NOTES - 2].text[i], 0);
}

/* Its process was killed, or writes it now. */
static void test_a_note_that_is_being_written_is_left_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) note(i);
    atomic_store(&metrics->memory->notes[BB_NOTE_DEPLOY].notes[1].time, 0);
    assert_int_equal(bb_metrics_notes(metrics, BB_NOTE_DEPLOY, notes), 2);
    assert_string_equal(notes[0].text, "note 0");
    assert_string_equal(notes[1].text, "note 2");
}

/* ---- damaged memory ---- */

static void damage(uint64_t seed, size_t from, size_t to)
{
    unsigned char *bytes = (unsigned char *)metrics->memory;
    for (size_t i = from; i < to; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        bytes[i] = (unsigned char)(seed >> 56);
    }
}

static void read_all(void)
{
    static struct bb_metrics_sum sum;
    struct bb_metrics_lane lane;
    struct bb_metrics_name name;
    bb_metrics_sum(metrics, &sum);
    unsigned lanes = 0, places = 0;
    while (bb_metrics_look(metrics, lanes, &lane) == BB_OK) lanes++;
    assert_true(lanes <= LANES);
    assert_int_equal(bb_metrics_look(metrics, UINT32_MAX, &lane), BB_EOF);
    for (int code; (code = bb_metrics_name(metrics, places, &name)) != BB_EOF; places++)
        if (code == BB_OK) assert_non_null(memchr(name.name, '\0', sizeof name.name));
    assert_int_equal(places, BB_METRICS_NAMES);
    for (int kind = 0; kind < BB_NOTE_KINDS; kind++) {
        unsigned count = bb_metrics_notes(metrics, (enum bb_note_kind)kind, notes);
        assert_true(count <= BB_METRICS_NOTES);
        for (unsigned i = 0; i < count; i++)
            assert_non_null(memchr(notes[i].text, '\0', sizeof notes[i].text));
    }
    for (int probe = 0; probe < BB_PROBES_END; probe++) (void)bb_metrics_probe(metrics, (enum bb_probe)probe);
}

/* Those who count must not leave the memory either. */
static void write_all(void)
{
    for (unsigned slot = 0; slot < LANES + 2; slot++) {
        const struct bb__counts counts = {metrics, bb__metrics_begin(metrics, slot, 1, 1)};
        bb__count(&counts, BB_COUNT_BYTES_IN, UINT64_MAX);
        bb__count_times(&counts, UINT64_MAX, UINT64_MAX);
        bb__count_rejection(&counts, "queue_full");
        bb__count_probe(&counts, BB_PROBE_LIVE, false);
        bb__metrics_show_thread(counts.own);
        bb__metrics_end(counts.own);
    }
    for (unsigned i = 0; i < BB_METRICS_NOTES + 1; i++) note(i);
}

static void test_any_bytes_can_be_read(void **state)
{
    (void)state;
    const size_t size = sizeof *metrics->memory + LANES * sizeof(struct bb__metrics_block);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        damage(seed, 0, size);
        read_all();
        write_all();
        read_all();
    }
    memset((void *)metrics->memory, 0xff, size);
    read_all();
    write_all();
    read_all();
    memset((void *)metrics->memory, 0, size);
    read_all();
}

static void test_without_memory_nothing_is_left(void **state)
{
    (void)state;
    struct bb_metrics *other;
    int code;
    for (unsigned n = 1; fail_alloc_at(n), code = bb_metrics_new(&other, 1), fail_alloc_off(); ++n)
        assert_int_equal(code, BB_ENOMEM);
    assert_int_equal(code, BB_OK);
    assert_true(bb_metrics_is_writable(other));
    bb_metrics_free(other);
    bb_metrics_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_last_20_notes_of_a_kind_are_kept_in_order),
        TEST(test_more_notes_than_32_bits_count_keep_their_order),
        TEST(test_at_the_end_of_64_bits_each_note_is_shown_once),
        TEST(test_a_text_is_cut_and_ends_with_a_zero),
        TEST(test_a_note_that_is_being_written_is_left_out),
        TEST(test_any_bytes_can_be_read),
        TEST(test_without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("metrics_notes", tests, NULL, NULL);
}
