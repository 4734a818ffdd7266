#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <netinet/in.h>
#include <sys/socket.h>

#include "loop.h"

// The connection that a transfer's request goes over, and its traffic.

static int port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) return ntohs(((struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)address)->sin6_port);
    return -1;
}

bool signet_socket_has_ports(curl_socket_t socket, int local_port, int remote_port) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &size) != 0) return false;
    if (port_of(&address) != local_port) return false;
    size = sizeof address;
    return getpeername(socket, (struct sockaddr *)&address, &size) == 0
        && port_of(&address) == remote_port;
}

// libcurl doesn't tell the socket of a request that begins.
static curl_socket_t find_socket(signet_loop *loop, int local_port, int remote_port) {
    for (size_t i = 0; i < loop->socket_count; i++) {
        if (!loop->sockets[i].is_connection) continue;
        // A connection's port stays: it is asked for once.
        if (!loop->sockets[i].port) {
            struct sockaddr_storage address = {0};
            socklen_t size = sizeof address;
            if (getsockname((int)i, (struct sockaddr *)&address, &size) != 0) continue;
            loop->sockets[i].port = port_of(&address);
        }
        if (loop->sockets[i].port == local_port
            && signet_socket_has_ports((curl_socket_t)i, local_port, remote_port))
            return (curl_socket_t)i;
    }
    return -1;
}

void signet_connection_leave(signet_transfer *transfer) {
    signet_traffic *traffic = transfer->traffic;
    if (traffic && transfer->is_stream) {
        traffic->streams -= 1;
        if (!transfer->is_done || transfer->code != CURLE_OK) traffic->abandoned += 1;
    }
    signet_loop *loop = transfer->loop;
    if (transfer->socket > 0 && (size_t)transfer->socket < loop->socket_count
        && loop->sockets[transfer->socket].carries == transfer)
        loop->sockets[transfer->socket].carries = NULL;
    signet_handshake_release(transfer->connection);
    transfer->connection = NULL;
    transfer->traffic = NULL;
    transfer->is_stream = false;
    transfer->socket = 0;
}

void signet_connection_join(
    signet_transfer *transfer, SSL *ssl, bool is_http2, int local_port, int remote_port) {
    signet_connection_leave(transfer);
    signet_handshake *connection = ssl ? signet_handshake_of(ssl) : NULL;
    if (connection) {
        connection->references += 1;
        transfer->connection = connection;
        transfer->traffic = &connection->traffic;
        transfer->is_stream = is_http2;
        if (is_http2) transfer->traffic->streams += 1;
    } else {
        // Without TLS a connection carries one call at a time: only that call's bytes are looked at.
        transfer->cleartext = (signet_traffic){0};
        transfer->traffic = &transfer->cleartext;
        curl_socket_t socket = find_socket(transfer->loop, local_port, remote_port);
        if (socket > 0 && signet_traffic_of_socket(socket, &transfer->received_before)) {
            transfer->socket = socket;
            transfer->loop->sockets[socket].carries = transfer;
        }
    }
    if (!transfer->traffic->since) transfer->traffic->since = signet_monotonic_milliseconds();
}

void signet_connection_look(signet_loop *loop, curl_socket_t socket) {
    if (socket < 0 || (size_t)socket >= loop->socket_count) return;
    signet_transfer *transfer = loop->sockets[socket].carries;
    uint64_t received = 0;
    if (!transfer || !signet_traffic_of_socket(socket, &received)) return;
    transfer->cleartext.received = received - transfer->received_before;
    if (transfer->cleartext.is_flooded || !signet_traffic_is_flood(&transfer->cleartext)) return;
    transfer->cleartext.is_flooded = true;
    shutdown(socket, SHUT_RDWR);
}

bool signet_transfer_is_flooded(const signet_transfer *transfer) {
    return transfer->traffic && transfer->traffic->is_flooded;
}

bool signet_transfer_is_cut(const signet_transfer *transfer) {
    return transfer->ends_with_connection && transfer->connection
        && !transfer->connection->traffic.was_closed;
}
