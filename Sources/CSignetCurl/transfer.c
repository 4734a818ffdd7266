// The life of a transfer: its handle, its options, and how it starts, pauses and ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "flow.h"
#include "socket.h"
#include "system.h"
#include "transfer.h"
#include "trust.h"

#define SPARE_LIMIT 256

// --- Creation and release --------------------------------------------------------------------

void signet_transfer_close(signet_transfer *transfer) {
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    free(transfer->head.bytes);
    free(transfer->trailers.bytes);
    free(transfer->body.bytes);
    free(transfer);
}

signet_transfer *signet_transfer_acquire(signet_loop *loop, uint64_t identifier) {
    signet_transfer *transfer = loop->spare;
    if (transfer) {
        loop->spare = transfer->next;
        transfer->next = NULL;
        loop->spare_count -= 1;
    } else {
        transfer = calloc(1, sizeof *transfer);
        if (!transfer) return NULL;
        transfer->loop = loop;
        transfer->easy = curl_easy_init();
        if (!transfer->easy || !signet_transfer_set_once(transfer)) {
            signet_transfer_close(transfer);
            return NULL;
        }
    }
    transfer->identifier = identifier;
    transfer->opened = transfer->socket = transfer->flow.socket = transfer->flow.watched = -1;
    return transfer;
}

void signet_transfer_release(signet_transfer *transfer) {
    signet_loop *loop = transfer->loop;
    CURL *easy = transfer->easy;
    if (transfer->is_started) {
        // Removing an unfinished transfer closes its connection, which reads from the socket once
        // more.
        if (!transfer->is_done) signet_loop_enter(loop, -1);
        // If a paused transfer ends while others use its connection, libcurl 7.88.1 never frees
        // what it has stored of the body. So the transfer is continued first, and the body
        // discarded.
        transfer->is_dropped = true;
        if (!transfer->is_done && transfer->is_paused) curl_easy_pause(easy, CURLPAUSE_CONT);
        curl_multi_remove_handle(loop->multi, easy);
        if (!transfer->is_done) signet_loop_leave(loop);
    }
    signet_connection_leave(transfer);
    signet_transfer_make_unready(transfer);
    signet_flow_leave(transfer);
    bool cleared = SET(CURLOPT_CAPATH, NULL) && (transfer->flow.set == 0 || SET(CURLOPT_SHARE, loop->share))
        && SET(CURLOPT_POSTFIELDS, NULL) && SET(CURLOPT_HTTPHEADER, NULL)
        && SET(CURLOPT_CONNECT_TO, NULL);
    if (transfer->proxy.is_used)
        cleared = SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*")
            && SET(CURLOPT_PROXYUSERNAME, NULL) && SET(CURLOPT_PROXYPASSWORD, NULL)
            && SET(CURLOPT_HTTPPROXYTUNNEL, 0L) && cleared;
    if (transfer->upload.is_streamed)
        cleared = SET(CURLOPT_UPLOAD_BUFFERSIZE, HEAD_BUFFER) && cleared;
    // libcurl counts a handle's retries across all calls and fails after five; only curl_easy_reset
    // clears the count. So a handle that may have retried isn't used again.
    // A handle that has sent trailers isn't used again either: libcurl remembers that, and would
    // write the chunks of the next upload without room for their sizes.
    bool needs_discard = transfer->upload.has_trailers
        || (transfer->is_started
            && (transfer->was_retried || !transfer->is_done || transfer->code != CURLE_OK));
    free(transfer->upload.piece.bytes);
    free(transfer->upload.trailers.bytes);
    curl_slist_free_all(transfer->fields);
    curl_slist_free_all(transfer->connect_to);
    signet_trust_release(transfer->trust);
    signet_pins_release(transfer->pins);
    signet_handshake_release(transfer->handshake);
    signet_chain_release(transfer->chain);
    if (!cleared || needs_discard || loop->spare_count >= SPARE_LIMIT) {
        signet_transfer_close(transfer);
        return;
    }
    signet_transfer_empty_body(transfer);
    // The next call starts with nothing but the handle and the buffers.
    *transfer = (signet_transfer){
        .easy = easy, .loop = loop,
        .head = {transfer->head.bytes, 0, transfer->head.room},
        .trailers = {transfer->trailers.bytes, 0, transfer->trailers.room},
        .body = transfer->body};
    transfer->next = loop->spare;
    loop->spare = transfer;
    loop->spare_count += 1;
}

uint64_t signet_transfer_identifier(const signet_transfer *transfer) {
    return transfer->identifier;
}

static bool copy_host(signet_host copy, const char *host) {
    size_t count = strlen(host);
    if (count >= sizeof(signet_host)) return false;
    memcpy(copy, host, count + 1);
    return true;
}

