/* sigpipe_test.c: the core's own writes survive SIGPIPE, and the host's writes have the action that the host
 * has chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sockets/sigpipe.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_action(void (*action)(int))
{
    assert_true(signal(SIGPIPE, action) != SIG_ERR);
}

static bool write_to_nobody(void)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    close(ends[0]);
    bool failed = write(ends[1], "x", 1) < 0 && errno == EPIPE;
    close(ends[1]);
    return failed;
}

static bool write_for_the_core(void)
{
    bb__sigpipe_prepare();
    bb__sigpipe_hold();
    bool failed = write_to_nobody();
    bb__sigpipe_release();
    return failed;
}

/* Runs the case in a process of its own. Returns the signal that has ended the process, or 0. */
static int signal_of(bool (*run)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(run() ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    assert_int_equal(WEXITSTATUS(status), 0);
    return 0;
}

static void test_the_default_action_spares_only_writes_of_the_core(void **state)
{
    (void)state;
    set_action(SIG_DFL);
    assert_int_equal(signal_of(write_to_nobody), SIGPIPE);
    assert_int_equal(signal_of(write_for_the_core), 0);
    assert_true(write_for_the_core());
    assert_int_equal(signal_of(write_to_nobody), SIGPIPE);
}

static bool execute(void)
{
    execl("/bin/sh", "sh", "-c", "kill -s PIPE $$", (char *)NULL);
    return false;
}

static void test_a_command_gets_the_default_action(void **state)
{
    (void)state;
    set_action(SIG_DFL);
    assert_true(write_for_the_core());
    assert_int_equal(signal_of(execute), SIGPIPE);
}

static volatile sig_atomic_t handled;

static void count(int number)
{
    (void)number;
    handled++;
}

static void test_another_action_stays(void **state)
{
    (void)state;
    set_action(count);
    handled = 0;
    assert_true(write_for_the_core());
    assert_true(write_to_nobody());
    assert_int_equal(handled, 2);
    set_action(SIG_IGN);
    assert_true(write_for_the_core());
    assert_true(signal(SIGPIPE, SIG_DFL) == SIG_IGN);
}

static void test_the_host_may_choose_the_default_action_again(void **state)
{
    (void)state;
    set_action(SIG_DFL);
    assert_true(write_for_the_core());
    set_action(count);
    set_action(SIG_DFL);
    assert_true(write_for_the_core());
    assert_int_equal(signal_of(write_to_nobody), SIGPIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_default_action_spares_only_writes_of_the_core),
        cmocka_unit_test(test_a_command_gets_the_default_action),
        cmocka_unit_test(test_another_action_stays),
        cmocka_unit_test(test_the_host_may_choose_the_default_action_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
