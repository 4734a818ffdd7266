#include "chain.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECT_LIMIT 1024
#define DEPTH_LIMIT (SIGNET_CHAIN_LIMIT - 2)

static int context_index = -1;
static int connection_index = -1;
static int session_index = -1;
static atomic_uint_fast64_t last_identifier;

void signet_chain_retain(signet_chain *chain) { chain->references += 1; }

void signet_chain_release(signet_chain *chain) {
    if (!chain || --chain->references > 0) return;
    for (size_t i = 0; i < chain->count; i++) {
        free(chain->subjects[i]);
        X509_free(chain->certificates[i]);
    }
    sk_X509_pop_free(chain->served, X509_free);
    free(chain);
}

static bool is_for(X509 *leaf, const char *host) {
    unsigned char address[16];
    size_t size = inet_pton(AF_INET, host, address) == 1  ? 4
                : inet_pton(AF_INET6, host, address) == 1 ? 16
                                                          : 0;
    unsigned flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS;
    if (size > 0) return X509_check_ip(leaf, address, size, flags) == 1;
    if (X509_check_host(leaf, host, 0, flags, NULL) == 1) return true;
    // OpenSSL's own wildcards match no name with an underscore. So the name `*.example.com` itself
    // is looked for. As there, a wildcard below a top-level domain is for no host.
    const char *parent = strchr(host, '.');
    if (!parent || !strchr(parent + 1, '.')) return false;
    signet_host wildcard;
    int count = snprintf(wildcard, sizeof wildcard, "*%s", parent);
    return X509_check_host(leaf, wildcard, (size_t)count, flags, NULL) == 1;
}

bool signet_chain_names(signet_chain *chain, const signet_host host) {
    if (!host[0]) return false;
    if (strcmp(chain->host, host) == 0) return true;
    if (!is_for(chain->certificates[0], host)) return false;
    strcpy(chain->host, host);
    return true;
}

bool signet_chain_matches(const signet_chain *chain, const signet_pins *pins) {
    for (size_t i = 0; i < chain->count; i++)
        for (size_t j = 0; j < pins->count; j++)
            if (memcmp(chain->digests[i], pins->digests[j], 32) == 0) return true;
    return false;
}

signet_pins *signet_pins_new(const uint8_t *digests, size_t count, bool is_enforced) {
    signet_pins *pins = malloc(sizeof *pins + count * 32);
    if (!pins) return NULL;
    pins->references = 1;
    pins->is_enforced = is_enforced;
    pins->count = count;
    memcpy(pins->digests, digests, count * 32);
    return pins;
}

void signet_pins_release(signet_pins *pins) {
    if (pins && --pins->references == 0) free(pins);
}

signet_handshake *signet_handshake_new(signet_pins *pins, const signet_host host) {
    signet_handshake *handshake = calloc(1, sizeof *handshake);
    if (!handshake) return NULL;
    handshake->references = 1;
    handshake->alert = -1;
    strcpy(handshake->host, host);
    handshake->pins = pins;
    if (pins) pins->references += 1;
    return handshake;
}

void signet_handshake_release(signet_handshake *handshake) {
    if (!handshake || --handshake->references > 0) return;
    signet_pins_release(handshake->pins);
    signet_chain_release(handshake->chain);
    signet_handshake_release(handshake->proxys);
    free(handshake);
}

static char *subject_of(X509 *certificate) {
    BIO *text = BIO_new(BIO_s_mem());
    if (!text) return NULL;
    char *subject = NULL;
    unsigned long flags = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
    if (X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, flags) >= 0) {
        char *bytes = NULL;
        long count = BIO_get_mem_data(text, &bytes);
        if (count > SUBJECT_LIMIT) count = SUBJECT_LIMIT;
        if (count >= 0 && (subject = malloc((size_t)count + 1))) {
            if (count > 0) memcpy(subject, bytes, (size_t)count);
            subject[count] = 0;
        }
    }
    BIO_free(text);
    return subject;
}

static bool add(signet_chain *chain, X509 *certificate) {
    X509_PUBKEY *key = X509_get_X509_PUBKEY(certificate);
    unsigned char *der = NULL;
    int length = key ? i2d_X509_PUBKEY(key, &der) : -1;
    if (length <= 0) return false;
    unsigned size = 32;
    bool hashed = EVP_Digest(
        der, (size_t)length, chain->digests[chain->count], &size, EVP_sha256(), NULL) == 1;
    OPENSSL_free(der);
    if (!hashed) return false;
    char *subject = subject_of(certificate);
    if (!subject) return false;
    if (X509_up_ref(certificate) != 1) {
        free(subject);
        return false;
    }
    chain->certificates[chain->count] = certificate;
    chain->subjects[chain->count++] = subject;
    return true;
}

