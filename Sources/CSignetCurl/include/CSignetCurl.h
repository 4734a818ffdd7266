// libcurl's multi interface for SignetCurl, with typed functions in place of libcurl's variadic
// ones.
//
// A loop belongs to one thread. Functions that other threads may call say so. libcurl's callbacks
// run here and store their results in the transfer, where the loop's thread finds them between two
// steps: no callback calls Swift.
//
// The Swift side decides which requests are sent, which pins, CAs, proxies, timeouts and limits
// apply, which redirects are followed and which failed requests are sent again. This code decides
// the following, and ends a transfer with one of the codes below if a decision is against it.
//
// callbacks.c:
// - TLS has version 1.2 or newer, and the chain and the host name are always verified, the name
//   against subjectAltName alone (chain.c).
// - libcurl reads no proxy from the environment and no netrc, and uses only http and https.
// - A request is sent only if the verified chain has a wanted digest (chain.c).
// - A pooled connection must be able to carry another request (route.c).
// - A request is sent a second time only if that is safe (also repeat.c), and once more after 421.
// - A request with trailers isn't sent over HTTP/2.
// - A response's header is refused above its limits of bytes and of fields, and so is a 101.
// - The header of a proxy's response to CONNECT has a limit too.
// - The process keeps 16 descriptors for other uses.
// framing.c:
// - A response is refused if the length of its body is in doubt.
// outcome.c:
// - A body that ends with its connection is cut off if TLS sent no close_notify (connection.c).
// - A late upload, and a connection that breaks, count as success if the response is complete.
// - Each of libcurl's codes has a kind of result.
// traffic.c:
// - A connection is ended if far more bytes arrive than its responses have (also connection.c).
// flow.c:
// - A connection isn't read while more than 65 MiB of bodies on it are unread.
// - Calls whose unread bodies block others end, the largest body first.
// - A crowded connection gets no new calls; they use another set of connections.
// - An upload may make no progress for 500 ms after the response is complete.
// watch.c:
// - If the loop's thread is stuck, one socket is shut down, and then all if that doesn't help.
#ifndef SIGNET_CURL_H
#define SIGNET_CURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

typedef struct signet_loop signet_loop;
typedef struct signet_transfer signet_transfer;
typedef struct signet_chain signet_chain;
typedef struct signet_trust signet_trust;
struct x509_st;
struct evp_pkey_st;

// Bytes of a transfer, valid until the next call that changes it.
typedef struct {
    const uint8_t *start;
    size_t count;
} signet_bytes;

// The reasons why this code ends a transfer.
typedef enum {
    SIGNET_NO_REFUSAL = 0,
    SIGNET_PIN_MISMATCH,      // the verified chain has no wanted digest
    SIGNET_NO_CHAIN,          // TLS, but the verified chain is unknown
    SIGNET_WRONG_HOST,        // the verified chain's leaf isn't for the host
    SIGNET_NO_TLS,            // an https URL, but the connection has no TLS
    SIGNET_PROBED,            // a probe is complete
    SIGNET_HEAD_TOO_LARGE,
    SIGNET_BODY_TOO_LARGE,
    SIGNET_MALFORMED_HEAD,
    SIGNET_NO_MEMORY,
    SIGNET_NOT_REPEATED,      // the connection ended, and the request must not be sent twice
    SIGNET_BODY_SPENT,        // the connection ended, and the body can't be read again
    SIGNET_PROXY_HEAD_TOO_LARGE,
    SIGNET_FLOODED,           // far more bytes arrived than the response has
    SIGNET_BAD_LENGTH,        // Content-Length is not one number of bytes
    SIGNET_BAD_CODING,        // a transfer coding but "chunked", or one with Content-Length
    SIGNET_STALE,             // the pooled connection can't carry another request
    SIGNET_NOT_READ,          // its unread body blocked the other calls of its connection
    SIGNET_NO_TRAILERS,       // the request has trailers, and the connection uses HTTP/2
    SIGNET_NEEDS_HTTP1,       // a stream ended with HTTP_1_1_REQUIRED, and the request must not be
                              // sent twice
    SIGNET_NOT_READ_IN_TIME,  // its deadline passed while its body was unread
} signet_refusal;

// The kinds of libcurl's results.
typedef enum {
    SIGNET_OK = 0,
    SIGNET_FAILED_NAME,
    SIGNET_FAILED_CONNECT,
    SIGNET_FAILED_UNREACHABLE,  // the kernel has no route to the host
    SIGNET_FAILED_TLS,
    SIGNET_FAILED_TIMEOUT,
    SIGNET_FAILED_CUT_OFF,
    SIGNET_FAILED_MALFORMED,
    SIGNET_FAILED_TRUST_STORE,
    SIGNET_FAILED_RESOURCES,
    SIGNET_FAILED_REFUSED,    // see the refusal
    SIGNET_FAILED_OTHER,
    SIGNET_FAILED_PROXY,          // before the proxy had connected to the origin
    SIGNET_FAILED_PROXY_REFUSED,  // see the proxy's status
    SIGNET_FAILED_PROXY_LOGIN,
} signet_result;

