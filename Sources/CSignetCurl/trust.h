#ifndef SIGNET_CURL_TRUST_H
#define SIGNET_CURL_TRUST_H

#include <openssl/ssl.h>

#include "CSignetCurl.h"

// What a handshake trusts and shows (trust.c).

// Text for CURLOPT_CAPATH, by which libcurl keeps the connections and TLS sessions of trusts apart.
const char *signet_trust_label(const signet_trust *trust);
uint64_t signet_trust_identifier(const signet_trust *trust);
// Sets the CAs, and the certificate with its key.
bool signet_trust_apply(const signet_trust *trust, SSL_CTX *context) SIGNET_MUST_CHECK;

#endif
