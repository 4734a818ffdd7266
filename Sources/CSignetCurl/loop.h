#ifndef SIGNET_LOOP_H
#define SIGNET_LOOP_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "CSignetCurl.h"
#include "chain.h"

// The flow of bytes over one connection that calls share; see flow.c.
typedef struct {
    SSL *ssl;  // of an HTTP/2 connection; NULL for others
    int64_t unread;  // bytes of bodies that arrived and that no caller has read
    bool is_stopped;  // the socket is not read
    int64_t stopped_since;
    unsigned slow;  // the number of transfers with counted bytes
    uint64_t crowded_origin;  // 0: the connection takes new calls
    bool is_second;  // the connection belongs to the second set
    int64_t stuck_until;  // no write is tried before this time, in monotonic milliseconds; 0: not stuck
    int stuck_pause;
} signet_flow;

struct signet_loop {
    CURLM *multi;
    CURLSH *share;
    CURLSH *second;  // a second set of connections, for calls that avoid crowded ones
    int epoll;
    int wake;  // -1 after it was closed
    pthread_mutex_t wake_lock;  // so that no thread writes to a descriptor that was reused
    int64_t timer;  // monotonic milliseconds; -1: none
    char *ca_file;
    int ca_descriptor;  // of the file in memory that ca_file names, or -1
    bool http2;
    long idle_seconds, dns_seconds;
    atomic_bool waiting;

    // For the watching thread, under the lock.
    pthread_mutex_t lock;
    pthread_cond_t gate;
    bool gate_open;
    int64_t busy_since;    // monotonic milliseconds; 0: libcurl isn't running
    int64_t shut_since;    // the busy_since for which a socket was shut down
    curl_socket_t busy_on;  // the socket that libcurl handles, or -1
    curl_socket_t last_opened;

    // The events (EPOLLIN, EPOLLOUT) of each descriptor that are registered with epoll, and those
    // that libcurl wants. libcurl removes a connection's socket after each response and adds it for
    // the next request, so a removed socket stays registered until it has an event. Descriptors
    // that libcurl closes itself, such as its resolver's, are unregistered at once, because their
    // closing isn't noticed.
    struct {
        uint8_t registered, wanted;
        bool is_connection;
        uint64_t name;  // see route.c; 0: not known yet, or not connected
        signet_transfer *carries;  // the transfer whose cleartext bytes are counted here, or NULL
        signet_flow flow;
    } *sockets;
    size_t socket_count;

    LIST_HEAD(, signet_transfer) flowing;  // the transfers whose requests have started
    size_t counted;  // the number of those whose unread bytes are counted
    size_t crowded;  // the number of connections that take no new calls
    int64_t flow_due;  // the time of the next check, in monotonic milliseconds; 0: never
    _Atomic uint64_t calls;  // how often signet_loop_step has called libcurl
    uint64_t steps;  // calls of signet_loop_step

    // Calls that start together over one connection are sent in few packets instead of one each:
    // TCP_CORK delays the connection's packets until libcurl has started all calls. One connection
    // at a time.
    unsigned starting;  // calls that were added to libcurl since the last step
    bool may_cork;
    curl_socket_t corked;  // or -1

    TAILQ_HEAD(, signet_transfer) ready;  // the transfers with news
    signet_transfer *spare;
    bool was_short;  // no descriptor was left when the last connection was closed
    size_t spare_count;
};

// Bytes that grow.
typedef struct {
    uint8_t *bytes;
    size_t count, room;
} signet_buffer;

