#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "loop.h"

// libcurl's MAX_INITIAL_POST_SIZE.
#define HEAD_BODY_LIMIT ((size_t)64 << 10)

// --- What came -------------------------------------------------------------------------------

bool signet_transfer_has_head(const signet_transfer *transfer) { return transfer->has_head; }

const uint8_t *signet_transfer_head(const signet_transfer *transfer, size_t *count) {
    *count = transfer->head_count;
    return transfer->head;
}

const uint8_t *signet_transfer_body(const signet_transfer *transfer, size_t *count) {
    size_t left = transfer->body_count - transfer->body_taken;
    *count = left < BODY_ROOM ? left : BODY_ROOM;
    return transfer->body ? transfer->body + transfer->body_taken : NULL;
}

void signet_transfer_drop_body(signet_transfer *transfer) {
    size_t left = transfer->body_count - transfer->body_taken;
    size_t count = left < BODY_ROOM ? left : BODY_ROOM;
    signet_flow_note_taken(transfer, count);
    transfer->body_taken += count;
    if (count < left) return;
    transfer->body_count = transfer->body_taken = 0;
    if (transfer->body_room <= BODY_ROOM * 2) return;
    free(transfer->body);
    transfer->body = NULL;
    transfer->body_room = 0;
}

bool signet_transfer_is_done(const signet_transfer *transfer) { return transfer->is_done; }

signet_refusal signet_transfer_refusal(const signet_transfer *transfer) {
    if (transfer->refusal) return transfer->refusal;
    if (transfer->code != CURLE_OK && signet_transfer_is_flooded(transfer)) return SIGNET_FLOODED;
    // How libcurl says that one line of a header is endless.
    if (transfer->code == CURLE_OUT_OF_MEMORY && transfer->is_sent && !transfer->has_head)
        return SIGNET_HEAD_TOO_LARGE;
    if (transfer->handshake && transfer->handshake->mismatched
        && transfer->code == CURLE_PEER_FAILED_VERIFICATION)
        return SIGNET_PIN_MISMATCH;
    return SIGNET_NO_REFUSAL;
}

bool signet_transfer_is_at_proxy(const signet_transfer *transfer) {
    return transfer->proxy.is_used && !transfer->proxy.is_passed;
}

long signet_transfer_proxy_status(const signet_transfer *transfer) {
    long status = 0;
    return curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK
        ? status
        : 0;
}

// How a transfer ended that never came past its proxy.
static signet_result proxy_result(const signet_transfer *transfer) {
    switch (transfer->code) {
    case CURLE_OPERATION_TIMEDOUT: return SIGNET_FAILED_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return SIGNET_FAILED_RESOURCES;
    case CURLE_SSL_CACERT_BADFILE: return SIGNET_FAILED_TRUST_STORE;
    case CURLE_PROXY: {
        long reason = CURLPX_OK;
        curl_easy_getinfo(transfer->easy, CURLINFO_PROXY_ERROR, &reason);
        switch (reason) {
        case CURLPX_NO_AUTH:
        case CURLPX_USER_REJECTED:
        case CURLPX_UNKNOWN_FAIL: return SIGNET_FAILED_PROXY_LOGIN;
        default:
            return reason >= CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED
                    && reason <= CURLPX_REQUEST_FAILED
                ? SIGNET_FAILED_PROXY_REFUSED
                : SIGNET_FAILED_PROXY;
        }
    }
    default: break;
    }
    long status = signet_transfer_proxy_status(transfer);
    if (status == 407) return SIGNET_FAILED_PROXY_LOGIN;
    return status >= 300 ? SIGNET_FAILED_PROXY_REFUSED : SIGNET_FAILED_PROXY;
}

