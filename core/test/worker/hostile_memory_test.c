/* hostile_memory_test.c: the code of an application may overwrite the scoreboard (memory that all processes
 * share) with any bytes. The processes that read the scoreboard go on. Wrong numbers are allowed, but no
 * number is out of its range, and nothing is read or written behind the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/client.h"
#include "support/fake_clock.h"
#include "support/guard.h"
#include "worker/canary.h"

enum { LANES = 5, SEEDS = 400 };

static struct guard guard;
static struct bb_scoreboard scoreboard;
static uint64_t state_of_random;

/* The memory ends at an inaccessible page. */
static int make_scoreboard(void **state)
{
    (void)state;
    size_t size = sizeof(struct bb__scoreboard_memory) + LANES * sizeof(struct bb__slot);
    guard = guard_new(size);
    scoreboard = (struct bb_scoreboard){(void *)(guard.wall - size), LANES, true};
    return 0;
}

static int free_scoreboard(void **state)
{
    (void)state;
    guard_free(&guard);
    return 0;
}

static uint64_t next_random(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

static void *memory(void)
{
    return scoreboard.memory;
}

static size_t size(void)
{
    return (size_t)(guard.wall - (char *)memory());
}

/* Many random bytes are 0, because some code runs only if a field is 0. */
static void fill_random(uint64_t seed)
{
    state_of_random = seed * 0x9e3779b97f4a7c15 + 1;
    unsigned zeros = (unsigned)(next_random() % 8);
    for (char *at = memory(); at < guard.wall; at++)
        *at = next_random() % 8 < zeros ? 0 : (char)(next_random() >> 32);
    if (seed % 4 > 0) atomic_store(&scoreboard.memory->used, (unsigned)(LANES + seed % 4));
}

/* Words that are the least and the greatest numbers. */
static void fill_words(const uint64_t words[2])
{
    uint64_t *at = memory();
    for (size_t i = 0; i < size() / sizeof *at; i++) at[i] = words[i % 2];
}

typedef void (*reader)(void);

/* Calls the function with each content of the memory. */
static void read_hostile(reader read)
{
    static const uint64_t words[][2] = {
        {0, 0},
        {UINT64_MAX, UINT64_MAX},
        {0x7fffffff7fffffff, 0x7fffffff7fffffff},
        {0x8000000080000000, 0x8000000080000000},
        {0x0101010101010101, UINT64_MAX},
        {(uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 1},
        {0x8000000000000001, 0x7fffffff80000000},
    };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        fill_random(seed);
        read();
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fill_words(words[i]);
        read();
    }
}

/* ---- the functions for lanes and I/O threads ---- */

static bool is_slot(const struct bb__slot *slot)
{
    const struct bb__slot *first = scoreboard.memory->slots;
    return slot >= first && slot < first + LANES;
}

static void count_lanes(void)
{
    int own = (int)getpid();
    const struct bb__slot *last = bb__scoreboard_slot(&scoreboard, LANES - 1);
    struct bb__scoreboard_waits waits = bb__scoreboard_waits(&scoreboard, last);
    assert_true(bb__scoreboard_used(&scoreboard) <= LANES);
    assert_true(bb__scoreboard_idle(&scoreboard, 2 * LANES) <= LANES);
    assert_true(bb__scoreboard_idle_elsewhere(&scoreboard, own, 2) <= 2);
    assert_true(bb__scoreboard_sum(&scoreboard, fake_clock).lanes <= LANES);
    assert_true(waits.lanes <= LANES && waits.waiting <= waits.lanes && waits.slower <= waits.waiting);
    (void)bb__scoreboard_has_siblings(&scoreboard, own);
    (void)bb__scoreboard_has_others(&scoreboard, own);
    (void)bb__scoreboard_others_are_done(&scoreboard, last, false);
    (void)bb__scoreboard_others_are_done(&scoreboard, last, true);
    (void)bb__scoreboard_process_is_idle(&scoreboard, own);
    (void)bb__scoreboard_is_draining(&scoreboard);
    (void)bb__scoreboard_is_taken_over(&scoreboard);
    bb__scoreboard_doubt(&scoreboard, own);
    bb__scoreboard_blame(&scoreboard, own);
    if (bb__scoreboard_begin_reaping(&scoreboard, own)) bb__scoreboard_end_reaping(&scoreboard);
}

static void test_the_lanes_of_hostile_memory_are_counted(void **state)
{
    (void)state;
    read_hostile(count_lanes);
}

static void use_slot(struct bb__slot *slot)
{
    const struct bb_slice method = {"GET", 3}, path = {"/", 1};
    bb__scoreboard_set_idle(slot, bb__scoreboard_would_take(slot));
    bb__scoreboard_begin(slot, fake_clock, 1);
    bb__scoreboard_label(slot, method, path);
    assert_in_range(bb__scoreboard_held(slot), BB_HELD_NOT, BB_HELD_STREAM);
    bb__scoreboard_hold(slot, BB_HELD_BODY, method, path);
    bb__scoreboard_hold_next(slot, BB_HELD_BODY, BB_HELD_STREAM);
    bb__scoreboard_note_error(slot);
    bb__scoreboard_end(slot);
    bb__scoreboard_set_done(slot, true);
    bb__scoreboard_set_paused(slot, true);
}

static void claim_slots(void)
{
    for (int i = 0; i < LANES; i++) use_slot(bb__scoreboard_slot(&scoreboard, (unsigned)i));
    struct bb__slot *slots[LANES + 1];
    unsigned count = 0;
    while (count <= LANES && (slots[count] = bb__scoreboard_claim(&scoreboard))) {
        assert_true(is_slot(slots[count]));
        use_slot(slots[count++]);
    }
    assert_true(count <= LANES);
    while (count > 0) bb__scoreboard_give_back(slots[--count]);
}

static void test_slots_of_hostile_memory_are_claimed(void **state)
{
    (void)state;
    read_hostile(claim_slots);
}

/* A negative pid is a group of processes for kill(), and -1 is all of them. */
static void test_slots_with_negative_pids_are_free(void **state)
{
    (void)state;
    static const int pids[] = {-1, INT32_MIN, -2};
    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
        memset(memory(), 0, size());
        atomic_store(&scoreboard.memory->used, LANES);
        for (int j = 0; j < LANES; j++) {
            struct bb__slot *slot = bb__scoreboard_slot(&scoreboard, (unsigned)j);
            atomic_store(&slot->pid, pids[i]);
            bb__scoreboard_set_idle(slot, true);
        }
        assert_int_equal(bb__scoreboard_idle(&scoreboard, LANES), 0);
        assert_int_equal(bb__scoreboard_sum(&scoreboard, fake_clock).lanes, 0);
        assert_false(bb__scoreboard_has_others(&scoreboard, (int)getpid()));
        assert_false(bb__scoreboard_process_is_idle(&scoreboard, (int)getpid()));
        for (int j = 0; j < LANES; j++) assert_non_null(bb__scoreboard_claim(&scoreboard));
    }
}

