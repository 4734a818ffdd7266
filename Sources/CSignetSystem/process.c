#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Child processes, the program that replaces this one, pipes that no child inherits, and settings
// that keep this process's memory out of core files.

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

// Present only if AddressSanitizer, whose leak check traces the process, is linked in.
extern void __asan_init(void) __attribute__((weak));

// The state that `signet_execute` restores, from before the first call of the functions that change
// it.
static struct rlimit core_limit;
static int core_limit_is_known;
static struct sigaction pipe_action;
static int pipe_action_is_known;

int signet_disable_core_dumps(void) {
    struct rlimit limit = {0, 0};
    int status = getrlimit(RLIMIT_CORE, &limit) == 0;
    if (status && !core_limit_is_known) {
        core_limit = limit;
        core_limit_is_known = 1;
    }
    // The hard limit stays, because a process can't raise it again for the program that it becomes.
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_CORE, &limit) != 0) status = 0;
    if (__asan_init != NULL) return status;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) status = 0;
    // The signals that Swift's runtime catches for its report.
    static const int crashes[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        struct sigaction action;
        if (sigaction(crashes[i], NULL, &action) != 0) status = 0;
        else if (action.sa_handler != SIG_IGN && signal(crashes[i], SIG_DFL) == SIG_ERR) status = 0;
    }
    return status;
}

int signet_ignore_broken_pipes(void) {
    struct sigaction ignored = {0};
    struct sigaction before;
    ignored.sa_handler = SIG_IGN;
    if (sigaction(SIGPIPE, &ignored, &before) != 0) return 0;
    if (!pipe_action_is_known) {
        pipe_action = before;
        pipe_action_is_known = 1;
    }
    return 1;
}

char *const *signet_environment(void) { return environ; }

// Returns whether an entry `NAME=value` has the name of one of these names or entries.
static int has_name(const char *entry, const char *const names[]) {
    size_t length = strcspn(entry, "=");
    for (; *names != NULL; names++)
        if (strcspn(*names, "=") == length && memcmp(*names, entry, length) == 0) return 1;
    return 0;
}

int signet_execute(
    char *const arguments[], const char *const added[], const char *const removed[]) {
    size_t count = 1;
    for (char **entry = environ; *entry != NULL; entry++) count++;
    for (const char *const *entry = added; *entry != NULL; entry++) count++;
    char **environment = calloc(count, sizeof *environment);
    if (environment == NULL) return ENOMEM;
    char **end = environment;
    for (char **entry = environ; *entry != NULL; entry++)
        if (!has_name(*entry, added) && !has_name(*entry, removed)) *end++ = *entry;
    for (const char *const *entry = added; *entry != NULL; entry++) *end++ = (char *)*entry;
    if (core_limit_is_known) (void)setrlimit(RLIMIT_CORE, &core_limit);
    if (pipe_action_is_known) (void)sigaction(SIGPIPE, &pipe_action, NULL);
    (void)execvpe(arguments[0], arguments, environment);
    int error = errno;
    free(environment);
    (void)signet_ignore_broken_pipes();
    (void)signet_disable_core_dumps();
    return error;
}

int signet_sealed_file(const void *bytes, size_t count) {
    int file = memfd_create("signet-value", MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    const char *next = bytes;
    int error = fchmod(file, 0600) != 0 ? errno : 0;
    while (!error && count > 0) {
        ssize_t written = write(file, next, count);
        if (written > 0) {
            next += written;
            count -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            error = written == 0 ? EIO : errno;
        }
    }
    int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (!error && (lseek(file, 0, SEEK_SET) != 0 || fcntl(file, F_ADD_SEALS, seals) != 0))
        error = errno;
    if (!error) return file;
    close(file);
    errno = error;
    return -1;
}

int signet_open_beneath(int folder, const char *path) {
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int signet_pipe(int *reading, int *writing) {
    int ends[2] = {-1, -1};
    int status = pipe2(ends, O_CLOEXEC);
    *reading = ends[0];
    *writing = ends[1];
    return status == 0;
}

int signet_rename_new(int folder, const char *from, const char *to) {
    return syscall(SYS_renameat2, folder, from, folder, to, 1U /* RENAME_NOREPLACE */) == 0;
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
    char *const arguments[], int has_input, int output, const sigset_t *fresh, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    if (!has_input)
        error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0 && output >= 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0) error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(&attributes, fresh);
        if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0)
            error = posix_spawnattr_setflags(
                &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int signet_spawn_shell(const char *line, int output, pid_t *child) {
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)line, NULL};
    sigset_t fresh;
    sigemptyset(&fresh);
    sigaddset(&fresh, SIGPIPE);
    sigaddset(&fresh, SIGINT);
    sigaddset(&fresh, SIGTERM);
    return signet_spawn(arguments, 0, output, &fresh, child);
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
