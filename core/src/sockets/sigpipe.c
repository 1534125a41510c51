/* sigpipe.c: see sigpipe.h. */
#include "sockets/sigpipe.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The kernel sends SIGPIPE to the thread that writes. */
static _Thread_local volatile sig_atomic_t held;

/* The signal is blocked while this function runs. So the default action takes effect when it returns. */
static void end_unless_held(int number)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    if (held) return;
    (void)sigaction(number, &standard, NULL);
    (void)raise(number);
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* A command that the host executes gets the default action: execve(2) resets handlers. */
void bb__sigpipe_prepare(void)
{
    const struct sigaction own = {.sa_handler = end_unless_held, .sa_flags = SA_RESTART | SA_ONSTACK};
    struct sigaction former;
    if (sigaction(SIGPIPE, NULL, &former) != 0 || !is_default(&former)) return;
    if (sigaction(SIGPIPE, &own, &former) == 0 && !is_default(&former))
        (void)sigaction(SIGPIPE, &former, NULL); /* another thread has just set an action */
}

void bb__sigpipe_hold(void)
{
    held = 1;
}

void bb__sigpipe_release(void)
{
    held = 0;
}
