#include <sys/socket.h>

#include "connection.h"

// The connection that a transfer's request goes over, and its traffic.

void signet_connection_leave(signet_transfer *transfer) {
    signet_traffic *traffic = transfer->traffic;
    if (traffic && transfer->is_stream) {
        traffic->streams -= 1;
        if (transfer->outer != traffic) transfer->outer->streams -= 1;
        if (!transfer->is_done || transfer->code != CURLE_OK) traffic->abandoned += 1;
    }
    signet_loop *loop = transfer->loop;
    if (transfer->socket >= 0 && (size_t)transfer->socket < loop->socket_count
        && loop->sockets[transfer->socket].carries == transfer)
        loop->sockets[transfer->socket].carries = NULL;
    signet_handshake_release(transfer->connection);
    transfer->connection = NULL;
    transfer->traffic = transfer->outer = NULL;
    transfer->is_stream = false;
    transfer->socket = -1;
}

void signet_connection_join(signet_transfer *transfer, const signet_route *route) {
    signet_connection_leave(transfer);
    signet_handshake *connection = route->ssl ? signet_handshake_of(route->ssl) : NULL;
    if (connection) {
        connection->references += 1;
        transfer->connection = connection;
        transfer->traffic = &connection->traffic;
        transfer->is_stream = route->is_http2;
        if (route->is_http2) {
            transfer->traffic->streams += 1;
            // Only the outer TLS, because epoll doesn't know of bytes that a proxy's TLS buffers.
            transfer->outer = connection->proxys ? &connection->proxys->traffic : transfer->traffic;
            if (connection->proxys) transfer->outer->streams += 1;
            signet_traffic_pace(transfer->outer, &transfer->loop->steps);
        }
    } else {
        // Without TLS a connection carries one call at a time, so only that call's bytes are
        // counted.
        transfer->cleartext = (signet_traffic){0};
        transfer->traffic = &transfer->cleartext;
        curl_socket_t socket = signet_route_socket(transfer->loop, route);
        // If two sockets have one name, neither is counted.
        if (route->opened < 0 && socket >= 0
            && signet_route_next_socket(transfer->loop, route, socket) >= 0)
            socket = -1;
        if (socket >= 0 && signet_traffic_of_socket(socket, &transfer->received_before)) {
            transfer->socket = socket;
            transfer->loop->sockets[socket].carries = transfer;
        }
    }
    if (!transfer->traffic->since) transfer->traffic->since = signet_monotonic_milliseconds();
}

void signet_connection_check_flood(signet_loop *loop, curl_socket_t socket) {
    if (socket < 0 || (size_t)socket >= loop->socket_count) return;
    signet_transfer *transfer = loop->sockets[socket].carries;
    uint64_t received = 0;
    if (!transfer || !signet_traffic_of_socket(socket, &received)) return;
    if (received < transfer->received_before) return;
    transfer->cleartext.received = received - transfer->received_before;
    if (transfer->cleartext.is_flooded || !signet_traffic_is_flood(&transfer->cleartext)) return;
    transfer->cleartext.is_flooded = true;
    // Makes closing the socket reset the connection. After a FIN, a blocked server would continue
    // to wait.
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    shutdown(socket, SHUT_RDWR);
}

bool signet_transfer_is_flooded(const signet_transfer *transfer) {
    return transfer->traffic && transfer->traffic->is_flooded;
}

bool signet_transfer_is_cut(const signet_transfer *transfer) {
    return transfer->ends_with_connection && transfer->connection
        && !transfer->connection->traffic.was_closed;
}
