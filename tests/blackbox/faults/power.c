/* Writes down what a process asks of the disk below one directory, in order: what the disk would still know after a loss of
 * power follows from that. For a test: preloaded in front of the C library.
 *
 * POWER_ROOT   the directory; shared memory (`-shm`) in it is none of the disk's
 * POWER_LOG    where it is written down; the process begins it
 * POWER_LIES   flushes of files whose name ends so are answered, and not made
 * POWER_SLOW   while there is such a file, a flush takes a minute
 * POWER_CUT_AT the process ends by SIGKILL after so many entries
 *
 * An entry of a write is one write to the log, made before what it tells of, both under one lock: however the process ends,
 * at most the last entry tells of something that did not happen. Nothing is flushed really; a flush takes its time all the
 * same, and what was there when it began is on the disk when it ends. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FLUSH_US 1500

enum kind { WRITE = 1, SIZE, FLUSH, NAMES, FLUSH_NAMES, GONE, BEGUN };

/* An entry begins so; the path and the data follow it. `place` is an offset, a length, or where in the log a flush began. */
struct head {
    uint64_t kind, inode, place, path_length, data_length;
};

/* What a call is about. */
struct target {
    char path[PATH_MAX];
    uint64_t inode;
    int is_directory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static const char *lies, *slow;
static long cut_at;
static long entries;
static uint64_t written;
static int log_fd = -1;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

__attribute__((constructor)) static void begin(void)
{
    const char *directory = getenv("POWER_ROOT"), *path = getenv("POWER_LOG"), *at = getenv("POWER_CUT_AT");
    if (!directory || !path)
        return;
    snprintf(root, sizeof root, "%s", directory);
    lies = getenv("POWER_LIES");
    slow = getenv("POWER_SLOW");
    cut_at = at ? atol(at) : 0;
    log_fd = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0)
        abort();
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

/* The root and what is below; of its parent, where its own name is, only flushes count. */
static int is_ours(const char *path)
{
    size_t length = strlen(root);
    return !strncmp(path, root, length) && (!path[length] || path[length] == '/') && !ends_with(path, "-shm");
}

static int is_parent(const char *path)
{
    size_t length = strlen(path);
    return !strncmp(root, path, length) && root[length] == '/' && !strchr(root + length + 1, '/');
}

/* Whether a descriptor is one of a file or directory that is watched. */
static int find(int fd, struct target *target)
{
    char link[64];
    struct stat found;
    ssize_t length;

    if (log_fd < 0 || fd == log_fd || fstat(fd, &found))
        return 0;
    target->is_directory = S_ISDIR(found.st_mode);
    if (!target->is_directory && !S_ISREG(found.st_mode))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, target->path, sizeof target->path - 1);
    if (length <= 0 || !found.st_nlink)
        return 0;
    target->path[length] = 0;
    target->inode = found.st_ino;
    return is_ours(target->path) || (target->is_directory && is_parent(target->path));
}

/* Writes an entry, under the lock; says where it stands. */
static uint64_t enter(enum kind kind, const struct target *target, uint64_t place, const void *data, size_t length)
{
    struct head head = { kind, target->inode, place, strlen(target->path), length };
    struct iovec parts[3] = {
        { &head, sizeof head }, { (void *)target->path, head.path_length }, { (void *)data, length },
    };
    uint64_t at = written;
    size_t all = sizeof head + head.path_length + length;

    if (REAL(writev)(log_fd, parts, 3) != (ssize_t)all)
        abort();
    written += all;
    if (++entries == cut_at) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    return at;
}

/* The names in a directory: inode, kind and name, each ended by a zero. */
static char *names(const char *path, size_t *length)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    char *all = NULL;
    FILE *text = open_memstream(&all, length);

    if (!directory || !text)
        abort();
    while ((entry = readdir(directory))) {
        char of[PATH_MAX + 256];
        struct stat found;
        snprintf(of, sizeof of, "%s/%s", path, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || lstat(of, &found))
            continue;
        if (!is_ours(of))
            continue;
        fprintf(text, "%llu %c %s", (unsigned long long)found.st_ino,
                S_ISREG(found.st_mode) ? 'f' : S_ISDIR(found.st_mode) ? 'd' : 's', entry->d_name);
        fputc(0, text);
    }
    closedir(directory);
    fclose(text);
    return all;
}

