// The sockets of a loop: their events for epoll, TCP_CORK, and the check for a lack of descriptors.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket.h"

static uint8_t useful_events(const signet_flow *flow, uint8_t wanted) {
    if (flow->is_stopped) wanted &= (uint8_t)~EPOLLIN;
    if (flow->stuck_until) wanted &= (uint8_t)~EPOLLOUT;
    return wanted;
}

void signet_loop_update_epoll(signet_loop *loop, curl_socket_t socket) {
    uint8_t registered = loop->sockets[socket].registered;
    uint8_t wanted = useful_events(&loop->sockets[socket].flow, loop->sockets[socket].wanted);
    if (wanted == registered) return;
    struct epoll_event event = {.events = wanted, .data = {.fd = socket}};
    int call = !wanted ? EPOLL_CTL_DEL : registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(loop->epoll, call, socket, &event) != 0) {
        if (errno == EEXIST) epoll_ctl(loop->epoll, EPOLL_CTL_MOD, socket, &event);
        if (errno == ENOENT && wanted) epoll_ctl(loop->epoll, EPOLL_CTL_ADD, socket, &event);
    }
    loop->sockets[socket].registered = wanted;
}

bool signet_loop_make_room(signet_loop *loop, curl_socket_t socket) {
    if ((size_t)socket < loop->socket_count) return true;
    size_t count = (size_t)socket * 2 + 64;
    void *grown = realloc(loop->sockets, count * sizeof *loop->sockets);
    if (!grown) return false;
    loop->sockets = grown;
    memset(
        loop->sockets + loop->socket_count, 0,
        (count - loop->socket_count) * sizeof *loop->sockets);
    loop->socket_count = count;
    return true;
}

void signet_loop_note_socket(signet_loop *loop, curl_socket_t socket, bool is_connection) {
    if (socket < 0 || !signet_loop_make_room(loop, socket)) return;
    loop->sockets[socket].registered = loop->sockets[socket].wanted = 0;
    loop->sockets[socket].name = 0;
    loop->sockets[socket].is_connection = is_connection;
    loop->sockets[socket].carries = NULL;
}

static void hold_back(curl_socket_t socket, int on) {
#if defined(TCP_CORK)
    setsockopt(socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
#else
    (void)socket, (void)on;
#endif
}

void signet_loop_cork(signet_loop *loop, curl_socket_t socket) {
    if (!loop->may_cork || loop->corked >= 0 || socket < 0) return;
    loop->corked = socket;
    hold_back(socket, 1);
}

void signet_loop_uncork(signet_loop *loop) {
    if (loop->corked >= 0) hold_back(loop->corked, 0);
    loop->corked = -1;
}

bool signet_loop_lacks_descriptors(const signet_loop *loop) {
    int copy = fcntl(loop->wake, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0) close(copy);
    return copy < 0;
}
