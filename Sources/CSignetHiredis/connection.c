#ifdef SIGNET_REDIS

#include "connection.h"
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

// hiredis calls these functions to store a response in the connection. signet_redis_read refuses
// other types, such as lists, before hiredis parses them.

static void *store(const redisReadTask *task, int kind, const char *text, size_t count) {
    signet_redis *connection = task->privdata;
    if (count > sizeof connection->text) return NULL;
    if (count > 0) memcpy(connection->text, text, count);
    connection->response =
        (signet_redis_response){.kind = kind, .text = connection->text, .count = count};
    return connection;
}

static void *store_text(const redisReadTask *task, char *text, size_t count) {
    return store(task, task->type, text, count);
}

static void *store_integer(const redisReadTask *task, long long value) {
    signet_redis *connection = store(task, REDIS_REPLY_INTEGER, NULL, 0);
    connection->response.integer = value;
    return connection;
}

static void *store_null(const redisReadTask *task) {
    return store(task, REDIS_REPLY_NIL, NULL, 0);
}

static void free_nothing(void *response) { (void)response; }

static redisReplyObjectFunctions store_functions = {
    .createString = store_text,
    .createInteger = store_integer,
    .createNil = store_null,
    .freeObject = free_nothing,
};

static int connect_raw(
    signet_redis *connection, const signet_redis_server *server, int64_t deadline,
    char *reason, size_t room) {
    int64_t left = deadline - signet_redis_now();
    if (left <= 0) return SIGNET_REDIS_TIMED_OUT;
    struct timeval patience = {.tv_sec = left / 1000, .tv_usec = (left % 1000) * 1000};
    redisContext *context = server->socket_path != NULL
        ? redisConnectUnixWithTimeout(server->socket_path, patience)
        : redisConnectWithTimeout(server->host, server->port, patience);
    if (context == NULL) return SIGNET_REDIS_NO_MEMORY;
    connection->context = context;
    if (context->err != 0) {
        signet_redis_set_reason(reason, room, context->errstr);
        return SIGNET_REDIS_NOT_CONNECTED;
    }
    int flags = fcntl(context->fd, F_GETFL);
    if (flags < 0 || fcntl(context->fd, F_SETFL, flags | O_NONBLOCK) != 0
        || fcntl(context->fd, F_SETFD, FD_CLOEXEC) != 0) {
        return SIGNET_REDIS_NOT_CONNECTED;
    }
    if (server->socket_path == NULL) (void)redisEnableKeepAlive(context);
    return SIGNET_REDIS_OK;
}

int signet_redis_connect(
    const signet_redis_server *server, int64_t deadline, signet_redis **result, char *reason,
    size_t room) {
    *result = NULL;
    signet_redis_set_reason(reason, room, "");
    signet_redis *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return SIGNET_REDIS_NO_MEMORY;
    connection->reader = redisReaderCreateWithFunctions(&store_functions);
    int status = connection->reader == NULL
        ? SIGNET_REDIS_NO_MEMORY
        : connect_raw(connection, server, deadline, reason, room);
    if (status == SIGNET_REDIS_OK) {
        connection->reader->privdata = connection;
        if (server->uses_tls) {
            status = signet_redis_start_tls(connection, server, deadline, reason, room);
        }
    }
    if (status != SIGNET_REDIS_OK) {
        signet_redis_close(connection);
        return status;
    }
    *result = connection;
    return SIGNET_REDIS_OK;
}

int signet_redis_add(
    signet_redis *connection, const unsigned char *bytes, const size_t *lengths,
    size_t count) {
    const char *parts[8];
    if (count == 0 || count > 8) return SIGNET_REDIS_INVALID;
    size_t start = 0;
    for (size_t index = 0; index < count; index += 1) {
        parts[index] = (const char *)bytes + start;
        start += lengths[index];
    }
    char *command = NULL;
    int length = redisFormatCommandArgv(&command, (int)count, parts, lengths);
    if (length < 0) return SIGNET_REDIS_NO_MEMORY;
    int status = SIGNET_REDIS_NO_MEMORY;
    if ((size_t)length <= SIGNET_REDIS_OUT - connection->out_count) {
        memcpy(connection->out + connection->out_count, command, (size_t)length);
        connection->out_count += (size_t)length;
        status = SIGNET_REDIS_OK;
    }
    OPENSSL_cleanse(command, (size_t)length);
    redisFreeCommand(command);
    return status;
}

int signet_redis_send(signet_redis *connection, int64_t deadline) {
    int status = signet_redis_transmit(
        connection, connection->out, connection->out_count, deadline);
    OPENSSL_cleanse(connection->out, connection->out_count);
    connection->out_count = 0;
    return status;
}

// Returns 1 if one of the functions above stores a response that begins with this byte. For other
// types hiredis 1 would report a response and leave the previous one in the connection.
static int is_stored(char type) {
    return type == '+' || type == '-' || type == ':' || type == '$' || type == '_';
}

int signet_redis_read(
    signet_redis *connection, int64_t deadline, signet_redis_response *response) {
    const redisReader *reader = connection->reader;
    int has_started = 0;
    for (;;) {
        if (!has_started && reader->len > reader->pos) {
            char type = reader->buf[reader->pos];
            if (!is_stored(type)) {
                response->kind = (unsigned char)type;
                return SIGNET_REDIS_WRONG_TYPE;
            }
            has_started = 1;
        }
        void *found = NULL;
        if (redisReaderGetReply(connection->reader, &found) != REDIS_OK) {
            return SIGNET_REDIS_INVALID;
        }
        if (found != NULL) {
            // The rest belongs to later responses.
            connection->unread = connection->reader->len - connection->reader->pos;
            *response = connection->response;
            return SIGNET_REDIS_OK;
        }
        unsigned char bytes[8192];
        size_t count = 0;
        int status = signet_redis_receive(
            connection, bytes, sizeof bytes, &count, deadline);
        if (status != SIGNET_REDIS_OK) return status;
        connection->unread += count;
        if (connection->unread > 2 * SIGNET_REDIS_IN) return SIGNET_REDIS_INVALID;
        if (redisReaderFeed(connection->reader, (const char *)bytes, count) != REDIS_OK) {
            return SIGNET_REDIS_INVALID;
        }
    }
}

void signet_redis_close(signet_redis *connection) {
    if (connection == NULL) return;
    OPENSSL_cleanse(connection->out, connection->out_count);
    redisReaderFree(connection->reader);
    SSL_free(connection->ssl);
    SSL_CTX_free(connection->trust);
    redisFree(connection->context);
    free(connection);
}

#else
// C does not allow an empty file.
typedef int signet_redis_connection_is_not_built;
#endif
