#ifndef SIGNET_CURL_STATE_H
#define SIGNET_CURL_STATE_H

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
    unsigned set;  // the set that the connection belongs to
    int64_t stuck_until;  // monotonic milliseconds; no write is tried before; 0: not stuck
    int stuck_pause;  // the length of the current pause, in milliseconds
} signet_flow;

// libcurl chooses any connection of a set, so a set with a crowded one is avoided as a whole.
#define OTHER_SETS 32

struct signet_loop {
    CURLM *multi;
    CURLSH *share;
    // More sets of connections, for calls that avoid crowded ones; NULL until they are needed. Set
    // 0 is the multi handle's, set N is others[N - 1].
    CURLSH *others[OTHER_SETS];
    int epoll;
    int wake;  // -1 after it was closed
    pthread_mutex_t wake_lock;  // so that no thread writes to a descriptor that was reused
    int64_t timer;  // monotonic milliseconds; -1: none
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
    // at a time. In the benchmark `requests-h2`, sending took 30 % of the thread's time without it,
    // and takes 4 % with it.
    unsigned starting;  // calls that were added to libcurl since the last step
    bool may_cork;
    curl_socket_t corked;  // or -1

    TAILQ_HEAD(, signet_transfer) ready;  // the transfers with news
    signet_transfer *spare;
    bool lacked_descriptors;  // no descriptor was left when the last connection was closed
    size_t spare_count;
};

// A growing buffer.
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
    bool was_sent_before;  // before it was repeated, a part of the request may have left
    bool is_dropped;     // it was released: its body is discarded
    bool gets_error_text;   // libcurl's error text was empty when the request was sent
    curl_socket_t opened;  // the last socket opened for it since its last request, or -1
    bool lacks_resources;  // the system had no descriptor or memory for a socket
    CURLcode code;
    signet_refusal refusal;

    struct {
        size_t count, head_count;  // of a body that isn't streamed, and approximately of the header
    } sent_body;
    bool is_repeatable, was_http2;
    signet_host host;
    struct {
        bool is_used;
        bool is_tls;  // an HTTPS proxy, whose host follows
        signet_host host;
        bool is_passed;  // the proxy has connected to the origin: handshake or request has started
        unsigned handshakes;  // on this connection, including the proxy's own
        size_t head_total;
        long sent;  // bytes to the proxy, or on an earlier connection, that aren't this request's
    } proxy;
    int64_t started, tunnelled;  // monotonic microseconds; 0: not yet
    int64_t lost;  // microseconds of earlier attempts
    struct {
        int64_t deadline;     // monotonic milliseconds
        long limit, connect;  // milliseconds; `limit` begins with the last attempt
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
    size_t interim_count;  // the bytes of `head` that are interim responses
    size_t head_total, head_limit;
    int field_count, field_limit;
    bool is_head;  // the request's method
    bool ends_with_connection, is_bodyless;  // how the response's body ends
    bool has_whole_response;  // libcurl has read it and would then send the request again by itself
    bool is_misdirected;  // the response is a 421, after which the request is sent once more
    signet_buffer body;
    size_t body_taken;
    bool is_flushing;  // libcurl delivers what it stored while the transfer was paused
    uint64_t body_total, body_limit;

    struct {
        LIST_ENTRY(signet_transfer) list;
        curl_socket_t socket;  // of an HTTP/2 connection, or -1
        uint64_t origin;  // a hash of the URL's scheme, host and port
        bool is_member, is_counted;
        unsigned set;
        bool is_timed;  // flow.c watches the deadline instead of libcurl
        int64_t unread, taken;  // bytes of the body
        int64_t taken_at;  // the caller's last reading, in monotonic milliseconds
        curl_socket_t watched;  // the socket that libcurl last watched for this transfer
        bool has_stopped_reading;  // HTTP/1: libcurl has read the response to its end
        int64_t early_since, early_sent;  // when the upload last moved after the response's end
    } flow;

    signet_trust *trust;
    signet_pins *pins;
    signet_handshake *handshake;
    signet_chain *chain;
    // The connection of the request, identified by its TLS handshake. `traffic` is that
    // connection's, or `cleartext`, or NULL before a request.
    signet_handshake *connection;
    signet_traffic *traffic, cleartext;
    // Over HTTP/2, the traffic of the TLS next to the socket: an HTTPS proxy's or the connection's.
    signet_traffic *outer;
    uint64_t received_before;  // bytes that the socket had received when the request started
    curl_socket_t socket;  // the cleartext socket whose bytes are counted, or -1
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

#endif
