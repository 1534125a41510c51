/* error.c: the text of each code, and the default settings. Both come from the two tables in bontebok.h. */
#include "bontebok.h"

const char *bb_error_text(int code)
{
    switch (code) {
#define CODE_TEXT(name, number, text)                                                                        \
    case number:                                                                                             \
        return text;
        BB_CODES(CODE_TEXT)
#undef CODE_TEXT
    default:
        return "unknown code";
    }
}

void bb_settings_init(struct bb_settings *settings)
{
    *settings = (struct bb_settings){
#define SETTING_DEFAULT(name, default_value) .name = (default_value),
        BB_SETTINGS(SETTING_DEFAULT)
#undef SETTING_DEFAULT
            .spool_dir = "/tmp",
        .trusted_proxies = "unix 127.0.0.0/8 ::1",
        .access_log_format = "combined",
    };
}
