/* canary_test.c: the workers of a new release (the canary) and the former workers get shares of the requests
 * on kept-alive connections. A process is one lane here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/fake_clock.h"
#include "worker/canary.h"

#define FORMER 4
#define CANARY 1001 /* its pid */

struct scene {
    struct bb_scoreboard *scoreboard;
    struct bb__slot *slots[FORMER + 1]; /* the last one is the canary's */
};

static void share(struct scene *scene)
{
    static const int canary[] = {CANARY};
    bb_scoreboard_share_with(scene->scoreboard, canary, 1);
}

static struct scene begin(void)
{
    struct scene scene;
    assert_int_equal(bb_scoreboard_new(&scene.scoreboard, 8), BB_OK);
    for (int i = 0; i <= FORMER; i++) scene.slots[i] = bb__scoreboard_claim(scene.scoreboard);
    for (int i = 0; i <= FORMER; i++) {
        atomic_store(&scene.slots[i]->pid, CANARY - FORMER + i);
        bb__scoreboard_set_idle(scene.slots[i], true);
    }
    share(&scene);
    return scene;
}

static void end(struct scene *scene)
{
    bb_scoreboard_free(scene->scoreboard);
}

/* A response on a connection of this group: where will the next request be served? */
static enum bb__group next(struct scene *scene, enum bb__group own)
{
    fake_clock_advance(BB_CANARY_PASSING);
    bool gives = bb__canary_gives(scene->scoreboard, own, fake_clock) &&
                 bb__canary_begin_passing(scene->scoreboard, fake_clock);
    enum bb__group group = gives ? bb__canary_other(own) : own;
    bb__canary_note(scene->scoreboard, group);
    return group;
}

static void test_one_busy_connection_is_shared(void **state)
{
    (void)state;
    struct scene scene = begin();
    enum bb__group at = BB_GROUP_FORMER;
    int requests = 0, moves = 0;
    for (int i = 0; i < 1000; i++) {
        enum bb__group before = at;
        at = next(&scene, before);
        moves += at != before;
        requests += at == BB_GROUP_CANARY;
    }
    assert_in_range(requests, 190, 210); /* one lane of five */
    assert_in_range(moves, 50, 110);
    end(&scene);
}

/* Each connection has a request now and then. The connections must not move to one group all together before
 * the first of them has its next request. */
static void test_many_quiet_connections_do_not_swing(void **state)
{
    (void)state;
    struct scene scene = begin();
    enum bb__group at[200];
    int moves = 0;
    for (int i = 0; i < 200; i++) at[i] = BB_GROUP_FORMER;
    for (int round = 0; round < 20; round++) {
        int requests = moves = 0;
        for (int i = 0; i < 200; i++) {
            enum bb__group before = at[i];
            requests += before == BB_GROUP_CANARY;
            at[i] = next(&scene, before);
            moves += at[i] != before;
        }
        if (round > 0) assert_in_range(requests, 30, 45);
    }
    assert_in_range(moves, 0, 4); /* the connections have found their places */
    end(&scene);
}

static void test_a_group_without_an_idle_lane_gets_no_connection(void **state)
{
    (void)state;
    struct scene scene = begin();
    bb__scoreboard_set_idle(scene.slots[FORMER], false);
    for (int i = 0; i < 1000; i++) assert_int_equal(next(&scene, BB_GROUP_FORMER), BB_GROUP_FORMER);
    bb__scoreboard_set_idle(scene.slots[FORMER], true);
    assert_int_equal(next(&scene, BB_GROUP_FORMER), BB_GROUP_CANARY);
    /* The canary does not make up for all that it has missed. */
    int row = 0;
    while (next(&scene, BB_GROUP_CANARY) == BB_GROUP_CANARY) row++;
    assert_in_range(row, 1, 70);
    end(&scene);
}

static void test_one_connection_at_a_time_is_passed_on(void **state)
{
    (void)state;
    struct scene scene = begin();
    while (next(&scene, BB_GROUP_FORMER) == BB_GROUP_FORMER) continue;
    for (int i = 0; i < 100; i++) bb__canary_note(scene.scoreboard, BB_GROUP_FORMER);
    for (int passing = BB_CANARY_PASSING; passing > 0; passing--) {
        assert_false(bb__canary_gives(scene.scoreboard, BB_GROUP_FORMER, fake_clock));
        assert_false(bb__canary_begin_passing(scene.scoreboard, fake_clock)); /* by a lane that was late */
        fake_clock_advance(1);
    }
    assert_true(bb__canary_gives(scene.scoreboard, BB_GROUP_FORMER, fake_clock));
    assert_true(bb__canary_begin_passing(scene.scoreboard, fake_clock));
    end(&scene);
}

static void test_the_shares_end_soon_after_the_last_call(void **state)
{
    (void)state;
    struct scene scene = begin();
    const struct bb__slot *former = scene.slots[0], *canary = scene.slots[FORMER];
    fake_clock_advance(999);
    assert_int_equal(bb__canary_group(scene.scoreboard, former, fake_clock), BB_GROUP_FORMER);
    assert_int_equal(bb__canary_group(scene.scoreboard, canary, fake_clock), BB_GROUP_CANARY);
    assert_int_equal(bb__canary_group(scene.scoreboard, NULL, fake_clock), BB_GROUP_ANY);
    fake_clock_advance(1);
    assert_int_equal(bb__canary_group(scene.scoreboard, canary, fake_clock), BB_GROUP_ANY);
    assert_false(bb__canary_is_there(scene.scoreboard, fake_clock));
    assert_false(bb__canary_is_there(NULL, fake_clock));
    end(&scene);
}

static void test_without_lanes_of_both_groups_nothing_is_shared(void **state)
{
    (void)state;
    struct scene scene = begin();
    atomic_store(&scene.slots[FORMER]->leaves, true);
    share(&scene);
    assert_false(bb__canary_is_there(scene.scoreboard, fake_clock));
    atomic_store(&scene.slots[FORMER]->leaves, false);
    for (int i = 0; i < FORMER; i++) bb__scoreboard_give_back(scene.slots[i]);
    share(&scene);
    assert_false(bb__canary_is_there(scene.scoreboard, fake_clock));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_busy_connection_is_shared),
        cmocka_unit_test(test_many_quiet_connections_do_not_swing),
        cmocka_unit_test(test_a_group_without_an_idle_lane_gets_no_connection),
        cmocka_unit_test(test_one_connection_at_a_time_is_passed_on),
        cmocka_unit_test(test_the_shares_end_soon_after_the_last_call),
        cmocka_unit_test(test_without_lanes_of_both_groups_nothing_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
