#ifndef SIGNET_PROMPT_H
#define SIGNET_PROMPT_H

// Asks for a secret on the terminal, without echo. Written in C because a signal can arrive on any
// thread, and the terminal's settings must be restored before it takes effect.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "process.h"

enum {
    CSIGNET_ASK_DONE = 0,
    CSIGNET_ASK_NO_TERMINAL = 1,
    CSIGNET_ASK_ENDED = 2,     // the user closed the input
    CSIGNET_ASK_TOO_LONG = 3,
    CSIGNET_ASK_FAILED = 4,    // with the reason in errno
    CSIGNET_ASK_SIGNALLED = 5, // by a signal that didn't end the process
};

static volatile sig_atomic_t csignet_ask_signal = 0;
static int csignet_ask_wake = -1;

static void csignet_ask_caught(int number) {
    int saved = errno;
    csignet_ask_signal = number;
    ssize_t written = write(csignet_ask_wake, "", 1);
    (void)written;
    errno = saved;
}

static const int csignet_ask_signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                          SIGTSTP, SIGTTIN, SIGTTOU};
enum { CSIGNET_ASK_SIGNALS = sizeof(csignet_ask_signals) / sizeof(csignet_ask_signals[0]) };

static inline int csignet_ask_set(int terminal, const struct termios *settings) {
    while (tcsetattr(terminal, TCSADRAIN, settings) != 0)
        if (errno != EINTR || csignet_ask_signal != 0) return 0;
    return 1;
}

// Reads a line. Stops if a signal was caught.
static inline int csignet_ask_read(
    int terminal, int woken, unsigned char *target, size_t capacity, size_t *count) {
    int status = CSIGNET_ASK_FAILED;
    *count = 0;
    while (csignet_ask_signal == 0) {
        struct pollfd files[2] = {{terminal, POLLIN, 0}, {woken, POLLIN, 0}};
        if (poll(files, 2, -1) < 0 && errno != EINTR) break;
        if (csignet_ask_signal != 0) break;
        if (files[0].revents == 0) continue;
        unsigned char byte = 0;
        ssize_t got = read(terminal, &byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0 && errno != EIO) break;
        if (got <= 0) { status = CSIGNET_ASK_ENDED; break; }
        if (byte == '\n' || byte == '\r') {
            status = *count > capacity ? CSIGNET_ASK_TOO_LONG : CSIGNET_ASK_DONE;
            break;
        }
        if (*count < capacity) target[*count] = byte;
        if (*count <= capacity) ++*count;
        OPENSSL_cleanse(&byte, 1);
    }
    return csignet_ask_signal != 0 ? CSIGNET_ASK_SIGNALLED : status;
}

// Prints the question on the controlling terminal and reads a line of at most `capacity` bytes without
// echo. Restores the terminal's settings before it returns, and before a signal ends or stops the
// process.
static inline SIGNET_MUST_CHECK int csignet_ask(
    const char *question, unsigned char *target, size_t capacity, size_t *count) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return CSIGNET_ASK_NO_TERMINAL;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        close(terminal);
        return CSIGNET_ASK_FAILED;
    }
    int status, caught, error;
    do {
        struct termios before, silent;
        struct sigaction old[CSIGNET_ASK_SIGNALS], ours;
        unsigned char drained[16];
        while (read(ends[0], drained, sizeof drained) > 0) {}
        status = CSIGNET_ASK_FAILED;
        csignet_ask_signal = 0;
        csignet_ask_wake = ends[1];
        if (tcgetattr(terminal, &before) != 0) {
            status = CSIGNET_ASK_NO_TERMINAL;
            break;
        }
        silent = before;
        silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
        silent.c_lflag |= ICANON | ISIG;
        memset(&ours, 0, sizeof ours);
        ours.sa_handler = csignet_ask_caught;  // without SA_RESTART
        sigemptyset(&ours.sa_mask);
        for (int index = 0; index < CSIGNET_ASK_SIGNALS; ++index) {
            sigaction(csignet_ask_signals[index], NULL, &old[index]);
            // Signals that the process ignores, such as SIGHUP under nohup, stay ignored.
            if (old[index].sa_handler != SIG_IGN)
                sigaction(csignet_ask_signals[index], &ours, NULL);
        }
        if (csignet_ask_set(terminal, &silent)) {
            size_t length = strlen(question);
            if (write(terminal, question, length) == (ssize_t)length)
                status = csignet_ask_read(terminal, ends[0], target, capacity, count);
        }
        error = errno;
        caught = csignet_ask_signal;
        // The user's newline was not echoed either.
        ssize_t written = write(terminal, "\n", 1);
        (void)written;
        csignet_ask_signal = 0;
        for (int tries = 0; tries < 100; ++tries)
            if (tcsetattr(terminal, TCSADRAIN, &before) == 0 || errno != EINTR) break;
        for (int index = 0; index < CSIGNET_ASK_SIGNALS; ++index)
            sigaction(csignet_ask_signals[index], &old[index], NULL);
        errno = error;
        if (caught == 0) break;
        OPENSSL_cleanse(target, capacity);
        status = CSIGNET_ASK_SIGNALLED;
        raise(caught);
        // Asks again after the process was stopped and continued. Any other signal ends the prompt.
    } while (caught == SIGTSTP || caught == SIGTTIN || caught == SIGTTOU);
    error = errno;
    close(ends[0]);
    close(ends[1]);
    close(terminal);
    errno = error;
    return status;
}

#endif
