#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// The life of a transfer: its handle, its options, and how it starts, pauses and ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

#define SPARE_LIMIT 256

// --- Creation and release --------------------------------------------------------------------

void signet_transfer_close(signet_transfer *transfer) {
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    free(transfer->head);
    free(transfer->body);
    free(transfer->trailer);
    free(transfer->upload.bytes);
    signet_transfer_drop_trailers(transfer);
    free(transfer);
}

signet_transfer *signet_transfer_acquire(signet_loop *loop, uint64_t identifier) {
    signet_transfer *transfer = loop->spare;
    if (transfer) {
        loop->spare = transfer->next;
        loop->spare_count -= 1;
        transfer->next = NULL;
    } else {
        transfer = calloc(1, sizeof *transfer);
        if (!transfer) return NULL;
        transfer->loop = loop;
        transfer->opened = -1;
        transfer->easy = curl_easy_init();
        if (!transfer->easy || !signet_transfer_set_once(transfer)) {
            signet_transfer_close(transfer);
            return NULL;
        }
    }
    transfer->identifier = identifier;
    transfer->flow.socket = transfer->flow.watched = -1;
    return transfer;
}

void signet_transfer_release(signet_transfer *transfer) {
    signet_loop *loop = transfer->loop;
    CURL *easy = transfer->easy;
    if (transfer->is_started) {
        // Removing an unfinished transfer closes its connection, which reads from the socket once more.
        if (!transfer->is_done) signet_loop_enter(loop, -1);
        // If a paused transfer ends while others use its connection, libcurl 7.88.1 never frees what
        // it has stored of the body. So the transfer is continued first, and the body discarded.
        transfer->is_dropped = true;
        if (!transfer->is_done && transfer->is_paused) curl_easy_pause(easy, CURLPAUSE_CONT);
        curl_multi_remove_handle(loop->multi, easy);
        if (!transfer->is_done) signet_loop_leave(loop);
    }
    signet_connection_leave(transfer);
    signet_transfer_make_unready(transfer);
    signet_flow_leave(transfer);
    bool cleared = (!transfer->flow.is_second || SET(CURLOPT_SHARE, loop->share))
        && SET(CURLOPT_POSTFIELDS, NULL) && SET(CURLOPT_HTTPHEADER, NULL) && SET(CURLOPT_CONNECT_TO, NULL);
    if (transfer->proxy.is_used)
        cleared = SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*")
            && SET(CURLOPT_PROXYUSERNAME, NULL) && SET(CURLOPT_PROXYPASSWORD, NULL)
            && SET(CURLOPT_HTTPPROXYTUNNEL, 0L) && cleared;
    if (transfer->upload.is_streamed)
        cleared = SET(CURLOPT_UPLOAD_BUFFERSIZE, HEAD_BUFFER) && cleared;
    // libcurl counts a handle's retries across all calls and fails after five; only curl_easy_reset
    // clears the count. So a handle that may have retried isn't used again.
    // Nor does libcurl forget that a handle has sent trailers, and it would write the chunks of the next
    // upload without room for their sizes.
    bool is_worn = transfer->upload.has_trailers
        || (transfer->is_started
            && (transfer->was_retried || !transfer->is_done || transfer->code != CURLE_OK));
    memset(&transfer->proxy, 0, sizeof transfer->proxy);
    memset(&transfer->flow, 0, sizeof transfer->flow);
    transfer->flow.socket = transfer->flow.watched = -1;
    transfer->started = transfer->tunnelled = transfer->lost = 0;
    free(transfer->request_body);
    free(transfer->upload.bytes);
    signet_transfer_drop_trailers(transfer);
    memset(&transfer->upload, 0, sizeof transfer->upload);
    transfer->is_repeatable = transfer->was_http2 = false;
    free(transfer->fields);
    free(transfer->field_bytes);
    free(transfer->connect_to);
    free(transfer->connect_to_bytes);
    transfer->request_body = NULL;
    transfer->fields = transfer->connect_to = NULL;
    transfer->field_bytes = transfer->connect_to_bytes = NULL;
    signet_wanted_release(transfer->wanted);
    signet_handshake_release(transfer->handshake);
    signet_chain_release(transfer->chain);
    transfer->wanted = NULL;
    transfer->handshake = NULL;
    transfer->chain = NULL;
    if (!cleared || is_worn || loop->spare_count >= SPARE_LIMIT) {
        signet_transfer_close(transfer);
        return;
    }
    transfer->is_started = transfer->is_done = transfer->is_paused = false;
    transfer->is_secure = transfer->is_probe = transfer->is_sent = transfer->has_head = false;
    transfer->is_reused = transfer->was_retried = transfer->was_repeated = false;
    transfer->is_dropped = false;
    transfer->hears_errors = transfer->lacks_resources = false;
    transfer->opened = -1;
    transfer->code = CURLE_OK;
    transfer->refusal = SIGNET_NO_REFUSAL;
    transfer->head_count = transfer->head_total = 0;
    transfer->body_count = transfer->body_taken = 0;
    transfer->field_count = 0;
    transfer->trailer_count = 0;
    transfer->is_head = transfer->ends_with_connection = false;
    transfer->body_total = 0;
    transfer->error[0] = 0;
    if (transfer->body_room > BODY_ROOM * 2) {
        free(transfer->body);
        transfer->body = NULL;
        transfer->body_room = 0;
    }
    transfer->next = loop->spare;
    loop->spare = transfer;
    loop->spare_count += 1;
}

