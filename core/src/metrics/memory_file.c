/* memory_file.c: see memory_file.h. */
#include "metrics/memory_file.h"
#include "bontebok.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#ifdef BB_PORTABLE

int bb__memory_file_open(const char *name)
{
    (void)name;
    errno = ENOSYS;
    return -1;
}

int bb__memory_file(const char *name, size_t size, const void *start, size_t len)
{
    (void)name, (void)size, (void)start, (void)len;
    errno = ENOSYS;
    return BB_ESYSTEM;
}

int bb__memory_file_read(int fd, void *start, size_t len, uint64_t *size)
{
    (void)fd, (void)start, (void)len, (void)size;
    errno = ENOSYS;
    return BB_ESYSTEM;
}

#else

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file cannot be executed, and can be sealed. A system can require the flag (sysctl vm.memfd_noexec);
 * Linux before 6.3 rejects it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int bb__memory_file_open(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Returns false with EFBIG if the file would be too long. Otherwise SIGXFSZ could end the process. */
static bool is_allowed(size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0) return false;
    errno = EFBIG;
    return limit.rlim_cur >= size;
}

static bool fill(int fd, size_t size, const void *start, size_t len)
{
    return is_allowed(size) && fchmod(fd, S_IRUSR | S_IWUSR) == 0 && ftruncate(fd, (off_t)size) == 0 &&
           write(fd, start, len) == (ssize_t)len &&
           fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

int bb__memory_file(const char *name, size_t size, const void *start, size_t len)
{
    int fd = bb__memory_file_open(name);
    if (fd < 0) return BB_ESYSTEM;
    if (fill(fd, size, start, len)) return fd;
    int reason = errno;
    (void)close(fd);
    errno = reason;
    return BB_ESYSTEM;
}

/* Returns whether no process can make the file shorter. */
static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK;
}

int bb__memory_file_read(int fd, void *start, size_t len, uint64_t *size)
{
    struct stat file;
    bool sealed = is_sealed(fd); /* before its size is read */
    ssize_t count = pread(fd, start, len, 0);
    if (count < 0 || fstat(fd, &file) < 0) return BB_ESYSTEM;
    *size = (uint64_t)file.st_size;
    return sealed && count == (ssize_t)len ? BB_OK : BB_ELAYOUT;
}

#endif

void *bb__memory_map(int fd, size_t size, bool *writable)
{
    int mode = fd < 0 ? O_RDWR : fcntl(fd, F_GETFL);
    if (mode < 0) return NULL;
    *writable = (mode & O_ACCMODE) != O_RDONLY;
    int access = *writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *memory = mmap(NULL, size, access, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
