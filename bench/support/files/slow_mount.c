/* slow_mount DIRECTORY HOLD MS MOUNTPOINT: shows the files of DIRECTORY at MOUNTPOINT, in user space (FUSE).
 * Each look-up of a name waits while there is a file HOLD, at most MS milliseconds; so does each read of a
 * file while there is a file HOLD.read. It runs until it is killed. */
#define FUSE_USE_VERSION 31
#include <fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *root, *hold;
static long limit;

static void wait_for(const char *suffix)
{
    const struct timespec ms = {0, 1000000};
    char name[4096];
    snprintf(name, sizeof name, "%s%s", hold, suffix);
    for (long waited = 0; waited < limit && access(name, F_OK) == 0; waited++) nanosleep(&ms, NULL);
}

static const char *below_root(char *buffer, size_t size, const char *path)
{
    snprintf(buffer, size, "%s%s", root, path);
    return buffer;
}

static int slow_getattr(const char *path, struct stat *status, struct fuse_file_info *file)
{
    char name[4096];
    (void)file;
    if (path[1]) wait_for("");
    return lstat(below_root(name, sizeof name, path), status) == 0 ? 0 : -errno;
}

static int slow_readdir(const char *path, void *names, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    char name[4096];
    DIR *directory = opendir(below_root(name, sizeof name, path));
    (void)offset, (void)file, (void)flags;
    if (!directory) return -errno;
    for (struct dirent *entry; (entry = readdir(directory));) fill(names, entry->d_name, NULL, 0, 0);
    closedir(directory);
    return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
    char name[4096];
    int fd = open(below_root(name, sizeof name, path), O_RDONLY);
    if (fd < 0) return -errno;
    file->fh = (uint64_t)fd;
    return 0;
}

static int slow_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file)
{
    (void)path;
    wait_for(".read");
    ssize_t count = pread((int)file->fh, bytes, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
    (void)path;
    return close((int)file->fh) == 0 ? 0 : -errno;
}

/* The kernel remembers no look-up. */
static void *start(struct fuse_conn_info *connection, struct fuse_config *config)
{
    (void)connection;
    config->entry_timeout = config->negative_timeout = 0;
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 5) return 2;
    root = arguments[1];
    hold = arguments[2];
    limit = strtol(arguments[3], NULL, 10);
    char *fuse[] = {arguments[0], "-f", "-oallow_other,max_idle_threads=10", arguments[4], NULL};
    const struct fuse_operations operations = {.getattr = slow_getattr,
                                               .readdir = slow_readdir,
                                               .open = slow_open,
                                               .read = slow_read,
                                               .release = slow_release,
                                               .init = start};
    return fuse_main(4, fuse, &operations, NULL);
}
