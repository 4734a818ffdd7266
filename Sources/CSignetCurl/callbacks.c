// libcurl's callbacks, and the options that set them.
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "flow.h"
#include "framing.h"
#include "socket.h"
#include "system.h"
#include "transfer.h"
#include "trust.h"

static size_t refuse(signet_transfer *transfer, signet_refusal refusal) {
    if (!transfer->refusal) transfer->refusal = refusal;
    return 0;
}

// Keeps a line of the header or of the trailers.
static size_t keep_line(
    signet_transfer *transfer, signet_buffer *lines, const char *bytes, size_t count) {
    if (++transfer->field_count > transfer->field_limit + 1)
        return refuse(transfer, SIGNET_HEAD_TOO_LARGE);
    if (!signet_append(lines, bytes, count)) return refuse(transfer, SIGNET_NO_MEMORY);
    return count;
}

static size_t on_header(char *bytes, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t count = size * number;
    // A proxy's response to CONNECT isn't part of the response.
    if (transfer->proxy.is_used && !transfer->proxy.is_passed) {
        transfer->proxy.head_total += count;
        if (transfer->proxy.head_total > transfer->head_limit)
            return refuse(transfer, SIGNET_PROXY_HEAD_TOO_LARGE);
        return count;
    }
    transfer->head_total += count;
    if (transfer->traffic) transfer->traffic->delivered += count;
    if (transfer->head_total > transfer->head_limit)
        return refuse(transfer, SIGNET_HEAD_TOO_LARGE);
    // libcurl delivers trailers after the body, over HTTP/1.1 and HTTP/2.
    if (transfer->has_head) {
        bool is_end = count < 2 || (count == 2 && bytes[0] == '\r');
        return transfer->is_dropped || is_end
            ? count
            : keep_line(transfer, &transfer->trailers, bytes, count);
    }
    bool is_end = (count == 2 && bytes[0] == '\r' && bytes[1] == '\n')
        || (count == 1 && bytes[0] == '\n');
    if (!is_end) return keep_line(transfer, &transfer->head, bytes, count);
    // Interim responses such as "HTTP/1.1 100 …" and "HTTP/2 103 …" precede the response.
    signet_buffer *head = &transfer->head;
    size_t size_of_last = head->count - transfer->interim_count;
    const uint8_t *last = size_of_last ? head->bytes + transfer->interim_count : NULL;
    const uint8_t *space = last ? memchr(last, ' ', size_of_last) : NULL;
    size_t left = space ? size_of_last - (size_t)(space - last) : 0;
    if (left < 4) return refuse(transfer, SIGNET_MALFORMED_HEAD);
    if (space[1] == '1') {
        if (memcmp(space + 1, "101", 3) == 0) return refuse(transfer, SIGNET_MALFORMED_HEAD);
        // A 100 is for this sender alone (RFC 9110, section 15.2.1).
        if (memcmp(space + 1, "100", 3) == 0) {
            head->count = transfer->interim_count;
            return count;
        }
        if (!signet_append(head, bytes, count)) return refuse(transfer, SIGNET_NO_MEMORY);
        transfer->interim_count = head->count;
        return count;
    }
    signet_refusal problem = signet_framing_read(
        last, size_of_last, transfer->is_head, &transfer->ends_with_connection,
        &transfer->is_bodyless);
    if (problem) return refuse(transfer, problem);
    // Another connection may lead to a server that is responsible (RFC 9110, section 15.5.20).
    transfer->is_misdirected =
        memcmp(space + 1, "421", 3) == 0 && signet_transfer_may_ask_again(transfer);
    if (transfer->is_misdirected) return count;
    transfer->has_head = true;
    signet_transfer_make_ready(transfer);
    return count;
}

static size_t on_body(char *bytes, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t count = size * number;
    if (transfer->is_dropped) return count;
    if (transfer->refusal) return !count;
    if (transfer->is_misdirected) {
        if (transfer->traffic) transfer->traffic->delivered += count;
        return count;
    }
    if (!transfer->has_head) return refuse(transfer, SIGNET_MALFORMED_HEAD) + !count;
    if (count > transfer->body_limit - transfer->body_total)
        return refuse(transfer, SIGNET_BODY_TOO_LARGE);
    size_t waiting = transfer->body.count - transfer->body_taken;
    if (waiting > 0 && waiting + count > BODY_ROOM && !transfer->is_flushing) {
        transfer->is_paused = true;
        if (transfer->was_http2) signet_flow_count(transfer);
        signet_transfer_make_ready(transfer);
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!signet_append(&transfer->body, bytes, count)) return refuse(transfer, SIGNET_NO_MEMORY);
    transfer->body_total += count;
    if (transfer->traffic) transfer->traffic->delivered += count;
    // While flushing, libcurl delivers bytes that it read and stored earlier.
    if (transfer->outer && !transfer->is_flushing) signet_traffic_note_body(transfer->outer, count);
    signet_transfer_make_ready(transfer);
    return count;
}

