#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Runs the user's editor on a scratch folder and wipes that folder. In C because a signal that ends
// the process must wake the thread that waits for the editor, whichever thread receives the signal,
// and must not end the process before the folder is wiped.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

// Signals

static volatile sig_atomic_t ending = 0;  // the signal that will end the process
static volatile sig_atomic_t typed = 0;   // Ctrl-C or Ctrl-\, which the editor got too
static int wake[2] = {-1, -1};
static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

// The previous action of each signal.
static struct sigaction previous[SIGNAL_COUNT];

static void caught(int number, siginfo_t *info, void *context) {
    int saved = errno;
    (void)context;
    int by_terminal = info != NULL && info->si_code > 0;  // not by kill or raise
    if ((number == SIGINT || number == SIGQUIT) && by_terminal)
        typed = number;
    else if (number != SIGCHLD)
        ending = number;
    ssize_t written = write(wake[1], "", 1);
    (void)written;
    errno = saved;
}

int signet_editor_catch_signals(void) {
    struct sigaction ours;
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
    ending = 0;
    typed = 0;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = caught;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    for (int index = 0; index < SIGNAL_COUNT; ++index) {
        int number = signals[index];
        sigaction(number, NULL, &previous[index]);
        // A signal that the process ignores, such as SIGHUP under nohup, stays ignored.
        if (number == SIGCHLD || previous[index].sa_handler != SIG_IGN)
            sigaction(number, &ours, NULL);
    }
    return 1;
}

void signet_editor_release_signals(void) {
    for (int index = 0; index < SIGNAL_COUNT; ++index)
        sigaction(signals[index], &previous[index], NULL);
    close(wake[0]);
    close(wake[1]);
    if (ending != 0) raise(ending);
}

// Running

int signet_editor_spawn(const char *script, const char *path, pid_t *child) {
    char *const arguments[] = {
        (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", (char *)path, NULL};
    sigset_t fresh;
    sigemptyset(&fresh);
    sigaddset(&fresh, SIGPIPE);
    for (int index = 0; index < SIGNAL_COUNT; ++index)
        if (previous[index].sa_handler != SIG_IGN)
            sigaddset(&fresh, signals[index]);
    int output = isatty(STDOUT_FILENO) == 0 ? STDERR_FILENO : -1;
    return signet_spawn(arguments, 1, output, &fresh, child);
}

int signet_editor_wait(pid_t child) {
    int status = 0;
    int left = 10;  // waits of 50 ms between SIGTERM and SIGKILL
    for (;;) {
        pid_t waited = waitpid(child, &status, WNOHANG);
        if (waited == child) break;
        if (waited < 0 && errno != EINTR) return -1;
        if (ending != 0) {
            if (left == 10) kill(child, SIGTERM);
            if (left-- == 0) kill(child, SIGKILL);
        }
        struct pollfd woken = {wake[0], POLLIN, 0};
        (void)poll(&woken, 1, ending != 0 ? 50 : -1);
        unsigned char drained[16];
        while (read(wake[0], drained, sizeof drained) > 0) {}
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!WIFSIGNALED(status)) return -1;
    // The user pressed Ctrl-C and the editor ended by it, so this program ends too.
    if (WTERMSIG(status) == typed) ending = typed;
    return 128 + WTERMSIG(status);
}

int signet_editor_is_ending(void) { return ending != 0; }

// Wiping

int signet_is_in_memory(int folder) {
    struct statfs system;
    if (fstatfs(folder, &system) != 0) return 0;
    return (unsigned long)system.f_type == 0x01021994UL      // TMPFS_MAGIC
        || (unsigned long)system.f_type == 0x858458f6UL;     // RAMFS_MAGIC
}

static void wipe_file(int folder, const char *name, off_t size) {
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

// Overwrites and removes everything in an open folder; links are removed and not followed.
static void wipe_folder(int folder, int depth) {
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
        if (S_ISREG(found.st_mode)) wipe_file(folder, name, found.st_size);
        if (S_ISDIR(found.st_mode) && depth > 0) {
            int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0) {
                wipe_folder(inner, depth - 1);
                close(inner);
            }
        }
        (void)unlinkat(folder, name, S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
    }
    closedir(entries);
}

int signet_remove_folder(int parent, const char *name, int folder) {
    for (int pass = 0; pass < 3; ++pass) {
        wipe_folder(folder, 32);
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 1;
    }
    return 0;
}
