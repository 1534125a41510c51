/* bbp_bytes.c: the bytes of a Perl value. HTTP sends bytes, so a string of characters is downgraded (see
 * perlunifaq: a character above 255 cannot be sent). */
#include "bbp_bontebok.h"

/* The application keeps its own SV as it is, so a copy is downgraded. */
static bool bytes_of_copy(pTHX_ SV *sv, struct bb_slice *bytes)
{
    STRLEN len;
    const char *text = SvPV_nomg_const(sv, len);
    SV *copy = sv_2mortal(newSVpvn_utf8(text, len, SvUTF8(sv)));
    if (SvUTF8(copy) && !sv_utf8_downgrade(copy, TRUE)) return false;
    *bytes = (struct bb_slice){SvPVX_const(copy), SvCUR(copy)};
    return true;
}

bool bbp_bytes(pTHX_ SV *sv, struct bb_slice *bytes)
{
    if (bbp_is_plain(sv)) {
        *bytes = (struct bb_slice){SvPVX_const(sv), SvCUR(sv)};
        return true;
    }
    SvGETMAGIC(sv);
    *bytes = (struct bb_slice){"", 0};
    return !SvOK(sv) || bytes_of_copy(aTHX_ sv, bytes);
}
