#ifndef SIGNET_CURL_FRAMING_H
#define SIGNET_CURL_FRAMING_H

#include "CSignetCurl.h"

// The framing of a response (framing.c).

// Checks Content-Length and Transfer-Encoding in a final response's header (RFC 9112, section 6.3).
// Returns SIGNET_NO_REFUSAL, SIGNET_BAD_LENGTH or SIGNET_BAD_CODING. Sets `ends_with_connection` if
// the end of the connection is the end of the body, and `is_bodyless` if there is no body, whatever
// the fields say.
signet_refusal signet_framing_read(
    const uint8_t *head, size_t count, bool is_head, bool *ends_with_connection,
    bool *is_bodyless) SIGNET_MUST_CHECK;

#endif
