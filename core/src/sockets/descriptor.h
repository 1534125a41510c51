/* descriptor.h: calls on descriptors of any kind. Used by this directory, by system/, and by files above that
 * replace a descriptor. */
#ifndef BB_DESCRIPTOR_H
#define BB_DESCRIPTOR_H

#include <stdbool.h>

/* Makes the descriptor non-blocking and close-on-exec. False with errno: it is not open. */
bool bb__descriptor_prepare(int fd);

/* As bb__descriptor_prepare(). If this fails, closes the descriptor. Returns fd, or -1. */
int bb__descriptor_prepare_or_close(int fd);

/* Makes `fd` a close-on-exec copy of `source`, and closes what `fd` was. False with errno: `fd` has not
 * changed. */
bool bb__descriptor_replace(int fd, int source);

/* If a lower number, which is also below `limit`, is free, moves the descriptor to the lowest one. Returns
 * its number, which is fd if it was not moved. It becomes close-on-exec. */
int bb__descriptor_move_down(int fd, int limit);

#endif
