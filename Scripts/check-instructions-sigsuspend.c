// sigsuspend with a copy of the mask. Valgrind (seen with 3.19) writes to the mask that a program gives to the
// system call, and ends with signal 11 if that memory can't be written. libdispatch's mask is such a constant.

#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
