#ifndef SIGNET_SYSTEM_H
#define SIGNET_SYSTEM_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

// The parts of files, processes, the terminal and the network that need C: structures that exist
// for one call, state that a signal handler reads, and functions of Linux that Swift doesn't
// import.
// Functions return 1 for success and 0 with the error in `errno` unless their comment says
// otherwise.

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

// --- Processes (process.c) -------------------------------------------------------------------

// Turns off core files, other processes' access to this one's memory, and the crash report of
// Swift's runtime. Under AddressSanitizer, whose leak check traces the process, only core files.
// The hard limit on core files stays as it is.
SIGNET_MUST_CHECK int signet_disable_core_dumps(void);

// Makes a write to a closed pipe fail with EPIPE instead of ending the process.
SIGNET_MUST_CHECK int signet_ignore_broken_pipes(void);

// Returns the entries `NAME=value` of the environment, which end with NULL, or NULL without one.
char *const *signet_environment(void);

// Runs another program in the place of this one, as `execvp` finds it. Restores the limit on core
// files and the action of SIGPIPE first. The environment is this process's own without the names in
// `removed`; the entries `NAME=value` in `added` are added or replace others. Both lists end with
// NULL. Returns only on failure: the error's number.
SIGNET_MUST_CHECK int signet_execute(
    char *const arguments[], const char *const added[], const char *const removed[]);

// Makes a sealed file in memory (memfd, mode 0600) with these bytes. The program that replaces this
// one inherits it. Returns its descriptor, or -1 with the error in `errno`.
SIGNET_MUST_CHECK int signet_sealed_file(const void *bytes, size_t count);

// Opens a path below a folder without following a link on the way or leaving the folder (openat2),
// only to examine it (O_PATH). Returns a descriptor, or -1 with the error in `errno`: ELOOP for a
// link, EXDEV for a path that leads out, ENOSYS for a kernel before Linux 5.6.
SIGNET_MUST_CHECK int signet_open_beneath(int folder, const char *path);

// Makes a pipe that no child inherits.
SIGNET_MUST_CHECK int signet_pipe(int *reading, int *writing);

// Renames within a folder. If the new name exists, fails with EEXIST. Fails with an error such as
// EINVAL or ENOSYS if the kernel or the file system doesn't support this.
SIGNET_MUST_CHECK int signet_rename_new(int folder, const char *from, const char *to);

// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT for this thread until `signet_restore_signals`.
SIGNET_MUST_CHECK int signet_block_signals(sigset_t *before);
// Restores the thread's signal mask. A signal that arrived in the meantime takes effect.
void signet_restore_signals(const sigset_t *before);

// Runs `/bin/sh -c line` with an empty standard input and with its output going to `output`.
// Returns 0 or the error's number.
SIGNET_MUST_CHECK int signet_spawn_shell(const char *line, int output, pid_t *child);

// Waits for a child. Returns its exit status, 128 plus the number of the signal that ended it, or
// -1 if it is unknown.
SIGNET_MUST_CHECK int signet_wait(pid_t child);

// --- The terminal (prompt.c) -----------------------------------------------------------------

enum {
    SIGNET_ASK_DONE = 0,
    SIGNET_ASK_NO_TERMINAL = 1,
    SIGNET_ASK_ENDED = 2,      // the user closed the input
    SIGNET_ASK_TOO_LONG = 3,
    SIGNET_ASK_FAILED = 4,     // see errno
    SIGNET_ASK_SIGNALLED = 5,  // by a signal that did not end the process
};

// Asks on the controlling terminal and reads a line of at most `capacity` bytes without echo. The
// terminal's settings are restored when this returns, and before a signal ends or stops the
// process.
SIGNET_MUST_CHECK int signet_ask(
    const char *question, unsigned char *target, size_t capacity, size_t *count);

// --- The user's editor (editor.c) ------------------------------------------------------------

// Makes the process remember a signal that would end it, until `signet_editor_release_signals`.
SIGNET_MUST_CHECK int signet_editor_catch_signals(void);
// Restores the signals' actions. A signal that was remembered takes effect.
void signet_editor_release_signals(void);
// Returns whether a signal was remembered.
int signet_editor_is_ending(void);

// Runs `/bin/sh -c script sh path` in the working directory. If standard output is not a terminal,
// the editor's output goes to standard error. Returns 0 or the error's number.
SIGNET_MUST_CHECK int signet_editor_spawn(const char *script, const char *path, pid_t *child);

// Waits for the editor. A signal that ends this process ends the editor too, after at most half a
// second. Returns as `signet_wait` does.
SIGNET_MUST_CHECK int signet_editor_wait(pid_t child);

// Returns whether an open folder exists only in memory (tmpfs or ramfs).
int signet_is_in_memory(int folder);

// Overwrites everything in a folder and removes it by its name; links are not followed. Makes three
// passes, in case an editor still writes. Returns 1 if the folder is gone.
SIGNET_MUST_CHECK int signet_remove_folder(int parent, const char *name, int folder);

// --- The network (netlink.c) -----------------------------------------------------------------

// Opens a socket that hears of changed links, addresses and routes (rtnetlink(7)). Returns its
// descriptor, or -1 with the error in `errno`.
SIGNET_MUST_CHECK int signet_netlink_open(void);

// Asks for all entries of a kind: RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE. The responses have the
// number.
SIGNET_MUST_CHECK int signet_netlink_ask(int socket, int kind, unsigned number);

// Waits for the kernel's next datagram. Returns its size, 0 if `wake` was written to, or -1 with
// the error in `errno`: ENOBUFS if messages were lost.
SIGNET_MUST_CHECK ssize_t
signet_netlink_receive(int socket, int wake, void *buffer, size_t capacity);

// Makes a descriptor that ends the wait of `signet_netlink_receive`. Returns -1 on failure.
SIGNET_MUST_CHECK int signet_wake_open(void);
SIGNET_MUST_CHECK int signet_wake(int wake);
// Waits until `wake` is written to. Returns 0 after a time without that, or after a signal.
SIGNET_MUST_CHECK int signet_wake_wait(int wake, int milliseconds);

// Runs a function on a thread that no signal reaches.
SIGNET_MUST_CHECK int signet_run_thread(
    const char *name, void *(*body)(void *), void *context);

#endif
