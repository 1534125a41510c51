/* public_case.h: a host that serves the directory of public_dir.h to one client. For tests that move a clock.
 */
#ifndef BB_TEST_PUBLIC_CASE_H
#define BB_TEST_PUBLIC_CASE_H

#include "files/public_dir.h"
#include "support/client.h"

static struct host *host;
static struct client *client;

/* Makes the directory with the files a and d/a. */
static inline void make_public_files(void)
{
    make_public_dir();
    make_public_subdir("d");
    write_public("a", "a");
    write_public("d/a", "d/a");
    make_old(public_path("d"), OLD_TIME);
}

static inline void serve_public(void)
{
    host = host_new_default(AF_UNIX);
    host_enter_public(host, public_dir, "");
    client = client_new(host);
}

static inline int end_public(void **state)
{
    (void)state;
    client_free(client);
    host_leave_public(host);
    remove_public_dir();
    return 0;
}

#endif
