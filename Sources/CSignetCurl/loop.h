#ifndef SIGNET_LOOP_H
#define SIGNET_LOOP_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "CSignetCurl.h"
#include "chain.h"

// The flow of bytes over one connection that calls share; see flow.c.
typedef struct {
    SSL *ssl;  // of a connection over HTTP/2; NULL for others
    int64_t unread;  // bytes of bodies that arrived and that no caller has taken
    bool is_stopped;  // the socket is not read
    int64_t stopped_since;
    unsigned slow;  // transfers with counted bytes
    uint64_t crowded_origin;  // 0: the connection takes new calls
    bool is_second;  // its origin's calls went to the second set of connections
    int64_t stuck_until;  // no attempt to write before, in monotonic milliseconds; 0: not stuck
    int stuck_pause;
} signet_flow;

struct signet_loop {
    CURLM *multi;
    CURLSH *share;
    CURLSH *second;  // has a set of connections of its own; for calls that avoid crowded ones
    int epoll;
    int wake;  // -1 once closed
    pthread_mutex_t wake_lock;  // so that nobody writes to a number that is another's by now
    int64_t timer;  // monotonic milliseconds; -1: none
    char *ca_file;
    int ca_descriptor;  // of a file in memory that ca_file leads to, or -1
    bool http2;
    atomic_bool waiting;

    // What a watching thread looks at.
    pthread_mutex_t lock;
    pthread_cond_t gate;
    bool gate_open;
    int64_t busy_since;    // monotonic milliseconds; 0: not in libcurl
    int64_t shut_since;    // the busy_since for which a socket was shut down
    curl_socket_t busy_on;  // the socket that libcurl was called for, or -1
    curl_socket_t last_opened;

    // What epoll was told of each descriptor, and what libcurl wants of it now (EPOLLIN, EPOLLOUT).
    // libcurl lets a connection's socket go after each reply and takes it up for the next request;
    // epoll is told only when one that nobody wants has news. Descriptors that libcurl makes and
    // closes by itself, such as its resolver's, are not known by their closing: no such delay there.
    struct {
        uint8_t told, wanted;
        bool is_connection;
        uint64_t name;  // see route.c; 0: not asked for yet, or not connected
        signet_transfer *carries;  // the transfer whose cleartext bytes are counted here, or NULL
        signet_flow flow;
    } *sockets;
    size_t socket_count;

    signet_transfer *flow_first;  // the transfers whose requests have begun
    size_t counted;  // those of them whose unread bytes are counted
    size_t crowded;  // connections that take no new calls
    int64_t flow_due;  // when to look at them, in monotonic milliseconds; 0: never
    _Atomic uint64_t calls;  // of libcurl by signet_loop_step

    // Calls that begin at once over one connection go out in few packets instead of one each: its socket
    // holds them back (TCP_CORK) until libcurl has begun them all. One connection at a time.
    unsigned beginning;  // calls that libcurl has been given since it last began any
    bool may_cork;
    curl_socket_t corked;  // or -1

    signet_transfer *ready_first, *ready_last;
    signet_transfer *spare;
    bool was_short;  // of descriptors, when the last connection was closed
    size_t spare_count;
};

struct signet_transfer {
    CURL *easy;
    signet_loop *loop;
    uint64_t identifier;
    signet_transfer *next;
    bool is_ready, is_started, is_done, is_paused, is_secure, is_probe, is_sent, has_head;
    bool is_reused;      // the connection of the last request had been used before
    bool was_retried;    // libcurl has sent the request more than once
    bool was_repeated;   // signet_transfer_repeat has been used up
    bool is_dropped;     // it was given up: what libcurl has stored of its body goes nowhere
    bool hears_errors;   // when the request left, libcurl's error text was empty
    curl_socket_t opened;  // the last socket that libcurl opened for it since its last request, or -1
    bool lacks_resources;  // the system gave no descriptor or memory for a socket
    CURLcode code;
    signet_refusal refusal;

