/* rb_shared.h: the part of rb_bontebok.h about what several workers and processes share. Each struct counts
 * its holders, which are Ruby objects and workers. The last holder frees it, because the GC frees objects in
 * any order. rb_bontebok.h includes this file.
 *
 * bbr_..._hold() returns the C struct of a Ruby object, and holds the struct until bbr_..._release(). It
 * raises if the object is not initialized. */
#ifndef RB_SHARED_H
#define RB_SHARED_H

/* ---- rb_scoreboard.c: the class Scoreboard ---- */

struct bbr_scoreboard {
    struct bb_scoreboard *core;
    unsigned holders;
};

struct bbr_scoreboard *bbr_scoreboard_hold(VALUE object);
void bbr_scoreboard_release(struct bbr_scoreboard *scoreboard);

/* ---- rb_metrics.c: the class Metrics ---- */

struct bbr_metrics {
    struct bb_metrics *core;
    unsigned holders;
};

struct bbr_metrics *bbr_metrics_hold(VALUE object);
void bbr_metrics_release(struct bbr_metrics *metrics);

/* ---- rb_public.c: the class Public ---- */

struct bbr_public {
    struct bb_public *core; /* NULL: the option is not set */
    pid_t pid;              /* of the process that has opened the directories */
    unsigned holders;
};

struct bbr_public *bbr_public_hold(VALUE object);
void bbr_public_release(struct bbr_public *public);

#endif