static signet_chain *chain_new(void) {
    signet_chain *chain = calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->references = 1;
    chain->identifier = atomic_fetch_add(&last_identifier, 1) + 1;
    return chain;
}

// Returns a verified chain, or NULL.
static signet_chain *verified_chain(X509_STORE_CTX *store) {
    STACK_OF(X509) *certificates = X509_STORE_CTX_get0_chain(store);
    int count = certificates ? sk_X509_num(certificates) : 0;
    if (count < 1 || count > SIGNET_CHAIN_LIMIT) return NULL;
    signet_chain *chain = chain_new();
    for (int i = 0; chain && i < count; i++) {
        if (!add(chain, sk_X509_value(certificates, i))) {
            signet_chain_release(chain);
            return NULL;
        }
    }
    STACK_OF(X509) *served = X509_STORE_CTX_get0_untrusted(store);
    if (chain && served) chain->served = X509_chain_up_ref(served);
    return chain;
}

// Returns the chain as the server sent it, at most SIGNET_CHAIN_LIMIT certificates, for display.
static signet_chain *sent_chain(X509_STORE_CTX *store) {
    signet_chain *chain = chain_new();
    if (!chain) return NULL;
    X509 *leaf = X509_STORE_CTX_get0_cert(store);
    if (leaf && !add(chain, leaf)) return chain;
    STACK_OF(X509) *others = X509_STORE_CTX_get0_untrusted(store);
    for (int i = 0; others && i < sk_X509_num(others); i++) {
        X509 *other = sk_X509_value(others, i);
        if (chain->count == SIGNET_CHAIN_LIMIT) break;
        if (leaf && X509_cmp(other, leaf) == 0) continue;
        if (!add(chain, other)) break;
    }
    return chain;
}

static void keep_for_connection(SSL *ssl, signet_chain *chain) {
    signet_chain *old = SSL_get_ex_data(ssl, connection_index);
    if (!SSL_set_ex_data(ssl, connection_index, chain)) return;
    signet_chain_retain(chain);
    signet_chain_release(old);
}

static void keep_for_session(SSL_SESSION *session, signet_chain *chain) {
    signet_chain *old = SSL_SESSION_get_ex_data(session, session_index);
    if (!SSL_SESSION_set_ex_data(session, session_index, chain)) return;
    signet_chain_retain(chain);
    signet_chain_release(old);
}

signet_handshake *signet_handshake_of(SSL *ssl) {
    return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), context_index);
}

// Verifies a chain like OpenSSL, stores it, and checks the host name and the pins. This ends a
// handshake early, but it doesn't run for resumed sessions, so before_request checks both again.
static int verify(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    signet_handshake *handshake = ssl ? signet_handshake_of(ssl) : NULL;
    if (!handshake) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
        return 0;
    }
    signet_chain_release(handshake->chain);
    handshake->chain = NULL;
    handshake->is_untrusted = handshake->is_misnamed = handshake->mismatched = false;
    handshake->problem[0] = 0;
    if (X509_verify_cert(store) <= 0 || X509_STORE_CTX_get_error(store) != X509_V_OK) {
        if (X509_STORE_CTX_get_error(store) == X509_V_OK)
            X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
        handshake->is_untrusted = true;
        handshake->chain = sent_chain(store);
        signet_describe_problem(store, handshake->problem);
        return 0;
    }
    signet_chain *chain = verified_chain(store);
    if (!chain) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_CHAIN_TOO_LONG);
        return 0;
    }
    chain->is_of_proxy = handshake->is_of_proxy;
    chain->trust = handshake->trust;
    handshake->chain = chain;
    if (!signet_chain_names(chain, handshake->host)) {
        handshake->is_misnamed = true;
        X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
        return 0;
    }
    keep_for_connection(ssl, chain);
    SSL_SESSION *session = SSL_get_session(ssl);
    if (session) keep_for_session(session, chain);
    signet_pins *pins = handshake->pins;
    if (pins && pins->is_enforced && !signet_chain_matches(chain, pins)) {
        handshake->mismatched = true;
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
        return 0;
    }
    return 1;
}

signet_chain *signet_chain_of(SSL *ssl) {
    if (SSL_get_verify_result(ssl) != X509_V_OK) return NULL;
    signet_handshake *handshake = signet_handshake_of(ssl);
    if (!handshake || handshake->is_of_proxy) return NULL;
    signet_chain *chain = SSL_get_ex_data(ssl, connection_index);
    if (chain) return chain->is_of_proxy ? NULL : chain;
    if (!SSL_session_reused(ssl)) return NULL;
    SSL_SESSION *session = SSL_get_session(ssl);
    chain = session ? SSL_SESSION_get_ex_data(session, session_index) : NULL;
    if (chain && chain->is_of_proxy) return NULL;
    if (chain) keep_for_connection(ssl, chain);
    return chain;
}

