/* scoreboard_test.c: the scoreboard (memory that all processes share). Each lane has a slot on it. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bontebok.h"
#include "support/fake_clock.h"
#include "system/scoreboard.h"

/* Starts a process that claims a slot and waits. end_process() or the end of the test kills the process. */
static pid_t idle_process(struct bb_scoreboard *scoreboard)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bb__scoreboard_set_idle(bb__scoreboard_claim(scoreboard), true);
        (void)!write(ready[1], "", 1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_idle_lanes_of_other_processes_are_counted(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    struct bb__slot *own = bb__scoreboard_claim(scoreboard);
    bb__scoreboard_set_idle(own, true);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 8), 0);
    pid_t pids[3];
    for (int i = 0; i < 3; i++) pids[i] = idle_process(scoreboard);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 8), 3);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 2), 2);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, pids[0], 8), 3);
    bb__scoreboard_set_idle(own, false);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, pids[0], 8), 2);
    for (int i = 0; i < 3; i++) end_process(pids[i]);
    bb__scoreboard_give_back(own);
    bb_scoreboard_free(scoreboard);
}

/* The lane is idle, but its worker drains (`leaves`), or the lane has no room for more connections
 * (`paused`). */
static void test_a_lane_that_takes_no_requests_is_not_counted(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    struct bb__slot *slot = bb__scoreboard_claim(scoreboard);
    int other = getpid() + 1;
    bb__scoreboard_set_idle(slot, true);
    for (int pause = 0; pause < 2; pause++) {
        atomic_uchar *why = pause ? &slot->paused : &slot->leaves;
        assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, other, 8), 1);
        assert_true(bb__scoreboard_process_is_idle(scoreboard, other));
        atomic_store(why, true);
        assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, other, 8), 0);
        assert_false(bb__scoreboard_process_is_idle(scoreboard, other));
        assert_int_equal(bb__scoreboard_has_siblings(scoreboard, other), pause);
        bb__scoreboard_give_back(slot);
        assert_ptr_equal(bb__scoreboard_claim(scoreboard), slot);
        bb__scoreboard_set_idle(slot, true);
    }
    bb_scoreboard_free(scoreboard);
}

static void test_the_requests_of_all_lanes_are_summed_up(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    struct bb__slot *slots[3];
    for (int i = 0; i < 3; i++) {
        slots[i] = bb__scoreboard_claim(scoreboard);
        bb__scoreboard_begin(slots[i], 1000, 0);
    }
    struct bb__scoreboard_sum sum = bb__scoreboard_sum(scoreboard, 1001);
    assert_int_equal(sum.requests, 3);
    assert_int_equal(sum.lanes, 3);
    bb__scoreboard_end(slots[0]);
    atomic_store(&slots[1]->paused, true);
    assert_int_equal(bb__scoreboard_sum(scoreboard, 1001).lanes, 2);
    assert_int_equal(bb__scoreboard_sum(scoreboard, 2000).lanes, 1);
    atomic_store(&slots[0]->leaves, true);
    assert_int_equal(bb__scoreboard_sum(scoreboard, 2000).lanes, 0);
    bb__scoreboard_give_back(slots[1]);
    assert_int_equal(bb__scoreboard_sum(scoreboard, 2000).requests, 2);
    bb_scoreboard_free(scoreboard);
}

static void test_idle_lanes_that_leave_requests_waiting_are_not_counted(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    struct bb__slot *slots[3];
    for (int i = 0; i < 3; i++) bb__scoreboard_set_idle(slots[i] = bb__scoreboard_claim(scoreboard), true);
    atomic_store(&slots[2]->pid, 1);
    bb__scoreboard_blame(scoreboard, 1); /* no effect before bb__scoreboard_doubt() */
    bb__scoreboard_doubt(scoreboard, 1);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 8), 3);
    bb__scoreboard_set_idle(slots[1], false); /* this lane has changed its state since the doubt */
    bb__scoreboard_set_idle(slots[1], true);
    bb__scoreboard_blame(scoreboard, 1);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 8), 2);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, 1, 8), 1);
    bb__scoreboard_set_idle(slots[0], false);
    bb__scoreboard_set_idle(slots[0], true);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 8), 3);
    bb_scoreboard_free(scoreboard);
}

