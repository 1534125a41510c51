/* public_room.h: a host that serves large files of `public`, while the process may open only a few
 * descriptors. The clock stands still until the test moves it. */
#ifndef BB_TEST_PUBLIC_ROOM_H
#define BB_TEST_PUBLIC_ROOM_H

#include "files/public_letters.h"
#include "support/few_descriptors.h"

#define LARGE      (BB_FILE_SMALL + 1)
#define MORE       31 /* descriptors that the process may open */
#define FILES      20
#define MANY_FILES 300

static struct host *host;

static inline struct bb__file_cache *cache(void)
{
    return host->worker->files;
}

static inline void write_large(int number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "%d", number);
    write_public_at(name, NULL, LARGE, OLD_TIME);
}

static inline void serve(const struct bb_settings *settings)
{
    host = host_new(settings, AF_UNIX);
    host_enter_public(host, public_dir, "");
}

static inline int begin_with(int files)
{
    struct bb_settings settings = host_settings();
    make_public_dir();
    for (int i = 0; i < files; i++) write_large(i);
    write_public_at("large", NULL, VERY_LARGE, OLD_TIME);
    write_public_at("two", NULL, LARGE, OLD_TIME);
    write_public_at("two.gz", NULL, 2 * LARGE, OLD_TIME);
    make_public_subdir("d");
    write_public("d/a", "d/a");
    limit_descriptors(MORE);
    serve(&settings);
    return 0;
}

static inline int begin(void **state)
{
    (void)state;
    return begin_with(FILES);
}

static inline int end(void **state)
{
    (void)state;
    host_leave_public(host);
    unlimit_descriptors();
    remove_public_dir();
    return 0;
}

static inline void get_large(struct client *client, int number)
{
    char request[64];
    (void)snprintf(request, sizeof request, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", number);
    client_say(client, request);
    assert_letters(client, LARGE);
}

/* The cache has as many descriptors as it may have. */
static inline void fill_cache(void)
{
    struct client *client = client_new(host);
    for (int i = 2; i < FILES; i++) get_large(client, i);
    client_free(client);
    host_settle_to(host, 0);
    assert_int_equal(cache()->descriptors, cache()->descriptors_max);
}

/* Opens descriptors until the next one has at least this number. */
static inline int occupy_until(int number, int fds[64])
{
    int count = 0;
    while ((fds[count] = dup(0)) >= 0 && fds[count] < number) count++;
    if (fds[count] >= 0) close(fds[count]);
    return count;
}

static inline void leave(int count, const int fds[64])
{
    while (count > 0) close(fds[--count]);
}

#endif
