#define _GNU_SOURCE
#include "CSignetStreams.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int signet_stream_waker(void) {
    int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return waker < 0 ? -errno : waker;
}

void signet_stream_wake(int waker) {
    eventfd_t one = 1;
    (void)eventfd_write(waker, one);
}

// Waits until `file` is ready for `events`. Returns 0, SIGNET_STREAM_WOKEN or a negative error.
static int await_ready(int file, int waker, short events) {
    struct pollfd files[2] = {
        {.fd = file, .events = events, .revents = 0},
        {.fd = waker, .events = POLLIN, .revents = 0},
    };
    for (;;) {
        int ready = poll(files, 2, -1);
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return -errno;
        if (files[1].revents != 0) return SIGNET_STREAM_WOKEN;
        if (files[0].revents & POLLNVAL) return -EBADF;
        if (files[0].revents != 0) return 0;
    }
}

ssize_t signet_stream_read(int file, int waker, void *buffer, size_t count) {
    for (;;) {
        int status = await_ready(file, waker, POLLIN);
        if (status != 0) return status;
        ssize_t found = read(file, buffer, count);
        if (found >= 0) return found;
        if (errno != EINTR && errno != EAGAIN) return -errno;
    }
}

// Writes some bytes without waiting. A pipe that poll reports as ready accepts at least PIPE_BUF.
static ssize_t write_some(int file, const unsigned char *bytes, size_t count) {
    ssize_t sent = send(file, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) return sent;
    return write(file, bytes, count < PIPE_BUF ? count : PIPE_BUF);
}

int signet_stream_write(int file, int waker, const void *bytes, size_t count) {
    // SIGPIPE is sent to this thread: block it, and discard it if this write raised it.
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    int was_pending = sigismember(&pending, SIGPIPE);
    if (pthread_sigmask(SIG_BLOCK, &broken, &before) != 0) return -EINVAL;

    const unsigned char *rest = bytes;
    int status = 0;
    while (count > 0 && status == 0) {
        status = await_ready(file, waker, POLLOUT);
        if (status != 0) break;
        ssize_t written = write_some(file, rest, count);
        if (written >= 0) {
            rest += written;
            count -= (size_t)written;
        } else if (errno != EINTR && errno != EAGAIN) {
            status = -errno;
        }
    }
    if (status == -EPIPE && !was_pending) {
        struct timespec now = {0, 0};
        while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

// Connects a new socket, with a timeout of five seconds: without it, a server that accepts no
// connections would block for minutes.
static int connected(int family, const struct sockaddr *address, socklen_t size) {
    int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return -errno;
    struct timeval some = {5, 0}, for_ever = {0, 0};
    int status = setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &some, sizeof some);
    while (status == 0 && connect(file, address, size) != 0) {
        // After EINTR, wait for the connection again.
        if (errno != EINTR) status = -1;
    }
    if (status == 0) status = setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &for_ever, sizeof for_ever);
    if (status != 0) {
        int error = errno == EAGAIN || errno == EINPROGRESS ? ETIMEDOUT : errno;
        close(file);
        return -error;
    }
    return file;
}

int signet_stream_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    return connected(AF_UNIX, (struct sockaddr *)&address, sizeof address);
}

int signet_stream_connect_loopback(uint16_t port) {
    struct sockaddr_in four = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int file = connected(AF_INET, (struct sockaddr *)&four, sizeof four);
    if (file == -ECONNREFUSED) {
        struct sockaddr_in6 six = {
            .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
        file = connected(AF_INET6, (struct sockaddr *)&six, sizeof six);
        // If IPv6 isn't available, no server listens there.
        if (file < 0) file = -ECONNREFUSED;
    }
    int now = 1;
    // Send small messages at once. If that cannot be set, they still arrive.
    if (file >= 0) (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
    return file;
}

// Closes all other descriptors in the child, even those opened without O_CLOEXEC. If the C library
// cannot do so (glibc before 2.34, musl), only those with O_CLOEXEC are closed.
static int close_others(posix_spawn_file_actions_t *actions) {
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
#endif
    (void)actions;
    return 0;
}

// Starts the child with its two descriptors. Returns 0 or the error.
static int start(char *const arguments[], int input, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (error == 0) error = close_others(&actions);
        if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
        if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0)
            error = posix_spawnattr_setflags(
                &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Moves a descriptor above the standard ones: dup2 onto itself would leave O_CLOEXEC set.
static int raised(int file) {
    if (file < 0 || file > STDERR_FILENO) return file;
    int higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(file);
    return higher;
}

int signet_stream_spawn(char *const arguments[], int *input, int *output, pid_t *child) {
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    int error = pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 ? errno : 0;
    for (int end = 0; end < 2; end++) {
        to[end] = raised(to[end]);
        from[end] = raised(from[end]);
        if (error == 0 && (to[end] < 0 || from[end] < 0)) error = EMFILE;
    }
    if (error == 0) error = start(arguments, to[0], from[1], child);
    if (to[0] >= 0) close(to[0]);
    if (from[1] >= 0) close(from[1]);
    if (error != 0) {
        if (to[1] >= 0) close(to[1]);
        if (from[0] >= 0) close(from[0]);
        return -error;
    }
    *input = to[1];
    *output = from[0];
    return 0;
}

void signet_stream_await_end(pid_t child) {
    siginfo_t ended;
    while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
}
