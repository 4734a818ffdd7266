// Functions of the thread that watches whether libcurl is stuck.
#include <sys/socket.h>
#include <time.h>

#include "socket.h"

void signet_loop_enter(signet_loop *loop, curl_socket_t socket) {
    pthread_mutex_lock(&loop->lock);
    loop->busy_since = signet_monotonic_milliseconds();
    loop->busy_on = socket;
    pthread_mutex_unlock(&loop->lock);
}

void signet_loop_leave(signet_loop *loop) {
    pthread_mutex_lock(&loop->lock);
    loop->busy_since = 0;
    loop->busy_on = -1;
    pthread_mutex_unlock(&loop->lock);
}

bool signet_loop_watch(signet_loop *loop, int64_t limit) {
    pthread_mutex_lock(&loop->lock);
    bool stuck =
        loop->busy_since > 0 && signet_monotonic_milliseconds() - loop->busy_since > limit;
    if (stuck && loop->shut_since != loop->busy_since) {
        // If libcurl was called for a timer, it is stuck in the handshake of the newest socket.
        curl_socket_t socket = loop->busy_on >= 0 ? loop->busy_on : loop->last_opened;
        if (socket >= 0) shutdown(socket, SHUT_RDWR);
        loop->shut_since = loop->busy_since;
    } else if (stuck) {
        // Shutting down that socket didn't help. libcurl also handles the expired timers of others.
        for (size_t i = 0; i < loop->socket_count; i++)
            if (loop->sockets[i].is_connection) shutdown((int)i, SHUT_RDWR);
    }
    pthread_mutex_unlock(&loop->lock);
    return stuck;
}

int64_t signet_loop_busy_milliseconds(signet_loop *loop) {
    pthread_mutex_lock(&loop->lock);
    int64_t since = loop->busy_since;
    pthread_mutex_unlock(&loop->lock);
    return since > 0 ? signet_monotonic_milliseconds() - since : 0;
}

void signet_loop_set_gate(signet_loop *loop, bool open) {
    pthread_mutex_lock(&loop->lock);
    loop->gate_open = open;
    if (open) pthread_cond_broadcast(&loop->gate);
    pthread_mutex_unlock(&loop->lock);
}

void signet_loop_wait_at_gate(signet_loop *loop, int milliseconds) {
    pthread_mutex_lock(&loop->lock);
    while (!loop->gate_open) pthread_cond_wait(&loop->gate, &loop->lock);
    pthread_mutex_unlock(&loop->lock);
    struct timespec pause = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    nanosleep(&pause, NULL);
}
