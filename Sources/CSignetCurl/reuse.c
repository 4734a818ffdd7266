#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Whether a pooled connection can carry another request, and what happens if not.
//
// libcurl 7.88.1 takes a pooled connection for alive unless a FIN or an RST has arrived. It misses a
// close_notify, and over HTTP/1.1 it takes unsolicited bytes as the next response.
#include <errno.h>
#include <sys/socket.h>

#include "loop.h"

// --- Looking at it ---------------------------------------------------------------------------

// Whether bytes, an end or an error wait in a socket. A server that keeps to HTTP/1.1 sends nothing
// between two responses.
static bool has_news(curl_socket_t socket) {
    char byte;
    ssize_t count;
    do count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

static bool is_usable_over_tls(const signet_route *route, curl_socket_t socket) {
    // libcurl's own look at the connection may have read the close_notify already.
    if (SSL_get_shutdown(route->ssl) & SSL_RECEIVED_SHUTDOWN) return false;
    // An HTTP/2 server may send frames at any time, and libcurl has read them.
    if (route->is_http2) return true;
    return !SSL_has_pending(route->ssl) && socket >= 0 && !has_news(socket);
}

bool signet_route_is_usable(signet_loop *loop, const signet_route *route) {
    if (route->ssl) {
        curl_socket_t socket = signet_route_socket(loop, route);
        bool is_usable = is_usable_over_tls(route, socket);
        // The other calls of an HTTP/2 connection learn at once that it's over.
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

// --- Once more -------------------------------------------------------------------------------

static bool may_repeat(const signet_transfer *transfer) {
    if (transfer->was_repeated || transfer->is_probe) return false;
    if (transfer->refusal) return transfer->refusal == SIGNET_STALE;
    // libcurl 7.88.1 retries over HTTP/1.1 by itself, but doesn't over HTTP/2: neither if a pooled connection
    // ends, nor if a GOAWAY ends the session, whose last stream's number it doesn't tell.
    bool has_ended = transfer->code == CURLE_HTTP2
        || (transfer->code == CURLE_PARTIAL_FILE && transfer->is_reused);
    return has_ended && transfer->was_http2 && transfer->is_repeatable && transfer->is_sent
        && !transfer->has_head && transfer->head_total == 0;
}

bool signet_transfer_repeat(signet_transfer *transfer) {
    if (!may_repeat(transfer)) return false;
    int64_t left = transfer->time.deadline - signet_monotonic_milliseconds();
    if (left <= 0 || !signet_transfer_rewind_upload(transfer)) return false;
    CURL *easy = transfer->easy;
    curl_multi_remove_handle(transfer->loop->multi, easy);
    long connect = transfer->time.connect < left ? transfer->time.connect : (long)left;
    transfer->time.limit = (long)left;
    bool is_set = SET(CURLOPT_FRESH_CONNECT, 1L) && SET(CURLOPT_TIMEOUT_MS, (long)left)
        && SET(CURLOPT_CONNECTTIMEOUT_MS, connect);
    signet_connection_leave(transfer);
    signet_chain_release(transfer->chain);
    signet_handshake_release(transfer->handshake);
    transfer->chain = NULL;
    transfer->handshake = NULL;
    transfer->lost += signet_now_microseconds() - transfer->started;
    transfer->was_repeated = true;
    transfer->is_sent = transfer->was_http2 = transfer->upload.is_paused = false;
    transfer->refusal = SIGNET_NO_REFUSAL;
    transfer->code = CURLE_OK;
    transfer->opened = -1;
    if (is_set && signet_transfer_start(transfer)) return true;
    transfer->refusal = SIGNET_NO_MEMORY;
    transfer->is_started = false;
    return false;
}
