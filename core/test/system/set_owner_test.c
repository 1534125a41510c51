/* set_owner_test.c: each step of the owner word, which tells whether the lane or the I/O thread owns the
 * lane's connection set. Tests in which states a step fails, and runs a lane and an I/O thread as two
 * threads. `make tsan` runs this test under ThreadSanitizer, which reports a step that does not publish
 * earlier writes. owner_model_test.c tries all interleavings. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/set_owner.h"

#define NUMBER 5U
#define STATES (BB_OWNER_RECLAIMED + 1)

static unsigned word_of(unsigned number, enum bb__owner_state state)
{
    return number << BB_OWNER_STATE_BITS | state;
}

static struct bb__owner own_in(enum bb__owner_state state)
{
    return (struct bb__owner){word_of(NUMBER, state)};
}

static void assert_is(struct bb__owner *owner, unsigned number, enum bb__owner_state state)
{
    assert_int_equal(bb__owner_look(owner), word_of(number, state));
}

/* ---- one step at a time ---- */

static void test_the_lane_owns_the_set_at_first(void **state)
{
    (void)state;
    struct bb__owner owner = {0};
    assert_is(&owner, 0, BB_OWNER_IDLE);
}

static void test_each_request_has_the_next_number(void **state)
{
    (void)state;
    struct bb__owner owner = own_in(BB_OWNER_IDLE);
    bb__owner_begin(&owner);
    assert_is(&owner, NUMBER + 1, BB_OWNER_BUSY);
    assert_true(bb__owner_end(&owner));
    assert_is(&owner, NUMBER + 1, BB_OWNER_IDLE);
    bb__owner_begin(&owner);
    assert_is(&owner, NUMBER + 2, BB_OWNER_BUSY);
}

static void test_the_numbers_wrap_around(void **state)
{
    (void)state;
    struct bb__owner owner = {word_of(UINT32_MAX >> BB_OWNER_STATE_BITS, BB_OWNER_IDLE)};
    bb__owner_begin(&owner);
    assert_is(&owner, 0, BB_OWNER_BUSY);
    assert_true(bb__owner_take(&owner, bb__owner_look(&owner)));
    assert_true(bb__owner_park(&owner));
    assert_true(bb__owner_return(&owner));
    assert_is(&owner, 0, BB_OWNER_IDLE);
}

static bool take(struct bb__owner *owner)
{
    return bb__owner_take(owner, bb__owner_look(owner));
}

/* Each of these steps is possible in only one state. bb__owner_end() in IDLE also succeeds, without an
 * effect. */
