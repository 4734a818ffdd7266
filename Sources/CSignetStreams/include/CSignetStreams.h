#ifndef CSIGNET_STREAMS_H
#define CSIGNET_STREAMS_H

// System calls that Swift cannot express: waits that another thread can end, writes without SIGPIPE to a
// peer that has gone, and starting a child from structures that live for one call.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CSIGNET_MUST_CHECK __attribute__((warn_unused_result))

// The result of a function below if `csignet_stream_wake` ended it. Negative errno values are errors.
#define CSIGNET_STREAM_WOKEN (-100000)

// Returns a descriptor that ends waits when it is woken, or a negative error.
CSIGNET_MUST_CHECK int csignet_stream_waker(void);

// Ends the waits on this descriptor, current and future.
void csignet_stream_wake(int waker);

// Waits for bytes. Returns their number, 0 at the end, CSIGNET_STREAM_WOKEN or a negative error.
CSIGNET_MUST_CHECK ssize_t csignet_stream_read(int file, int waker, void *buffer, size_t count);

// Writes all bytes. Returns 0, CSIGNET_STREAM_WOKEN or a negative error.
CSIGNET_MUST_CHECK int csignet_stream_write(
    int file, int waker, const void *bytes, size_t count);

// Connects to a Unix domain socket, within five seconds. Returns its descriptor or a negative error.
CSIGNET_MUST_CHECK int csignet_stream_connect(const char *path);

// Connects to a TCP port of this machine, by IPv4 or else IPv6, within five seconds. Returns the same.
CSIGNET_MUST_CHECK int csignet_stream_connect_loopback(uint16_t port);

// Starts a program, found in PATH; `arguments` begins with its name and ends with NULL. Write to `*input`
// and read from `*output`. The program shares this process's standard error and no other descriptor, and
// starts with default signal handling. Returns 0 or a negative error.
CSIGNET_MUST_CHECK int csignet_stream_spawn(
    char *const arguments[], int *input, int *output, pid_t *child);

// Waits for a child's end without reaping it, so its PID isn't reused.
void csignet_stream_await_end(pid_t child);

// Reaps a child. Returns its exit status, 128 plus the signal if one ended it, or -1 if it is unknown.
CSIGNET_MUST_CHECK int csignet_stream_wait(pid_t child);

#endif
