#ifndef SIGNET_STREAMS_H
#define SIGNET_STREAMS_H

// System calls that Swift cannot express: waits that another thread can end, writes without SIGPIPE
// to a peer that has gone, and starting a child from structures that live for one call.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

// The result of a function below if `signet_stream_wake` ended it. Negative errno values are
// errors.
#define SIGNET_STREAM_WOKEN (-100000)

// Creates a descriptor for signet_stream_wake. Returns it, or minus the error.
SIGNET_MUST_CHECK int signet_stream_waker(void);

// Ends the calls below that were given this descriptor, current and future.
void signet_stream_wake(int waker);

// Waits for bytes. Returns their count, 0 at the end, or as above.
SIGNET_MUST_CHECK ssize_t signet_stream_read(int file, int waker, void *buffer, size_t count);

// Writes all bytes. Returns 0, or as above.
SIGNET_MUST_CHECK int signet_stream_write(
    int file, int waker, const void *bytes, size_t count);

// Connects to a Unix domain socket, within some seconds. Returns its descriptor, or minus the
// error.
SIGNET_MUST_CHECK int signet_stream_connect(const char *path);

// Connects to a port of this machine, by IPv4 or else IPv6. Otherwise as above.
SIGNET_MUST_CHECK int signet_stream_connect_loopback(uint16_t port);

// Starts a program, found by PATH. `arguments` is its argv: the program's name, its arguments, and
// NULL. It reads from `*input` and writes to `*output`; it shares standard error and inherits no
// other descriptor. Its signal handlers and mask are the default ones. Returns 0, or minus the
// error.
SIGNET_MUST_CHECK int signet_stream_spawn(
    char *const arguments[], int *input, int *output, pid_t *child);

// Waits for a child's end without reaping it, so its PID isn't reused.
void signet_stream_await_end(pid_t child);

#endif
