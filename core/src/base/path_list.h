/* path_list.h: finds a path in a setting that has paths with spaces between them. Used by conn. */
#ifndef BB_PATH_LIST_H
#define BB_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* list: NUL-terminated. below: an entry that ends with "/" also stands for all paths that begin with the
 * entry. */
static inline bool bb__path_is_listed(const char *list, const char *path, size_t path_len, bool below)
{
    while (*list) {
        size_t len = strcspn(list, " ");
        bool is_directory = below && len > 0 && list[len - 1] == '/';
        bool has_length = is_directory ? path_len >= len : path_len == len;
        if (has_length && memcmp(list, path, len) == 0) return true;
        list += len;
        list += strspn(list, " ");
    }
    return false;
}

#endif