    uint8_t *request_body;
    struct {
        size_t count, head_count;  // of the body that is held whole, and about of the header
    } sent_body;
    bool is_repeatable, was_http2;
    struct {
        bool is_used, is_tls;
        bool is_passed;      // the way to the origin is open: its handshake or request has begun
        unsigned handshakes;  // on this connection, the proxy's own counted
        size_t head_total;
        long sent;  // to it, or on a connection that died: no byte of the request on this one
    } proxy;
    int64_t started, tunnelled;  // monotonic microseconds; 0: not yet
    int64_t lost;  // microseconds of an attempt before this one
    struct {
        int64_t deadline;     // monotonic milliseconds
        long limit, connect;  // milliseconds; `limit` counts from the last attempt's start
    } time;
    struct {
        bool is_streamed, is_replayable, is_ended, is_wanted, is_paused, restarts;
        int64_t length;  // -1: not known
        uint8_t *bytes;
        size_t count, room, taken;
        bool was_taken_from;  // since the first byte
    } upload;
    struct curl_slist *fields, *connect_to;
    char *field_bytes, *connect_to_bytes;

    uint8_t *head;
    size_t head_count, head_room, head_total, head_limit;
    int field_count, field_limit;
    bool is_head, ends_with_connection;  // the request's method; how the response's body ends
    uint8_t *body;
    size_t body_count, body_room, body_taken;
    bool is_flushing;  // libcurl hands over what it stored while the transfer was paused
    uint64_t body_total, body_limit;

    struct {
        signet_transfer *next, *previous;
        curl_socket_t socket;  // of a connection over HTTP/2, or -1
        uint64_t origin;
        bool is_member, is_counted, is_second;
        bool is_timed;  // its deadline is kept by the flow, not by libcurl
        int64_t unread, taken, taken_at;
        curl_socket_t watched;  // that libcurl last had watched for this transfer
        bool has_stopped_reading;  // HTTP/1: libcurl has read the response to its end
        int64_t early_since, early_sent;  // when the upload last moved after the response's end
    } flow;

    signet_wanted *wanted;
    signet_handshake *handshake;
    signet_chain *chain;
    // What the request goes over: with TLS the handshake that began it. `traffic` is that connection's, or
    // `cleartext`, and NULL before a request.
    signet_handshake *connection;
    signet_traffic *traffic, cleartext;
    uint64_t received_before;  // by the socket, when the request began
    curl_socket_t socket;  // that is counted without TLS; 0: none
    bool is_stream;  // one of the connection's HTTP/2 streams
    char error[CURL_ERROR_SIZE];
};

// For setting options of `easy`.
#define SET(option, value) (curl_easy_setopt(easy, option, value) == CURLE_OK)

#define BODY_ROOM ((size_t)64 << 10)
// libcurl takes this buffer anew for each request that it encrypts, for the request's header too. Its
// own default of 64 KiB is what makes the C library give memory back to the system, and ask for it
// again, with every call.
#define HEAD_BUFFER 16384L
#define UPLOAD_BUFFER 65536L

bool signet_transfer_close(signet_transfer *transfer);
// What stays with a handle from call to call, the functions that libcurl calls among it.
bool signet_transfer_set_once(signet_transfer *transfer) SIGNET_MUST_CHECK;
// Adds bytes to a buffer that grows. False where memory ran out.
bool signet_append(
    uint8_t **bytes, size_t *count, size_t *room, const void *more, size_t more_count)
    SIGNET_MUST_CHECK;
int64_t signet_now_microseconds(void);
// A number of bytes, or a time in microseconds since libcurl began the last attempt; 0 if it is not known.
int64_t signet_transfer_number(const signet_transfer *transfer, CURLINFO what);
// A descriptor begins or ends as a connection's socket; epoll knows nothing of it then.
// Under the lock.
void signet_loop_note_socket(signet_loop *loop, curl_socket_t socket, bool is_connection);
// Between them libcurl is at work, on a socket or on none that is known (-1), and is watched.
void signet_loop_enter(signet_loop *loop, curl_socket_t socket);
void signet_loop_leave(signet_loop *loop);
// The way that a request is about to take: what libcurl tells a CURLOPT_PREREQFUNCTION of its connection.
typedef struct {
    SSL *ssl;  // the origin's; NULL over cleartext
    bool is_http2;
    const char *remote_address, *local_address;
    int local_port;
    curl_socket_t opened;  // for this transfer, or -1
} signet_route;

