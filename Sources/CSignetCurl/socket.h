#ifndef SIGNET_CURL_SOCKET_H
#define SIGNET_CURL_SOCKET_H

#include "state.h"

// The sockets of a loop (socket.c), and the thread that watches it (watch.c).

// Makes room for a socket in `sockets`. Under the lock.
bool signet_loop_make_room(signet_loop *loop, curl_socket_t socket) SIGNET_MUST_CHECK;
// Notes that a descriptor was opened as a connection's socket, or closed. Under the lock.
void signet_loop_note_socket(signet_loop *loop, curl_socket_t socket, bool is_connection);
// Registers the events of a socket with epoll, without those that flow.c suspends.
void signet_loop_update_epoll(signet_loop *loop, curl_socket_t socket);
// Delays a socket's packets (TCP_CORK) until signet_loop_uncork, if more than one call starts. The
// socket may be -1.
void signet_loop_cork(signet_loop *loop, curl_socket_t socket);
void signet_loop_uncork(signet_loop *loop);
// Returns a new set of connections, or NULL if memory ran out.
CURLSH *signet_loop_new_set(void);
// Whether the process has no descriptor left, so that names can't be resolved and files not read.
bool signet_loop_lacks_descriptors(const signet_loop *loop);

// Between these two calls libcurl runs, on a socket or on an unknown one (-1), and is watched.
void signet_loop_enter(signet_loop *loop, curl_socket_t socket);
void signet_loop_leave(signet_loop *loop);

#endif