static void test_a_step_fails_in_each_other_state(void **state)
{
    (void)state;
    static const struct {
        bool (*step)(struct bb__owner *owner);
        enum bb__owner_state from, to;
    } steps[] = {
        {bb__owner_end, BB_OWNER_BUSY, BB_OWNER_IDLE},
        {take, BB_OWNER_BUSY, BB_OWNER_WORKING},
        {bb__owner_park, BB_OWNER_WORKING, BB_OWNER_PARKED},
        {bb__owner_unpark, BB_OWNER_PARKED, BB_OWNER_WORKING},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (enum bb__owner_state from = BB_OWNER_IDLE; from < STATES; from++) {
            struct bb__owner owner = own_in(from);
            bool is_idle_already = steps[i].step == bb__owner_end && from == BB_OWNER_IDLE;
            assert_int_equal(steps[i].step(&owner), from == steps[i].from || is_idle_already);
            assert_is(&owner, NUMBER, from == steps[i].from ? steps[i].to : from);
        }
}

/* The I/O thread has read the word during a request. The lane has ended this request and begun the next
 * one. */
static void test_the_io_thread_takes_only_the_request_that_it_looked_at(void **state)
{
    (void)state;
    struct bb__owner owner = own_in(BB_OWNER_BUSY);
    unsigned looked_at = bb__owner_look(&owner);
    assert_true(bb__owner_end(&owner));
    assert_false(bb__owner_take(&owner, looked_at));
    bb__owner_begin(&owner);
    assert_false(bb__owner_take(&owner, looked_at));
    assert_is(&owner, NUMBER + 1, BB_OWNER_BUSY);
    assert_true(bb__owner_take(&owner, bb__owner_look(&owner)));
    assert_is(&owner, NUMBER + 1, BB_OWNER_WORKING);
}

static void test_the_io_thread_gives_back_a_reclaimed_set(void **state)
{
    (void)state;
    struct bb__owner owner = own_in(BB_OWNER_RECLAIMED);
    bb__owner_give(&owner);
    assert_is(&owner, NUMBER, BB_OWNER_IDLE);
}

static void test_the_lane_takes_back_a_parked_set_at_once(void **state)
{
    (void)state;
    struct bb__owner owner = own_in(BB_OWNER_PARKED);
    assert_true(bb__owner_return(&owner));
    assert_is(&owner, NUMBER, BB_OWNER_IDLE);
}

static void test_the_lane_has_to_wait_for_a_working_io_thread(void **state)
{
    (void)state;
    struct bb__owner owner = own_in(BB_OWNER_WORKING);
    for (int i = 0; i < 2; i++) {
        assert_false(bb__owner_return(&owner));
        assert_is(&owner, NUMBER, BB_OWNER_RECLAIMED);
    }
    assert_false(bb__owner_park(&owner));
    bb__owner_give(&owner);
    assert_true(bb__owner_return(&owner));
    assert_is(&owner, NUMBER, BB_OWNER_IDLE);
}

/* ---- two threads ---- */

#define TURNS 1000000
#define MOST  (100UL * TURNS) /* the most turns; the I/O thread's first turn may come late */

struct both {
    struct bb__owner owner;
    unsigned long set; /* only the owner of the set changes it */
    unsigned long io_thread_counts, takes, rouses, gives;
    atomic_bool ends;
};

static void count_as_io_thread(struct both *both)
{
    both->set++;
    both->io_thread_counts++;
}

/* Steps from WORKING to PARKED and back, until the lane takes the set or waits for it. */
static void mind(struct both *both)
{
    for (;;) {
        count_as_io_thread(both);
        if (!bb__owner_park(&both->owner)) {
            both->gives++;
            bb__owner_give(&both->owner);
            return;
        }
        if (!bb__owner_unpark(&both->owner)) return;
        both->rouses++;
    }
}

static void *run_io_thread(void *argument)
{
    struct both *both = argument;
    while (!atomic_load_explicit(&both->ends, memory_order_relaxed)) {
        unsigned word = bb__owner_look(&both->owner);
        if (!bb__owner_take(&both->owner, word)) continue;
        both->takes++;
        mind(both);
    }
    return NULL;
}

static void test_two_threads_never_own_the_set_at_the_same_time(void **state)
{
    (void)state;
    struct both both = {0};
    pthread_t io;
    unsigned long turn, returns = 0;
    assert_int_equal(pthread_create(&io, NULL, run_io_thread, &both), 0);
    for (turn = 0; turn < TURNS || (returns == 0 && turn < MOST); turn++) {
        both.set++;
        bb__owner_begin(&both.owner);
        if (turn % 1024 == 0) sched_yield(); /* a long request */
        if (bb__owner_end(&both.owner)) continue;
        while (!bb__owner_return(&both.owner)) sched_yield();
        returns++;
    }
    both.set++;
    atomic_store_explicit(&both.ends, true, memory_order_relaxed);
    pthread_join(io, NULL);
    assert_int_equal(both.set, turn + 1 + both.io_thread_counts);
    assert_int_equal(both.takes, returns);
    assert_int_equal(both.io_thread_counts, both.takes + both.rouses);
    assert_true(both.takes > 0);
    assert_is(&both.owner, (unsigned)turn, BB_OWNER_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lane_owns_the_set_at_first),
        cmocka_unit_test(test_each_request_has_the_next_number),
        cmocka_unit_test(test_the_numbers_wrap_around),
        cmocka_unit_test(test_a_step_fails_in_each_other_state),
        cmocka_unit_test(test_the_io_thread_takes_only_the_request_that_it_looked_at),
        cmocka_unit_test(test_the_io_thread_gives_back_a_reclaimed_set),
        cmocka_unit_test(test_the_lane_takes_back_a_parked_set_at_once),
        cmocka_unit_test(test_the_lane_has_to_wait_for_a_working_io_thread),
        cmocka_unit_test(test_two_threads_never_own_the_set_at_the_same_time),
    };
    return cmocka_run_group_tests_name("set_owner", tests, NULL, NULL);
}
