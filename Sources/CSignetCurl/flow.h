#ifndef SIGNET_CURL_FLOW_H
#define SIGNET_CURL_FLOW_H

#include "state.h"

// Limits for unread bodies and for uploads (flow.c).

// Notes that a transfer's request starts on a connection. `ssl` and `socket` are NULL and -1 for
// HTTP/1.
void signet_flow_join(signet_transfer *transfer, SSL *ssl, curl_socket_t socket);
void signet_flow_leave(signet_transfer *transfer);
// Forgets the state of a socket that was opened or closed.
void signet_flow_forget(signet_loop *loop, curl_socket_t socket);
// Notes that a transfer was paused because its caller doesn't read. From now on its unread bytes
// are counted, and flow.c ends it at its deadline.
void signet_flow_count(signet_transfer *transfer);
// Notes that a paused transfer continues, and lets libcurl watch its deadline again. Returns false
// if libcurl has no memory.
bool signet_flow_resume(signet_transfer *transfer);
// Notes that a transfer's caller read bytes of the body.
void signet_flow_note_taken(signet_transfer *transfer, size_t count);
// Chooses the set of connections for a call that starts.
bool signet_flow_choose(signet_transfer *transfer) SIGNET_MUST_CHECK;
// To be called before and after libcurl handles a socket's events.
void signet_flow_before(
    signet_loop *loop, curl_socket_t socket, uint8_t wanted, int *mask, uint64_t *written);
void signet_flow_after(signet_loop *loop, curl_socket_t socket, int mask, uint64_t written);
// Lets libcurl write to a socket again.
void signet_flow_unstick(signet_loop *loop, curl_socket_t socket);
// Notes that libcurl has changed which events of a socket it watches for a transfer.
void signet_flow_note_reading(signet_transfer *transfer, curl_socket_t socket);
// Whether every byte of the response's body has arrived and was read.
bool signet_flow_response_is_whole(const signet_transfer *transfer);
// Whether the whole response has arrived by its length, even if the caller hasn't read all of it.
bool signet_flow_response_is_complete(const signet_transfer *transfer);
// Returns the time until the next check, in milliseconds, at most `timeout`.
int signet_flow_timeout(const signet_loop *loop, int timeout);
// Counts the unread bytes and performs the checks that are due. The loop calls it in each step.
void signet_flow_step(signet_loop *loop);

#endif
