/* clock.c: see clock.h. It does not use strftime(), whose output depends on the locale. */
#include "base/clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SECONDS_A_DAY 86400
#define LAST_SECOND   INT64_C(253402300799) /* the last second of the year 9999: Date has a four-digit year */

#ifdef BB_PORTABLE
#define CLOCK_OF_TICKS      CLOCK_MONOTONIC
#define REAL_CLOCK_OF_TICKS CLOCK_REALTIME
#else
#define CLOCK_OF_TICKS      CLOCK_MONOTONIC_COARSE
#define REAL_CLOCK_OF_TICKS CLOCK_REALTIME_COARSE
#endif

uint64_t bb__clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_OF_TICKS, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t bb__clock_us(void)
{
    return microseconds(CLOCK_MONOTONIC);
}

uint64_t bb__clock_real_us(void)
{
    return microseconds(CLOCK_REALTIME);
}

const char *bb__date_now(struct bb__date *date)
{
    struct timespec now;
    clock_gettime(REAL_CLOCK_OF_TICKS, &now);
    if (date->second != now.tv_sec || now.tv_sec == 0) {
        bb__date_render(now.tv_sec, date->text);
        date->second = now.tv_sec;
    }
    return date->text;
}

struct civil {
    unsigned year, month, day; /* month and day start at 1 */
};

/* Returns the proleptic Gregorian date. days: since 1970-01-01. In this function a year begins on March 1,
 * and March is month 0. The leap day is then the last day of the year, and (153 * month + 2) / 5 days precede
 * each month. */
static struct civil civil_date(unsigned days)
{
    days += 719468; /* from now on: days since 0000-03-01 */
    unsigned era = days / 146097;
    unsigned day_of_era = days % 146097;
    unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned month_from_march = (5 * day_of_year + 2) / 153;

    bool next_year = month_from_march >= 10;
    return (struct civil){
        .year = era * 400 + year_of_era + next_year,
        .month = next_year ? month_from_march - 9 : month_from_march + 3,
        .day = day_of_year - (153 * month_from_march + 2) / 5 + 1,
    };
}

static void put_two_digits(char *to, unsigned number)
{
    to[0] = (char)('0' + number / 10);
    to[1] = (char)('0' + number % 10);
}

void bb__date_render(int64_t unix_seconds, char text[BB_DATE_LEN])
{
    static const char day_names[7][3] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"}; /* day 0 first */
    static const char month_names[12][3] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (unix_seconds < 0) unix_seconds = 0;
    if (unix_seconds > LAST_SECOND) unix_seconds = LAST_SECOND;
    unsigned days = (unsigned)(unix_seconds / SECONDS_A_DAY);
    unsigned second = (unsigned)(unix_seconds % SECONDS_A_DAY);
    struct civil date = civil_date(days);

    memcpy(text, "???, ?? ??? ???? ??:??:?? GMT", BB_DATE_LEN);
    memcpy(text, day_names[days % 7], 3);
    put_two_digits(text + 5, date.day);
    memcpy(text + 8, month_names[date.month - 1], 3);
    put_two_digits(text + 12, date.year / 100);
    put_two_digits(text + 14, date.year % 100);
    put_two_digits(text + 17, second / 3600);
    put_two_digits(text + 20, second / 60 % 60);
    put_two_digits(text + 23, second % 60);
}
