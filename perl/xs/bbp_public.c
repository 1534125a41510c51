/* bbp_public.c: the open directories of the setting public. A master opens them before it forks the workers.
 */
#include "bbp_bontebok.h"

#include <stdlib.h>

struct bbp_public {
    struct bb_public *files; /* NULL: the setting is empty */
    unsigned users;          /* the object of Perl, and the cores that serve the files */
};

struct bbp_public *bbp_public_open(pTHX_ HV *given)
{
    char fault[BB_FAULT_MAX];
    struct bb_settings settings;
    bbp_settings_read(aTHX_ & settings, given);
    struct bbp_public *public = calloc(1, sizeof *public);
    if (!public) croak("Bontebok: %s", bb_error_text(BB_ENOMEM));
    int code = bb_public_open(&public->files, &settings, fault);
    public->users = 1;
    if (code == BB_OK) return public;
    bbp_public_release(public);
    if (code == BB_ENOMEM) croak("Bontebok: %s", bb_error_text(code));
    croak("%s\n", fault);
}

struct bbp_public *bbp_public_hold(struct bbp_public *public)
{
    public->users++;
    return public;
}

void bbp_public_release(struct bbp_public *public)
{
    if (!public || --public->users > 0) return;
    bb_public_free(public->files);
    free(public);
}

int bbp_public_serve(struct bbp_core *core)
{
    return bb_worker_public(core->worker, core->public->files);
}
