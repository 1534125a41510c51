/* own_test.c: each step of the word that says whose the set is, and each step that is refused; then lane and
 * porter as two threads. Also run under ThreadSanitizer (make tsan), which sees it when a step does not hand
 * over what was written before. own_model_test.c has all interleavings. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/own.h"

#define NUMBER 5U
#define STATES (BB_OWN_WANT + 1)

static unsigned word_of(unsigned number, enum bb__own_state state)
{
    return number << BB_OWN_STATE_BITS | state;
}

static struct bb__own own_in(enum bb__own_state state)
{
    return (struct bb__own){word_of(NUMBER, state)};
}

static void assert_is(struct bb__own *own, unsigned number, enum bb__own_state state)
{
    assert_int_equal(bb__own_look(own), word_of(number, state));
}

/* ---- one step at a time ---- */

static void test_it_begins_as_the_lanes(void **state)
{
    (void)state;
    struct bb__own own = {0};
    assert_is(&own, 0, BB_OWN_IDLE);
}

static void test_each_request_has_the_next_number(void **state)
{
    (void)state;
    struct bb__own own = own_in(BB_OWN_IDLE);
    bb__own_begin(&own);
    assert_is(&own, NUMBER + 1, BB_OWN_BUSY);
    assert_true(bb__own_end(&own));
    assert_is(&own, NUMBER + 1, BB_OWN_IDLE);
    bb__own_begin(&own);
    assert_is(&own, NUMBER + 2, BB_OWN_BUSY);
}

static void test_the_numbers_begin_anew(void **state)
{
    (void)state;
    struct bb__own own = {word_of(UINT32_MAX >> BB_OWN_STATE_BITS, BB_OWN_IDLE)};
    bb__own_begin(&own);
    assert_is(&own, 0, BB_OWN_BUSY);
    assert_true(bb__own_take(&own, bb__own_look(&own)));
    assert_true(bb__own_hold(&own));
    assert_true(bb__own_return(&own));
    assert_is(&own, 0, BB_OWN_IDLE);
}

static bool take(struct bb__own *own)
{
    return bb__own_take(own, bb__own_look(own));
}

