// The system's clocks, threads and error texts, and growing buffers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "system.h"

int64_t signet_monotonic_milliseconds(void) { return signet_now_microseconds() / 1000; }

int64_t signet_now_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// A datagram socket's connect asks the kernel for a route and sends nothing.
static bool has_route_to(const struct sockaddr *address, socklen_t count) {
    int probe = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    bool has_route = connect(probe, address, count) == 0;
    close(probe);
    return has_route;
}

bool signet_has_route(void) {
    // Addresses for documentation (RFC 5737 and RFC 3849), which only a default route leads to.
    struct sockaddr_in fourth = {.sin_family = AF_INET, .sin_port = htons(443)};
    struct sockaddr_in6 sixth = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
    if (inet_pton(AF_INET, "203.0.113.1", &fourth.sin_addr) != 1
        || inet_pton(AF_INET6, "2001:db8::1", &sixth.sin6_addr) != 1)
        return true;
    return has_route_to((const struct sockaddr *)&fourth, sizeof fourth)
        || has_route_to((const struct sockaddr *)&sixth, sizeof sixth);
}

const char *signet_error_text(int number) {
    const char *text = strerrordesc_np(number);
    return text ? text : "unknown error";
}

bool signet_thread_start(const char *name, void *(*body)(void *), void *context) {
    // The program's own threads handle its signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return false;
    pthread_setname_np(thread, name);
    pthread_detach(thread);
    return true;
}

bool signet_append(signet_buffer *buffer, const void *bytes, size_t count) {
    if (count == 0) return true;
    if (count > SIZE_MAX / 4 - buffer->count) return false;
    if (buffer->count + count > buffer->room) {
        size_t wanted = buffer->room ? buffer->room : 512;
        while (wanted < buffer->count + count) wanted *= 2;
        uint8_t *grown = realloc(buffer->bytes, wanted);
        if (!grown) return false;
        buffer->bytes = grown;
        buffer->room = wanted;
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
    return true;
}
