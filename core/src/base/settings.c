/* settings.c: the default settings, and settings from texts. Everything comes from the two tables in
 * bontebok_settings.h. */
#include "bontebok.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ms; a year */
#define LONGEST UINT64_C(31536000000)

void bb_settings_init(struct bb_settings *settings)
{
    *settings = (struct bb_settings){
#define NUMBER_DEFAULT(name, kind, default_value) .name = (default_value),
#define TEXT_DEFAULT(name, size, default_value)   .name = default_value,
        BB_SETTINGS(NUMBER_DEFAULT) BB_SETTINGS_TEXT(TEXT_DEFAULT)
#undef NUMBER_DEFAULT
#undef TEXT_DEFAULT
    };
}

/* ---- values ---- */

struct unit {
    const char *word;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},         {"b", 1},         {"k", 1 << 10}, {"kb", 1 << 10}, {"kib", 1 << 10}, {"m", 1 << 20},
    {"mb", 1 << 20}, {"mib", 1 << 20}, {"g", 1 << 30}, {"gb", 1 << 30}, {"gib", 1 << 30},
};
static const struct unit time_units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"h", 3600000}};

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter | 0x20) : letter;
}

/* Compares in any letter case. Only ASCII letters have cases: the host's locale does not matter. */
static bool is_word(const char *text, const char *word)
{
    for (; *word; ++text, ++word)
        if (lower(*text) != *word) return false;
    return *text == '\0';
}

/* These two return 0 if the text is no unit. */
static uint64_t size_factor(const char *text)
{
    for (size_t i = 0; i < sizeof size_units / sizeof *size_units; i++)
        if (is_word(text, size_units[i].word)) return size_units[i].factor;
    return 0;
}

static uint64_t time_factor(const char *text)
{
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++)
        if (strcmp(text, time_units[i].word) == 0) return time_units[i].factor;
    return 0;
}

/* Reads digits, and moves *text behind them. Returns false if there are none, or if the number has no room.
 */
static bool read_digits(const char **text, uint64_t *number)
{
    const char *at = *text;
    for (*number = 0; *at >= '0' && *at <= '9'; ++at) {
        unsigned digit = (unsigned)(*at - '0');
        if (*number > (UINT64_MAX - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    bool found = at != *text;
    *text = at;
    return found;
}

static const char *set_switch(uint64_t *number, const char *text)
{
    static const char *const words[][4] = {{"false", "no", "off", "0"}, {"true", "yes", "on", "1"}};
    for (unsigned value = 0; value < 2; value++) {
        for (size_t i = 0; i < 4; i++) {
            if (!is_word(text, words[value][i])) continue;
            *number = value;
            return NULL;
        }
    }
    return "must be true or false";
}

static const char *set_count(uint64_t *number, const char *text)
{
    uint64_t count;
    if (!read_digits(&text, &count) || *text) return "must be a whole number";
    *number = count;
    return NULL;
}

static const char *set_bytes(uint64_t *number, const char *text)
{
    uint64_t count, factor = 0;
    if (read_digits(&text, &count)) factor = size_factor(text);
    if (factor == 0 || count > UINT64_MAX / factor) return "must be a size such as 65536, 64K, 1M or 2G";
    *number = count * factor;
    return NULL;
}

/* Reads the digits behind the decimal point. *fraction: in 1/FRACTION_ONE; digits behind the ninth are not
 * counted. */
#define FRACTION_ONE UINT64_C(1000000000)
static bool read_fraction(const char **text, uint64_t *fraction)
{
    uint64_t place = FRACTION_ONE;
    const char *at = *text;
    for (*fraction = 0; *at >= '0' && *at <= '9'; ++at) *fraction += (uint64_t)(*at - '0') * (place /= 10);
    bool found = at != *text;
    *text = at;
    return found;
}

static const char *set_time(uint64_t *number, const char *text)
{
    static const char *const fault = "must be a time such as 30, 0.5, 500ms, 2m or 1h";
    uint64_t whole, fraction = 0;
    if (!read_digits(&text, &whole)) return fault;
    if (*text == '.' && (++text, !read_fraction(&text, &fraction))) return fault;
    uint64_t factor = time_factor(text);
    if (factor == 0) return fault;
    if (whole > LONGEST / factor) return "must be a time of at most a year";
    uint64_t ms = whole * factor + (fraction * factor + FRACTION_ONE / 2) / FRACTION_ONE;
    if (ms == 0 && fraction > 0) return "must be a time of at least 1 ms, or 0";
    *number = ms;
    return NULL;
}

/* ---- a setting by its name ---- */

static const struct setting {
    const char *name;
    enum bb_setting_kind kind;
    size_t offset, size; /* in struct bb_settings */
} all[] = {
#define NUMBER_ROW(name, kind, default_value)                                                                \
    {#name, BB_SETTING_##kind, offsetof(struct bb_settings, name), sizeof(uint64_t)},
#define TEXT_ROW(name, size, default_value)                                                                  \
    {#name, BB_SETTING_TEXT, offsetof(struct bb_settings, name), size},
    BB_SETTINGS(NUMBER_ROW) BB_SETTINGS_TEXT(TEXT_ROW)
#undef NUMBER_ROW
#undef TEXT_ROW
};

static const struct setting *find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0) return &all[i];
    return NULL;
}

enum bb_setting_kind bb_settings_kind(const char *name)
{
    const struct setting *setting = find(name);
    return setting ? setting->kind : BB_SETTING_UNKNOWN;
}

/* Returns NULL, or why the number is wrong. */
static const char *set_number(uint64_t *number, enum bb_setting_kind kind, const char *text)
{
    switch (kind) {
    case BB_SETTING_SWITCH:
        return set_switch(number, text);
    case BB_SETTING_COUNT:
        return set_count(number, text);
    case BB_SETTING_BYTES:
        return set_bytes(number, text);
    default:
        return set_time(number, text);
    }
}

static int reject(char fault[BB_FAULT_MAX], const char *text)
{
    (void)snprintf(fault, BB_FAULT_MAX, "%s", text);
    return BB_EFORMAT;
}

int bb_settings_set(struct bb_settings *settings, const char *name, const char *text,
                    char fault[BB_FAULT_MAX])
{
    const struct setting *setting = find(name);
    if (!setting) return reject(fault, "is no setting");
    void *place = (char *)settings + setting->offset;
    if (setting->kind != BB_SETTING_TEXT) {
        const char *why = set_number(place, setting->kind, text);
        return why ? reject(fault, why) : BB_OK;
    }
    size_t len = strlen(text);
    if (len >= setting->size) {
        (void)snprintf(fault, BB_FAULT_MAX, "must have at most %zu bytes", setting->size - 1);
        return BB_EFORMAT;
    }
    memcpy(place, text, len + 1);
    return BB_OK;
}