uint64_t signet_transfer_identifier(const signet_transfer *transfer) {
    return transfer->identifier;
}

bool signet_transfer_set_request(
    signet_transfer *transfer, const uint8_t *start, bool is_head, bool sends_body,
    const uint8_t *body, size_t body_count) {
    CURL *easy = transfer->easy;
    const char *method = (const char *)start;
    const char *target = method + strlen(method) + 1;
    const char *url = target + strlen(target) + 1;
    transfer->flow.origin = signet_hash_text(HASH_START, url) | 1;  // never 0
    // "GET /path HTTP/1.1", "Content-Length: 5" and the empty line.
    transfer->sent_body.count = sends_body ? body_count : 0;
    transfer->is_head = is_head;
    transfer->sent_body.head_count = strlen(method) + strlen(target) + 14;
    if (sends_body)
        transfer->sent_body.head_count += (size_t)snprintf(NULL, 0, "%zu", body_count) + 18;
    if (!SET(CURLOPT_HTTPGET, 1L) || !SET(CURLOPT_NOBODY, is_head ? 1L : 0L)) return false;
    if (!is_head && !sends_body && !SET(CURLOPT_HTTPGET, 1L)) return false;
    if (sends_body) {
        transfer->request_body = malloc(body_count + 1);
        if (!transfer->request_body) return false;
        if (body_count > 0) memcpy(transfer->request_body, body, body_count);
        transfer->request_body[body_count] = 0;
        if (!SET(CURLOPT_POST, 1L) || !SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_count)
            || !SET(CURLOPT_POSTFIELDS, transfer->request_body))
            return false;
    }
    return SET(CURLOPT_CUSTOMREQUEST, method) && SET(CURLOPT_URL, url)
        && SET(CURLOPT_REQUEST_TARGET, target);
}

void signet_transfer_set_repeatable(signet_transfer *transfer, bool is_repeatable) {
    transfer->is_repeatable = is_repeatable;
}

bool signet_transfer_set_upload(
    signet_transfer *transfer, int64_t length, bool is_replayable) {
    CURL *easy = transfer->easy;
    transfer->upload.is_streamed = true;
    transfer->upload.is_replayable = is_replayable;
    transfer->upload.length = length;
    return SET(CURLOPT_UPLOAD, 1L) && SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)length)
        && SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER);
}

// Makes a list whose nodes are one allocation and whose texts are another.
static bool make_list(
    const uint8_t *lines, size_t count, struct curl_slist **list, char **bytes) {
    size_t number = 0;
    for (size_t i = 0; i < count; i++) number += lines[i] == 0;
    if (number == 0) return true;
    *bytes = malloc(count);
    *list = calloc(number, sizeof **list);
    if (!*bytes || !*list) return false;
    memcpy(*bytes, lines, count);
    char *text = *bytes;
    for (size_t i = 0; i < number; i++) {
        (*list)[i].data = text;
        (*list)[i].next = i + 1 < number ? *list + i + 1 : NULL;
        text += strlen(text) + 1;
    }
    return true;
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
    return make_list(lines, count, &transfer->fields, &transfer->field_bytes)
        && SET(CURLOPT_HTTPHEADER, transfer->fields);
}

bool signet_transfer_set_connect_to(
    signet_transfer *transfer, const uint8_t *lines, size_t count) {
    CURL *easy = transfer->easy;
    return make_list(lines, count, &transfer->connect_to, &transfer->connect_to_bytes)
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
        transfer->wanted = signet_wanted_new(digests, digest_count, is_enforced);
        if (!transfer->wanted) return false;
    }
    bool http2 = offers_http2 && transfer->loop->http2;
    return SET(
               CURLOPT_HTTP_VERSION,
               (long)(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        && SET(CURLOPT_PIPEWAIT, http2 && waits_for_multiplexing ? 1L : 0L)
        && SET(CURLOPT_FRESH_CONNECT, is_probe ? 1L : 0L);
}

bool signet_transfer_set_proxy(
    signet_transfer *transfer, const char *url, const char *user, const char *password,
    bool tunnels, bool is_tls, const char *ca_file) {
    CURL *easy = transfer->easy;
    transfer->proxy.is_used = true;
    transfer->proxy.is_tls = is_tls;
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
    transfer->upload.count = transfer->upload.taken = 0;
    if (count > 0
        && !signet_append(
            &transfer->upload.bytes, &transfer->upload.count, &transfer->upload.room, bytes,
            count))
        return false;
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
