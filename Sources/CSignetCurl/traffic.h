// The bytes that a connection receives, compared with those that libcurl delivers, and the end of its
// TLS.
#ifndef SIGNET_TRAFFIC_H
#define SIGNET_TRAFFIC_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

// The traffic of one connection.
typedef struct {
    uint64_t received;   // bytes, without those of TLS
    uint64_t delivered;  // bytes of headers and bodies that libcurl delivered
    uint64_t sent;
    // The numbers of HTTP/2 calls under way and of cancelled ones. libcurl may store, or discard, a
    // window's bytes of each.
    unsigned streams, abandoned;
    int64_t since;  // monotonic milliseconds of the first request; 0: there was none
    bool was_closed;  // the peer sent close_notify
    bool was_sent_last;  // the last record, apart from alerts, was sent and not received
    bool is_flooded;
} signet_traffic;

// Counts the bytes that a TLS connection receives and sends, and notes its close_notify. `traffic`
// must live as long as the context. The next read of a flooded connection fails.
void signet_traffic_watch(SSL_CTX *context, signet_traffic *traffic);
// Whether far more bytes were received than delivered.
bool signet_traffic_is_flood(const signet_traffic *traffic);
// Sets how many bytes of a cleartext connection libcurl has read. Returns false if the system doesn't
// tell.
bool signet_traffic_of_socket(int socket, uint64_t *received);

#endif