// --- The library -----------------------------------------------------------------------------

// Initialises libcurl and OpenSSL once per process. Returns whether that succeeded.
bool signet_global_start(void) SIGNET_MUST_CHECK;
// The version and the TLS library of libcurl ("7.88.1", "OpenSSL/3.0.22"), and the version of the
// program's OpenSSL.
const char *signet_libcurl_version(void);
unsigned signet_libcurl_version_number(void);
const char *signet_libcurl_tls(void);
const char *signet_openssl_version(void);
bool signet_libcurl_has_http2(void);
// Checks that a file contains a PEM certificate. Returns 0, an errno, -1 if it contains none, or -2
// if the process has no descriptor or memory left to read it.
int signet_check_ca_file(const char *path) SIGNET_MUST_CHECK;
// Identifies the version of a file without reading it. Times are nanoseconds since 1970.
typedef struct {
    uint64_t device, inode;
    int64_t size, modified, changed;
} signet_file_stamp;
// Returns the stamp of a CA file; NULL is the one that libcurl was built with. All zero if it is
// missing.
signet_file_stamp signet_stamp_ca_file(const char *path);
// Whether the kernel has a route to other networks, by IPv4 or IPv6. No packet is sent.
bool signet_has_route(void);
// Returns the system's text for an errno.
const char *signet_error_text(int number);

// The monotonic clock in milliseconds.
int64_t signet_monotonic_milliseconds(void);

// Starts a detached thread with all signals blocked.
bool signet_thread_start(const char *name, void *(*body)(void *), void *context) SIGNET_MUST_CHECK;

// --- The loop --------------------------------------------------------------------------------

// Creates the CAs that handshakes trust: those of `base` (or NULL), of `ca_file` if `reads_file`
// (NULL: the file that libcurl was built with), and of a text. Returns NULL with a problem: an
// errno, or -1 for a file or a text without certificates or with an invalid one. From any thread.
signet_trust *signet_trust_new(
    const signet_trust *base, const char *ca_file, bool reads_file, const uint8_t *pem,
    size_t count, int *problem) SIGNET_MUST_CHECK;
// Creates one with the CAs of another that shows servers a certificate with its key, and those that
// vouch for it. Returns NULL if memory ran out. From any thread.
signet_trust *signet_trust_showing(
    const signet_trust *base, struct x509_st *const *certificates, size_t count,
    struct evp_pkey_st *key) SIGNET_MUST_CHECK;
// The number of its CAs. For tests.
size_t signet_trust_count(const signet_trust *trust);
// Adds or removes a reference. From any thread.
void signet_trust_retain(signet_trust *trust);
void signet_trust_release(signet_trust *trust);

// Creates a loop. Returns NULL if the system has no memory or descriptor for it.
//
// `multiplexes`: whether calls share connections over HTTP/2. `idle_seconds`: how long an idle
// connection may be used again; 0: never. `dns_seconds`: how long addresses are remembered; 0: not
// at all.
signet_loop *signet_loop_new(
    bool http2, bool multiplexes, long connections_per_host, long idle_seconds, long dns_seconds)
    SIGNET_MUST_CHECK;
// Changes the maximum number of connections to one host.
bool signet_loop_set_connections(signet_loop *loop, long per_host) SIGNET_MUST_CHECK;
// Releases everything but the loop's own memory. No transfer may be left, and no thread may step
// it.
void signet_loop_close(signet_loop *loop);
// Closes the loop if it is open, and frees it.
void signet_loop_free(signet_loop *loop);
// Ends the current wait of signet_loop_step, or the next one. From any thread, even after
// signet_loop_close.
void signet_loop_wake(signet_loop *loop);
// Announces that the loop is about to wait. From now on, threads that queue work must wake it.
void signet_loop_will_wait(signet_loop *loop);
// Waits for sockets, timers or a wake, at most `at_most` milliseconds, and lets libcurl handle
// them. Returns whether sockets had events.
bool signet_loop_step(signet_loop *loop, bool may_wait, int at_most);
// Removes and returns the next transfer with news (a header, a part of the body, a request for the
// next piece of the upload, or its end), or returns NULL.
signet_transfer *signet_loop_next_ready(signet_loop *loop);
// Returns how often the loop has called libcurl for sockets and timers. From any thread.
uint64_t signet_loop_calls(const signet_loop *loop);
// If libcurl has handled one socket for longer than `limit` milliseconds, shuts the socket down, so
// that libcurl returns. Returns whether it was stuck. From any thread.
bool signet_loop_watch(signet_loop *loop, int64_t limit);
// Returns for how many milliseconds libcurl has been running; 0 if it isn't. From any thread.
int64_t signet_loop_busy_milliseconds(signet_loop *loop);