static void test_idle_lanes_of_all_processes_are_counted(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 4), 0);
    struct bb__slot *own = bb__scoreboard_claim(scoreboard);
    bb__scoreboard_set_idle(own, true);
    pid_t pid = idle_process(scoreboard);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 4), 2);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 1), 1);
    end_process(pid);
    bb__scoreboard_give_back(own);
    bb_scoreboard_free(scoreboard);
}

static void test_one_process_at_a_time_is_the_queue_reaper(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    int own = (int)getpid();
    assert_int_equal(bb_scoreboard_new(&scoreboard, 4), BB_OK);
    assert_true(bb__scoreboard_begin_reaping(scoreboard, own));
    assert_false(bb__scoreboard_begin_reaping(scoreboard, 1));
    bb__scoreboard_end_reaping(scoreboard);
    assert_true(bb__scoreboard_begin_reaping(scoreboard, 1));
    bb_scoreboard_clear(scoreboard, own, -1, scoreboard);
    assert_false(bb__scoreboard_begin_reaping(scoreboard, own));
    bb_scoreboard_clear(scoreboard, 1, -1, scoreboard); /* process 1 was killed */
    assert_true(bb__scoreboard_begin_reaping(scoreboard, own));
    bb__scoreboard_end_reaping(scoreboard);
    pid_t gone = idle_process(scoreboard); /* nobody clears the slots of this process */
    end_process(gone);
    assert_true(bb__scoreboard_begin_reaping(scoreboard, gone));
    assert_true(bb__scoreboard_begin_reaping(scoreboard, own));
    bb_scoreboard_free(scoreboard);
}

static void test_the_slots_of_dead_processes_are_used_again(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 2), BB_OK);
    struct bb__slot *own = bb__scoreboard_claim(scoreboard);
    pid_t pid = idle_process(scoreboard);
    assert_null(bb__scoreboard_claim(scoreboard));
    end_process(pid);
    bb_scoreboard_clear(scoreboard, pid, -1, scoreboard);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 2), 0);
    struct bb__slot *slot = bb__scoreboard_claim(scoreboard);
    assert_non_null(slot);
    assert_ptr_not_equal(slot, own);
    bb__scoreboard_give_back(own);
    assert_ptr_equal(bb__scoreboard_claim(scoreboard), own);
    bb_scoreboard_free(scoreboard);
    bb_scoreboard_free(NULL);
}

/* The parent process, which clears the slots of dead processes, may have been killed, too. */
static void test_a_claim_clears_the_slots_of_dead_processes(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    pid_t alive = idle_process(scoreboard), pid = idle_process(scoreboard);
    end_process(pid);
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 8), 2);
    assert_non_null(bb__scoreboard_claim(scoreboard));
    assert_int_equal(bb__scoreboard_idle_elsewhere(scoreboard, getpid(), 8), 1);
    end_process(alive);
    bb_scoreboard_free(scoreboard);
}

static void test_calls_without_a_slot_have_no_effect(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 1), BB_OK);
    assert_non_null(bb__scoreboard_claim(scoreboard));
    bb__scoreboard_set_idle(NULL, true);
    bb__scoreboard_give_back(NULL);
    assert_int_equal(bb__scoreboard_idle(scoreboard, 1), 0);
    assert_null(bb__scoreboard_claim(scoreboard));
    bb_scoreboard_free(scoreboard);
}

static void test_no_two_lanes_write_to_one_cache_line(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct bb__slot) % BB_CACHE_LINE, 0);
    assert_int_equal(offsetof(struct bb__slot, beat), BB_CACHE_LINE);
    assert_int_equal(offsetof(struct bb__scoreboard_memory, slots) % BB_CACHE_LINE, 0);
}

