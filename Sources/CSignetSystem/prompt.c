#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Asks the user for a secret on the terminal, without echo. In C because it installs a signal
// handler, which may run on any thread.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "CSignetSystem.h"

static volatile sig_atomic_t caught_signal = 0;
static int wake = -1;

static void catch_signal(int number) {
    int saved = errno;
    caught_signal = number;
    ssize_t written = write(wake, "", 1);
    (void)written;
    errno = saved;
}

static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                          SIGTSTP, SIGTTIN, SIGTTOU};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

static int set_terminal(int terminal, const struct termios *settings) {
    while (tcsetattr(terminal, TCSADRAIN, settings) != 0)
        if (errno != EINTR || caught_signal != 0) return 0;
    return 1;
}

// Reads a line. Stops at once when a signal was caught.
static int read_line(
    int terminal, int woken, unsigned char *target, size_t capacity, size_t *count) {
    int status = SIGNET_ASK_FAILED;
    *count = 0;
    while (caught_signal == 0) {
        struct pollfd files[2] = {{terminal, POLLIN, 0}, {woken, POLLIN, 0}};
        if (poll(files, 2, -1) < 0 && errno != EINTR) break;
        if (caught_signal != 0) break;
        if (files[0].revents == 0) continue;
        unsigned char byte = 0;
        ssize_t got = read(terminal, &byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0 && errno != EIO) break;
        if (got <= 0) { status = SIGNET_ASK_ENDED; break; }
        if (byte == '\n' || byte == '\r') {
            status = *count > capacity ? SIGNET_ASK_TOO_LONG : SIGNET_ASK_DONE;
            break;
        }
        if (*count < capacity) target[*count] = byte;
        if (*count <= capacity) ++*count;
        explicit_bzero(&byte, 1);
    }
    return caught_signal != 0 ? SIGNET_ASK_SIGNALLED : status;
}

int signet_ask(const char *question, unsigned char *target, size_t capacity, size_t *count) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return SIGNET_ASK_NO_TERMINAL;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        close(terminal);
        return SIGNET_ASK_FAILED;
    }
    int status, caught, error;
    do {
        struct termios before, silent;
        struct sigaction old[SIGNAL_COUNT], ours;
        unsigned char drained[16];
        while (read(ends[0], drained, sizeof drained) > 0) {}
        status = SIGNET_ASK_FAILED;
        caught_signal = 0;
        wake = ends[1];
        if (tcgetattr(terminal, &before) != 0) {
            status = SIGNET_ASK_NO_TERMINAL;
            break;
        }
        silent = before;
        silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
        silent.c_lflag |= ICANON | ISIG;
        memset(&ours, 0, sizeof ours);
        ours.sa_handler = catch_signal;  // without SA_RESTART
        sigemptyset(&ours.sa_mask);
        for (int index = 0; index < SIGNAL_COUNT; ++index) {
            sigaction(signals[index], NULL, &old[index]);
            // A signal that the process ignores, such as SIGHUP under nohup, stays ignored.
            if (old[index].sa_handler != SIG_IGN)
                sigaction(signals[index], &ours, NULL);
        }
        if (set_terminal(terminal, &silent)) {
            size_t length = strlen(question);
            if (write(terminal, question, length) == (ssize_t)length)
                status = read_line(terminal, ends[0], target, capacity, count);
        }
        error = errno;
        caught = caught_signal;
        // The newline that the user typed was not shown either.
        ssize_t written = write(terminal, "\n", 1);
        (void)written;
        caught_signal = 0;
        for (int tries = 0; tries < 100; ++tries)
            if (tcsetattr(terminal, TCSADRAIN, &before) == 0 || errno != EINTR) break;
        for (int index = 0; index < SIGNAL_COUNT; ++index)
            sigaction(signals[index], &old[index], NULL);
        errno = error;
        if (caught == 0) break;
        explicit_bzero(target, capacity);
        status = SIGNET_ASK_SIGNALLED;
        raise(caught);
        // After SIGCONT, ask again. After any other signal that the process survives, return.
    } while (caught == SIGTSTP || caught == SIGTTIN || caught == SIGTTOU);
    error = errno;
    close(ends[0]);
    close(ends[1]);
    close(terminal);
    errno = error;
    return status;
}
