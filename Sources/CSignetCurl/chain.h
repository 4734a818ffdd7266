// Certificate chains, and how they are stored with TLS connections and sessions.
#ifndef SIGNET_CURL_CHAIN_H
#define SIGNET_CURL_CHAIN_H

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "CSignetCurl.h"
#include "traffic.h"

#define SIGNET_CHAIN_LIMIT 16
#define SIGNET_PROBLEM_LIMIT 1024

// A canonical name or address (IPv6 without brackets), which has at most 253 characters. Empty: no
// host.
typedef char signet_host[256];

// A chain. It has a reference count and doesn't change. All counting is done on the loop's thread.
struct signet_chain {
    size_t references;
    uint64_t identifier;
    bool is_of_proxy;  // of an HTTPS proxy; never used as an origin's
    uint64_t trust;  // the identifier of what it was verified with
    signet_host host;  // the host that the leaf was last found to be for
    size_t count;
    uint8_t digests[SIGNET_CHAIN_LIMIT][32];
    char *subjects[SIGNET_CHAIN_LIMIT];
    X509 *certificates[SIGNET_CHAIN_LIMIT];  // for reports
    STACK_OF(X509) *served;  // as the server sent them, or NULL
};

// The pinned digests of a transfer.
typedef struct signet_pins {
    size_t references;
    bool is_enforced;
    size_t count;
    uint8_t digests[][32];
} signet_pins;

// The state of a handshake. The SSL_CTX and the transfer that started it each have a reference,
// because either may end first.
typedef struct signet_handshake {
    size_t references;
    signet_pins *pins;
    signet_chain *chain;  // verified, or as sent if it isn't trusted
    signet_host host;  // the host that the handshake is with
    bool is_untrusted;
    char problem[SIGNET_PROBLEM_LIMIT];  // see problem.c
    bool is_misnamed;  // the chain is verified, and its leaf is for other hosts
    bool mismatched;
    bool is_of_proxy;
    uint64_t trust;  // the identifier of its signet_trust; 0 for an HTTPS proxy's
    bool was_asked;  // the server asked for a certificate
    int (*store_session)(SSL *, SSL_SESSION *);  // libcurl's; returns 1 if it keeps the session
    int alert;  // the last fatal alert that the server sent, or -1
    struct signet_handshake *proxys;  // of the TLS around this one, to an HTTPS proxy; or NULL
    signet_traffic traffic;  // of the connection that it started
} signet_handshake;

// Says which certificate made the verification fail, and why; empty if OpenSSL's text says it.
void signet_describe_problem(X509_STORE_CTX *store, char text[SIGNET_PROBLEM_LIMIT]);

void signet_chain_retain(signet_chain *chain);
void signet_chain_release(signet_chain *chain);
// Whether the leaf of a verified chain is for a host, by its subjectAltName alone (RFC 9525). Its
// common name, which libcurl's own check may use, doesn't count.
bool signet_chain_names(signet_chain *chain, const signet_host host);
bool signet_chain_matches(const signet_chain *chain, const signet_pins *pins);

signet_pins *signet_pins_new(const uint8_t *digests, size_t count, bool is_enforced);
void signet_pins_release(signet_pins *pins);

signet_handshake *signet_handshake_new(signet_pins *pins, const signet_host host);
void signet_handshake_release(signet_handshake *handshake);

// Registers the places for ex_data, once per process.
bool signet_chain_start(void);
// Returns the handshake of a connection without a new reference; NULL if none is attached to its
// context.
signet_handshake *signet_handshake_of(SSL *ssl);
// Makes a context store its verified chain in a handshake, with a reference of its own.
bool signet_handshake_attach(signet_handshake *handshake, SSL_CTX *context);
// Returns the chain that was verified when this connection, or the session that it resumes, was
// created. Returns NULL if no chain was verified, even if the server sent one.
signet_chain *signet_chain_of(SSL *ssl);

#endif
