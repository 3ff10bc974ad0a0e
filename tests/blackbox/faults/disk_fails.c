/* Makes the store's writes and flushes fail while a file exists. For a test: preloaded in front of the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What fails now: the flag file's content names the calls, "fsync" or "pwrite" or both; "slow" keeps each
 * waiting. None where there is no file. */
static int fails(int fd, const char *call)
{
    const char *flag = getenv("DISK_FAILS");
    char link[64], path[4096], calls[64];
    ssize_t length;
    FILE *file;
    size_t count;

    if (!flag)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = 0;
    if (!strstr(path, "/store.db"))
        return 0;
    file = fopen(flag, "r");
    if (!file)
        return 0;
    count = fread(calls, 1, sizeof calls - 1, file);
    fclose(file);
    calls[count] = 0;
    if (strstr(calls, "slow"))
        usleep(800000);
    return strstr(calls, call) != NULL;
}

int fsync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (fails(fd, "fsync")) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int fdatasync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    if (fails(fd, "fsync")) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    if (fails(fd, "pwrite")) {
        errno = EIO;
        return -1;
    }
    return real(fd, bytes, count, place);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place)
{
    return pwrite64(fd, bytes, count, place);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (fails(fd, "pwrite")) {
        errno = EIO;
        return -1;
    }
    return real(fd, bytes, count);
}