struct signet_transfer {
    CURL *easy;
    signet_loop *loop;
    uint64_t identifier;
    TAILQ_ENTRY(signet_transfer) ready;  // in the list of those with news
    signet_transfer *next;  // in the list of the spare ones
    bool is_ready, is_started, is_done, is_paused, is_secure, is_probe, is_sent, has_head;
    bool is_reused;      // the connection of the last request had been used before
    bool was_retried;    // libcurl has sent the request more than once
    bool was_repeated;   // signet_transfer_repeat has been used
    bool is_dropped;     // it was released: its body is discarded
    bool hears_errors;   // libcurl's error text was empty when the request was sent
    curl_socket_t opened;  // the last socket that libcurl opened for it since its last request, or -1
    bool lacks_resources;  // the system had no descriptor or memory for a socket
    CURLcode code;
    signet_refusal refusal;

    struct {
        size_t count, head_count;  // of a body that isn't streamed, and approximately of the header
    } sent_body;
    bool is_repeatable, was_http2;
    struct {
        bool is_used, is_tls;
        bool is_passed;      // the proxy has connected to the origin: its handshake or request has started
        unsigned handshakes;  // on this connection, including the proxy's own
        size_t head_total;
        long sent;  // bytes to the proxy, or on an earlier connection, that aren't this request's
    } proxy;
    int64_t started, tunnelled;  // monotonic microseconds; 0: not yet
    int64_t lost;  // microseconds of earlier attempts
    struct {
        int64_t deadline;     // monotonic milliseconds
        long limit, connect;  // milliseconds; `limit` is measured from the start of the last attempt
    } time;
    struct {
        bool is_streamed, is_replayable, is_ended, is_wanted, is_paused, restarts;
        int64_t length;  // -1: unknown
        signet_buffer piece;
        size_t taken;
        bool was_taken_from;  // since the last restart
        bool has_trailers, has_ended;  // libcurl has read the body's end
        signet_buffer trailers;  // field lines, each ended by a zero byte
    } upload;
    struct curl_slist *fields, *connect_to;

    signet_buffer head, trailers;  // the lines of the response's header and of its trailers
    size_t head_total, head_limit;
    int field_count, field_limit;
    bool is_head, ends_with_connection;  // the request's method; how the response's body ends
    signet_buffer body;
    size_t body_taken;
    bool is_flushing;  // libcurl delivers what it stored while the transfer was paused
    uint64_t body_total, body_limit;

    struct {
        LIST_ENTRY(signet_transfer) list;
        curl_socket_t socket;  // of an HTTP/2 connection, or -1
        uint64_t origin;  // a hash of the URL's scheme, host and port
        bool is_member, is_counted, is_second;
        bool is_timed;  // flow.c watches the deadline instead of libcurl
        int64_t unread, taken, taken_at;
        curl_socket_t watched;  // the socket that libcurl last watched for this transfer
        bool has_stopped_reading;  // HTTP/1: libcurl has read the response to its end
        int64_t early_since, early_sent;  // when the upload last moved after the response's end
    } flow;

    signet_wanted *wanted;
    signet_handshake *handshake;
    signet_chain *chain;
    // The connection of the request, identified by its TLS handshake. `traffic` is that
    // connection's, or `cleartext`, or NULL before a request.
    signet_handshake *connection;
    signet_traffic *traffic, cleartext;
    signet_traffic *outer;  // over HTTP/2: of the TLS next to the socket, an HTTPS proxy's or the connection's
    uint64_t received_before;  // bytes that the socket had received when the request started
    curl_socket_t socket;  // the cleartext socket whose bytes are counted; 0: none
    bool is_stream;  // the request is an HTTP/2 stream
    char error[CURL_ERROR_SIZE];
};

// Sets an option of `easy`.
#define SET(option, value) (curl_easy_setopt(easy, option, value) == CURLE_OK)

#define BODY_ROOM ((size_t)64 << 10)
// libcurl allocates this buffer for each request that it encrypts, even for its header alone. With
// its default of 64 KiB, the C library returns memory to the system and requests it again in every
// call.
#define HEAD_BUFFER 16384L
#define UPLOAD_BUFFER 65536L
// A decompressed header of 64 KiB (`maximumHeaderSize`), and 56 KiB of records that other calls
// read for this one; see signet_traffic_pace. From 128 KiB on, the C library would map it again for
// each call.
#define RESPONSE_BUFFER 122880L

