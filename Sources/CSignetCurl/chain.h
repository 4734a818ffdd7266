// What is known of a chain of certificates, and where it is kept while TLS lives.
#ifndef SIGNET_CHAIN_H
#define SIGNET_CHAIN_H

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "CSignetCurl.h"
#include "traffic.h"

#define SIGNET_CHAIN_LIMIT 16

// Counted, not changed once made. All counting is done on the loop's thread.
struct signet_chain {
    size_t references;
    uint64_t identifier;
    bool is_proxys;  // never counts as an origin's
    size_t count;
    uint8_t digests[SIGNET_CHAIN_LIMIT][32];
    char *subjects[SIGNET_CHAIN_LIMIT];
    // OpenSSL's own, counted: for the reports of what did not match.
    X509 *certificates[SIGNET_CHAIN_LIMIT];
    STACK_OF(X509) *served;  // as the server sent them, or NULL
};

// The digests that one transfer wants.
typedef struct signet_wanted {
    size_t references;
    bool is_enforced;
    size_t count;
    uint8_t digests[][32];
} signet_wanted;

// What one handshake saw; shared by the SSL_CTX and the transfer that began it, so that neither
// ever looks at the other's memory.
typedef struct signet_handshake {
    size_t references;
    signet_wanted *wanted;
    signet_chain *chain;  // verified, or sent where it is not trusted
    bool is_untrusted;
    bool mismatched;
    bool is_proxys;
    signet_traffic traffic;  // of the connection that it began
} signet_handshake;

void signet_chain_retain(signet_chain *chain);
void signet_chain_release(signet_chain *chain);
bool signet_chain_matches(const signet_chain *chain, const signet_wanted *wanted);

signet_wanted *signet_wanted_new(const uint8_t *digests, size_t count, bool is_enforced);
void signet_wanted_release(signet_wanted *wanted);

signet_handshake *signet_handshake_new(signet_wanted *wanted);
void signet_handshake_release(signet_handshake *handshake);

// Registers the places for ex_data, once per process.
bool signet_chain_start(void);
// The handshake that a connection began with, not counted; NULL if nothing was attached to its context.
signet_handshake *signet_handshake_of(SSL *ssl);
// Makes a context keep what it verifies. Takes a reference of its own.
bool signet_handshake_attach(signet_handshake *handshake, SSL_CTX *context);
// The chain that was verified when this connection, or the session that it resumes, was made. NULL
// where there is none: never a chain that was merely sent.
signet_chain *signet_chain_of(SSL *ssl);

#endif