// Opens or closes the gate at which the watching thread waits: open while there are calls. From any
// thread.
void signet_loop_set_gate(signet_loop *loop, bool open);
// Waits until the gate is open, then for `milliseconds` more.
void signet_loop_wait_at_gate(signet_loop *loop, int milliseconds);

// --- A transfer ------------------------------------------------------------------------------

// Returns a transfer, new or reused, or NULL if memory ran out.
signet_transfer *signet_transfer_acquire(signet_loop *loop, uint64_t identifier) SIGNET_MUST_CHECK;
// Ends a transfer in any state, and keeps or frees its handle.
void signet_transfer_release(signet_transfer *transfer);
uint64_t signet_transfer_identifier(const signet_transfer *transfer);

// Sets the request. `start` is the method, target, URL and canonical host, each ended by a zero
// byte. The target is sent as it is; the URL has a scheme, that host, a port and "/" only.
// `is_repeatable`: whether a request that may have reached the server is sent again if a pooled
// connection ends.
bool signet_transfer_set_request(
    signet_transfer *transfer, const uint8_t *start, bool is_head, bool sends_body,
    const uint8_t *body, size_t body_count, bool is_repeatable) SIGNET_MUST_CHECK;
// Announces a body that is fed piece by piece, after set_request without one. `length`: -1 if
// unknown. A body with trailers, which has no known length, is sent over HTTP/1.1 only.
bool signet_transfer_set_upload(
    signet_transfer *transfer, int64_t length, bool is_replayable, bool has_trailers)
    SIGNET_MUST_CHECK;
// Sets the announced trailers, before the body's end is fed. Lines as "Name: value", each ended by
// a zero byte.
bool signet_transfer_set_trailers(
    signet_transfer *transfer, const uint8_t *lines, size_t count) SIGNET_MUST_CHECK;
// Sets fields or mappings: lines in libcurl's syntax, each ended by a zero byte.
bool signet_transfer_set_fields(
    signet_transfer *transfer, const uint8_t *lines, size_t count) SIGNET_MUST_CHECK;
bool signet_transfer_set_connect_to(
    signet_transfer *transfer, const uint8_t *lines, size_t count) SIGNET_MUST_CHECK;
bool signet_transfer_set_limits(
    signet_transfer *transfer, int64_t timeout_milliseconds, int64_t connect_milliseconds,
    int64_t body_bytes, int64_t head_bytes, int head_fields) SIGNET_MUST_CHECK;
// Sets what its handshake trusts and shows.
bool signet_transfer_set_store(signet_transfer *transfer, signet_trust *trust) SIGNET_MUST_CHECK;
// Sets how the connection is made and checked. `digests`: 32 bytes each; NULL if nothing is pinned.
bool signet_transfer_set_trust(
    signet_transfer *transfer, bool is_secure, const uint8_t *digests, size_t digest_count,
    bool is_enforced, bool is_probe, bool offers_http2, bool waits_for_multiplexing)
    SIGNET_MUST_CHECK;
// Sets a proxy by a URL without credentials. `tunnels`: whether to use CONNECT. `tls_host`: the
// canonical host of an HTTPS proxy; NULL for others. `ca_file` is for an HTTPS proxy's certificate
// (NULL: the file that libcurl was built with). User name and password may be NULL.
bool signet_transfer_set_proxy(
    signet_transfer *transfer, const char *url, const char *user, const char *password,
    bool tunnels, const char *tls_host, const char *ca_file) SIGNET_MUST_CHECK;
bool signet_transfer_start(signet_transfer *transfer) SIGNET_MUST_CHECK;
// Continues a transfer that was paused because its buffer was full.
void signet_transfer_resume(signet_transfer *transfer);

// Whether libcurl waits for the body's next piece.
bool signet_transfer_wants_upload(const signet_transfer *transfer);
// Whether that piece is the first one again. True only once for each restart.
bool signet_transfer_consume_restart(signet_transfer *transfer);
// Passes the body's next piece, or its end.
bool signet_transfer_feed(
    signet_transfer *transfer, const uint8_t *bytes, size_t count, bool is_end) SIGNET_MUST_CHECK;
// Continues a paused upload after a response has arrived, because libcurl may need no more of the
// body.
void signet_transfer_wake_upload(signet_transfer *transfer);

