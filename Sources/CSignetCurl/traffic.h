// The bytes that a connection receives, compared with those that libcurl delivers, and the end of
// its TLS.
#ifndef SIGNET_CURL_TRAFFIC_H
#define SIGNET_CURL_TRAFFIC_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

// How far libcurl reads ahead of the delivery of bodies.
typedef struct {
    const uint64_t *steps;  // of the loop; NULL: the connection isn't paced
    uint64_t step, step_bytes;  // the last step with a read, and the bytes that were read in it
    uint64_t undelivered;  // bytes, those of frames included
    bool was_drained;  // the last read of the step found no byte
} signet_pace;

// The traffic of one connection.
typedef struct {
    SSL *ssl;  // valid as long as the connection
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
    signet_pace pace;
} signet_traffic;

// Counts the bytes that a TLS connection receives and sends, and notes its close_notify. `traffic`
// must live as long as the context. The next read of a flooded connection fails.
void signet_traffic_watch(SSL_CTX *context, signet_traffic *traffic);
// Lets libcurl read little ahead of the delivery of bodies: at least one record in each of the
// loop's steps, which `steps` counts, and more only while nearly all bytes before it were
// delivered.
//
// Whichever call over HTTP/2 runs first reads the bytes of the others. If libcurl 7.88.1 gets more
// for a call than fits in that call's buffer (CURLOPT_BUFFERSIZE), it stops nghttp2. If those bytes
// end a record, libcurl doesn't continue nghttp2 before the server sends something else, so that a
// response without a length never ends. The others run in the same step or the next one, so with
// pacing their buffers suffice. libcurl 8.1 has other buffers.
void signet_traffic_pace(signet_traffic *traffic, const uint64_t *steps);
// Notes that libcurl delivered bytes of a body that arrived over a paced connection.
void signet_traffic_note_body(signet_traffic *traffic, size_t count);
// Whether far more bytes were received than delivered.
bool signet_traffic_is_flood(const signet_traffic *traffic);
// Sets how many bytes of a cleartext connection libcurl has read. Returns false if the system
// doesn't report it.
bool signet_traffic_of_socket(int socket, uint64_t *received);

#endif
