/* owner_model_test.c: tries all interleavings of lanes, their I/O thread, a lane of another process ("the
 * lane elsewhere") and clients. No interleaving may have a fault. If a mistake (enum mistake) is built into
 * the model, the search must find a fault. owner_model.h describes the model. The steps on the owner word run
 * the real code of set_owner.h and set_owner.c.
 *
 * Not modelled: timeouts of connections outside a drain, a drain beside other processes, a lane that steps
 * aside, more than one lane elsewhere, and a memory order that is weaker than that of x86. One mistake
 * (RELAXED_BEGIN) delays a store of the lane's first step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "owner_search.h"

struct size {
    unsigned lanes, conns, new; /* new: connections that are not connected yet */
    uint8_t requests;           /* requests per client */
    unsigned endless;           /* number of connections with a first request that does not end by itself */
    bool limited;               /* requests have a timeout */
    bool watched;               /* the I/O thread checks the lanes from time to time */
    enum lock lock;
    bool pauses;   /* the worker pauses accepting, because the lane elsewhere is idle */
    bool mortal;   /* the lane elsewhere is killed at some time */
    bool drains;   /* the worker drains at some time */
    bool gathered; /* the first lane has all connections */
};

static const struct size
    two_clients = {.lanes = 1, .conns = 2, .requests = 1, .endless = 1},
    two_requests = {.lanes = 1, .conns = 2, .requests = 2, .endless = 1},
    three_clients = {.lanes = 1, .conns = 3, .requests = 1, .endless = 1},
    alone_limited = {.lanes = 1, .conns = 1, .requests = 1, .endless = 1, .limited = true},
    alone_watched = {.lanes = 1, .conns = 1, .requests = 2, .endless = 1, .watched = true},
    watched = {.lanes = 1, .conns = 2, .new = 1, .requests = 2, .endless = 1, .watched = true},
    limited = {.lanes = 1, .conns = 2, .requests = 2, .endless = 1, .limited = true},
    two_lanes_limited = {.lanes = 2, .conns = 2, .requests = 2, .endless = 2, .limited = true},
    shared = {.lanes = 1, .conns = 2, .requests = 2, .endless = 1, .lock = LOCK_SHARED},
    shared_and_one_new = {.lanes = 1, .conns = 2, .new = 1, .requests = 1, .lock = LOCK_SHARED},
    held = {.lanes = 1, .conns = 2, .requests = 2, .lock = LOCK_HELD},
    held_and_one_new = {.lanes = 1, .conns = 2, .new = 1, .requests = 1, .lock = LOCK_HELD},
    two_lanes_held = {.lanes = 2, .conns = 2, .requests = 1, .endless = 1, .lock = LOCK_HELD},
    two_lanes_held_and_one_new = {.lanes = 2, .conns = 2, .new = 1, .requests = 1, .lock = LOCK_HELD},
    paused_held = {.lanes = 2, .conns = 2, .new = 1, .requests = 1, .pauses = true, .lock = LOCK_HELD},
    one_new = {.lanes = 1, .conns = 3, .new = 1, .requests = 1, .endless = 1},
    two_lanes = {.lanes = 2, .conns = 3, .requests = 1, .endless = 2},
    drained_alone = {.lanes = 1, .conns = 2, .requests = 1, .drains = true},
    drained = {.lanes = 2, .conns = 2, .requests = 1, .endless = 1, .drains = true},
    gathered = {.lanes = 2, .conns = 2, .requests = 1, .endless = 1, .drains = true, .gathered = true},
    accept_paused = {.lanes = 2, .conns = 2, .requests = 1, .endless = 1, .pauses = true},
    paused_and_one_new = {.lanes = 2, .conns = 2, .new = 1, .requests = 1, .endless = 1, .pauses = true},
    killed = {.lanes = 2, .conns = 2, .requests = 1, .endless = 1, .mortal = true},
    killed_and_one_new = {.lanes = 2, .conns = 2, .new = 1, .requests = 1, .endless = 1, .mortal = true},
    two_lanes_and_one_new = {.lanes = 2, .conns = 3, .new = 1, .requests = 1, .endless = 2};

/* Returns the fault, or NULL. *states: the number of states found. */
static const char *find_fault(const struct size *size, enum mistake mistake, unsigned *states)
{
    struct search search = {
        .model = {.lanes = size->lanes,
                  .conns = size->conns,
                  .limited = size->limited,
                  .lock = size->lock,
                  .watched = size->watched,
                  .pauses = size->pauses,
                  .drains = size->drains,
                  .mistake = mistake},
        .requests = size->requests,
        .mortal = size->mortal,
        .gathered = size->gathered,
    };
    search_all(&search, size->endless, size->new);
    const char *fault = search.fault;
    *states = search.count;
    search_free(&search);
    return fault;
}

static void assert_no_fault(const struct size *size)
{
    static const char *const locks[] = {"", ", shared lock", ", held lock"};
    unsigned states;
    const char *fault = find_fault(size, NO_MISTAKE, &states);
    print_message("%u lanes, %u connections (%u new), requests %u%s%s%s%s%s: %u states\n", size->lanes,
                  size->conns, size->new, size->requests, size->limited ? ", limited" : "", locks[size->lock],
                  size->pauses ? ", accepting pauses" : "", size->drains ? ", drained" : "",
                  size->mortal ? ", one killed" : "", states);
    if (fault) fail_msg("%s", fault);
    assert_true(states > 50);
}

static void test_one_lane_has_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&two_clients);
    assert_no_fault(&two_requests);
    assert_no_fault(&three_clients);
    assert_no_fault(&one_new);
}

