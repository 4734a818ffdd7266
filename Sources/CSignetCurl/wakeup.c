// The two sockets by which curl_multi_wakeup wakes curl_multi_poll. Signet uses neither function,
// but libcurl 7.88.1 creates the sockets without the close-on-exec flag, so that every child
// process would inherit them. libcurl doesn't report their numbers, so they are found by sending
// bytes through them.
//
// A child that another thread starts between curl_multi_init and the end of this function still
// inherits them.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system.h"

enum { TOKEN_SIZE = 16, CANDIDATE_LIMIT = 64 };

static int option(int descriptor, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

static bool is_candidate(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC) && option(descriptor, SO_DOMAIN) == AF_UNIX
        && option(descriptor, SO_TYPE) == SOCK_STREAM;
}

static bool is_empty(int descriptor) {
    uint8_t byte;
    ssize_t count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static size_t find_candidates(int *found) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(folder)) && count < CANDIDATE_LIMIT) {
        if (entry->d_name[0] == '.') continue;
        int descriptor = atoi(entry->d_name);
        if (is_candidate(descriptor) && is_empty(descriptor)) found[count++] = descriptor;
    }
    closedir(folder);
    return count;
}

// Whether a socket has exactly these unread bytes. They stay unread.
static bool holds(int descriptor, const uint8_t *bytes, size_t count) {
    uint8_t held[TOKEN_SIZE + 1];
    ssize_t size = recv(descriptor, held, count + 1, MSG_PEEK | MSG_DONTWAIT);
    return size == (ssize_t)count && memcmp(held, bytes, count) == 0;
}

// Returns the candidate other than `except` that has these unread bytes, after reading them; or -1.
static int find_reader(
    const int *candidates, size_t candidate_count, int except, const uint8_t *bytes, size_t count) {
    uint8_t taken[TOKEN_SIZE];
    for (size_t i = 0; i < candidate_count; i++) {
        int candidate = candidates[i];
        if (candidate == except || !holds(candidate, bytes, count)) continue;
        return recv(candidate, taken, count, MSG_DONTWAIT) == (ssize_t)count ? candidate : -1;
    }
    return -1;
}

void signet_close_wakeups_on_exec(CURLM *multi) {
    int candidates[CANDIDATE_LIMIT];
    size_t count = find_candidates(candidates);
    if (count == 0 || curl_multi_wakeup(multi) != CURLM_OK) return;
    // libcurl's wake-up is the byte 1. Bytes that are written back arrive at the other socket.
    int reading = find_reader(candidates, count, -1, (const uint8_t[]){1}, 1);
    uint8_t token[TOKEN_SIZE];
    if (reading < 0 || getrandom(token, sizeof token, 0) != sizeof token) return;
    fcntl(reading, F_SETFD, FD_CLOEXEC);
    if (send(reading, token, sizeof token, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof token) return;
    int writing = find_reader(candidates, count, reading, token, sizeof token);
    if (writing >= 0) fcntl(writing, F_SETFD, FD_CLOEXEC);
}