static size_t on_upload(char *buffer, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t left = transfer->upload.piece.count - transfer->upload.taken;
    if (left > 0 && !transfer->upload.restarts) {
        size_t count = left < size * number ? left : size * number;
        memcpy(buffer, transfer->upload.piece.bytes + transfer->upload.taken, count);
        transfer->upload.taken += count;
        transfer->upload.was_taken_from = true;
        return count;
    }
    if (transfer->upload.is_ended && !transfer->upload.restarts) {
        transfer->upload.has_ended = true;
        return 0;
    }
    transfer->upload.is_wanted = transfer->upload.is_paused = true;
    signet_transfer_make_ready(transfer);
    return CURL_READFUNC_PAUSE;
}

bool signet_transfer_rewind_upload(signet_transfer *transfer) {
    if (!transfer->upload.was_taken_from) return true;
    if (!transfer->upload.is_replayable) {
        refuse(transfer, SIGNET_BODY_SPENT);
        return false;
    }
    transfer->upload.was_taken_from = transfer->upload.is_ended = false;
    transfer->upload.restarts = true;
    transfer->upload.piece.count = transfer->upload.taken = 0;
    return true;
}

static int on_seek(void *context, curl_off_t offset, int origin) {
    if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
    return signet_transfer_rewind_upload(context) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

// Whether libcurl may send the request again. It does so by itself if a pooled connection ends
// without a byte of a response, or if the server refused the stream before reading it (RFC 9113,
// section 8.7). The two cases differ only in libcurl's error text, which is empty in the second.
static bool may_retry(signet_transfer *transfer) {
    long sent = 1;
    if (transfer->has_head) return false;
    // libcurl 7.88.1 sends trailers only once, and would repeat the request without them.
    if (transfer->upload.has_trailers && transfer->upload.has_ended) return false;
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent);
    // A session that nghttp2 ended because the server violated HTTP/2 has no error text either. But
    // then the last bytes on the connection are this side's GOAWAY; after a refusal they are the
    // server's.
    bool is_refused = transfer->was_http2 && transfer->gets_error_text && !transfer->error[0]
        && transfer->traffic && !transfer->traffic->was_sent_last;
    if (sent > 0 && !transfer->is_repeatable && !is_refused) return false;
    return signet_transfer_rewind_upload(transfer);
}

static CURLcode on_ssl_context(CURL *easy, void *context, void *data) {
    (void)easy;
    signet_transfer *transfer = data;
    // With an HTTPS proxy, the first handshake of a connection is the proxy's, whose keys aren't
    // pinned. So the check during the handshake is omitted; before_request checks the origin's
    // chain as always.
    transfer->proxy.handshakes += 1;
    bool is_of_proxy = transfer->proxy.is_tls && transfer->proxy.handshakes == 1;
    if (!is_of_proxy) {
        transfer->proxy.is_passed = true;
        if (transfer->proxy.is_used) transfer->tunnelled = signet_now_microseconds();
    }
    signet_handshake *handshake = signet_handshake_new(
        transfer->proxy.is_tls ? NULL : transfer->pins,
        is_of_proxy ? transfer->proxy.host : transfer->host);
    if (!handshake) return CURLE_OUT_OF_MEMORY;
    handshake->is_of_proxy = is_of_proxy;
    bool attached = signet_handshake_attach(handshake, context);
    if (!is_of_proxy && transfer->trust) {
        handshake->trust = signet_trust_identifier(transfer->trust);
        attached = signet_trust_apply(transfer->trust, context) && attached;
    }
    if (!is_of_proxy && transfer->handshake && transfer->handshake->is_of_proxy)
        handshake->proxys = transfer->handshake;
    else
        signet_handshake_release(transfer->handshake);
    transfer->handshake = handshake;
    return attached ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

static SSL *origins_tls(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    bool is_known = curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info
        && info->backend == CURLSSLBACKEND_OPENSSL;
    return is_known ? info->internals : NULL;
}

static bool is_http2(SSL *ssl) {
    const unsigned char *chosen = NULL;
    unsigned count = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &count);
    return count == 2 && memcmp(chosen, "h2", 2) == 0;
}

static int abort_request(signet_transfer *transfer, signet_refusal refusal) {
    refuse(transfer, refusal);
    return CURL_PREREQFUNC_ABORT;
}

