#ifndef SIGNET_EDITOR_H
#define SIGNET_EDITOR_H

// Runs the user's editor on a scratch folder and wipes the folder. Written in C because a signal that
// ends the process can arrive on any thread: it must wake the thread that waits for the editor, and
// must not end the process before the folder is wiped.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

#include "process.h"

// Signals

static volatile sig_atomic_t csignet_edit_ending = 0;  // the signal that will end the process
static volatile sig_atomic_t csignet_edit_typed = 0;   // Ctrl-C or Ctrl-\, which the editor received too
static int csignet_edit_wake[2] = {-1, -1};
static const int csignet_edit_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum { CSIGNET_EDIT_SIGNALS = sizeof(csignet_edit_signals) / sizeof(csignet_edit_signals[0]) };

// The earlier action of each signal. A function, because Swift doesn't import a plain static variable.
static inline struct sigaction *csignet_edit_before(int index) {
    static struct sigaction before[CSIGNET_EDIT_SIGNALS];
    return &before[index];
}

static void csignet_edit_caught(int number, siginfo_t *info, void *context) {
    int saved = errno;
    (void)context;
    int by_terminal = info != NULL && info->si_code > 0;  // SI_KERNEL; for kill and raise it is at most 0
    if ((number == SIGINT || number == SIGQUIT) && by_terminal)
        csignet_edit_typed = number;
    else if (number != SIGCHLD)
        csignet_edit_ending = number;
    ssize_t written = write(csignet_edit_wake[1], "", 1);
    (void)written;
    errno = saved;
}

// Until `csignet_edit_end`, remembers the signals that would end the process.
static inline SIGNET_MUST_CHECK int csignet_edit_start(void) {
    struct sigaction ours;
    if (pipe2(csignet_edit_wake, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
    csignet_edit_ending = 0;
    csignet_edit_typed = 0;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = csignet_edit_caught;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    for (int index = 0; index < CSIGNET_EDIT_SIGNALS; ++index) {
        int number = csignet_edit_signals[index];
        sigaction(number, NULL, csignet_edit_before(index));
        // Signals that the process ignores, such as SIGHUP under nohup, stay ignored.
        if (number == SIGCHLD || csignet_edit_before(index)->sa_handler != SIG_IGN)
            sigaction(number, &ours, NULL);
    }
    return 1;
}

// Restores the signals. One that was remembered takes effect now.
static inline void csignet_edit_end(void) {
    for (int index = 0; index < CSIGNET_EDIT_SIGNALS; ++index)
        sigaction(csignet_edit_signals[index], csignet_edit_before(index), NULL);
    close(csignet_edit_wake[0]);
    close(csignet_edit_wake[1]);
    if (csignet_edit_ending != 0) raise(csignet_edit_ending);
}

// Running

// Runs `/bin/sh -c script sh path` on this process's terminal. If standard output isn't a terminal, the
// editor's output goes to standard error, to keep it out of ours. Returns 0 or an error number.
static inline SIGNET_MUST_CHECK int csignet_spawn_editor(
    const char *script, const char *path, pid_t *child) {
    char *const arguments[] = {
        (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    sigset_t fresh;
    sigemptyset(&fresh);
    sigaddset(&fresh, SIGPIPE);
    for (int index = 0; index < CSIGNET_EDIT_SIGNALS; ++index)
        if (csignet_edit_before(index)->sa_handler != SIG_IGN)
            sigaddset(&fresh, csignet_edit_signals[index]);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    if (isatty(STDOUT_FILENO) == 0)
        error = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    return csignet_spawn(arguments, &actions, &fresh, child);
}

// Waits for the editor. A signal that will end this process ends the editor too, within half a second.
// Returns its exit status, 128 plus the number of the signal that ended it, or -1 if it is unknown.
static inline SIGNET_MUST_CHECK int csignet_wait_for_editor(pid_t child) {
    int status = 0, left = 10;
    for (;;) {
        pid_t waited = waitpid(child, &status, WNOHANG);
        if (waited == child) break;
        if (waited < 0 && errno != EINTR) return -1;
        if (csignet_edit_ending != 0) {
            if (left == 10) kill(child, SIGTERM);
            if (left-- == 0) kill(child, SIGKILL);
        }
        struct pollfd woken = {csignet_edit_wake[0], POLLIN, 0};
        (void)poll(&woken, 1, csignet_edit_ending != 0 ? 50 : -1);
        unsigned char drained[16];
        while (read(csignet_edit_wake[0], drained, sizeof drained) > 0) {}
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!WIFSIGNALED(status)) return -1;
    // Ctrl-C ended an editor that doesn't handle it, so it ends this process too.
    if (WTERMSIG(status) == csignet_edit_typed) csignet_edit_ending = csignet_edit_typed;
    return 128 + WTERMSIG(status);
}

// Returns whether a remembered signal will end the process.
static inline int csignet_edit_is_ending(void) { return csignet_edit_ending != 0; }

// Wiping

// Returns whether an open folder is only in memory (tmpfs or ramfs).
static inline int csignet_is_in_memory(int folder) {
#if defined(__linux__)
    struct statfs system;
    if (fstatfs(folder, &system) != 0) return 0;
    return (unsigned long)system.f_type == 0x01021994UL
        || (unsigned long)system.f_type == 0x858458f6UL;
#else
    (void)folder;
    return 0;
#endif
}

static inline void csignet_wipe_file(int folder, const char *name, off_t size) {
    static const unsigned char zeros[4096] = {0};
    (void)fchmodat(folder, name, 0600, 0);
    int file = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    while (size > 0) {
        size_t count = size < (off_t)sizeof zeros ? (size_t)size : sizeof zeros;
        ssize_t written = write(file, zeros, count);
        if (written <= 0 && errno != EINTR) break;
        if (written > 0) size -= written;
    }
    (void)fsync(file);
    close(file);
}

// Overwrites and removes everything in an open folder, up to `depth` folders deep. Doesn't follow
// links.
static inline void csignet_wipe_folder(int folder, int depth) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (entries == NULL) {
        if (again >= 0) close(again);
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        struct stat found;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(found.st_mode)) {
            int inner = depth > 0 ? openat(
                                        folder, name,
                                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                  : -1;
            if (inner >= 0) {
                csignet_wipe_folder(inner, depth - 1);
                close(inner);
            }
            (void)unlinkat(folder, name, AT_REMOVEDIR);
            continue;
        }
        if (S_ISREG(found.st_mode)) csignet_wipe_file(folder, name, found.st_size);
        (void)unlinkat(folder, name, 0);
    }
    closedir(entries);
}

// Wipes a folder and removes it by its name. Makes three passes, because the editor may still be
// writing. Returns 1 if the folder no longer exists.
static inline SIGNET_MUST_CHECK int csignet_remove_folder(
    int parent, const char *name, int folder) {
    for (int pass = 0; pass < 3; ++pass) {
        csignet_wipe_folder(folder, 32);
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 1;
    }
    return 0;
}

#endif
