/* A driver that dies: its thread stops for ever once the file that DEAD_DRIVER names exists. For a test: preloaded in front of
 * the C library. Rust's standard library waits by syscall(2), so that is where a thread that is about to wait can be held. Only a
 * wait holds it: a wake can come while the driver has the engine's lock, and a thread that dies with a lock is another fault. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void begin(void)
{
    real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

static int is_driver(void)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    return !strcmp(name, "reveille-driver");
}

static int is_wait(long operation)
{
    long command = operation & FUTEX_CMD_MASK;

    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

long syscall(long number, ...)
{
    const char *order = getenv("DEAD_DRIVER");
    long args[6];
    va_list given;
    int place;

    va_start(given, number);
    for (place = 0; place < 6; place++)
        args[place] = va_arg(given, long);
    va_end(given);
    while (number == SYS_futex && is_wait(args[1]) && order && is_driver() && !access(order, F_OK))
        pause();
    return real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