// Checks the chain of the connection against the host and the pins of this call.
static int check_chain(signet_transfer *transfer, SSL *ssl) {
    signet_chain *chain = ssl ? signet_chain_of(ssl) : NULL;
    if (!chain) return abort_request(transfer, ssl ? SIGNET_NO_CHAIN : SIGNET_NO_TLS);
    // Never on a connection, or in a session, that was made with other CAs or another certificate.
    if (!transfer->trust || chain->trust != signet_trust_identifier(transfer->trust)
        || signet_handshake_of(ssl)->trust != chain->trust)
        return abort_request(transfer, SIGNET_NO_CHAIN);
    signet_chain_retain(chain);
    transfer->chain = chain;
    if (!signet_chain_names(chain, transfer->host))
        return abort_request(transfer, SIGNET_WRONG_HOST);
    signet_pins *pins = transfer->pins;
    if (pins && pins->is_enforced && !signet_chain_matches(chain, pins))
        return abort_request(transfer, SIGNET_PIN_MISMATCH);
    return transfer->is_probe ? abort_request(transfer, SIGNET_PROBED) : CURL_PREREQFUNC_OK;
}

// Decides whether a request may be sent. libcurl asks before each request, whether its connection
// is new or pooled and its TLS session new or resumed.
static int before_request(
    void *data, char *remote, char *local, int remote_port, int local_port) {
    (void)remote_port;
    signet_transfer *transfer = data;
    transfer->proxy.is_passed = true;
    signet_chain_release(transfer->chain);
    transfer->chain = NULL;
    SSL *ssl = origins_tls(transfer->easy);
    if (transfer->is_sent) {
        transfer->was_retried = true;
        // libcurl has a response, has discarded its body, and would send the request in another
        // way, for example without Expect after a 417. The caller gets the status and the fields.
        transfer->has_whole_response = transfer->has_head && !transfer->error[0];
        if (transfer->has_whole_response) return CURL_PREREQFUNC_ABORT;
        if (!may_retry(transfer)) {
            // Over HTTP/2 libcurl 7.88.1 asks again only after REFUSED_STREAM, which has no error
            // text, and after HTTP_1_1_REQUIRED, over HTTP/1.1.
            bool needs_http1 =
                transfer->was_http2 && transfer->error[0] && ssl && !is_http2(ssl);
            return abort_request(
                transfer, needs_http1 ? SIGNET_NEEDS_HTTP1 : SIGNET_NOT_REPEATED);
        }
    }
    // Bytes to a proxy, or on an earlier connection, aren't part of this request.
    transfer->proxy.sent = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &transfer->proxy.sent);

    if (transfer->is_secure && !ssl) return abort_request(transfer, SIGNET_NO_TLS);
    signet_route route = {
        ssl, ssl && is_http2(ssl), remote, local, local_port, transfer->opened};
    transfer->was_http2 = route.is_http2;
    // libcurl 7.88.1 would omit the trailers.
    if (route.is_http2 && transfer->upload.has_trailers)
        return abort_request(transfer, SIGNET_NO_TRAILERS);
    transfer->is_reused = transfer->opened < 0;
    transfer->opened = -1;
    if (transfer->is_reused && !signet_route_is_usable(transfer->loop, &route))
        return abort_request(transfer, SIGNET_STALE);
    if (transfer->is_secure || transfer->pins) {
        int decision = check_chain(transfer, ssl);
        if (decision != CURL_PREREQFUNC_OK) return decision;
    }
    signet_connection_join(transfer, &route);
    // Over HTTP/1.1 too, because two sockets with one name can be distinguished only at the first
    // request (route.c).
    curl_socket_t socket = ssl ? signet_route_socket(transfer->loop, &route) : -1;
    curl_socket_t shared = route.is_http2 ? socket : -1;
    signet_flow_join(transfer, route.is_http2 ? ssl : NULL, shared);
    if (route.is_http2) signet_loop_cork(transfer->loop, shared);
    transfer->gets_error_text = !transfer->error[0];
    transfer->is_sent = true;
    return CURL_PREREQFUNC_OK;
}

// The number of descriptors that are left for other uses. libdispatch opens timers at any time, and
// a file for each thread once a second, and ends the process if it can't (Swift 6.3).
enum { RESERVED_DESCRIPTORS = 16 };

// Whether enough descriptors are left. The kernel assigns the lowest free number.
static bool leaves_descriptors(int opened) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
        || (rlim_t)opened + RESERVED_DESCRIPTORS < limit.rlim_cur;
}

static curl_socket_t on_open_socket(
    void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    signet_transfer *transfer = context;
    signet_loop *loop = transfer->loop;
    // A new connection starts, perhaps instead of a pooled one that had ended.
    transfer->proxy.is_passed = false;
    transfer->proxy.handshakes = 0;
    transfer->proxy.head_total = 0;
    curl_socket_t opened =
        socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (opened >= 0 && !leaves_descriptors(opened)) {
        close(opened);
        opened = CURL_SOCKET_BAD;
        errno = EMFILE;
    }
    if (opened < 0) {
        transfer->lacks_resources =
            errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return CURL_SOCKET_BAD;
    }
    pthread_mutex_lock(&loop->lock);
    signet_flow_forget(loop, opened);
    signet_loop_note_socket(loop, opened, true);
    loop->last_opened = transfer->opened = opened;
    pthread_mutex_unlock(&loop->lock);
    return opened;
}

