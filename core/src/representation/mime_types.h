/* mime_types.h: the media type of a file, by the extension of its name. Used for responses that the core
 * makes itself. Does not look into files. */
#ifndef BB_MIME_TYPES_H
#define BB_MIME_TYPES_H

#include <stddef.h>

/* extension: without the dot, in any letter case. Returns the value of Content-Type, static and
 * NUL-terminated. A text has "; charset=utf-8". NULL: the extension is unknown. */
const char *bb__mime_type(const char *extension, size_t len);

#endif
