/* rb_wait.c: the two calls in which a lane (a thread that serves requests) blocks. Both release the GVL. */
#include "rb_bontebok.h"

#include <ruby/thread.h>

struct wait {
    struct bb_lane *core;
    int code;
};

static void *without_gvl_lane_wait(void *argument)
{
    struct wait *wait = argument;
    wait->code = bb_lane_wait(wait->core);
    return NULL;
}

static void *without_gvl_reply_wait(void *argument)
{
    struct wait *wait = argument;
    wait->code = bb_reply_wait(wait->core);
    return NULL;
}

static void wake(void *core)
{
    bb_lane_wake(core);
}

void bbr_wait_for_request(struct bbr_lane *lane)
{
    struct wait wait = {.core = lane->core};
    rb_thread_call_without_gvl(without_gvl_lane_wait, &wait, wake, lane->core);
}

int bbr_wait_for_client(struct bbr_lane *lane)
{
    struct wait wait = {.core = lane->core};
    rb_thread_call_without_gvl(without_gvl_reply_wait, &wait, wake, wait.core);
    return wait.code;
}
