/* A clock that is put ahead under a living process, waits included. For a test: preloaded in front of the C library.
 *
 * The file that TIME_LAPSE names holds, in nanoseconds: how far all clocks are ahead, that again, and how far the wall clock alone
 * is off. Rust's standard library waits by syscall(2), which libfaketime leaves alone: a process would sleep on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
/* How soon a wait notices that the clock was put ahead. */
#define LOOK 1000000LL

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static long (*real_syscall)(long, ...);
static const volatile int64_t *lapse;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("TIME_LAPSE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *found = file < 0 ? MAP_FAILED : mmap(NULL, 24, PROT_READ, MAP_SHARED, file, 0);

    if (file >= 0)
        close(file);
    if (found != MAP_FAILED)
        lapse = found;
}

/* Written first to last, read last to first: where both are equal, neither is half written. */
static int64_t ahead(void)
{
    int64_t first, second;

    if (!lapse)
        return 0;
    do {
        second = __atomic_load_n(&lapse[1], __ATOMIC_SEQ_CST);
        first = __atomic_load_n(&lapse[0], __ATOMIC_SEQ_CST);
    } while (first != second);
    return first;
}

static int64_t nanos(const struct timespec *time)
{
    return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec timespec_of(int64_t time)
{
    struct timespec found = {time / SECOND, time % SECOND};
    return found;
}

static int64_t real_now(clockid_t clock)
{
    struct timespec now;

    if (!real_clock_gettime)
        real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real_clock_gettime(clock, &now);
    return nanos(&now);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *now = timespec_of(real_now(clock) + ahead() + (lapse ? lapse[2] : 0));
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        *now = timespec_of(real_now(clock) + ahead());
        return 0;
    default:
        real_now(CLOCK_MONOTONIC);
        return real_clock_gettime(clock, now);
    }
}

/* A wait until an instant of the clock that is put ahead: in looks, because it may come at any time. */
static long wait_until(const long *given)
{
    clockid_t clock = given[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    int64_t until = nanos((const struct timespec *)given[3]);

    for (;;) {
        int64_t now = real_now(clock);
        int64_t left = until - now - ahead() - (clock == CLOCK_REALTIME && lapse ? lapse[2] : 0);
        struct timespec look = timespec_of(now + (left < LOOK ? left : LOOK));
        long woken;

        if (left <= 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        woken = real_syscall(SYS_futex, given[0], given[1], given[2], &look, given[4], given[5]);
        if (woken >= 0 || errno != ETIMEDOUT)
            return woken;
    }
}

long syscall(long number, ...)
{
    long given[6];
    va_list all;
    int place;

    va_start(all, number);
    for (place = 0; place < 6; place++)
        given[place] = va_arg(all, long);
    va_end(all);
    if (!real_syscall)
        real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_futex && given[3] && (given[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
        return wait_until(given);
    return real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
