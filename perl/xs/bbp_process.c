/* bbp_process.c: system calls of the master and of a worker's first steps that perl itself does not offer.
 * The signals that matter to a master are blocked, except while it waits. So a signal that comes before the
 * wait ends the wait. A forked child begins with these signals blocked. */
#include "bbp_bontebok.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#ifndef WCONTINUED
#define WCONTINUED           0
#define WIFCONTINUED(status) (false)
#endif

static const int held[] = {SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};
#define HELD (sizeof held / sizeof *held)

void bbp_process_hold_signals(bool hold)
{
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < HELD; i++) (void)sigaddset(&set, held[i]);
    (void)sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Returns the set of blocked signals without those that are held. */
static sigset_t mask_of_wait(void)
{
    sigset_t mask;
    (void)sigprocmask(SIG_SETMASK, NULL, &mask);
    for (size_t i = 0; i < HELD; i++) (void)sigdelset(&mask, held[i]);
    return mask;
}

#ifdef __linux__
static int wait_for(struct pollfd *fds, size_t count, int ms, const sigset_t *mask)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    return ppoll(fds, (nfds_t)count, ms < 0 ? NULL : &time, mask);
}
#else
/* Without ppoll(2), a signal that comes just before the wait does not end it. So the wait is short. */
static int wait_for(struct pollfd *fds, size_t count, int ms, const sigset_t *mask)
{
    enum { LONGEST = 200 };
    sigset_t former;
    (void)sigprocmask(SIG_SETMASK, mask, &former);
    int ready = poll(fds, (nfds_t)count, ms < 0 || ms > LONGEST ? LONGEST : ms);
    (void)sigprocmask(SIG_SETMASK, &former, NULL);
    return ready;
}
#endif

void bbp_process_wait(pTHX_ AV *numbers, int ms)
{
    SSize_t count = av_len(numbers) + 1;
    SV *memory = sv_2mortal(newSV((STRLEN)(count + 1) * sizeof(struct pollfd)));
    struct pollfd *fds = (struct pollfd *)(void *)SvPVX(memory);
    for (SSize_t i = 0; i < count; i++) {
        SV **number = av_fetch(numbers, i, 0);
        fds[i] = (struct pollfd){.fd = number ? (int)SvIV(*number) : -1, .events = POLLIN};
    }
    sigset_t mask = mask_of_wait();
    (void)wait_for(fds, (size_t)count, ms, &mask);
    PERL_ASYNC_CHECK();
}

const char *bbp_process_state(pid_t pid, int *status)
{
    pid_t found = waitpid(pid, status, WNOHANG | WUNTRACED | WCONTINUED);
    if (found < 0 && errno == ECHILD) return "ended"; /* other code of this process has waited for it */
    if (found != pid) return NULL;
    return WIFSTOPPED(*status) ? "stopped" : WIFCONTINUED(*status) ? "continued" : "ended";
}

pid_t bbp_process_ended_child(void)
{
    siginfo_t child = {.si_pid = 0};
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 ? child.si_pid : 0;
}

bool bbp_process_follow(pid_t parent)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    return getppid() == parent;
}
