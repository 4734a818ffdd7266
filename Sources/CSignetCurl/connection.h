#ifndef SIGNET_CURL_CONNECTION_H
#define SIGNET_CURL_CONNECTION_H

#include "route.h"

// The connection that a transfer uses (connection.c).

// Assigns a transfer, whose request is about to be sent, to its connection. The transfer leaves the
// connection that it had joined before.
void signet_connection_join(signet_transfer *transfer, const signet_route *route);
void signet_connection_leave(signet_transfer *transfer);
// Compares what a cleartext connection has received with what libcurl delivered, and shuts it down
// if it is flooded.
void signet_connection_check_flood(signet_loop *loop, curl_socket_t socket);
bool signet_transfer_is_flooded(const signet_transfer *transfer);
// Whether the response's body ended with a TLS connection without a close_notify, so that an
// attacker may have cut it off.
bool signet_transfer_is_cut(const signet_transfer *transfer);

#endif
