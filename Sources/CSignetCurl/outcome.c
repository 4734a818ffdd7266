// The response of a transfer, and how the transfer ended.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "flow.h"
#include "transfer.h"

// CURLE_TOO_LARGE of libcurl 8.6 and newer, for which the header of 7.88 has no name.
enum { TOO_LARGE = 100 };

bool signet_transfer_has_head(const signet_transfer *transfer) { return transfer->has_head; }

signet_bytes signet_transfer_head(const signet_transfer *transfer) {
    return (signet_bytes){transfer->head.bytes, transfer->head.count};
}

signet_bytes signet_transfer_trailers(const signet_transfer *transfer) {
    return (signet_bytes){transfer->trailers.bytes, transfer->trailers.count};
}

signet_bytes signet_transfer_body(const signet_transfer *transfer) {
    size_t left = transfer->body.count - transfer->body_taken;
    if (left == 0) return (signet_bytes){NULL, 0};
    return (signet_bytes){
        transfer->body.bytes + transfer->body_taken, left < BODY_ROOM ? left : BODY_ROOM};
}

void signet_transfer_drop_body(signet_transfer *transfer) {
    size_t count = signet_transfer_body(transfer).count;
    signet_flow_note_taken(transfer, count);
    transfer->body_taken += count;
    if (transfer->body_taken == transfer->body.count) signet_transfer_empty_body(transfer);
}

void signet_transfer_empty_body(signet_transfer *transfer) {
    transfer->body.count = transfer->body_taken = 0;
    if (transfer->body.room <= BODY_ROOM * 2) return;
    free(transfer->body.bytes);
    transfer->body = (signet_buffer){0};
}

bool signet_transfer_is_done(const signet_transfer *transfer) { return transfer->is_done; }

signet_refusal signet_transfer_refusal(const signet_transfer *transfer) {
    if (transfer->refusal) return transfer->refusal;
    if (transfer->code != CURLE_OK && signet_transfer_is_flooded(transfer)) return SIGNET_FLOODED;
    // The codes for a header line that is too long; libcurl up to 8.5 has the first one.
    bool is_too_long = transfer->code == CURLE_OUT_OF_MEMORY || (int)transfer->code == TOO_LARGE;
    if (is_too_long && transfer->is_sent && !transfer->has_head) return SIGNET_HEAD_TOO_LARGE;
    const signet_handshake *handshake = transfer->handshake;
    if (handshake && transfer->code == CURLE_PEER_FAILED_VERIFICATION) {
        if (handshake->mismatched) return SIGNET_PIN_MISMATCH;
        if (handshake->is_misnamed && !handshake->is_of_proxy) return SIGNET_WRONG_HOST;
    }
    return SIGNET_NO_REFUSAL;
}

const signet_chain *signet_transfer_misnamed(const signet_transfer *transfer) {
    if (transfer->refusal == SIGNET_WRONG_HOST) return transfer->chain;
    const signet_handshake *handshake = transfer->handshake;
    return handshake && handshake->is_misnamed ? handshake->chain : NULL;
}

bool signet_transfer_is_at_proxy(const signet_transfer *transfer) {
    return transfer->proxy.is_used && !transfer->proxy.is_passed;
}

long signet_transfer_proxy_status(const signet_transfer *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status;
}

// Returns the result of a transfer whose proxy did not connect to the origin.
static signet_result proxy_result(const signet_transfer *transfer) {
    switch (transfer->code) {
    case CURLE_OPERATION_TIMEDOUT: return SIGNET_FAILED_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return SIGNET_FAILED_RESOURCES;
    case CURLE_SSL_CACERT_BADFILE: return SIGNET_FAILED_TRUST_STORE;
    case CURLE_PROXY: {
        long reason = CURLPX_OK;
        curl_easy_getinfo(transfer->easy, CURLINFO_PROXY_ERROR, &reason);
        if (reason == CURLPX_NO_AUTH || reason == CURLPX_USER_REJECTED
            || reason == CURLPX_UNKNOWN_FAIL)
            return SIGNET_FAILED_PROXY_LOGIN;
        bool is_refusal = reason >= CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED
            && reason <= CURLPX_REQUEST_FAILED;
        return is_refusal ? SIGNET_FAILED_PROXY_REFUSED : SIGNET_FAILED_PROXY;
    }
    default: break;
    }
    long status = signet_transfer_proxy_status(transfer);
    if (status == 407) return SIGNET_FAILED_PROXY_LOGIN;
    return status >= 300 ? SIGNET_FAILED_PROXY_REFUSED : SIGNET_FAILED_PROXY;
}

// Whether the last connection failed because there was no route to the host.
static bool is_unreachable(const signet_transfer *transfer) {
    long number = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
    return number == ENETUNREACH || number == EHOSTUNREACH || number == ENETDOWN;
}

// Whether the server ended TLS because of the client's certificate. Over TLS 1.3 it does so after
// the client's handshake, instead of a response.
static bool is_refused_by_alert(const signet_transfer *transfer) {
    if (transfer->has_head) return false;
    switch (signet_transfer_alert(transfer)) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return false;
    }
}

