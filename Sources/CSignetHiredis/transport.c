#ifdef SIGNET_REDIS

#include "connection.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t signet_redis_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void signet_redis_set_reason(char *reason, size_t room, const char *words) {
    if (room > 0) snprintf(reason, room, "%s", words == NULL ? "unknown reason" : words);
}

// Waits until the socket is ready. After the deadline it always times out, even if the socket is
// ready.
static int wait_for(signet_redis *connection, short event, int64_t deadline) {
    for (;;) {
        int64_t left = deadline - signet_redis_now();
        if (left <= 0) return SIGNET_REDIS_TIMED_OUT;
        struct pollfd socket = {.fd = connection->context->fd, .events = event};
        int found = poll(&socket, 1, left > 60000 ? 60000 : (int)left);
        if (found > 0) return SIGNET_REDIS_OK;
        if (found < 0 && errno != EINTR) return SIGNET_REDIS_CONNECTION_LOST;
    }
}

static int transmit_raw(
    signet_redis *connection, const unsigned char *bytes, size_t count, int64_t deadline) {
    while (count > 0) {
        int status = wait_for(connection, POLLOUT, deadline);
        if (status != SIGNET_REDIS_OK) return status;
        ssize_t sent = send(connection->context->fd, bytes, count, MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
            return SIGNET_REDIS_CONNECTION_LOST;
        }
    }
    return SIGNET_REDIS_OK;
}

static int receive_raw(
    signet_redis *connection, unsigned char *bytes, size_t room, size_t *count,
    int64_t deadline) {
    for (;;) {
        int status = wait_for(connection, POLLIN, deadline);
        if (status != SIGNET_REDIS_OK) return status;
        ssize_t taken = recv(connection->context->fd, bytes, room, 0);
        if (taken > 0) {
            *count = (size_t)taken;
            return SIGNET_REDIS_OK;
        }
        if (taken == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
            return SIGNET_REDIS_CONNECTION_LOST;
        }
    }
}

// TLS: OpenSSL reads from one memory BIO and writes to another.

static int flush_tls(signet_redis *connection, int64_t deadline) {
    unsigned char bytes[4096];
    BIO *outgoing = SSL_get_wbio(connection->ssl);
    while (BIO_ctrl_pending(outgoing) > 0) {
        int count = BIO_read(outgoing, bytes, sizeof bytes);
        if (count <= 0) return SIGNET_REDIS_CONNECTION_LOST;
        int status = transmit_raw(connection, bytes, (size_t)count, deadline);
        if (status != SIGNET_REDIS_OK) return status;
    }
    return SIGNET_REDIS_OK;
}

static int feed_tls(signet_redis *connection, int64_t deadline) {
    unsigned char bytes[16384];
    size_t count = 0;
    int status = receive_raw(connection, bytes, sizeof bytes, &count, deadline);
    if (status != SIGNET_REDIS_OK) return status;
    return BIO_write(SSL_get_rbio(connection->ssl), bytes, (int)count) == (int)count
        ? SIGNET_REDIS_OK
        : SIGNET_REDIS_NO_MEMORY;
}

// Sends or receives the bytes that OpenSSL needs after a call that returned `result`; fails if it
// needs neither.
static int continue_tls(signet_redis *connection, int result, int64_t deadline) {
    int need = SSL_get_error(connection->ssl, result);
    int status = flush_tls(connection, deadline);
    if (status != SIGNET_REDIS_OK) return status;
    if (need == SSL_ERROR_WANT_READ) return feed_tls(connection, deadline);
    return need == SSL_ERROR_WANT_WRITE ? SIGNET_REDIS_OK : SIGNET_REDIS_CONNECTION_LOST;
}

// Writes the last error of OpenSSL to `reason`.
static int refuse(char *reason, size_t room) {
    unsigned long code = ERR_peek_last_error();
    signet_redis_set_reason(reason, room, ERR_reason_error_string(code));
    ERR_clear_error();
    return SIGNET_REDIS_NOT_TRUSTED;
}

// Refuses a key file with a passphrase, instead of asking for it on the terminal.
static int no_passphrase(char *bytes, int room, int writes, void *context) {
    (void)bytes;
    (void)room;
    (void)writes;
    (void)context;
    return -1;
}

// Loads the authorities from OpenSSL's built-in paths. SSL_CTX_set_default_verify_paths would
// prefer the paths in SSL_CERT_FILE and SSL_CERT_DIR.
static int trust_system(SSL_CTX *trust) {
    const char *file = X509_get_default_cert_file();
    // Not every distribution has both.
    if (access(file, F_OK) == 0 && SSL_CTX_load_verify_file(trust, file) != 1) return 0;
    return SSL_CTX_load_verify_dir(trust, X509_get_default_cert_dir()) == 1;
}

