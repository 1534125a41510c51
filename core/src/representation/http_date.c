/* http_date.c: see http_date.h. It does not use strptime(), whose names depend on the locale. */
#include "representation/http_date.h"

#include <string.h>

#define SECONDS_A_DAY  86400
#define SECONDS_A_YEAR 31556952              /* 365.2425 days, the mean of the Gregorian calendar */
#define LAST_SECOND    INT64_C(253402300799) /* the last second of the year 9999, as in base/clock.c */

struct moment {
    unsigned year, month, day; /* month and day start at 1 */
    unsigned hour, minute, second;
};

/* ---- the parts of a text: each function moves *rest behind what it takes ---- */

static inline bool take(struct bb_slice *rest, const char *text, size_t len)
{
    if (rest->len < len || memcmp(rest->at, text, len) != 0) return false;
    *rest = (struct bb_slice){rest->at + len, rest->len - len};
    return true;
}

#define TAKE(rest, literal) take((rest), (literal), sizeof(literal) - 1)

static bool take_number(struct bb_slice *rest, unsigned digits, unsigned *number)
{
    if (rest->len < digits) return false;
    *number = 0;
    for (unsigned i = 0; i < digits; i++) {
        char byte = rest->at[i];
        if (byte < '0' || byte > '9') return false;
        *number = *number * 10 + (unsigned)(byte - '0');
    }
    *rest = (struct bb_slice){rest->at + digits, rest->len - digits};
    return true;
}

/* Takes one of `count` names of three letters. *number: its place, from 1 on. */
static bool take_name(struct bb_slice *rest, const char names[][3], unsigned count, unsigned *number)
{
    if (rest->len < 3) return false;
    for (*number = 1; *number <= count; (*number)++) {
        if (memcmp(rest->at, names[*number - 1], 3) != 0) continue;
        *rest = (struct bb_slice){rest->at + 3, rest->len - 3};
        return true;
    }
    return false;
}

static bool take_day_name(struct bb_slice *rest, bool whole)
{
    static const char names[7][3] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const ends[7] = {"day", "sday", "nesday", "rsday", "day", "urday", "day"};
    unsigned number;
    if (!take_name(rest, names, 7, &number)) return false;
    return !whole || take(rest, ends[number - 1], strlen(ends[number - 1]));
}

static bool take_month(struct bb_slice *rest, unsigned *month)
{
    static const char names[12][3] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return take_name(rest, names, 12, month);
}

static bool take_time(struct bb_slice *rest, struct moment *moment)
{
    return take_number(rest, 2, &moment->hour) && TAKE(rest, ":") && take_number(rest, 2, &moment->minute) &&
           TAKE(rest, ":") && take_number(rest, 2, &moment->second);
}

/* ---- the forms ---- */

/* Sun, 06 Nov 1994 08:49:37 GMT */
static bool read_fixdate(struct bb_slice rest, struct moment *moment)
{
    return take_day_name(&rest, false) && TAKE(&rest, ", ") && take_number(&rest, 2, &moment->day) &&
           TAKE(&rest, " ") && take_month(&rest, &moment->month) && TAKE(&rest, " ") &&
           take_number(&rest, 4, &moment->year) && TAKE(&rest, " ") && take_time(&rest, moment) &&
           TAKE(&rest, " GMT") && rest.len == 0;
}

/* Sunday, 06-Nov-94 08:49:37 GMT */
static bool read_rfc850(struct bb_slice rest, struct moment *moment)
{
    return take_day_name(&rest, true) && TAKE(&rest, ", ") && take_number(&rest, 2, &moment->day) &&
           TAKE(&rest, "-") && take_month(&rest, &moment->month) && TAKE(&rest, "-") &&
           take_number(&rest, 2, &moment->year) && TAKE(&rest, " ") && take_time(&rest, moment) &&
           TAKE(&rest, " GMT") && rest.len == 0;
}

/* Sun Nov  6 08:49:37 1994 */
static bool read_asctime(struct bb_slice rest, struct moment *moment)
{
    return take_day_name(&rest, false) && TAKE(&rest, " ") && take_month(&rest, &moment->month) &&
           TAKE(&rest, " ") && take_number(&rest, TAKE(&rest, " ") ? 1 : 2, &moment->day) &&
           TAKE(&rest, " ") && take_time(&rest, moment) && TAKE(&rest, " ") &&
           take_number(&rest, 4, &moment->year) && rest.len == 0;
}

/* ---- the calendar ---- */

static bool exists(const struct moment *moment)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = moment->year;
    bool is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    unsigned last_day = days[moment->month - 1] + (is_leap_year && moment->month == 2);
    bool is_last_minute = moment->hour == 23 && moment->minute == 59;
    return moment->day >= 1 && moment->day <= last_day && moment->hour <= 23 && moment->minute <= 59 &&
           moment->second <= (is_last_minute ? 60 : 59);
}

/* In this function a year begins on March 1, and March is month 0. The leap day is then the last day of the
 * year, and (153 * month + 2) / 5 days precede each month. */
static int64_t seconds_of(const struct moment *moment)
{
    bool previous_year = moment->month <= 2;
    unsigned year = moment->year + 400 - previous_year; /* 400 years more, so that no year is negative */
    unsigned month = previous_year ? moment->month + 9 : moment->month - 3;
    unsigned days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + moment->day - 1;
    int64_t days_since_1970 = (int64_t)days - 146097 - 719468;
    return days_since_1970 * SECONDS_A_DAY + moment->hour * 3600 + moment->minute * 60 + moment->second;
}

/* Adds the century to a year of two digits. A time that would be more than 50 years ahead is in the past. The
 * first century that is tried is not before the one of `latest`. */
static void add_century(struct moment *moment, int64_t now)
{
    if (now < 0) now = 0;
    if (now > LAST_SECOND) now = LAST_SECOND;
    int64_t latest = now + INT64_C(50) * SECONDS_A_YEAR;
    moment->year += 2000 + (unsigned)(latest / SECONDS_A_YEAR) / 100 * 100;
    while (seconds_of(moment) > latest) moment->year -= 100;
}

bool bb__http_date_parse(struct bb_slice text, int64_t now, int64_t *seconds)
{
    struct moment moment;
    if (text.len < 4) return false;
    if (text.at[3] == ',') {
        if (!read_fixdate(text, &moment)) return false;
    } else if (text.at[3] == ' ') {
        if (!read_asctime(text, &moment)) return false;
    } else {
        if (!read_rfc850(text, &moment)) return false;
        add_century(&moment, now);
    }
    if (!exists(&moment)) return false;
    *seconds = seconds_of(&moment);
    return true;
}