static signet_result result_of_code(const signet_transfer *transfer) {
    if (transfer->has_whole_response) return SIGNET_OK;
    if (signet_transfer_refusal(transfer)) return SIGNET_FAILED_REFUSED;
    if (transfer->code != CURLE_OK && transfer->lacks_resources) return SIGNET_FAILED_RESOURCES;
    if (transfer->code != CURLE_OK && signet_transfer_is_at_proxy(transfer))
        return proxy_result(transfer);
    if (transfer->code != CURLE_OK && is_refused_by_alert(transfer)) return SIGNET_FAILED_TLS;
    switch (transfer->code) {
    case CURLE_OK: return signet_transfer_is_cut(transfer) ? SIGNET_FAILED_CUT_OFF : SIGNET_OK;
    case CURLE_COULDNT_RESOLVE_HOST: return SIGNET_FAILED_NAME;
    case CURLE_COULDNT_CONNECT:
        return is_unreachable(transfer) ? SIGNET_FAILED_UNREACHABLE : SIGNET_FAILED_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS: return SIGNET_FAILED_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        // If the response is complete, only the upload was late.
        return signet_flow_response_is_whole(transfer) ? SIGNET_OK : SIGNET_FAILED_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    // The HTTP/2 session ended, by a GOAWAY or by an error that libcurl doesn't name.
    case CURLE_HTTP2:
        return signet_flow_response_is_complete(transfer) ? SIGNET_OK : SIGNET_FAILED_CUT_OFF;
    case CURLE_HTTP2_STREAM:
        // Only libcurl's text says whether the server violated HTTP/2, for example by contradictory
        // fields.
        if (signet_flow_response_is_complete(transfer)
            && !strstr(transfer->error, "PROTOCOL_ERROR"))
            return SIGNET_OK;
        return strstr(transfer->error, "PROTOCOL_ERROR") ? SIGNET_FAILED_MALFORMED
                                                         : SIGNET_FAILED_CUT_OFF;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR: return SIGNET_FAILED_MALFORMED;
    case CURLE_BAD_FUNCTION_ARGUMENT:  // among others, a header line without a colon
        return transfer->is_sent ? SIGNET_FAILED_MALFORMED : SIGNET_FAILED_OTHER;
    case CURLE_SSL_CACERT_BADFILE: return SIGNET_FAILED_TRUST_STORE;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return SIGNET_FAILED_RESOURCES;
    default: return SIGNET_FAILED_OTHER;
    }
}

// Whether a result says that the server can't have seen the request.
static bool is_before_request(signet_result result) {
    switch (result) {
    case SIGNET_FAILED_NAME:
    case SIGNET_FAILED_CONNECT:
    case SIGNET_FAILED_UNREACHABLE:
    case SIGNET_FAILED_PROXY:
    case SIGNET_FAILED_OTHER: return true;
    default: return false;
    }
}

signet_result signet_transfer_result(const signet_transfer *transfer) {
    signet_result result = result_of_code(transfer);
    // The request may have arrived on a pooled connection that then ended, before libcurl failed to
    // open another one. The codes of newer versions, which are unknown here, don't exclude it.
    return transfer->is_sent && is_before_request(result) ? SIGNET_FAILED_CUT_OFF : result;
}

const char *signet_transfer_message(const signet_transfer *transfer) {
    if (transfer->code == CURLE_OK && signet_transfer_is_cut(transfer))
        return "a body without a length ended without TLS's close_notify";
    if (transfer->code == CURLE_BAD_FUNCTION_ARGUMENT && transfer->is_sent)
        return "found a line in the header or the trailers that is not NAME: VALUE";
    return transfer->error[0] ? transfer->error : curl_easy_strerror(transfer->code);
}

static const signet_handshake *last_handshake(const signet_transfer *transfer) {
    const signet_handshake *handshake =
        transfer->connection ? transfer->connection : transfer->handshake;
    return handshake && !handshake->is_of_proxy ? handshake : NULL;
}

bool signet_transfer_was_sent(const signet_transfer *transfer) {
    return transfer->is_sent || transfer->was_sent_before;
}

bool signet_transfer_was_asked(const signet_transfer *transfer) {
    const signet_handshake *handshake = last_handshake(transfer);
    return handshake && handshake->was_asked;
}

int signet_transfer_alert(const signet_transfer *transfer) {
    const signet_handshake *handshake = last_handshake(transfer);
    return handshake ? handshake->alert : -1;
}

bool signet_transfer_is_untrusted(const signet_transfer *transfer) {
    return transfer->handshake && transfer->handshake->is_untrusted
        && !transfer->handshake->is_of_proxy;
}

const char *signet_transfer_trust_problem(const signet_transfer *transfer) {
    return signet_transfer_is_untrusted(transfer) && transfer->handshake->problem[0]
        ? transfer->handshake->problem
        : NULL;
}

const signet_chain *signet_transfer_chain(const signet_transfer *transfer) {
    if (transfer->chain) return transfer->chain;
    const signet_handshake *handshake = transfer->handshake;
    return handshake && transfer->is_done && !handshake->is_of_proxy ? handshake->chain : NULL;
}
