/* rb_process.c: functions of Bontebok::Core for the server's processes, and the end of a process that the
 * application has forked. */
#include "rb_bontebok.h"

#include <errno.h>
#include <ruby/io.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes of the child's stack in attempt(). The child returns at once. */
#define STACK 16384

static int end_at_once(void *nothing)
{
    return 0;
}

/* Makes a process that ends at once, and waits for its end. The child shares the memory of this process
 * (CLONE_VM), so nothing is copied, however large this process is. This thread continues when the child has
 * ended (CLONE_VFORK). The child has no exit signal, so no SIGCHLD is sent, and only a wait with __WCLONE
 * finds the child. No handler of pthread_atfork runs. All signals are blocked, because the signal handlers of
 * this process must not run in the child. Returns 0 or an errno. */
static int attempt(void)
{
    _Alignas(16) char stack[STACK];
    sigset_t all, former;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &former);
    int pid = clone(end_at_once, stack + STACK, CLONE_VM | CLONE_VFORK, NULL);
    int error = pid < 0 ? errno : 0;
    if (pid > 0) (void)waitpid(pid, NULL, __WCLONE);
    (void)pthread_sigmask(SIG_SETMASK, &former, NULL);
    return error;
}

/* check_fork: raises Errno::EAGAIN if the kernel refuses another process, for example because of
 * RLIMIT_NPROC, or of pids.max of the cgroup. Ruby's own fork would sleep and try again for ever, without
 * handling signals. Ruby's fork raises all other errors itself. */
static VALUE check_fork(VALUE core)
{
    int error = attempt();
    if (error == EAGAIN) rb_syserr_fail(error, "fork");
    return Qnil;
}

/* adopt_orphans: from now on the kernel makes this process the parent of each descendant whose own parent has
 * ended. This process must wait for such descendants. Returns whether the kernel supports this. */
static VALUE adopt_orphans(VALUE core)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? Qtrue : Qfalse;
}

/* ---- processes that the application forks inside of a request ---- */

static VALUE flush(RB_BLOCK_CALL_FUNC_ARGLIST(io, data))
{
    (void)bbr_attempt(rb_io_flush, io); /* the IO may be closed, or its reader may be gone */
    return Qnil;
}

static VALUE flush_all(VALUE space)
{
    return rb_block_call(space, rb_intern("each_object"), 1, &rb_cIO, flush, Qnil);
}

void bbr_leave_child(int status)
{
    (void)bbr_attempt(flush_all, rb_const_get(rb_cObject, rb_intern("ObjectSpace")));
    _exit(status); /* the exit handlers belong to the server */
}

bool bbr_lane_is_child(const struct bbr_lane *lane)
{
    return getpid() != lane->pid;
}

void bbr_lane_leave_if_child(const struct bbr_lane *lane)
{
    if (bbr_lane_is_child(lane)) bbr_leave_child(EXIT_SUCCESS);
}

void bbr_init_process(VALUE core)
{
    rb_define_singleton_method(core, "check_fork", check_fork, 0);
    rb_define_singleton_method(core, "adopt_orphans", adopt_orphans, 0);
}