signet_result signet_transfer_result(const signet_transfer *transfer) {
    if (signet_transfer_refusal(transfer)) return SIGNET_FAILED_REFUSED;
    if (transfer->code != CURLE_OK && transfer->lacks_resources) return SIGNET_FAILED_RESOURCES;
    if (transfer->code != CURLE_OK && signet_transfer_is_at_proxy(transfer))
        return proxy_result(transfer);
    switch (transfer->code) {
    case CURLE_OK: return signet_transfer_is_cut(transfer) ? SIGNET_FAILED_CUT_OFF : SIGNET_OK;
    case CURLE_COULDNT_RESOLVE_HOST: return SIGNET_FAILED_NAME;
    case CURLE_COULDNT_CONNECT: return SIGNET_FAILED_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS: return SIGNET_FAILED_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        // Only the upload was late.
        return signet_flow_response_is_whole(transfer) ? SIGNET_OK : SIGNET_FAILED_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:  // the HTTP/2 session is over: a GOAWAY, or an error that libcurl doesn't tell
        return SIGNET_FAILED_CUT_OFF;
    case CURLE_HTTP2_STREAM:
        // libcurl tells in words alone if HTTP/2 was broken, such as by fields that contradict each other.
        return strstr(transfer->error, "PROTOCOL_ERROR") ? SIGNET_FAILED_MALFORMED
                                                         : SIGNET_FAILED_CUT_OFF;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR: return SIGNET_FAILED_MALFORMED;
    case CURLE_SSL_CACERT_BADFILE: return SIGNET_FAILED_TRUST_STORE;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return SIGNET_FAILED_RESOURCES;
    default: return SIGNET_FAILED_OTHER;
    }
}

const char *signet_transfer_message(const signet_transfer *transfer) {
    if (transfer->code == CURLE_OK && signet_transfer_is_cut(transfer))
        return "a body without a length ended without TLS's close_notify";
    return transfer->error[0] ? transfer->error : curl_easy_strerror(transfer->code);
}

bool signet_transfer_is_untrusted(const signet_transfer *transfer) {
    return transfer->handshake && transfer->handshake->is_untrusted
        && !transfer->handshake->is_proxys;
}

int64_t signet_transfer_number(const signet_transfer *transfer, CURLINFO what) {
    curl_off_t value = 0;
    return curl_easy_getinfo(transfer->easy, what, &value) == CURLE_OK ? (int64_t)value : 0;
}

// A time since the transfer began; 0 if it was not reached.
static int64_t microseconds(const signet_transfer *transfer, CURLINFO what) {
    int64_t time = signet_transfer_number(transfer, what);
    return time > 0 ? time + transfer->lost : 0;
}

int64_t signet_transfer_content_length(const signet_transfer *transfer) {
    curl_off_t length = -1;
    return curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
            == CURLE_OK
        ? (int64_t)length
        : -1;
}

// The bytes of a body that libcurl sends in one go with the request's header, and counts with it too.
static int64_t sent_with_head(const signet_transfer *transfer, int64_t first, int64_t body) {
    if (transfer->upload.is_streamed || transfer->sent_body.count >= HEAD_BODY_LIMIT) return 0;
    // TLS gets 16 KiB at once: then it is what the header left of them.
    bool has_tls = transfer->is_secure || transfer->proxy.is_tls;
    if (!has_tls || first < CURL_MAX_WRITE_SIZE) return body;
    int64_t left = first - (int64_t)transfer->sent_body.head_count;
    return left < 0 ? 0 : left < body ? left : body;
}

void signet_transfer_timings(const signet_transfer *transfer, signet_timings *timings) {
    long connections = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connections) != CURLE_OK)
        connections = 1;
    timings->name_resolved = microseconds(transfer, CURLINFO_NAMELOOKUP_TIME_T);
    timings->connected = microseconds(transfer, CURLINFO_CONNECT_TIME_T);
    timings->tunnelled = transfer->tunnelled > 0
        ? transfer->tunnelled - transfer->started + transfer->lost
        : 0;
    bool is_over = transfer->is_done || transfer->flow.early_since;
    timings->total = is_over ? microseconds(transfer, CURLINFO_TOTAL_TIME_T) : 0;
    long sent = 0, head = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent) != CURLE_OK) sent = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_HEADER_SIZE, &head) != CURLE_OK) head = 0;
    int64_t first = sent - transfer->proxy.sent;
    int64_t body = signet_transfer_number(transfer, CURLINFO_SIZE_UPLOAD_T);
    timings->sent = first + body - sent_with_head(transfer, first, body);
    timings->received = head - (int64_t)transfer->proxy.head_total
        + signet_transfer_number(transfer, CURLINFO_SIZE_DOWNLOAD_T);
    timings->secured = microseconds(transfer, CURLINFO_APPCONNECT_TIME_T);
    timings->first_byte = microseconds(transfer, CURLINFO_STARTTRANSFER_TIME_T);
    timings->reused = connections == 0;
}

const signet_chain *signet_transfer_chain(const signet_transfer *transfer) {
    if (transfer->chain) return transfer->chain;
    const signet_handshake *handshake = transfer->handshake;
    return handshake && transfer->is_done && !handshake->is_proxys ? handshake->chain : NULL;
}