static int configure_trust(SSL_CTX *trust, const signet_redis_server *server) {
    if (SSL_CTX_set_min_proto_version(trust, TLS1_2_VERSION) != 1) return 0;
    SSL_CTX_set_default_passwd_cb(trust, no_passphrase);
    SSL_CTX_set_verify(trust, SSL_VERIFY_PEER, NULL);
    if (server->ca_file != NULL) {
        if (SSL_CTX_load_verify_file(trust, server->ca_file) != 1) return 0;
    } else if (!trust_system(trust)) {
        return 0;
    }
    if (server->certificate_file != NULL
        && SSL_CTX_use_certificate_chain_file(trust, server->certificate_file) != 1) {
        return 0;
    }
    return server->key_file == NULL
        || (SSL_CTX_use_PrivateKey_file(trust, server->key_file, SSL_FILETYPE_PEM) == 1
            && SSL_CTX_check_private_key(trust) == 1);
}

static int require_name(SSL *ssl, const char *name) {
    X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
    // An IP address matches only the certificate's IP addresses.
    if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1) return 1;
    X509_VERIFY_PARAM_set_hostflags(
        parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (X509_VERIFY_PARAM_set1_host(parameters, name, 0) != 1) return 0;
    return SSL_set_tlsext_host_name(ssl, name) == 1;
}

int signet_redis_start_tls(
    signet_redis *connection, const signet_redis_server *server, int64_t deadline,
    char *reason, size_t room) {
    ERR_clear_error();
    connection->trust = SSL_CTX_new(TLS_client_method());
    if (connection->trust == NULL) return SIGNET_REDIS_NO_MEMORY;
    if (!configure_trust(connection->trust, server)) return refuse(reason, room);
    connection->ssl = SSL_new(connection->trust);
    BIO *incoming = BIO_new(BIO_s_mem());
    BIO *outgoing = BIO_new(BIO_s_mem());
    if (connection->ssl == NULL || incoming == NULL || outgoing == NULL) {
        BIO_free(incoming);
        BIO_free(outgoing);
        return SIGNET_REDIS_NO_MEMORY;
    }
    BIO_set_mem_eof_return(incoming, -1);
    SSL_set_bio(connection->ssl, incoming, outgoing);
    if (!require_name(connection->ssl, server->tls_name)) return refuse(reason, room);
    SSL_set_connect_state(connection->ssl);
    for (;;) {
        ERR_clear_error();
        int result = SSL_do_handshake(connection->ssl);
        if (result == 1) break;
        int need = SSL_get_error(connection->ssl, result);
        if (need != SSL_ERROR_WANT_READ && need != SSL_ERROR_WANT_WRITE) {
            (void)flush_tls(connection, deadline);
            long verdict = SSL_get_verify_result(connection->ssl);
            if (verdict == X509_V_OK) return refuse(reason, room);
            signet_redis_set_reason(reason, room, X509_verify_cert_error_string(verdict));
            ERR_clear_error();
            return SIGNET_REDIS_NOT_TRUSTED;
        }
        int status = continue_tls(connection, result, deadline);
        if (status != SIGNET_REDIS_OK) return status;
    }
    return flush_tls(connection, deadline);
}

int signet_redis_transmit(
    signet_redis *connection, const unsigned char *bytes, size_t count, int64_t deadline) {
    if (connection->ssl == NULL) return transmit_raw(connection, bytes, count, deadline);
    while (count > 0) {
        ERR_clear_error();
        size_t written = 0;
        int result = SSL_write_ex(connection->ssl, bytes, count, &written);
        if (result == 1) {
            bytes += written;
            count -= written;
        } else {
            int status = continue_tls(connection, result, deadline);
            if (status != SIGNET_REDIS_OK) return status;
        }
    }
    return flush_tls(connection, deadline);
}

int signet_redis_receive(
    signet_redis *connection, unsigned char *bytes, size_t room, size_t *count,
    int64_t deadline) {
    if (connection->ssl == NULL) return receive_raw(connection, bytes, room, count, deadline);
    for (;;) {
        ERR_clear_error();
        int result = SSL_read_ex(connection->ssl, bytes, room, count);
        if (result == 1) return SIGNET_REDIS_OK;
        int status = continue_tls(connection, result, deadline);
        if (status != SIGNET_REDIS_OK) return status;
    }
}

int signet_redis_is_reusable(signet_redis *connection) {
    // Every expected response has been read, so leftover bytes are unexpected.
    if (connection->unread > 0 || connection->out_count > 0) return 0;
    struct pollfd socket = {.fd = connection->context->fd, .events = POLLIN};
    int found;
    do {
        found = poll(&socket, 1, 0);
    } while (found < 0 && errno == EINTR);
    if (connection->ssl == NULL || found < 0) return found == 0;
    ERR_clear_error();
    if (found > 0) {
        // A TLS server may send session tickets at any time.
        if (feed_tls(connection, signet_redis_now() + 50) != SIGNET_REDIS_OK) return 0;
    }
    unsigned char byte;
    size_t count = 0;
    int result = SSL_read_ex(connection->ssl, &byte, 1, &count);
    return result != 1 && SSL_get_error(connection->ssl, result) == SSL_ERROR_WANT_READ;
}

#else
// C does not allow an empty file.
typedef int signet_redis_transport_is_not_built;
#endif