static void test_a_look_shows_the_lanes_request(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    struct bb_scoreboard_lane seen;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    assert_int_equal(bb_scoreboard_look(scoreboard, 0, &seen), BB_EOF);
    struct bb__slot *first = bb__scoreboard_claim(scoreboard), *second = bb__scoreboard_claim(scoreboard);
    bb__scoreboard_set_idle(first, true);
    bb__scoreboard_begin(second, fake_clock, 4711);
    fake_clock_advance(30);
    atomic_store(&second->leaves, true);

    assert_int_equal(bb_scoreboard_look(scoreboard, 0, &seen), BB_OK);
    assert_int_equal(seen.pid, getpid());
    assert_true(seen.idle && !seen.has_request && !seen.leaves);
    assert_true(seen.requests == 0 && seen.taken == 0 && seen.queue_time == 0);
    assert_int_equal(bb_scoreboard_look(scoreboard, 1, &seen), BB_OK);
    assert_true(!seen.idle && seen.has_request && seen.leaves);
    assert_true(seen.requests == 1 && seen.taken == 30 && seen.queue_time == 4711);

    bb__scoreboard_end(second);
    assert_int_equal(bb_scoreboard_look(scoreboard, 1, &seen), BB_OK);
    assert_true(!seen.has_request && seen.requests == 1 && seen.taken == 0 && seen.queue_time == 4711);
    bb__scoreboard_begin(second, fake_clock, 0);
    assert_int_equal(bb_scoreboard_look(scoreboard, 1, &seen), BB_OK);
    assert_true(seen.has_request && seen.requests == 2 && seen.taken == 0 && seen.queue_time == 0);

    bb__scoreboard_give_back(first);
    assert_int_equal(bb_scoreboard_look(scoreboard, 0, &seen), BB_AGAIN);
    assert_int_equal(bb_scoreboard_look(scoreboard, 2, &seen), BB_EOF);
    bb_scoreboard_clear(scoreboard, getpid(), -1, scoreboard);
    assert_ptr_equal(bb__scoreboard_claim(scoreboard), first);
    assert_ptr_equal(bb__scoreboard_claim(scoreboard), second);
    assert_int_equal(bb_scoreboard_look(scoreboard, 1, &seen), BB_OK);
    assert_true(!seen.has_request && !seen.leaves && seen.requests == 0);

    atomic_store(&second->waits, true);
    atomic_store(&second->pid, 0); /* so does a process of an older version */
    assert_ptr_equal(bb__scoreboard_claim(scoreboard), second);
    assert_int_equal(bb_scoreboard_look(scoreboard, 1, &seen), BB_OK);
    assert_false(seen.waits);
    bb_scoreboard_free(scoreboard);
}

static const char *label_of(const struct bb_scoreboard *scoreboard)
{
    static struct bb_scoreboard_lane seen;
    assert_int_equal(bb_scoreboard_look(scoreboard, 0, &seen), BB_OK);
    return seen.label;
}

static void test_the_label_of_a_request_ends_with_it(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    struct bb_slice method = {"GET", 3}, path = {"/path", 5};
    char text[300];
    memset(text, 'x', sizeof text);
    assert_int_equal(bb_scoreboard_new(&scoreboard, 8), BB_OK);
    bb__scoreboard_label(NULL, method, path);
    struct bb__slot *slot = bb__scoreboard_claim(scoreboard);
    bb__scoreboard_begin(slot, fake_clock, 0);
    assert_string_equal(label_of(scoreboard), "");
    bb__scoreboard_label(slot, method, path);
    assert_string_equal(label_of(scoreboard), "GET /path");
    bb__scoreboard_end(slot);
    assert_string_equal(label_of(scoreboard), "");
    bb__scoreboard_begin(slot, fake_clock, 0);
    assert_string_equal(label_of(scoreboard), "");
    bb__scoreboard_label(slot, method, (struct bb_slice){text, sizeof text});
    assert_int_equal(strlen(label_of(scoreboard)), BB_SCOREBOARD_LABEL_MAX - 1);
    assert_memory_equal(label_of(scoreboard), "GET xxx", 7);
    bb__scoreboard_label(slot, (struct bb_slice){text, sizeof text}, path);
    assert_int_equal(strlen(label_of(scoreboard)), BB_SCOREBOARD_LABEL_MAX - 1);
    bb_scoreboard_free(scoreboard);
}

