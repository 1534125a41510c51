/* bbp_input.c: psgi.input, an IO::File that reads the request's body. The body is complete. The handle reads
 * a copy in memory, or has a descriptor of its own for the spool's file, so it outlives the request. */
#include "bbp_bontebok.h"

#include <fcntl.h>
#include <perliol.h>
#include <unistd.h>

/* Without a list of layers, Perl takes the layers of `use open`, of PERL_UNICODE and of PERLIO, and these
 * layers may change bytes. The first list names no layer, because Perl itself chooses the layer for memory.
 */
#define MEMORY_LAYERS ":"
#define FILE_LAYERS   ":unix:perlio"

static SV *handle_of(pTHX_ PerlIO *file)
{
    GV *gv = (GV *)newSV(0);
    gv_init(gv, gv_stashpvs("Bontebok", GV_ADD), "input", 5, FALSE);
    IO *io = GvIOn(gv);
    IoTYPE(io) = IoTYPE_RDONLY;
    IoIFP(io) = file;
    return sv_bless(newRV_noinc((SV *)gv), gv_stashpvs("IO::File", GV_ADD));
}

/* The handle owns the string. */
static SV *memory_handle(pTHX_ const char *bytes, size_t len)
{
    SV *reference = sv_2mortal(newRV_noinc(newSVpvn(bytes, len)));
    PerlIO *file = PerlIO_openn(aTHX_ MEMORY_LAYERS, "r", -1, 0, 0, NULL, 1, &reference);
    if (!file) croak("Bontebok: cannot open psgi.input: %s", Strerror(errno));
    return handle_of(aTHX_ file);
}

static SV *file_handle(pTHX_ int body)
{
    int fd = fcntl(body, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) croak("Bontebok: cannot open psgi.input: %s", Strerror(errno));
    (void)lseek(fd, 0, SEEK_SET);
    PerlIO *file = PerlIO_openn(aTHX_ FILE_LAYERS, "r", fd, 0, 0, NULL, 0, NULL);
    if (!file) {
        (void)close(fd);
        croak("Bontebok: cannot open psgi.input: %s", Strerror(errno));
    }
    return handle_of(aTHX_ file);
}

/* ---- no body ---- */

/* The application may have pushed layers on the handle, or may have pushed back a byte, which also needs a
 * layer. */
static bool has_only_scalar_layer(PerlIO *file)
{
    PerlIOl *top = PerlIOValid(file) ? *file : NULL;
    return top && strEQ(top->tab->name, "scalar") && !PerlIO_isutf8(file);
}

/* The application may have opened the handle again. */
static bool is_empty(pTHX_ PerlIO *file)
{
    char byte;
    if (PerlIO_seek(file, 0, SEEK_SET) != 0 || PerlIO_read(file, &byte, 1) != 0) return false;
    PerlIO_clearerr(file);
    return true;
}

/* Returns whether nobody else has this handle, and nobody has changed it. Rewinds it. */
static bool is_as_made(pTHX_ SV *handle)
{
    GV *gv = (GV *)handle;
    if (SvREFCNT(handle) != 1 || SvMAGICAL(handle) || !isGV_with_GP(handle)) return false;
    if (SvSTASH(handle) != gv_stashpvs("IO::File", GV_ADD) || GvSV(gv) || GvAV(gv) || GvHV(gv)) return false;
    IO *io = GvIO(gv);
    if (!io || SvREFCNT((SV *)io) != 1 || SvMAGICAL((SV *)io)) return false; /* magic: the handle is tied */
    if (!has_only_scalar_layer(IoIFP(io)) || !is_empty(aTHX_ IoIFP(io))) return false;
    IoLINES(io) = 0;
    return true;
}

/* Requests without a body share one handle, as long as no application keeps or changes it. */
static SV *empty_handle(pTHX_ struct bbp_core *core)
{
    if (!core->no_input) core->no_input = memory_handle(aTHX_ "", 0);
    return newSVsv(core->no_input);
}

void bbp_input_release(pTHX_ struct bbp_core *core)
{
    SV *handle = core->no_input;
    if (!handle || is_as_made(aTHX_ SvRV(handle))) return;
    core->no_input = NULL;
    SvREFCNT_dec(handle); /* a DESTROY of the application may leave by exit() */
}

/* ---- a request ---- */

SV *bbp_input_new(pTHX_ struct bbp_core *core)
{
    const struct bb_request *request = core->exchange.request;
    if (request->body_length == 0) return empty_handle(aTHX_ core);
    if (request->body) return memory_handle(aTHX_ request->body, (size_t)request->body_length);
    return file_handle(aTHX_ request->body_fd);
}