// Notes alerts of the server, some of which say why it refuses a client's certificate. Over TLS 1.3
// they come after the handshake.
static void on_information(const SSL *ssl, int where, int value) {
    signet_handshake *handshake = signet_handshake_of((SSL *)ssl);
    if (handshake && (where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT
        && value >> 8 == SSL3_AL_FATAL)
        handshake->alert = value & 0xFF;
}

// OpenSSL calls this if the server asks for a certificate.
static int on_certificate_request(SSL *ssl, void *unused) {
    (void)unused;
    signet_handshake *handshake = signet_handshake_of(ssl);
    if (handshake) handshake->was_asked = true;
    return 1;
}

// Gives libcurl's cache a session of its own. If a connection ends without close_notify, as after a
// reset, OpenSSL marks its session as one that can't be resumed, as TLS 1.1 demanded. TLS 1.2 and
// later don't (RFC 5246, section 7.2.1).
static int on_new_session(SSL *ssl, SSL_SESSION *session) {
    signet_handshake *handshake = signet_handshake_of(ssl);
    SSL_SESSION *copy = handshake ? SSL_SESSION_dup(session) : NULL;
    if (copy && !handshake->store_session(ssl, copy)) SSL_SESSION_free(copy);
    return 0;
}

bool signet_handshake_attach(signet_handshake *handshake, SSL_CTX *context) {
    if (!SSL_CTX_set_ex_data(context, context_index, handshake)) return false;
    handshake->references += 1;
    signet_traffic_watch(context, &handshake->traffic);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_verify_depth(context, DEPTH_LIMIT);
    SSL_CTX_set_cert_verify_callback(context, verify, NULL);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_info_callback(context, on_information);
    SSL_CTX_set_cert_cb(context, on_certificate_request, NULL);
    handshake->store_session = SSL_CTX_sess_get_new_cb(context);
    if (handshake->store_session) SSL_CTX_sess_set_new_cb(context, on_new_session);
    // libcurl makes OpenSSL release its two buffers of 16 KiB after each record, which makes idle
    // connections smaller but requests slower.
    SSL_CTX_clear_mode(context, SSL_MODE_RELEASE_BUFFERS);
    // libcurl would write the session keys to the file that SSLKEYLOGFILE names.
    SSL_CTX_set_keylog_callback(context, NULL);
    return true;
}

static void free_context_data(
    void *parent, void *data, CRYPTO_EX_DATA *all, int index, long number, void *pointer) {
    (void)parent, (void)all, (void)index, (void)number, (void)pointer;
    signet_handshake_release(data);
}

static void free_chain_data(
    void *parent, void *data, CRYPTO_EX_DATA *all, int index, long number, void *pointer) {
    (void)parent, (void)all, (void)index, (void)number, (void)pointer;
    signet_chain_release(data);
}

// A session is copied for a ticket. The copy needs a reference of its own.
static int duplicate_chain_data(
    CRYPTO_EX_DATA *to, const CRYPTO_EX_DATA *from, void **data, int index, long number,
    void *pointer) {
    (void)to, (void)from, (void)index, (void)number, (void)pointer;
    if (*data) signet_chain_retain(*data);
    return 1;
}

bool signet_chain_start(void) {
    context_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_context_data);
    connection_index =
        SSL_get_ex_new_index(0, NULL, NULL, duplicate_chain_data, free_chain_data);
    session_index =
        SSL_SESSION_get_ex_new_index(0, NULL, NULL, duplicate_chain_data, free_chain_data);
    return context_index >= 0 && connection_index >= 0 && session_index >= 0;
}

uint64_t signet_chain_identifier(const signet_chain *chain) { return chain->identifier; }
size_t signet_chain_count(const signet_chain *chain) { return chain->count; }
const uint8_t *signet_chain_digest(const signet_chain *chain, size_t index) {
    return chain->digests[index];
}
const char *signet_chain_subject(const signet_chain *chain, size_t index) {
    return chain->subjects[index];
}

size_t signet_chain_served_count(const signet_chain *chain) {
    int count = chain->served ? sk_X509_num(chain->served) : 0;
    return count > 0 ? (size_t)count : 0;
}

uint8_t *signet_chain_der(const signet_chain *chain, bool served, size_t index, size_t *count) {
    X509 *certificate =
        served ? sk_X509_value(chain->served, (int)index) : chain->certificates[index];
    unsigned char *der = NULL;
    int length = certificate ? i2d_X509(certificate, &der) : -1;
    *count = length > 0 ? (size_t)length : 0;
    return length > 0 ? der : NULL;
}

void signet_der_free(uint8_t *der) { OPENSSL_free(der); }
