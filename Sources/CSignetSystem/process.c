#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Child processes, pipes that no child inherits, and memory that no crash writes down.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "process.h"

#if defined(__linux__)
// Present only where AddressSanitizer, whose leak check traces the process, is linked in.
extern void __asan_init(void) __attribute__((weak));
#endif

int signet_disable_core_dumps(void) {
    struct rlimit none = {0, 0};
    int status = setrlimit(RLIMIT_CORE, &none) == 0;
#if defined(__linux__)
    if (__asan_init != NULL) return status;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) status = 0;
    // The signals that Swift's runtime takes for its report.
    static const int crashes[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        struct sigaction action;
        if (sigaction(crashes[i], NULL, &action) != 0) status = 0;
        else if (action.sa_handler != SIG_IGN && signal(crashes[i], SIG_DFL) == SIG_ERR) status = 0;
    }
#endif
    return status;
}

int signet_pipe(int *reading, int *writing) {
    int ends[2] = {-1, -1};
    int status = pipe2(ends, O_CLOEXEC);
    *reading = ends[0];
    *writing = ends[1];
    return status == 0;
}

int signet_rename_new(int folder, const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
    return syscall(SYS_renameat2, folder, from, folder, to, 1U /* RENAME_NOREPLACE */) == 0;
#else
    (void)folder, (void)from, (void)to;
    errno = ENOSYS;
    return 0;
#endif
}

int signet_block_signals(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGQUIT);
    return pthread_sigmask(SIG_BLOCK, &held, before) == 0;
}

void signet_restore_signals(const sigset_t *before) {
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

int signet_spawn(
    char *const arguments[], posix_spawn_file_actions_t *actions, const sigset_t *fresh,
    pid_t *child) {
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(&attributes, fresh);
        if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0)
            error = posix_spawnattr_setflags(
                &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawn(child, "/bin/sh", actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(actions);
    return error;
}

int signet_spawn_shell(const char *line, int output, pid_t *child) {
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)line, NULL};
    posix_spawn_file_actions_t actions;
    sigset_t fresh;
    sigemptyset(&fresh);
    sigaddset(&fresh, SIGPIPE);
    sigaddset(&fresh, SIGINT);
    sigaddset(&fresh, SIGTERM);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    return signet_spawn(arguments, &actions, &fresh, child);
}

int signet_wait(pid_t child) {
    int status = 0;
    pid_t waited;
    do {
        waited = waitpid(child, &status, 0);
    } while (waited < 0 && errno == EINTR);
    if (waited != child) return -1;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : -1;
}