/* ---- the functions for the host (the program that calls the core) ---- */

static void look(void)
{
    struct bb_scoreboard_lane lane;
    unsigned number = 0;
    for (int code; (code = bb_scoreboard_look(&scoreboard, number, &lane)) != BB_EOF; number++) {
        assert_true(number < LANES);
        assert_in_range(lane.held, BB_HELD_NOT, BB_HELD_STREAM);
        assert_true(code == BB_AGAIN || lane.pid > 0);
        size_t len = strnlen(lane.label, sizeof lane.label);
        assert_true(len < sizeof lane.label);
        for (size_t i = 0; i < len; i++) assert_true((unsigned char)lane.label[i] >= ' ');
    }
    int pids[] = {atomic_load(&scoreboard.memory->slots[0].pid), (int)getpid()};
    bb_scoreboard_share_with(&scoreboard, pids, 2);
    (void)bb_scoreboard_slow(&scoreboard);
    (void)bb_scoreboard_is_draining(&scoreboard);
    bb_scoreboard_clear(&scoreboard, pids[0], -1, &scoreboard);
    bb_scoreboard_set_draining(&scoreboard, false);
    bb_scoreboard_set_taken_over(&scoreboard, false);
}

static void test_a_host_looks_at_hostile_memory(void **state)
{
    (void)state;
    read_hostile(look);
}

