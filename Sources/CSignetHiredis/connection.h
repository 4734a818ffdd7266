#ifndef CSIGNET_REDIS_CONNECTION_H
#define CSIGNET_REDIS_CONNECTION_H

// What the files of this target share.

#include "CSignetHiredis.h"
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>

// Bytes of commands that wait to be sent.
#define CSIGNET_REDIS_OUT (128 * 1024)
// Bytes of one reply, at most.
#define CSIGNET_REDIS_IN (32 * 1024)

struct csignet_redis {
    redisContext *context;
    redisReader *reader;
    unsigned char *out;
    size_t out_count;
    // Bytes that came since the last whole reply.
    size_t unread;
    csignet_redis_reply reply;
    unsigned char text[CSIGNET_REDIS_IN];
    // With TLS; the two BIOs are of `ssl`.
    SSL_CTX *trust;
    SSL *ssl;
    BIO *incoming;
    BIO *outgoing;
};

// Begins TLS on a connection that has just come into being.
int csignet_redis_start_tls(
    csignet_redis *connection, const csignet_redis_server *server, int64_t deadline,
    char *reason, size_t room);

// Sends all of it.
int csignet_redis_transmit(
    csignet_redis *connection, const unsigned char *bytes, size_t count, int64_t deadline);

// Receives at least one byte, at most `room`.
int csignet_redis_receive(
    csignet_redis *connection, unsigned char *bytes, size_t room, size_t *count,
    int64_t deadline);

void csignet_redis_say(char *reason, size_t room, const char *words);

#endif
