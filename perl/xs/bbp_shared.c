/* bbp_shared.c: what a master and its workers share: the scoreboard, and the queue through which workers pass
 * connections on. The master makes both before it forks the workers. And the words that a worker says to its
 * master: the core says some of them, also while the host hangs. */
#include "bbp_bontebok.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct bbp_shared {
    struct bb_scoreboard *scoreboard;
    int queue[2];   /* the shared queue's ends, see bb_worker_share_queue() */
    unsigned users; /* the object of Perl, and the cores that have joined */
};

struct bbp_shared *bbp_shared_new(pTHX_ unsigned lanes)
{
    struct bbp_shared *shared = calloc(1, sizeof *shared);
    if (!shared) croak("Bontebok: %s", bb_error_text(BB_ENOMEM));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, shared->queue) != 0) {
        int error = errno;
        free(shared);
        croak("Bontebok: no shared queue: %s", Strerror(error));
    }
    shared->users = 1;
    for (int i = 0; i < 2; i++) (void)fcntl(shared->queue[i], F_SETFD, FD_CLOEXEC);
    int code = bb_scoreboard_new(&shared->scoreboard, lanes);
    if (code >= 0) return shared;
    bbp_shared_release(shared);
    croak("Bontebok: %s", bb_error_text(code));
}

void bbp_shared_release(struct bbp_shared *shared)
{
    if (!shared || --shared->users > 0) return;
    bb_scoreboard_free(shared->scoreboard);
    for (int i = 0; i < 2; i++) (void)close(shared->queue[i]);
    free(shared);
}

static int duplicate(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void close_both(int first, int second)
{
    if (first >= 0) (void)close(first);
    if (second >= 0) (void)close(second);
}

void bbp_shared_join(pTHX_ struct bbp_core *core, struct bbp_shared *shared, int channel, SV *bytes)
{
    STRLEN len;
    const char *text = SvPVbyte(bytes, len);
    if (len != BBP_WORDS + BBP_ORDERS) croak("Bontebok: wrong words or orders");
    int in = duplicate(shared->queue[0]), out = duplicate(shared->queue[1]), own = duplicate(channel);
    int code = in < 0 || out < 0 || own < 0 ? BB_ESYSTEM : bb_worker_share_queue(core->worker, in, out);
    if (code < 0) {
        int error = errno;
        close_both(in, out);
        if (own >= 0) (void)close(own);
        croak("Bontebok: cannot share the queue: %s", Strerror(error));
    }
    memcpy(core->words, text, BBP_WORDS);
    memcpy(core->orders, text + BBP_WORDS, BBP_ORDERS);
    core->channel = own;
    core->shared = shared;
    shared->users++;
    bb_worker_scoreboard(core->worker, shared->scoreboard);
    bb_worker_tell(core->worker, own, core->words, false);
}

void bbp_shared_leave(struct bbp_core *core)
{
    if (!core->shared) return;
    (void)close(core->channel);
    bbp_shared_release(core->shared);
    core->shared = NULL;
}

/* If the socket is full, the master has enough to read: it finds out that the worker has ended. */
void bbp_shared_tell(struct bbp_core *core, enum bbp_word word)
{
    if (core->shared) (void)send(core->channel, &core->words[word], 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void bbp_shared_drain(struct bbp_core *core, bool all)
{
    (void)pthread_mutex_lock(&core->drain_lock);
    if (!core->drains_all) {
        core->drains_all = all || !core->shared;
        bb_worker_drain(core->worker, core->drains_all ? BB_QUEUE_TAKE : BB_QUEUE_LEAVE);
    }
    (void)pthread_mutex_unlock(&core->drain_lock);
}

void bbp_shared_clear(struct bbp_shared *shared, int pid)
{
    bb_scoreboard_clear(shared->scoreboard, pid, shared->queue[0], shared->scoreboard);
}

SV *bbp_shared_label(pTHX_ struct bbp_shared *shared, int pid)
{
    struct bb_scoreboard_lane lane;
    int code;
    for (unsigned i = 0; (code = bb_scoreboard_look(shared->scoreboard, i, &lane)) != BB_EOF; i++)
        if (code == BB_OK && lane.pid == pid && lane.label[0]) return newSVpv(lane.label, 0);
    return newSVpvs("a request");
}
