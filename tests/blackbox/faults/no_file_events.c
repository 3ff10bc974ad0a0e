/* A system without room for file events. For a test: preloaded in front of the C library. NO_FILE_EVENTS says which
 * limit is zero: that of readers ("instances"), or that of directories ("watches"). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int is_zero(const char *limit)
{
    const char *zero = getenv("NO_FILE_EVENTS");
    return zero && strcmp(zero, limit) == 0;
}

int inotify_init1(int flags)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "inotify_init1");
    if (!is_zero("instances"))
        return real(flags);
    errno = EMFILE;
    return -1;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    int (*real)(int, const char *, uint32_t);
    real = (int (*)(int, const char *, uint32_t))dlsym(RTLD_NEXT, "inotify_add_watch");
    if (!is_zero("watches"))
        return real(fd, path, mask);
    errno = ENOSPC;
    return -1;
}
