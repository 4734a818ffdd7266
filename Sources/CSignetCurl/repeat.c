// Starts a transfer again if its connection ended before a response and it may be sent twice.
#include "connection.h"
#include "system.h"
#include "transfer.h"

static bool may_repeat(const signet_transfer *transfer) {
    if (transfer->was_repeated || transfer->is_probe) return false;
    if (transfer->is_misdirected) return transfer->code == CURLE_OK;
    if (transfer->refusal) return transfer->refusal == SIGNET_STALE;
    // libcurl 7.88.1 retries by itself over HTTP/1.1, but not over HTTP/2, where a pooled
    // connection may end or a GOAWAY may end the session. It doesn't report the number of
    // the last stream that a GOAWAY names.
    bool has_ended = transfer->code == CURLE_HTTP2
        || (transfer->code == CURLE_PARTIAL_FILE && transfer->is_reused);
    return has_ended && transfer->was_http2 && transfer->is_repeatable && transfer->is_sent
        && !transfer->has_head && transfer->head_total == 0;
}

bool signet_transfer_may_ask_again(const signet_transfer *transfer) {
    return !transfer->was_repeated && !transfer->upload.has_trailers
        && (transfer->upload.is_replayable || !transfer->upload.was_taken_from);
}

bool signet_transfer_repeat(signet_transfer *transfer) {
    bool may = may_repeat(transfer);
    // If the request isn't sent again, the 421 is the response, without its body.
    transfer->has_head = transfer->has_head || transfer->is_misdirected;
    if (!may) return false;
    int64_t left = transfer->time.deadline - signet_monotonic_milliseconds();
    if (left <= 0 || !signet_transfer_rewind_upload(transfer)) return false;
    transfer->has_head = transfer->is_misdirected = transfer->ends_with_connection = false;
    transfer->head.count = transfer->trailers.count = transfer->head_total = 0;
    transfer->interim_count = 0;
    transfer->field_count = 0;
    CURL *easy = transfer->easy;
    curl_multi_remove_handle(transfer->loop->multi, easy);
    long connect = transfer->time.connect < left ? transfer->time.connect : (long)left;
    transfer->time.limit = (long)left;
    bool is_set = SET(CURLOPT_FRESH_CONNECT, 1L) && SET(CURLOPT_TIMEOUT_MS, (long)left)
        && SET(CURLOPT_CONNECTTIMEOUT_MS, connect);
    signet_connection_leave(transfer);
    signet_chain_release(transfer->chain);
    signet_handshake_release(transfer->handshake);
    transfer->chain = NULL;
    transfer->handshake = NULL;
    transfer->lost += signet_now_microseconds() - transfer->started;
    transfer->was_repeated = true;
    transfer->was_sent_before = transfer->is_sent;
    transfer->is_sent = transfer->was_http2 = transfer->upload.is_paused = false;
    transfer->refusal = SIGNET_NO_REFUSAL;
    transfer->code = CURLE_OK;
    transfer->opened = -1;
    if (is_set && signet_transfer_start(transfer)) return true;
    transfer->refusal = SIGNET_NO_MEMORY;
    transfer->is_started = false;
    return false;
}
