#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// The socket that a request is about to leave over, which libcurl doesn't tell.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "loop.h"

static int socket_index = -1;

bool signet_route_start(void) {
    if (socket_index < 0) socket_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return socket_index >= 0;
}

// A socket's name: a hash (FNV-1a) of the two addresses and the local port, which are what libcurl tells a
// CURLOPT_PREREQFUNCTION. Never 0. CURLINFO_ACTIVESOCKET gives nothing for a pooled or shared connection.
static uint64_t add_to_name(uint64_t name, const char *text) {
    for (; *text; text++) name = (name ^ (uint8_t)*text) * 0x100000001b3;
    return (name ^ '/') * 0x100000001b3;
}

static uint64_t name_of(const char *remote, const char *local, int local_port) {
    uint64_t name = add_to_name(add_to_name(0xcbf29ce484222325, remote), local);
    name = (name ^ (uint64_t)(unsigned)local_port) * 0x100000001b3;
    return name ? name : 1;
}

// An address as text, and its port, or -1.
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

// The name of a connected socket, or 0.
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
    // The SSL object keeps the socket plus 2: 0 means unknown, and 1 not found.
    intptr_t known = route->ssl ? (intptr_t)SSL_get_ex_data(route->ssl, socket_index) : 0;
    if (known) return (curl_socket_t)(known - 2);
    // Of two connections with one name the one that was opened for this transfer is meant.
    curl_socket_t found = -1;
    if (route->opened >= 0) found = signet_route_next_socket(loop, route, route->opened - 1);
    if (found < 0) found = signet_route_next_socket(loop, route, -1);
    if (route->ssl) SSL_set_ex_data(route->ssl, socket_index, (void *)((intptr_t)found + 2));
    return found;
}
