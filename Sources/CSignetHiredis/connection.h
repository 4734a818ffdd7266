#ifndef SIGNET_HIREDIS_CONNECTION_H
#define SIGNET_HIREDIS_CONNECTION_H

// Declarations shared by the files of this target.

#include "CSignetHiredis.h"
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>

// The maximum number of bytes of commands that wait to be sent.
#define SIGNET_REDIS_OUT (128 * 1024)
// The maximum number of bytes of one response.
#define SIGNET_REDIS_IN (32 * 1024)

struct signet_redis {
    redisContext *context;
    redisReader *reader;
    unsigned char out[SIGNET_REDIS_OUT];
    size_t out_count;
    // Bytes received since the last whole response.
    size_t unread;
    signet_redis_response response;
    unsigned char text[SIGNET_REDIS_IN];
    // Only with TLS.
    SSL_CTX *trust;
    SSL *ssl;
};

// Starts TLS on a new connection.
int signet_redis_start_tls(
    signet_redis *connection, const signet_redis_server *server, int64_t deadline,
    char *reason, size_t room);

// Sends all of the bytes.
int signet_redis_transmit(
    signet_redis *connection, const unsigned char *bytes, size_t count, int64_t deadline);

// Receives at least one byte, at most `room`.
int signet_redis_receive(
    signet_redis *connection, unsigned char *bytes, size_t room, size_t *count,
    int64_t deadline);

void signet_redis_set_reason(char *reason, size_t room, const char *words);

#endif