// Sets the close-on-exec flag of the two sockets that curl_multi_init makes without it.
void signet_close_wakeups_on_exec(CURLM *multi);
// Registers a place for ex_data, once per process.
bool signet_route_start(void);
// The socket that a route goes over, or -1.
curl_socket_t signet_route_socket(signet_loop *loop, const signet_route *route);
// The next socket behind `after` (-1: the first) that may be the route's, or -1: two connections from one
// port to two ports of one address can't be told apart.
curl_socket_t signet_route_next_socket(
    signet_loop *loop, const signet_route *route, curl_socket_t after);
// Whether a connection that was used before can carry another request. If not, it's shut down.
bool signet_route_is_usable(signet_loop *loop, const signet_route *route);
// A request is about to leave over HTTP/2 on this socket, which may be -1.
void signet_loop_cork(signet_loop *loop, curl_socket_t socket);
// If the transfer that has just ended may run once more on a new connection, starts it again.
bool signet_transfer_repeat(signet_transfer *transfer);
// Goes back to the first byte of the request's body. False if the body can't be read again.
bool signet_transfer_rewind_upload(signet_transfer *transfer);
// A request is about to leave. The transfer leaves the connection that it had joined before.
void signet_connection_join(signet_transfer *transfer, const signet_route *route);
void signet_connection_leave(signet_transfer *transfer);
// Compares what a cleartext connection has received with what was handed on, and shuts it down if it is
// flooded.
void signet_connection_look(signet_loop *loop, curl_socket_t socket);
bool signet_transfer_is_flooded(const signet_transfer *transfer);
// Whether the response's body ended with a TLS connection that its peer didn't close: anybody may have
// cut it off.
bool signet_transfer_is_cut(const signet_transfer *transfer);
bool signet_loop_lacks_descriptors(const signet_loop *loop);
// Tells epoll which events of a socket are of use now.
void signet_loop_tell_epoll(signet_loop *loop, curl_socket_t socket);
void signet_transfer_make_ready(signet_transfer *transfer);

// --- The flow of bytes (flow.c) --------------------------------------------------------------

// A transfer's request begins on a connection; `ssl` and `socket` are NULL and -1 for HTTP/1.
void signet_flow_join(signet_transfer *transfer, SSL *ssl, curl_socket_t socket);
void signet_flow_leave(signet_transfer *transfer);
// A socket begins or ends.
void signet_flow_forget(signet_loop *loop, curl_socket_t socket);
// The events of a socket that epoll is asked for.
uint8_t signet_flow_events(const signet_flow *flow, uint8_t wanted);
// A transfer was paused because its caller does not read. Its unread bytes are counted from now on, and the
// flow ends it at its deadline.
void signet_flow_count(signet_transfer *transfer);
// It goes on: libcurl keeps its deadline again. False if libcurl has no memory.
bool signet_flow_resume(signet_transfer *transfer);
// A transfer's caller took bytes of the body.
void signet_flow_took(signet_transfer *transfer, size_t count);
// Chooses connections for a call that begins.
bool signet_flow_choose(signet_transfer *transfer) SIGNET_MUST_CHECK;
// Before and after libcurl is called for a socket's events.
void signet_flow_before(
    signet_loop *loop, curl_socket_t socket, uint8_t wanted, int *mask, uint64_t *written);
void signet_flow_after(signet_loop *loop, curl_socket_t socket, int mask, uint64_t written);
// Lets libcurl write to a socket again.
void signet_flow_unstick(signet_loop *loop, curl_socket_t socket);
// libcurl has said, for a transfer, what it wants of a socket.
void signet_flow_note_reading(signet_transfer *transfer, curl_socket_t socket);
// Whether every byte of the response's body has arrived and was taken.
bool signet_flow_response_is_whole(const signet_transfer *transfer);
// Returns the wait until the flow needs its next look, in milliseconds, at most `timeout`.
int signet_flow_timeout(const signet_loop *loop, int timeout);
// Counts the unread bytes and does what is due. The loop calls it in each step.
void signet_flow_step(signet_loop *loop);

#endif