// Under the lock, so that the watching thread never shuts down a descriptor that was reused.
static int on_close_socket(void *context, curl_socket_t closed) {
    signet_loop *loop = context;
    pthread_mutex_lock(&loop->lock);
    if (loop->busy_on == closed) loop->busy_on = -1;
    if (loop->last_opened == closed) loop->last_opened = -1;
    if (loop->corked == closed) loop->corked = -1;
    signet_flow_forget(loop, closed);
    signet_loop_note_socket(loop, closed, false);
    loop->lacked_descriptors = signet_loop_lacks_descriptors(loop);
    int failed = close(closed);
    pthread_mutex_unlock(&loop->lock);
    return failed;
}

// --- Options for all calls -------------------------------------------------------------------

bool signet_transfer_set_once(signet_transfer *transfer) {
    CURL *easy = transfer->easy;
    signet_loop *loop = transfer->loop;
    return SET(CURLOPT_PRIVATE, transfer) && SET(CURLOPT_ERRORBUFFER, transfer->error)
        && SET(CURLOPT_SHARE, loop->share) && SET(CURLOPT_NOSIGNAL, 1L)
        // Else libcurl refuses the body of an unknown transfer coding; from 8.14 on always.
        && SET(CURLOPT_HTTP_CONTENT_DECODING, 0L)
        && SET(CURLOPT_NOPROGRESS, 1L) && SET(CURLOPT_QUICK_EXIT, 1L)
        && SET(CURLOPT_UPLOAD_BUFFERSIZE, HEAD_BUFFER)
        && SET(CURLOPT_BUFFERSIZE, RESPONSE_BUFFER)
        // Ignore the environment's proxies and credentials, and allow no other protocol.
        && SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*")
        && SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED)
        && SET(CURLOPT_PROTOCOLS_STR, "http,https")
        && SET(CURLOPT_REDIR_PROTOCOLS_STR, "https") && SET(CURLOPT_FOLLOWLOCATION, 0L)
        && SET(CURLOPT_FORBID_REUSE, loop->idle_seconds > 0 ? 0L : 1L)
        && SET(CURLOPT_MAXAGE_CONN, loop->idle_seconds)
        && SET(CURLOPT_DNS_CACHE_TIMEOUT, loop->dns_seconds)
        && SET(CURLOPT_DOH_URL, NULL) && SET(CURLOPT_HTTP09_ALLOWED, 0L)
        && SET(CURLOPT_PATH_AS_IS, 1L) && SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_NONE)
        && SET(CURLOPT_FAILONERROR, 0L)
        // TLS verification. No option turns it off.
        && SET(CURLOPT_SSL_VERIFYPEER, 1L) && SET(CURLOPT_SSL_VERIFYHOST, 2L)
        && SET(CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_NO_PARTIALCHAIN)
        && SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)
        // Verify an HTTPS proxy's certificate too, and send the request's fields to the origin
        // only.
        && SET(CURLOPT_PROXY_SSL_VERIFYPEER, 1L) && SET(CURLOPT_PROXY_SSL_VERIFYHOST, 2L)
        && SET(CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_NO_PARTIALCHAIN)
        && SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)
        && SET(CURLOPT_PROXY_CAPATH, NULL) && SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE)
        && SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC)
        && SET(CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_BASIC)
        && SET(CURLOPT_CAINFO, NULL) && SET(CURLOPT_CAPATH, NULL) && SET(CURLOPT_CA_CACHE_TIMEOUT, 86400L)
        && SET(CURLOPT_SSL_CTX_FUNCTION, on_ssl_context) && SET(CURLOPT_SSL_CTX_DATA, transfer)
        && SET(CURLOPT_PREREQFUNCTION, before_request) && SET(CURLOPT_PREREQDATA, transfer)
        && SET(CURLOPT_HEADERFUNCTION, on_header) && SET(CURLOPT_HEADERDATA, transfer)
        && SET(CURLOPT_WRITEFUNCTION, on_body) && SET(CURLOPT_WRITEDATA, transfer)
        && SET(CURLOPT_READFUNCTION, on_upload) && SET(CURLOPT_READDATA, transfer)
        && SET(CURLOPT_SEEKFUNCTION, on_seek) && SET(CURLOPT_SEEKDATA, transfer)
        && SET(CURLOPT_OPENSOCKETFUNCTION, on_open_socket) && SET(CURLOPT_OPENSOCKETDATA, transfer)
        && SET(CURLOPT_CLOSESOCKETFUNCTION, on_close_socket) && SET(CURLOPT_CLOSESOCKETDATA, loop);
}
