/* bbp_settings.c: the settings of the core, from a hash of Perl with a text for each. */
#include "bbp_bontebok.h"

void bbp_settings_read(pTHX_ struct bb_settings *settings, HV *given)
{
    char fault[BB_FAULT_MAX];
    HE *entry;
    bb_settings_init(settings);
    (void)hv_iterinit(given);
    while ((entry = hv_iternext(given))) {
        const char *name = SvPV_nolen(hv_iterkeysv(entry)), *text = SvPV_nolen(hv_iterval(given, entry));
        if (bb_settings_set(settings, name, text, fault) != BB_OK)
            croak("Bontebok: the setting %s %s, not '%s'", name, fault, text);
    }
}

SV *bbp_settings_faults(pTHX_ HV *given)
{
    char fault[BB_FAULT_MAX];
    struct bb_settings settings;
    struct bb_worker *worker;
    bbp_settings_read(aTHX_ & settings, given);
    int code = bb_access_log_check(&settings, fault);
    if (code == BB_EFORMAT) return newSVpvf("the access log: %s", fault);
    if (code < 0) return newSVpvf("the access log %s: %s", settings.access_log, Strerror(errno));
    code = bb_worker_new(&worker, &settings);
    if (code == BB_OK) (void)bb_worker_free(worker);
    if (code == BB_EFORMAT)
        return newSVpvf("--trusted-proxies has no such networks: '%s'", settings.trusted_proxies);
    return code == BB_OK ? newSV(0) : newSVpv(bb_error_text(code), 0);
}