// --- The system (system.c) -------------------------------------------------------------------

// Adds bytes to a buffer. Returns false if memory ran out.
bool signet_append(signet_buffer *buffer, const void *bytes, size_t count) SIGNET_MUST_CHECK;
// The monotonic clock in microseconds.
int64_t signet_now_microseconds(void);

// FNV-1a with 64 bits.
#define HASH_START 0xcbf29ce484222325u
static inline uint64_t signet_hash_add(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x100000001b3u;
}
static inline uint64_t signet_hash_text(uint64_t hash, const char *text) {
    for (; *text; text++) hash = signet_hash_add(hash, (uint8_t)*text);
    return hash;
}

// --- Transfers (transfer.c, callbacks.c, repeat.c, ready.c, timings.c) -----------------------

void signet_transfer_close(signet_transfer *transfer);
// Sets the options that a handle keeps for all calls, among them libcurl's callbacks.
bool signet_transfer_set_once(signet_transfer *transfer) SIGNET_MUST_CHECK;
// Returns a number of bytes, or a time in microseconds since the last attempt's start; 0 if it is
// unknown.
int64_t signet_transfer_number(const signet_transfer *transfer, CURLINFO what);
// If a transfer that has just ended may be sent once more on a new connection, starts it again.
bool signet_transfer_repeat(signet_transfer *transfer);
// Returns to the first byte of the request's body. Returns false if the body can't be read again.
bool signet_transfer_rewind_upload(signet_transfer *transfer);
// Empties the buffer of the response's body, and frees it if it is large.
void signet_transfer_empty_body(signet_transfer *transfer);
// Adds a transfer to the list of those with news, or removes it.
void signet_transfer_make_ready(signet_transfer *transfer);
void signet_transfer_make_unready(signet_transfer *transfer);

// --- CA files (trust.c) ----------------------------------------------------------------------

#define SIGNET_TRUST_PATH 64
// Writes the path by which this process can open a descriptor's file again into `path`, and returns
// it.
const char *signet_trust_path(int descriptor, char path[SIGNET_TRUST_PATH]);

// --- A response's framing (framing.c) --------------------------------------------------------

// Checks Content-Length and Transfer-Encoding in a final response's header (RFC 9112, section 6.3).
// Returns SIGNET_NO_REFUSAL, SIGNET_BAD_LENGTH or SIGNET_BAD_CODING. Sets `ends_with_connection` if
// the end of the connection is the end of the body.
signet_refusal signet_framing_read(
    const uint8_t *head, size_t count, bool is_head, bool *ends_with_connection) SIGNET_MUST_CHECK;

// --- Sockets (socket.c) ----------------------------------------------------------------------

// Makes room for a socket in `sockets`. Under the lock.
bool signet_loop_make_room(signet_loop *loop, curl_socket_t socket) SIGNET_MUST_CHECK;
// Notes that a descriptor becomes a connection's socket, or ends. Under the lock.
void signet_loop_note_socket(signet_loop *loop, curl_socket_t socket, bool is_connection);
// Registers the events of a socket that are of use now with epoll.
void signet_loop_update_epoll(signet_loop *loop, curl_socket_t socket);
// Delays a socket's packets (TCP_CORK) until signet_loop_uncork, if more than one call starts. The
// socket may be -1.
void signet_loop_cork(signet_loop *loop, curl_socket_t socket);
void signet_loop_uncork(signet_loop *loop);
// Whether the process has no descriptor left, so that names can't be resolved and files not read.
bool signet_loop_lacks_descriptors(const signet_loop *loop);
// Sets the close-on-exec flag of the two sockets that curl_multi_init creates without it
// (wakeup.c).
void signet_close_wakeups_on_exec(CURLM *multi);