bool signet_transfer_set_request(
    signet_transfer *transfer, const uint8_t *start, bool is_head, bool sends_body,
    const uint8_t *body, size_t body_count, bool is_repeatable) {
    CURL *easy = transfer->easy;
    const char *method = (const char *)start;
    const char *target = method + strlen(method) + 1;
    const char *url = target + strlen(target) + 1;
    if (!copy_host(transfer->host, url + strlen(url) + 1)) return false;
    transfer->flow.origin = signet_hash_text(HASH_START, url) | 1;  // never 0
    transfer->sent_body.count = sends_body ? body_count : 0;
    transfer->is_head = is_head;
    transfer->is_repeatable = is_repeatable;
    // "GET /path HTTP/1.1", "Content-Length: 5" and the empty line.
    transfer->sent_body.head_count = strlen(method) + strlen(target) + 14;
    if (sends_body)
        transfer->sent_body.head_count += (size_t)snprintf(NULL, 0, "%zu", body_count) + 18;
    if (!SET(CURLOPT_HTTPGET, 1L) || (is_head && !SET(CURLOPT_NOBODY, 1L))) return false;
    // libcurl copies the body. Without a pointer it would read an empty one by a callback.
    if (sends_body
        && (!SET(CURLOPT_POST, 1L) || !SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_count)
            || !SET(CURLOPT_COPYPOSTFIELDS, body_count > 0 ? (const char *)body : "")))
        return false;
    return SET(CURLOPT_CUSTOMREQUEST, method) && SET(CURLOPT_URL, url)
        && SET(CURLOPT_REQUEST_TARGET, target);
}

// Appends a copy of each line, which ends with a zero byte.
static bool append_lines(struct curl_slist **list, const uint8_t *lines, size_t count) {
    const char *end = (const char *)lines + count;
    for (const char *line = (const char *)lines; line < end; line += strlen(line) + 1) {
        struct curl_slist *longer = curl_slist_append(*list, line);
        if (!longer) return false;
        *list = longer;
    }
    return true;
}

// Gives libcurl a list of its own, which it frees.
static int on_trailers(struct curl_slist **list, void *context) {
    signet_transfer *transfer = context;
    const signet_buffer *trailers = &transfer->upload.trailers;
    if (append_lines(list, trailers->bytes, trailers->count)) return CURL_TRAILERFUNC_OK;
    if (!transfer->refusal) transfer->refusal = SIGNET_NO_MEMORY;
    return CURL_TRAILERFUNC_ABORT;
}

bool signet_transfer_set_upload(
    signet_transfer *transfer, int64_t length, bool is_replayable, bool has_trailers) {
    CURL *easy = transfer->easy;
    transfer->upload.is_streamed = true;
    transfer->upload.is_replayable = is_replayable;
    transfer->upload.has_trailers = has_trailers;
    transfer->upload.length = length;
    return SET(CURLOPT_UPLOAD, 1L) && SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)length)
        && SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER)
        && (!has_trailers
            || (SET(CURLOPT_TRAILERFUNCTION, on_trailers) && SET(CURLOPT_TRAILERDATA, transfer)));
}

bool signet_transfer_set_trailers(signet_transfer *transfer, const uint8_t *lines, size_t count) {
    transfer->upload.trailers.count = 0;
    return signet_append(&transfer->upload.trailers, lines, count);
}

bool signet_transfer_set_fields(signet_transfer *transfer, const uint8_t *lines, size_t count) {
    CURL *easy = transfer->easy;
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        if (lines[i]) continue;
        // "Accept:" removes a field of libcurl's own.
        if (i > start && lines[i - 1] != ':') transfer->sent_body.head_count += i - start + 2;
        start = i + 1;
    }
    return append_lines(&transfer->fields, lines, count)
        && SET(CURLOPT_HTTPHEADER, transfer->fields);
}

bool signet_transfer_set_connect_to(
    signet_transfer *transfer, const uint8_t *lines, size_t count) {
    CURL *easy = transfer->easy;
    return append_lines(&transfer->connect_to, lines, count)
        && SET(CURLOPT_CONNECT_TO, transfer->connect_to);
}

bool signet_transfer_set_limits(
    signet_transfer *transfer, int64_t timeout_milliseconds, int64_t connect_milliseconds,
    int64_t body_bytes, int64_t head_bytes, int head_fields) {
    CURL *easy = transfer->easy;
    transfer->time.deadline = signet_monotonic_milliseconds() + timeout_milliseconds;
    transfer->time.limit = (long)timeout_milliseconds;
    transfer->time.connect = (long)connect_milliseconds;
    transfer->body_limit = (uint64_t)body_bytes;
    transfer->head_limit = (size_t)head_bytes;
    transfer->field_limit = head_fields;
    return SET(CURLOPT_TIMEOUT_MS, (long)timeout_milliseconds)
        && SET(CURLOPT_CONNECTTIMEOUT_MS, (long)connect_milliseconds);
}

