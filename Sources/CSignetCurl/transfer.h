#ifndef SIGNET_CURL_TRANSFER_H
#define SIGNET_CURL_TRANSFER_H

#include "state.h"

// Transfers (transfer.c, callbacks.c, repeat.c, ready.c, timings.c).

void signet_transfer_close(signet_transfer *transfer);
// Sets the options that a handle keeps for all calls, among them libcurl's callbacks.
bool signet_transfer_set_once(signet_transfer *transfer) SIGNET_MUST_CHECK;
// Returns a number of bytes, or a time in microseconds since the last attempt's start; 0 if it is
// unknown.
int64_t signet_transfer_number(const signet_transfer *transfer, CURLINFO what);
// If a transfer that has just ended may be sent once more on a new connection, starts it again.
bool signet_transfer_repeat(signet_transfer *transfer);
// Whether a request may be sent once more after a 421, on a new connection.
bool signet_transfer_may_ask_again(const signet_transfer *transfer);
// Returns to the first byte of the request's body. Returns false if the body can't be read again.
bool signet_transfer_rewind_upload(signet_transfer *transfer);
// Empties the buffer of the response's body, and frees it if it is large.
void signet_transfer_empty_body(signet_transfer *transfer);
// Adds a transfer to the list of those with news, or removes it.
void signet_transfer_make_ready(signet_transfer *transfer);
void signet_transfer_make_unready(signet_transfer *transfer);

#endif
