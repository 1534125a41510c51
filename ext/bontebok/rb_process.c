/* rb_process.c: functions of Bontebok::Core for the server's processes, and the end of a process that the
 * application has forked. */
#include "rb_bontebok.h"

#include <errno.h>
#include <pthread.h>
#include <ruby/io.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef BB_PORTABLE

/* Without Linux, one process serves and forks nothing. */

static VALUE check_fork(VALUE core)
{
    return Qnil;
}

static VALUE adopt_orphans(VALUE core)
{
    return Qfalse;
}

#else

#include <sys/prctl.h>
#include <sys/wait.h>

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

#endif

/* ---- signals while a program is executed in place of this one ---- */

static pthread_t holder;
static struct sigaction handlers[NSIG];

/* Another thread has got the signal. It waits in the thread that executes the program. */
static void pass_on(int number)
{
    (void)pthread_kill(holder, number);
}

/* A program that is executed inherits an ignored signal as ignored, but not a handler. */
static void redirect(int number)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    (void)sigaction(number, NULL, &handlers[number]);
    if (handlers[number].sa_handler != SIG_IGN) (void)sigaction(number, &action, NULL);
}

static void mask(int how, VALUE numbers)
{
    sigset_t set;
    (void)sigemptyset(&set);
    for (long i = 0; i < RARRAY_LEN(numbers); i++) {
        (void)sigaddset(&set, NUM2INT(rb_ary_entry(numbers, i)));
    }
    (void)pthread_sigmask(how, &set, NULL);
}

/* block_signals(number, ...): this thread gets these signals only after unblock_signals. So does the only
 * thread of a process that is forked meanwhile. */
static VALUE block_signals(VALUE core, VALUE numbers)
{
    mask(SIG_BLOCK, numbers);
    return Qnil;
}

static VALUE unblock_signals(VALUE core, VALUE numbers)
{
    mask(SIG_UNBLOCK, numbers);
    return Qnil;
}

/* hold_signals(number, ...): from now on these signals of the process wait until release_signals, or until
 * this thread has executed another program that unblocks them (execve(2)). Ruby unblocks all signals when it
 * starts. */
static VALUE hold_signals(VALUE core, VALUE numbers)
{
    mask(SIG_BLOCK, numbers);
    holder = pthread_self();
    for (long i = 0; i < RARRAY_LEN(numbers); i++) redirect(NUM2INT(rb_ary_entry(numbers, i)));
    return Qnil;
}

/* release_signals(number, ...): the signals that wait arrive now. Follows hold_signals with the same numbers.
 */
static VALUE release_signals(VALUE core, VALUE numbers)
{
    for (long i = 0; i < RARRAY_LEN(numbers); i++) {
        int number = NUM2INT(rb_ary_entry(numbers, i));
        (void)sigaction(number, &handlers[number], NULL);
    }
    mask(SIG_UNBLOCK, numbers);
    return Qnil;
}

/* ---- a process that ends with the process that has forked it ---- */

struct life_line {
    int fd;
    time_t seconds;
    pid_t group;
};

/* Waits until the pipe has no writer. Nobody writes to it. Returns false if the application has closed the
 * descriptor. */
static bool is_cut(int fd)
{
    char byte;
    ssize_t count;
    do {
        count = read(fd, &byte, 1);
    } while (count < 0 && errno == EINTR);
    return count == 0;
}

static void *end_process(void *argument)
{
    struct life_line line = *(struct life_line *)argument;
    free(argument);
    if (!is_cut(line.fd)) return NULL;
    (void)kill(getpid(), SIGTERM);
    struct timespec left = {.tv_sec = line.seconds};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
    (void)kill(-line.group, SIGKILL);
    return NULL;
}

/* The thread has no signals: they are for the threads of Ruby. */
static int watch(struct life_line *line)
{
    sigset_t all, former;
    pthread_t thread;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &former);
    int error = pthread_create(&thread, NULL, end_process, line);
    (void)pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (error == 0) (void)pthread_detach(thread);
    return error;
}

/* end_with(fd, seconds): fd is the read end of a pipe that blocks. When its last writer has ended, this
 * process gets TERM, and `seconds` later its process group is killed. A thread in C waits, because the
 * application may keep Ruby's lock, and Ruby ends its own threads before a process ends. A forked process
 * must call this function itself. */
static VALUE end_with(VALUE core, VALUE fd, VALUE seconds)
{
    struct life_line line = {.fd = NUM2INT(fd), .seconds = NUM2LONG(seconds), .group = getpgrp()};
    struct life_line *copy = malloc(sizeof line);
    if (!copy) rb_memerror();
    *copy = line;
    int error = watch(copy);
    if (error == 0) return Qnil;
    free(copy);
    rb_syserr_fail(error, "pthread_create");
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

static VALUE status_of(VALUE exit)
{
    return INT2FIX(NUM2INT(rb_funcall(exit, rb_intern("status"), 0)));
}

int bbr_child_status(VALUE error)
{
    if (NIL_P(error)) return EXIT_SUCCESS;
    if (!RTEST(rb_obj_is_kind_of(error, rb_eSystemExit))) return EXIT_FAILURE;
    int state;
    VALUE status = rb_protect(status_of, error, &state); /* may be a method of the application */
    return state == 0 ? FIX2INT(status) : EXIT_FAILURE;
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
    rb_define_singleton_method(core, "block_signals", block_signals, -2);
    rb_define_singleton_method(core, "unblock_signals", unblock_signals, -2);
    rb_define_singleton_method(core, "end_with", end_with, 2);
    rb_define_singleton_method(core, "hold_signals", hold_signals, -2);
    rb_define_singleton_method(core, "release_signals", release_signals, -2);
}
