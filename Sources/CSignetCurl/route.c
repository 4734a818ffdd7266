// Finds the socket of a request that is about to be sent, which libcurl doesn't report, and checks
// that a pooled connection can carry it.
//
// libcurl 7.88.1 regards a pooled connection as alive unless a FIN or an RST has arrived. It misses
// a close_notify, and over HTTP/1.1 it reads unsolicited bytes as the next response.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "route.h"
#include "system.h"

static int socket_index = -1;

bool signet_route_start(void) {
    if (socket_index < 0) socket_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return socket_index >= 0;
}

// Returns a socket's name, never 0: a hash of the two addresses and the local port, which libcurl
// passes to a CURLOPT_PREREQFUNCTION. CURLINFO_ACTIVESOCKET is unset for pooled and shared
// connections.
static uint64_t name_of(const char *remote, const char *local, int local_port) {
    uint64_t name = signet_hash_add(signet_hash_text(HASH_START, remote), '/');
    name = signet_hash_add(signet_hash_text(name, local), '/');
    name = signet_hash_add(name, (unsigned)local_port);
    return name ? name : 1;
}

// Writes an address as text. Returns its port, or -1.
static int describe(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN]) {
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;
        if (!inet_ntop(AF_INET, &ipv4->sin_addr, text, INET6_ADDRSTRLEN)) return -1;
        return ntohs(ipv4->sin_port);
    }
    if (address->ss_family != AF_INET6) return -1;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
    if (!inet_ntop(AF_INET6, &ipv6->sin6_addr, text, INET6_ADDRSTRLEN)) return -1;
    return ntohs(ipv6->sin6_port);
}

// Returns the name of a connected socket, or 0.
static uint64_t name_of_socket(signet_loop *loop, curl_socket_t socket) {
    uint64_t *name = &loop->sockets[socket].name;
    if (*name) return *name;
    struct sockaddr_storage remote = {0}, local = {0};
    socklen_t remote_size = sizeof remote, local_size = sizeof local;
    char remote_text[INET6_ADDRSTRLEN], local_text[INET6_ADDRSTRLEN];
    if (getpeername(socket, (struct sockaddr *)&remote, &remote_size) != 0
        || getsockname(socket, (struct sockaddr *)&local, &local_size) != 0)
        return 0;
    int port = describe(&local, local_text);
    if (port < 0 || describe(&remote, remote_text) < 0) return 0;
    return *name = name_of(remote_text, local_text, port);
}

curl_socket_t signet_route_next_socket(
    signet_loop *loop, const signet_route *route, curl_socket_t after) {
    uint64_t name = name_of(route->remote_address, route->local_address, route->local_port);
    for (size_t i = (size_t)(after + 1); i < loop->socket_count; i++)
        if (loop->sockets[i].is_connection && name_of_socket(loop, (curl_socket_t)i) == name)
            return (curl_socket_t)i;
    return -1;
}

curl_socket_t signet_route_socket(signet_loop *loop, const signet_route *route) {
    // The SSL object stores the socket plus 2: 0 means unknown, and 1 not found.
    intptr_t known = route->ssl ? (intptr_t)SSL_get_ex_data(route->ssl, socket_index) : 0;
    if (known) return (curl_socket_t)(known - 2);
    // If two connections have one name, the one that was opened for this transfer comes first.
    curl_socket_t found = -1;
    if (route->opened >= 0) found = signet_route_next_socket(loop, route, route->opened - 1);
    if (found < 0) found = signet_route_next_socket(loop, route, -1);
    if (route->ssl) SSL_set_ex_data(route->ssl, socket_index, (void *)((intptr_t)found + 2));
    return found;
}

// Whether a socket has unread bytes, an end or an error. A server that conforms to HTTP/1.1 sends
// nothing between two responses.
static bool has_news(curl_socket_t socket) {
    char byte;
    ssize_t count;
    do count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

static bool is_usable_over_tls(const signet_route *route, curl_socket_t socket) {
    // libcurl's own check of the connection may have read the close_notify already.
    if (SSL_get_shutdown(route->ssl) & SSL_RECEIVED_SHUTDOWN) return false;
    // An HTTP/2 server may send frames at any time, and libcurl has read them.
    if (route->is_http2) return true;
    return !SSL_has_pending(route->ssl) && socket >= 0 && !has_news(socket);
}

bool signet_route_is_usable(signet_loop *loop, const signet_route *route) {
    if (route->ssl) {
        curl_socket_t socket = signet_route_socket(loop, route);
        bool is_usable = is_usable_over_tls(route, socket);
        // So the other calls of an HTTP/2 connection notice at once that it has ended.
        if (!is_usable && socket >= 0) shutdown(socket, SHUT_RDWR);
        return is_usable;
    }
    curl_socket_t socket = signet_route_next_socket(loop, route, -1);
    bool is_usable = socket >= 0;
    // If several sockets have the route's name, none may have news.
    for (; socket >= 0 && is_usable; socket = signet_route_next_socket(loop, route, socket))
        is_usable = !has_news(socket);
    return is_usable;
}
