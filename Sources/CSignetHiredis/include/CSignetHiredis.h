#ifndef CSIGNET_HIREDIS_H
#define CSIGNET_HIREDIS_H

// A connection to Redis, bare or through TLS, on which no call waits longer than its deadline says.
//
// hiredis connects, writes commands and reads replies; the bytes in between are moved here, because
// hiredis's own timeouts begin anew with each byte, and its writes raise SIGPIPE. Only with the package
// trait Redis is anything of this built. A connection is used by one thread at a time.

#include <stddef.h>
#include <stdint.h>

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

typedef struct csignet_redis csignet_redis;

// What came of a call.
enum {
    CSIGNET_REDIS_OK = 0,
    CSIGNET_REDIS_NO_MEMORY = 1,
    // No connection came into being.
    CSIGNET_REDIS_NOT_CONNECTED = 2,
    // The TLS handshake failed, or the certificate is not one to trust.
    CSIGNET_REDIS_NOT_TRUSTED = 3,
    CSIGNET_REDIS_TIMED_OUT = 4,
    // The other side ended the connection, or it broke.
    CSIGNET_REDIS_CUT_OFF = 5,
    // What came is no reply that was asked for.
    CSIGNET_REDIS_GARBAGE = 6,
    // The reply is of a type that answers no command here, such as a list or a boolean.
    CSIGNET_REDIS_WRONG_TYPE = 7,
};

// Where a server is. Texts end with 0; what is not wanted is NULL.
typedef struct {
    // A socket of this machine, in place of a host.
    const char *socket_path;
    const char *host;
    int port;
    int uses_tls;
    // Whom the certificate must name.
    const char *tls_name;
    // Authorities to trust in place of the system's.
    const char *ca_file;
    // For a server that wants to see a certificate.
    const char *certificate_file;
    const char *key_file;
} csignet_redis_server;

// A reply. The text is the connection's, until the next reply.
typedef struct {
    // As REDIS_REPLY_…: 1 text, 3 integer, 4 nothing, 5 status, 6 error. After
    // CSIGNET_REDIS_WRONG_TYPE: the byte that the reply begins with.
    int kind;
    long long integer;
    const unsigned char *text;
    size_t count;
} csignet_redis_reply;

// Milliseconds of a clock that nobody sets; deadlines are of this clock.
int64_t csignet_redis_now(void);

// Connects. `reason` gets at most `room` bytes in words, ending with 0. Looking up a host's name is the
// one thing that may outlast the deadline.
SIGNET_MUST_CHECK int csignet_redis_connect(
    const csignet_redis_server *server, int64_t deadline, csignet_redis **connection,
    char *reason, size_t room);

// Adds a command of `count` parts, at most 8, which lie in `bytes` one behind the other.
SIGNET_MUST_CHECK int csignet_redis_add(
    csignet_redis *connection, const unsigned char *bytes, const size_t *lengths, size_t count);

// Sends what was added, and wipes it.
SIGNET_MUST_CHECK int csignet_redis_send(csignet_redis *connection, int64_t deadline);

// Reads the next reply.
SIGNET_MUST_CHECK int csignet_redis_read(
    csignet_redis *connection, int64_t deadline, csignet_redis_reply *reply);

// Whether the connection stands and nothing has come that nobody asked for: 1 or 0.
SIGNET_MUST_CHECK int csignet_redis_is_quiet(csignet_redis *connection);

void csignet_redis_close(csignet_redis *connection);

#endif