static void test_two_lanes_have_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&two_lanes);
    assert_no_fault(&two_lanes_and_one_new);
}

static void test_hosts_that_wait_for_their_lock_have_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&shared);
    assert_no_fault(&shared_and_one_new);
    assert_no_fault(&held);
    assert_no_fault(&held_and_one_new);
    assert_no_fault(&two_lanes_held);
    assert_no_fault(&two_lanes_held_and_one_new);
    assert_no_fault(&paused_held);
}

static void test_a_pause_of_accepting_has_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&accept_paused);
    assert_no_fault(&paused_and_one_new);
}

static void test_a_drain_has_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&drained_alone);
    assert_no_fault(&drained);
    assert_no_fault(&gathered);
}

static void test_a_killed_lane_leaves_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&killed);
    assert_no_fault(&killed_and_one_new);
}

static void test_a_lane_that_is_alone_and_watched_has_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&alone_watched);
    assert_no_fault(&watched);
}

static void test_a_request_timeout_has_no_fault(void **state)
{
    (void)state;
    assert_no_fault(&alone_limited);
    assert_no_fault(&limited);
    assert_no_fault(&two_lanes_limited);
}

static void test_each_mistake_is_found(void **state)
{
    (void)state;
    static const char two[] = "two have the set", stuck[] = "there is no way to the end",
                      gone[] = "the lane reads a connection that it does not have",
                      twice[] = "a request is answered twice, or not at all",
                      whole[] = "a whole response is cut",
                      lanes_own[] = "the I/O thread reads the connection that the lane has";
    static const struct {
        const char *name;
        enum mistake mistake;
        const struct size *size;
        const char *fault;
    } mistakes[] = {
        {"no second look before it sleeps", NO_SECOND_LOOK, &two_clients, stuck},
        {"asleep with a set, unannounced", HELD_UNANNOUNCED, &two_requests, stuck},
        {"the same, with two lanes", HELD_UNANNOUNCED, &two_lanes, stuck},
        {"a relaxed begin", RELAXED_BEGIN, &two_clients, stuck},
        {"the batch kept", BATCH_KEPT, &two_clients, gone},
        {"the current connection left in the set", CURRENT_LEFT, &two_requests, lanes_own},
        {"a take by a store", TAKE_BY_STORE, &two_clients, two},
        {"a hold by a store", HOLD_BY_STORE, &two_clients, stuck},
        {"no nudge", NO_NUDGE, &two_lanes, stuck},
        {"no nudge, and a new connection", NO_NUDGE, &one_new, stuck},
        {"no wake", NO_WAKE, &two_clients, stuck},
        {"events left", EVENTS_LEFT, &three_clients, stuck},
        {"a response by a store", RESPOND_BY_STORE, &limited, twice},
        {"no time for one that is back", LATE_LIMIT, &limited, "a host that is back has no time left"},
        {"a cut without a step", CUT_WITHOUT_STEP, &limited, whole},
        {"an end without a step", END_WITHOUT_STEP, &limited, whole},
        {"alone, and nobody counts the time", ALONE_AND_UNTIMED, &alone_limited, stuck},
        {"alone, and back by a store", ALONE_BY_STORE, &alone_watched, two},
        {"lanes that pause accepting take wake-ups along", PAUSED_UNNOTICED, &paused_and_one_new, stuck},
        {"they keep a nudge to themselves", NUDGE_KEPT, &paused_and_one_new, stuck},
        {"they pause for good", PAUSED_FOR_GOOD, &accept_paused, stuck},
        {"nobody nudges for the dead", FORGOTTEN_DEAD, &killed_and_one_new, stuck},
        {"a lane that was woken, unmarked", WOKEN_UNMARKED, &held, stuck},
        {"unmarked, and a new connection", WOKEN_UNMARKED, &held_and_one_new, stuck},
        {"the I/O thread is not told", WOKEN_UNNOTICED, &held, stuck},
        {"a new connection, and no nudge", NO_NUDGE, &held_and_one_new, stuck},
        {"woken, and back without a step", WOKEN_WITHOUT_STEP, &shared, two},
        {"drained, though another one is busy", DRAINED_AT_ONCE, &gathered, stuck},
        {"drained without a look", DRAINED_UNLOOKED, &gathered, stuck},
        {"a look before the others are done", DRAINED_LOOKED, &gathered, stuck},
        {"drained, but not shown", DRAINED_UNSHOWN, &drained, stuck},
        {"shown as done too early", DRAINED_TOO_EARLY, &gathered, stuck},
        {"nothing passed on in a drain", DRAINED_KEPT, &gathered, stuck},
        {"deaf to nudges", DEAF_TO_NUDGES, &one_new, stuck},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        unsigned states;
        const char *fault = find_fault(mistakes[i].size, mistakes[i].mistake, &states);
        print_message("%s: %s (%u states)\n", mistakes[i].name, fault ? fault : "not found", states);
        assert_non_null(fault);
        assert_string_equal(fault, mistakes[i].fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane_has_no_fault),
        cmocka_unit_test(test_two_lanes_have_no_fault),
        cmocka_unit_test(test_a_pause_of_accepting_has_no_fault),
        cmocka_unit_test(test_a_lane_that_is_alone_and_watched_has_no_fault),
        cmocka_unit_test(test_a_killed_lane_leaves_no_fault),
        cmocka_unit_test(test_a_drain_has_no_fault),
        cmocka_unit_test(test_a_request_timeout_has_no_fault),
        cmocka_unit_test(test_hosts_that_wait_for_their_lock_have_no_fault),
        cmocka_unit_test(test_each_mistake_is_found),
    };
    return cmocka_run_group_tests_name("owner_model", tests, NULL, NULL);
}
