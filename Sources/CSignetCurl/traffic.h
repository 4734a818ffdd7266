// What comes over a connection, compared with what of it is handed on; and how its TLS ends.
#ifndef SIGNET_TRAFFIC_H
#define SIGNET_TRAFFIC_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

// Of one connection.
typedef struct {
    uint64_t received;   // bytes, without what TLS adds to them
    uint64_t delivered;  // bytes of headers and bodies that libcurl handed over
    uint64_t sent;
    // HTTP/2 calls that are under way, and those that were given up: libcurl may hold a window's bytes of
    // each, or throw as many away.
    unsigned streams, abandoned;
    int64_t since;  // monotonic milliseconds of the first request; 0: there was none
    bool was_closed;  // the peer sent close_notify
    bool was_sent_last;  // the last record with more than an alert in it went out
    bool is_flooded;
} signet_traffic;

// Counts what a TLS connection receives and sends, and sees its close_notify. `traffic` must live as long
// as the context. A connection that is flooded fails at its next read.
void signet_traffic_watch(SSL_CTX *context, signet_traffic *traffic);
// Whether far more came than was handed on.
bool signet_traffic_is_flood(const signet_traffic *traffic);
// How many bytes a cleartext connection has received and libcurl has read. False if the system doesn't
// tell.
bool signet_traffic_of_socket(int socket, uint64_t *received);

#endif
