#ifndef SIGNET_HIREDIS_H
#define SIGNET_HIREDIS_H

// A connection to Redis, with or without TLS, on which no call outlasts its deadline.
//
// hiredis connects, formats commands and parses responses. This target moves the bytes itself,
// because the timeouts of hiredis restart with each byte and its writes raise SIGPIPE. It is empty
// without the package trait Redis. Only one thread at a time may use a connection.

#include <stddef.h>
#include <stdint.h>

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

typedef struct signet_redis signet_redis;

// The status of a call.
enum {
    SIGNET_REDIS_OK = 0,
    SIGNET_REDIS_NO_MEMORY = 1,
    // The server could not be reached.
    SIGNET_REDIS_NOT_CONNECTED = 2,
    // The TLS handshake failed, or the certificate is not trusted.
    SIGNET_REDIS_NOT_TRUSTED = 3,
    SIGNET_REDIS_TIMED_OUT = 4,
    // The server closed the connection, or it broke.
    SIGNET_REDIS_CONNECTION_LOST = 5,
    // The response is malformed or too long, or a command has no parts or more than 8.
    SIGNET_REDIS_INVALID = 6,
    // The response has a type that no command here returns, such as a list or a boolean.
    SIGNET_REDIS_WRONG_TYPE = 7,
};

// A server's address and TLS settings. Strings end with 0; NULL leaves a setting out.
typedef struct {
    // A local socket, instead of a host.
    const char *socket_path;
    const char *host;
    int port;
    int uses_tls;
    // The name that the certificate must have.
    const char *tls_name;
    // The trusted authorities, instead of the system's.
    const char *ca_file;
    // The client certificate, for a server that requires one.
    const char *certificate_file;
    const char *key_file;
} signet_redis_server;

// A response. The connection owns the text, which is valid until the next response.
typedef struct {
    // One of REDIS_REPLY_…: 1 text, 3 integer, 4 null, 5 status, 6 error. After
    // SIGNET_REDIS_WRONG_TYPE: the first byte of the response.
    int kind;
    long long integer;
    const unsigned char *text;
    size_t count;
} signet_redis_response;

// Returns milliseconds of the monotonic clock. Deadlines use this clock.
int64_t signet_redis_now(void);

// Connects. Writes the reason of a failure to `reason`: at most `room` bytes, ending with 0.
// Looking up a host name can outlast the deadline.
SIGNET_MUST_CHECK int signet_redis_connect(
    const signet_redis_server *server, int64_t deadline, signet_redis **connection,
    char *reason, size_t room);

// Adds a command of `count` parts, at most 8. `bytes` holds the parts one after another.
SIGNET_MUST_CHECK int signet_redis_add(
    signet_redis *connection, const unsigned char *bytes, const size_t *lengths, size_t count);

// Sends the added commands, and wipes them.
SIGNET_MUST_CHECK int signet_redis_send(signet_redis *connection, int64_t deadline);

// Reads the next response.
SIGNET_MUST_CHECK int signet_redis_read(
    signet_redis *connection, int64_t deadline, signet_redis_response *response);

// Returns 1 if the connection is open and has received no unexpected bytes, otherwise 0.
SIGNET_MUST_CHECK int signet_redis_is_reusable(signet_redis *connection);

void signet_redis_close(signet_redis *connection);

#endif