/* Steps that are made from one state only. A lane that is to end what it never began has nothing to do. */
static void test_a_step_is_refused_in_every_other_state(void **state)
{
    (void)state;
    static const struct {
        bool (*step)(struct bb__own *own);
        enum bb__own_state from, to;
    } steps[] = {
        {bb__own_end, BB_OWN_BUSY, BB_OWN_IDLE},
        {take, BB_OWN_BUSY, BB_OWN_WORK},
        {bb__own_hold, BB_OWN_WORK, BB_OWN_HELD},
        {bb__own_rouse, BB_OWN_HELD, BB_OWN_WORK},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (enum bb__own_state from = BB_OWN_IDLE; from < STATES; from++) {
            struct bb__own own = own_in(from);
            bool is_idle_already = steps[i].step == bb__own_end && from == BB_OWN_IDLE;
            assert_int_equal(steps[i].step(&own), from == steps[i].from || is_idle_already);
            assert_is(&own, NUMBER, from == steps[i].from ? steps[i].to : from);
        }
}

/* The lane has ended the request that the porter has looked at, and has begun another one. */
static void test_only_the_request_that_was_looked_at_is_taken(void **state)
{
    (void)state;
    struct bb__own own = own_in(BB_OWN_BUSY);
    unsigned looked_at = bb__own_look(&own);
    assert_true(bb__own_end(&own));
    assert_false(bb__own_take(&own, looked_at));
    bb__own_begin(&own);
    assert_false(bb__own_take(&own, looked_at));
    assert_is(&own, NUMBER + 1, BB_OWN_BUSY);
    assert_true(bb__own_take(&own, bb__own_look(&own)));
    assert_is(&own, NUMBER + 1, BB_OWN_WORK);
}

static void test_the_porter_gives_what_is_wanted(void **state)
{
    (void)state;
    struct bb__own own = own_in(BB_OWN_WANT);
    bb__own_give(&own);
    assert_is(&own, NUMBER, BB_OWN_IDLE);
}

static void test_the_lane_takes_back_what_is_held_without_waiting(void **state)
{
    (void)state;
    struct bb__own own = own_in(BB_OWN_HELD);
    assert_true(bb__own_return(&own));
    assert_is(&own, NUMBER, BB_OWN_IDLE);
}

static void test_the_lane_is_told_that_it_has_to_wait(void **state)
{
    (void)state;
    struct bb__own own = own_in(BB_OWN_WORK);
    for (int i = 0; i < 2; i++) {
        assert_false(bb__own_return(&own));
        assert_is(&own, NUMBER, BB_OWN_WANT);
    }
    assert_false(bb__own_hold(&own));
    bb__own_give(&own);
    assert_true(bb__own_return(&own));
    assert_is(&own, NUMBER, BB_OWN_IDLE);
}

/* ---- both at once ---- */

#define TURNS 1000000
#define MOST  (100UL * TURNS) /* until the porter has had the set: its thread may be long in coming */

struct both {
    struct bb__own own;
    unsigned long set; /* what the word guards: whoever has it counts */
    unsigned long porter_counts, takes, rouses, gives;
    atomic_bool ends;
};

static void count_as_porter(struct both *both)
{
    both->set++;
    both->porter_counts++;
}

/* WORK to HELD, and back as often as the lane lets it; or to the lane, if that waits. */
static void mind(struct both *both)
{
    for (;;) {
        count_as_porter(both);
        if (!bb__own_hold(&both->own)) {
            both->gives++;
            bb__own_give(&both->own);
            return;
        }
        if (!bb__own_rouse(&both->own)) return;
        both->rouses++;
    }
}

static void *run_porter(void *argument)
{
    struct both *both = argument;
    while (!atomic_load_explicit(&both->ends, memory_order_relaxed)) {
        unsigned word = bb__own_look(&both->own);
        if (!bb__own_take(&both->own, word)) continue;
        both->takes++;
        mind(both);
    }
    return NULL;
}

static void test_two_threads_and_one_owner_at_a_time(void **state)
{
    (void)state;
    struct both both = {0};
    pthread_t porter;
    unsigned long turn, returns = 0;
    assert_int_equal(pthread_create(&porter, NULL, run_porter, &both), 0);
    for (turn = 0; turn < TURNS || (returns == 0 && turn < MOST); turn++) {
        both.set++;
        bb__own_begin(&both.own);
        if (turn % 1024 == 0) sched_yield(); /* a long one */
        if (bb__own_end(&both.own)) continue;
        while (!bb__own_return(&both.own)) sched_yield();
        returns++;
    }
    both.set++;
    atomic_store_explicit(&both.ends, true, memory_order_relaxed);
    pthread_join(porter, NULL);
    assert_int_equal(both.set, turn + 1 + both.porter_counts);
    assert_int_equal(both.takes, returns);
    assert_int_equal(both.porter_counts, both.takes + both.rouses);
    assert_true(both.takes > 0);
    assert_is(&both.own, (unsigned)turn, BB_OWN_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_begins_as_the_lanes),
        cmocka_unit_test(test_each_request_has_the_next_number),
        cmocka_unit_test(test_the_numbers_begin_anew),
        cmocka_unit_test(test_a_step_is_refused_in_every_other_state),
        cmocka_unit_test(test_only_the_request_that_was_looked_at_is_taken),
        cmocka_unit_test(test_the_porter_gives_what_is_wanted),
        cmocka_unit_test(test_the_lane_takes_back_what_is_held_without_waiting),
        cmocka_unit_test(test_the_lane_is_told_that_it_has_to_wait),
        cmocka_unit_test(test_two_threads_and_one_owner_at_a_time),
    };
    return cmocka_run_group_tests_name("own", tests, NULL, NULL);
}