/* What is flushed is what was there when it began. */
static int flush(int fd, int (*otherwise)(int))
{
    struct target target;
    uint64_t begun;

    if (!find(fd, &target))
        return otherwise(fd);
    pthread_mutex_lock(&lock);
    if (target.is_directory) {
        size_t length;
        char *all = names(target.path, &length);
        begun = enter(NAMES, &target, 0, all, length);
        free(all);
    } else {
        begun = enter(BEGUN, &target, 0, "", 0);
    }
    pthread_mutex_unlock(&lock);
    if (slow && !access(slow, F_OK))
        sleep(60);
    usleep(FLUSH_US);
    if (lies && ends_with(target.path, lies))
        return 0;
    pthread_mutex_lock(&lock);
    enter(target.is_directory ? FLUSH_NAMES : FLUSH, &target, begun, "", 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int fd)
{
    return flush(fd, REAL(fsync));
}

int fdatasync(int fd)
{
    return flush(fd, REAL(fdatasync));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place)
{
    struct target target;
    ssize_t done;

    if (!find(fd, &target))
        return REAL(pwrite64)(fd, bytes, count, place);
    pthread_mutex_lock(&lock);
    enter(WRITE, &target, (uint64_t)place, bytes, count);
    done = REAL(pwrite64)(fd, bytes, count, place);
    if (done != (ssize_t)count)
        abort();
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place)
{
    return pwrite64(fd, bytes, count, place);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    struct target target;
    ssize_t done;
    off_t place;

    if (!find(fd, &target))
        return REAL(write)(fd, bytes, count);
    pthread_mutex_lock(&lock);
    place = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
    enter(WRITE, &target, (uint64_t)place, bytes, count);
    done = REAL(write)(fd, bytes, count);
    if (done != (ssize_t)count)
        abort();
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate64(int fd, off64_t length)
{
    struct target target;
    int done;

    if (!find(fd, &target))
        return REAL(ftruncate64)(fd, length);
    pthread_mutex_lock(&lock);
    enter(SIZE, &target, (uint64_t)length, "", 0);
    done = REAL(ftruncate64)(fd, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

/* A file that is opened to be emptied. */
static int emptied(int fd, int flags)
{
    struct target target;

    if (fd >= 0 && flags & O_TRUNC && find(fd, &target)) {
        pthread_mutex_lock(&lock);
        enter(SIZE, &target, 0, "", 0);
        pthread_mutex_unlock(&lock);
    }
    return fd;
}

#define MODE(flags, last) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, last); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return emptied(REAL(open)(path, flags, mode), flags);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return emptied(REAL(open64)(path, flags, mode), flags);
}

int openat64(int at, const char *path, int flags, ...)
{
    MODE(flags, flags)
    return emptied(REAL(openat64)(at, path, flags, mode), flags);
}

/* A name is taken away: whatever gets its number next is another file. Under the lock. */
static int is_last_name(const char *path, struct target *target)
{
    char whole[PATH_MAX];
    struct stat found;

    if (log_fd < 0 || lstat(path, &found) || !S_ISREG(found.st_mode) || found.st_nlink != 1 || !realpath(path, whole))
        return 0;
    snprintf(target->path, sizeof target->path, "%s", whole);
    target->inode = found.st_ino;
    return is_ours(whole);
}

int unlink(const char *path)
{
    struct target target;
    int done, is_last;

    pthread_mutex_lock(&lock);
    is_last = is_last_name(path, &target);
    done = REAL(unlink)(path);
    if (!done && is_last)
        enter(GONE, &target, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int rename(const char *from, const char *to)
{
    struct target target;
    int done, is_last;

    pthread_mutex_lock(&lock);
    is_last = is_last_name(to, &target);
    done = REAL(rename)(from, to);
    if (!done && is_last)
        enter(GONE, &target, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}

/* What nobody writes down is not done: the test would believe too much. */
#define UNTOLD(fd) \
    do { \
        struct target target; \
        if (find(fd, &target)) { \
            fprintf(stderr, "power.c: %s of %s is not written down\n", __func__, target.path); \
            abort(); \
        } \
    } while (0)

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    UNTOLD(fd);
    return REAL(writev)(fd, parts, count);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t place)
{
    UNTOLD(fd);
    return REAL(pwritev64)(fd, parts, count, place);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t length, unsigned flags)
{
    UNTOLD(to);
    return REAL(copy_file_range)(from, at, to, place, length, flags);
}

int fallocate64(int fd, int mode, off64_t place, off64_t length)
{
    UNTOLD(fd);
    return REAL(fallocate64)(fd, mode, place, length);
}

int posix_fallocate64(int fd, off64_t place, off64_t length)
{
    UNTOLD(fd);
    return REAL(posix_fallocate64)(fd, place, length);
}