/* ---- a race ---- */

#define ROUNDS 20000
#define TIME   10 /* s; on a busy machine there are fewer rounds */
#define OVER   (ROUNDS + 1)

static struct {
    struct bb_scoreboard *scoreboard;
    atomic_uint round, done;
} race;

static void *clear_each_round(void *pid)
{
    for (unsigned round = 1, now; round <= ROUNDS; round++) {
        while ((now = atomic_load(&race.round)) < round) continue;
        if (now == OVER) break;
        bb_scoreboard_clear(race.scoreboard, *(int *)pid, -1, race.scoreboard);
        atomic_store(&race.done, round);
    }
    return NULL;
}

/* The parent, which clears the slots of dead processes, may have been killed, too. */
static void test_a_dead_process_is_no_sibling(void **state)
{
    (void)state;
    struct bb_scoreboard *scoreboard;
    assert_int_equal(bb_scoreboard_new(&scoreboard, 2), BB_OK);
    pid_t pid = idle_process(scoreboard);
    assert_true(bb__scoreboard_has_siblings(scoreboard, getpid()));
    assert_true(bb__scoreboard_has_others(scoreboard, getpid()));
    end_process(pid);
    assert_false(bb__scoreboard_has_siblings(scoreboard, getpid()));
    assert_false(bb__scoreboard_has_others(scoreboard, getpid()));
    bb_scoreboard_free(scoreboard);
}

/* bb_scoreboard_clear() is called for a dead process. Before the call, a lane of another process can notice
 * the death, and claim the slot of the dead process. */
static void test_a_slot_that_was_claimed_meanwhile_is_not_cleared(void **state)
{
    (void)state;
    pthread_t thread;
    int dead = fork();
    if (dead == 0) _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    assert_int_equal(bb_scoreboard_new(&race.scoreboard, 1), BB_OK);
    atomic_store(&race.scoreboard->memory->used, 1);
    assert_int_equal(pthread_create(&thread, NULL, clear_each_round, &dead), 0);
    time_t end = time(NULL) + TIME;
    for (unsigned round = 1; round <= ROUNDS && time(NULL) < end; round++) {
        struct bb__slot *slot = bb__scoreboard_slot(race.scoreboard, 0);
        atomic_store(&slot->pid, dead);
        atomic_store(&race.round, round);
        while (!bb__scoreboard_claim(race.scoreboard)) continue;
        while (atomic_load(&race.done) != round) continue;
        assert_int_equal(atomic_load(&slot->pid), getpid());
        bb__scoreboard_give_back(slot);
    }
    atomic_store(&race.round, OVER);
    pthread_join(thread, NULL);
    bb_scoreboard_free(race.scoreboard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_lanes_of_other_processes_are_counted),
        cmocka_unit_test(test_a_lane_that_takes_no_requests_is_not_counted),
        cmocka_unit_test(test_the_requests_of_all_lanes_are_summed_up),
        cmocka_unit_test(test_idle_lanes_of_all_processes_are_counted),
        cmocka_unit_test(test_idle_lanes_that_leave_requests_waiting_are_not_counted),
        cmocka_unit_test(test_one_process_at_a_time_is_the_queue_reaper),
        cmocka_unit_test(test_the_slots_of_dead_processes_are_used_again),
        cmocka_unit_test(test_a_claim_clears_the_slots_of_dead_processes),
        cmocka_unit_test(test_a_dead_process_is_no_sibling),
        cmocka_unit_test(test_calls_without_a_slot_have_no_effect),
        cmocka_unit_test(test_a_look_shows_the_lanes_request),
        cmocka_unit_test(test_the_label_of_a_request_ends_with_it),
        cmocka_unit_test(test_no_two_lanes_write_to_one_cache_line),
        cmocka_unit_test(test_a_slot_that_was_claimed_meanwhile_is_not_cleared),
    };
    return cmocka_run_group_tests_name("scoreboard", tests, NULL, NULL);
}