// --- The watching thread (watch.c) -----------------------------------------------------------

// Between these two calls libcurl runs, on a socket or on an unknown one (-1), and is watched.
void signet_loop_enter(signet_loop *loop, curl_socket_t socket);
void signet_loop_leave(signet_loop *loop);

// --- Routes (route.c) ------------------------------------------------------------------------

// The part of the next request's connection that libcurl passes to a CURLOPT_PREREQFUNCTION.
typedef struct {
    SSL *ssl;  // the origin's; NULL over cleartext
    bool is_http2;
    const char *remote_address, *local_address;
    int local_port;
    curl_socket_t opened;  // for this transfer, or -1
} signet_route;

// Registers a place for ex_data, once per process.
bool signet_route_start(void);
// Returns the socket of a route, or -1.
curl_socket_t signet_route_socket(signet_loop *loop, const signet_route *route);
// Returns the next socket after `after` (-1: the first) that may be the route's, or -1. Two
// connections from one port to two ports of one address look the same.
curl_socket_t signet_route_next_socket(
    signet_loop *loop, const signet_route *route, curl_socket_t after);
// Whether a connection that was used before can carry another request. If not, shuts it down.
bool signet_route_is_usable(signet_loop *loop, const signet_route *route);

// --- Connections (connection.c) --------------------------------------------------------------

// A request is about to be sent. The transfer leaves the connection that it had joined before.
void signet_connection_join(signet_transfer *transfer, const signet_route *route);
void signet_connection_leave(signet_transfer *transfer);
// Compares what a cleartext connection has received with what libcurl delivered, and shuts it down
// if it is flooded.
void signet_connection_check_flood(signet_loop *loop, curl_socket_t socket);
bool signet_transfer_is_flooded(const signet_transfer *transfer);
// Whether the response's body ended with a TLS connection without a close_notify, so that an
// attacker may have cut it off.
bool signet_transfer_is_cut(const signet_transfer *transfer);

// --- The flow of bytes (flow.c) --------------------------------------------------------------

// A transfer's request starts on a connection; `ssl` and `socket` are NULL and -1 for HTTP/1.
void signet_flow_join(signet_transfer *transfer, SSL *ssl, curl_socket_t socket);
void signet_flow_leave(signet_transfer *transfer);
// A socket was opened or closed.
void signet_flow_forget(signet_loop *loop, curl_socket_t socket);
// A transfer was paused because its caller doesn't read. From now on its unread bytes are counted,
// and flow.c ends it at its deadline.
void signet_flow_count(signet_transfer *transfer);
// A transfer continues: libcurl watches its deadline again. Returns false if libcurl has no memory.
bool signet_flow_resume(signet_transfer *transfer);
// A transfer's caller read bytes of the body.
void signet_flow_note_taken(signet_transfer *transfer, size_t count);
// Chooses the set of connections for a call that starts.
bool signet_flow_choose(signet_transfer *transfer) SIGNET_MUST_CHECK;
// To be called before and after libcurl handles a socket's events.
void signet_flow_before(
    signet_loop *loop, curl_socket_t socket, uint8_t wanted, int *mask, uint64_t *written);
void signet_flow_after(signet_loop *loop, curl_socket_t socket, int mask, uint64_t written);
// Lets libcurl write to a socket again.
void signet_flow_unstick(signet_loop *loop, curl_socket_t socket);
// libcurl has changed which events of a socket it watches for a transfer.
void signet_flow_note_reading(signet_transfer *transfer, curl_socket_t socket);
// Whether every byte of the response's body has arrived and was read.
bool signet_flow_response_is_whole(const signet_transfer *transfer);
// Returns the time until the next check, in milliseconds, at most `timeout`.
int signet_flow_timeout(const signet_loop *loop, int timeout);
// Counts the unread bytes and performs the checks that are due. The loop calls it in each step.
void signet_flow_step(signet_loop *loop);

#endif
