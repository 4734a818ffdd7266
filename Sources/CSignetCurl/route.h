#ifndef SIGNET_CURL_ROUTE_H
#define SIGNET_CURL_ROUTE_H

#include "state.h"

// The route of a request (route.c).

// The connection of the next request, as far as libcurl describes it to a CURLOPT_PREREQFUNCTION.
typedef struct {
    SSL *ssl;  // the origin's; NULL over cleartext
    bool is_http2;
    const char *remote_address, *local_address;
    int local_port;
    curl_socket_t opened;  // for this transfer, or -1
} signet_route;

// Registers a place for ex_data, once per process.
bool signet_route_start(void);
// Returns the socket of a route, or -1.
curl_socket_t signet_route_socket(signet_loop *loop, const signet_route *route);
// Returns the next socket after `after` (-1: the first) that may be the route's, or -1. Two
// connections from one port to two ports of one address look the same.
curl_socket_t signet_route_next_socket(
    signet_loop *loop, const signet_route *route, curl_socket_t after);
// Whether a connection that was used before can carry another request. If not, shuts it down.
bool signet_route_is_usable(signet_loop *loop, const signet_route *route);

#endif