static void test_a_label_has_no_control_bytes(void **state)
{
    (void)state;
    static const char bytes[] = "GET /\n\r\x1b[2J\x7f\xe2\x82\xac";
    struct bb_scoreboard_lane lane;
    memset(memory(), 0, size());
    struct bb__slot *slot = bb__scoreboard_claim(&scoreboard);
    bb__scoreboard_begin(slot, fake_clock, 0);
    bb__scoreboard_hold(slot, BB_HELD_BODY, (struct bb_slice){"", 0}, (struct bb_slice){"", 0});
    memcpy(slot->held_label, bytes, sizeof bytes);
    assert_int_equal(bb_scoreboard_look(&scoreboard, 0, &lane), BB_OK);
    assert_string_equal(lane.label, "GET /???[2J?\xe2\x82\xac");
    memset(slot->held_label, 'x', sizeof slot->held_label);
    assert_int_equal(bb_scoreboard_look(&scoreboard, 0, &lane), BB_OK);
    assert_int_equal(strlen(lane.label), BB_SCOREBOARD_LABEL_MAX - 1);
}

/* ---- canary.h ---- */

static void decide(void)
{
    for (int group = BB_GROUP_FORMER; group <= BB_GROUP_CANARY; group++) {
        (void)bb__canary_gives(&scoreboard, (enum bb__group)group, fake_clock);
        bb__canary_note(&scoreboard, (enum bb__group)group);
        (void)bb__canary_begin_passing(&scoreboard, fake_clock);
    }
    for (unsigned i = 0; i < LANES; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(&scoreboard, i);
        assert_in_range(bb__canary_group(&scoreboard, slot, fake_clock), BB_GROUP_ANY, BB_GROUP_CANARY);
    }
}

static void test_a_canary_in_hostile_memory_is_decided_on(void **state)
{
    (void)state;
    read_hostile(decide);
}

/* ---- a whole host ---- */

static struct host *host;

/* The response may have "Connection: close", and the host may think that all lanes are busy. */
static void ask(const char *request)
{
    struct client *client = client_new_saying(host, request);
    for (int turn = 0; turn < 20 && !client_read(client, true); turn++) {
        fake_clock_advance(1);
        host_turn(host);
    }
    assert_true(client->status == 200 || client->status == 503);
    client_free(client);
    host_settle(host);
}

static void serve(void)
{
    ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ask("GET /-/live HTTP/1.1\r\nHost: x\r\n\r\n");
    ask("GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n");
}

static void test_a_host_serves_with_hostile_memory(void **state)
{
    (void)state;
    struct bb_settings settings = host_settings();
    strcpy(settings.ready_path, "/-/ready");
    strcpy(settings.live_path, "/-/live");
    settings.max_queue = settings.queue_timeout = 1;
    host = host_new(&settings, AF_UNIX);
    memset(memory(), 0, size());
    host_enter_scoreboard(host, &scoreboard);
    assert_true(is_slot(host->lane->intake.slot));
    read_hostile(serve);
    host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lanes_of_hostile_memory_are_counted),
        cmocka_unit_test(test_slots_of_hostile_memory_are_claimed),
        cmocka_unit_test(test_slots_with_negative_pids_are_free),
        cmocka_unit_test(test_a_host_looks_at_hostile_memory),
        cmocka_unit_test(test_a_label_has_no_control_bytes),
        cmocka_unit_test(test_a_canary_in_hostile_memory_is_decided_on),
        cmocka_unit_test(test_a_host_serves_with_hostile_memory),
    };
    return cmocka_run_group_tests_name("hostile_memory", tests, make_scoreboard, free_scoreboard);
}
