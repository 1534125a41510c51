/* bbp_file.c: a body that is a plain file leaves by sendfile(2), so no SV gets its bytes. The handle must be
 * at position 0, and its layers must not change bytes. Any other handle is read by `getline`. bbp_reply.c
 * uses it. */
#include "bbp_bontebok.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A class may read its handle in its own way, for example to count bytes. The class of a handle that is not
 * blessed is that of its IO object. */
static bool has_own_getline(pTHX_ SV *body, IO *io)
{
    HV *class = sv_isobject(body) ? SvSTASH(SvRV(body)) : SvSTASH((SV *)io);
    if (!class) return true;
    GV *found = gv_fetchmethod_autoload(class, "getline", FALSE);
    CV *plain = get_cv("IO::Handle::getline", 0);
    return !found || !isGV(found) || GvCV(found) != plain;
}

/* Returns the file behind a handle, or NULL. */
static PerlIO *file_of(pTHX_ SV *body)
{
    if (!SvROK(body) || !isGV_with_GP(SvRV(body))) return NULL;
    IO *io = GvIO((GV *)SvRV(body));
    if (!io || SvRMAGICAL(io) || SvRMAGICAL(SvRV(body))) return NULL; /* none, or tied */
    if (IoTYPE(io) != IoTYPE_RDONLY && IoTYPE(io) != IoTYPE_RDWR) return NULL;
    return has_own_getline(aTHX_ body, io) ? NULL : IoIFP(io);
}

static bool keeps_bytes(pTHX_ PerlIO *file)
{
    static const char *const plain[] = {"unix", "perlio", "stdio", "mmap"};
    AV *layers = (AV *)sv_2mortal((SV *)PerlIO_get_layers(aTHX_ file));
    if (PerlIO_isutf8(file)) return false;
    for (I32 i = 0; i <= av_len(layers); i += 3) { /* name, arguments and flags of each layer */
        SV **name = av_fetch(layers, i, FALSE);
        bool is_plain = false;
        if (!name || !SvPOK(*name)) return false;
        for (size_t j = 0; j < sizeof plain / sizeof *plain; j++)
            is_plain = is_plain || strEQ(SvPVX_const(*name), plain[j]);
        if (!is_plain) return false;
    }
    return true;
}

/* PerlIO_tell() does not know of sysseek() and sysread(). PerlIO_flush() gives back what PerlIO has read
 * ahead. */
static bool is_at_the_beginning(pTHX_ PerlIO *file, int fd)
{
    return PerlIO_flush(file) == 0 && lseek(fd, 0, SEEK_CUR) == 0;
}

/* Returns a descriptor of the caller, or -1. */
static int open_again(pTHX_ struct bbp_core *core, SV *body, uint64_t *size)
{
    struct stat info;
    PerlIO *file = file_of(aTHX_ body);
    int fd = file ? PerlIO_fileno(file) : -1;
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return -1;
    if (info.st_blocks == 0) return -1; /* the sizes of files in /proc and /sys are not true */
    if (!keeps_bytes(aTHX_ file) || !is_at_the_beginning(aTHX_ file, fd)) return -1;
    *size = (uint64_t)info.st_size;
    return bb_reply_takes_file(core->lane, *size) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
}

bool bbp_file_reply(pTHX_ struct bbp_core *core, SV *body)
{
    uint64_t size;
    int fd = open_again(aTHX_ core, body, &size);
    if (fd < 0) return false;
    bbp_check(aTHX_ core, bb_reply_file(core->lane, fd, size));
    core->exchange.complete = true;
    return true;
}