bool signet_transfer_set_trust(
    signet_transfer *transfer, bool is_secure, const uint8_t *digests, size_t digest_count,
    bool is_enforced, bool is_probe, bool offers_http2, bool waits_for_multiplexing) {
    CURL *easy = transfer->easy;
    transfer->is_secure = is_secure;
    transfer->is_probe = is_probe;
    if (digests) {
        transfer->pins = signet_pins_new(digests, digest_count, is_enforced);
        if (!transfer->pins) return false;
    }
    bool http2 = offers_http2 && transfer->loop->http2;
    return SET(
               CURLOPT_HTTP_VERSION,
               (long)(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        && SET(CURLOPT_PIPEWAIT, http2 && waits_for_multiplexing ? 1L : 0L)
        && SET(CURLOPT_FRESH_CONNECT, is_probe ? 1L : 0L);
}

bool signet_transfer_set_store(signet_transfer *transfer, signet_trust *trust) {
    CURL *easy = transfer->easy;
    signet_trust_release(transfer->trust);
    signet_trust_retain(trust);
    transfer->trust = trust;
    const char *label = signet_trust_label(trust);
    // Calls with another trust have other connections.
    transfer->flow.origin = signet_hash_text(transfer->flow.origin, label) | 1;
    return SET(CURLOPT_CAPATH, label);
}

bool signet_transfer_set_proxy(
    signet_transfer *transfer, const char *url, const char *user, const char *password,
    bool tunnels, const char *tls_host, const char *ca_file) {
    CURL *easy = transfer->easy;
    bool is_tls = tls_host;
    transfer->proxy.is_used = true;
    transfer->proxy.is_tls = is_tls;
    if (is_tls && !copy_host(transfer->proxy.host, tls_host)) return false;
    const char *ca = ca_file ? ca_file : curl_version_info(CURLVERSION_NOW)->cainfo;
    return SET(CURLOPT_PROXY, url) && SET(CURLOPT_NOPROXY, "")
        && SET(CURLOPT_PROXYUSERNAME, user) && SET(CURLOPT_PROXYPASSWORD, password)
        && SET(CURLOPT_HTTPPROXYTUNNEL, tunnels ? 1L : 0L)
        && (!is_tls || !ca || SET(CURLOPT_PROXY_CAINFO, ca));
}

bool signet_transfer_start(signet_transfer *transfer) {
    if (!signet_flow_choose(transfer)) return false;
    transfer->loop->starting += 1;
    transfer->started = signet_now_microseconds();
    transfer->is_started =
        curl_multi_add_handle(transfer->loop->multi, transfer->easy) == CURLM_OK;
    return transfer->is_started;
}

static void unpause(signet_transfer *transfer) {
    curl_easy_pause(
        transfer->easy,
        (transfer->is_paused ? CURLPAUSE_RECV : 0)
            | (transfer->upload.is_paused ? CURLPAUSE_SEND : 0));
}

void signet_transfer_resume(signet_transfer *transfer) {
    if (!transfer->is_paused || transfer->is_done) return;
    transfer->is_paused = false;
    transfer->is_flushing = true;
    if (!signet_flow_resume(transfer)) transfer->refusal = SIGNET_NO_MEMORY;
    unpause(transfer);
    transfer->is_flushing = false;
    // libcurl has discarded the refused bytes and would continue after the gap.
    if (transfer->refusal) {
        transfer->code = CURLE_WRITE_ERROR;
        transfer->is_done = true;
        signet_transfer_make_ready(transfer);
        return;
    }
    signet_flow_note_reading(transfer, transfer->flow.watched);
}

bool signet_transfer_wants_upload(const signet_transfer *transfer) {
    return transfer->upload.is_wanted && !transfer->is_done;
}

bool signet_transfer_consume_restart(signet_transfer *transfer) {
    bool restarts = transfer->upload.restarts;
    transfer->upload.restarts = false;
    return restarts;
}

bool signet_transfer_feed(
    signet_transfer *transfer, const uint8_t *bytes, size_t count, bool is_end) {
    transfer->upload.piece.count = transfer->upload.taken = 0;
    if (!signet_append(&transfer->upload.piece, bytes, count)) return false;
    transfer->upload.is_ended = is_end;
    transfer->upload.is_wanted = false;
    signet_transfer_wake_upload(transfer);
    return true;
}

void signet_transfer_wake_upload(signet_transfer *transfer) {
    if (!transfer->upload.is_paused || transfer->is_done) return;
    transfer->upload.is_paused = false;
    signet_flow_unstick(transfer->loop, transfer->flow.socket);
    unpause(transfer);
}
