// How a response says where its body ends.
#ifndef SIGNET_FRAMING_H
#define SIGNET_FRAMING_H

#include "CSignetCurl.h"

// Reads Content-Length and Transfer-Encoding of a final response's start line and fields (RFC 9112,
// section 6.3). Returns SIGNET_NO_REFUSAL, SIGNET_BAD_LENGTH or SIGNET_BAD_CODING. `ends_with_connection`
// is set if neither field is there and HTTP/1 has no other end for a body.
signet_refusal signet_framing_read(
    const uint8_t *head, size_t count, bool is_head, bool *ends_with_connection) SIGNET_MUST_CHECK;

#endif
