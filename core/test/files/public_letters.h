/* public_letters.h: files of `public` that are letters, and their clients. The test includes
 * support/fake_clock.h. */
#ifndef BB_TEST_PUBLIC_LETTERS_H
#define BB_TEST_PUBLIC_LETTERS_H

#include "files/public_dir.h"
#include "support/client.h"
#include "support/fake_clock.h"

#define VERY_LARGE (8 << 20) /* the kernel buffers only a part of it */

/* The next response has the letters of a file of this length. */
static inline void assert_letters(struct client *client, size_t len)
{
    assert_true(client_read(client, true));
    assert_int_equal(client->status, 200);
    assert_int_equal(bb__buf_len(&client->body), len + 1);
    assert_int_equal(bb__buf_bytes(&client->body)[len - 1], 'a' + (len - 1) % 26);
}

static inline void turn_until_answered(struct host *host, struct client *client)
{
    while (!client_receive(client)) {
        host_turn_with_helper(host);
        fake_clock_advance(1);
    }
}

#endif