// The response so far.
bool signet_transfer_has_head(const signet_transfer *transfer);
signet_bytes signet_transfer_head(const signet_transfer *transfer);
// The lines of the trailers, after the body's end.
signet_bytes signet_transfer_trailers(const signet_transfer *transfer);
// Returns the next part of the body; signet_transfer_drop_body removes that part.
signet_bytes signet_transfer_body(const signet_transfer *transfer);
void signet_transfer_drop_body(signet_transfer *transfer);
// Whether the response is complete and the server has read nothing more of the upload for a while.
bool signet_transfer_has_early_response(signet_transfer *transfer);
// The response's Content-Length, or -1.
int64_t signet_transfer_content_length(const signet_transfer *transfer);
bool signet_transfer_is_done(const signet_transfer *transfer);
signet_result signet_transfer_result(const signet_transfer *transfer);
signet_refusal signet_transfer_refusal(const signet_transfer *transfer);
// libcurl's error message.
const char *signet_transfer_message(const signet_transfer *transfer);
// Whether the transfer ended before a proxy had connected to the origin.
bool signet_transfer_is_at_proxy(const signet_transfer *transfer);
// The status of the proxy's response to CONNECT, or 0.
long signet_transfer_proxy_status(const signet_transfer *transfer);
// Whether the TLS handshake failed because OpenSSL did not trust the chain.
bool signet_transfer_is_untrusted(const signet_transfer *transfer);
// Why it isn't trusted, if more is known than OpenSSL's text; otherwise NULL.
const char *signet_transfer_trust_problem(const signet_transfer *transfer);

// Whether a byte of the request may have left. Before that the pins were checked.
bool signet_transfer_was_sent(const signet_transfer *transfer);
// Whether the server asked for a certificate in the handshake of the request's connection.
bool signet_transfer_was_asked(const signet_transfer *transfer);
// The number of the fatal alert (RFC 8446, section 6) that ended the connection, or -1.
int signet_transfer_alert(const signet_transfer *transfer);

typedef struct {
    // Microseconds since the start; then bytes of HTTP, without TLS.
    int64_t name_resolved, connected, tunnelled, secured, first_byte, total, sent, received;
    bool reused;
} signet_timings;
void signet_transfer_timings(const signet_transfer *transfer, signet_timings *timings);

// The verified chain; the chain as the server sent it if it isn't trusted; NULL if no chain is
// known.
const signet_chain *signet_transfer_chain(const signet_transfer *transfer);
// The verified chain, of the origin or of an HTTPS proxy, whose leaf isn't for its host; NULL if
// there is none.
const signet_chain *signet_transfer_misnamed(const signet_transfer *transfer);
uint64_t signet_chain_identifier(const signet_chain *chain);
size_t signet_chain_count(const signet_chain *chain);
const uint8_t *signet_chain_digest(const signet_chain *chain, size_t index);
const char *signet_chain_subject(const signet_chain *chain, size_t index);
// The number of certificates that the server sent; 0 for a chain that was not verified.
size_t signet_chain_served_count(const signet_chain *chain);
// Returns a certificate of the chain, or of those that the server sent, as DER, to be freed with
// signet_der_free; NULL if memory ran out.
uint8_t *signet_chain_der(
    const signet_chain *chain, bool served, size_t index, size_t *count) SIGNET_MUST_CHECK;
void signet_der_free(uint8_t *der);

// --- Content codings -------------------------------------------------------------------------

// An encoder, or a decoder, of gzip (RFC 1952) or zlib (RFC 1950).
typedef struct signet_coder signet_coder;
typedef enum {
    SIGNET_CODED_PART = 0,  // more bytes, or more room, are needed
    SIGNET_CODED_END,       // the end of the stream, whose checksum a decoder has verified
    SIGNET_CODED_BAD,
    SIGNET_CODED_NO_MEMORY,
} signet_coded;

// Creates a coder. The output of an encoder depends only on the bytes. Returns NULL if memory ran
// out.
signet_coder *signet_coder_new(bool decodes, bool is_gzip) SIGNET_MUST_CHECK;
void signet_coder_free(signet_coder *coder);
// Prepares a decoder for another stream after the end of one.
bool signet_coder_reset(signet_coder *decoder) SIGNET_MUST_CHECK;
// Lets a decoder that has read nothing expect deflate without zlib's header.
bool signet_coder_omit_header(signet_coder *decoder) SIGNET_MUST_CHECK;
// Encodes or decodes up to `count` bytes into `room`; `is_end` ends an encoder's stream after them.
// Sets how many bytes it read (`taken`) and wrote (`made`).
signet_coded signet_coder_run(
    signet_coder *coder, const uint8_t *bytes, size_t count, bool is_end, size_t *taken,
    uint8_t *room, size_t room_count, size_t *made) SIGNET_MUST_CHECK;

#endif
