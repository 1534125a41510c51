/* http_date.h: reads an HTTP-date (RFC 9110 5.6.7). Used by precondition.c. base/clock.h writes dates. */
#ifndef BB_HTTP_DATE_H
#define BB_HTTP_DATE_H

#include "bontebok.h"

/* Reads one of the three forms: IMF-fixdate, RFC 850 and asctime. Letter case counts. The day's name must be
 * a name of a day. It need not be the name of this day, because it adds nothing. now: seconds since 1970. It
 * decides about the century of RFC 850, whose year has two digits. Returns false if the text is no date, or
 * if there is no such day or time. Else *seconds is the time in seconds since 1970, negative before 1970. A
 * leap second, 23:59:60, is the first second of the next day. */
bool bb__http_date_parse(struct bb_slice text, int64_t now, int64_t *seconds);

#endif
