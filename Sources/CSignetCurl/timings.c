// Sizes and times of a transfer.
#include "transfer.h"

// libcurl's MAX_INITIAL_POST_SIZE.
#define HEAD_BODY_LIMIT ((size_t)64 << 10)

int64_t signet_transfer_number(const signet_transfer *transfer, CURLINFO what) {
    curl_off_t value = 0;
    curl_easy_getinfo(transfer->easy, what, &value);
    return value;
}

// Returns a time since the transfer's start; 0 if the step didn't happen.
static int64_t microseconds(const signet_transfer *transfer, CURLINFO what) {
    int64_t time = signet_transfer_number(transfer, what);
    return time > 0 ? time + transfer->lost : 0;
}

int64_t signet_transfer_content_length(const signet_transfer *transfer) {
    curl_off_t length = -1;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length;
}

// Returns how many bytes of a body libcurl sends together with the request's header and counts
// twice.
static int64_t sent_with_head(const signet_transfer *transfer, int64_t first, int64_t body) {
    if (transfer->upload.is_streamed || transfer->sent_body.count >= HEAD_BODY_LIMIT) return 0;
    // libcurl gives TLS at most 16 KiB at once: the header, and as much of the body as still fits.
    bool has_tls = transfer->is_secure || transfer->proxy.is_tls;
    if (!has_tls || first < CURL_MAX_WRITE_SIZE) return body;
    int64_t left = first - (int64_t)transfer->sent_body.head_count;
    return left < 0 ? 0 : left < body ? left : body;
}

void signet_transfer_timings(const signet_transfer *transfer, signet_timings *timings) {
    // curl_easy_getinfo leaves a variable unchanged if the value is unknown.
    long connections = 1, sent = 0, head = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connections);
    curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(transfer->easy, CURLINFO_HEADER_SIZE, &head);
    timings->name_resolved = microseconds(transfer, CURLINFO_NAMELOOKUP_TIME_T);
    timings->connected = microseconds(transfer, CURLINFO_CONNECT_TIME_T);
    timings->tunnelled = transfer->tunnelled > 0
        ? transfer->tunnelled - transfer->started + transfer->lost
        : 0;
    bool is_over = transfer->is_done || transfer->flow.early_since;
    timings->total = is_over ? microseconds(transfer, CURLINFO_TOTAL_TIME_T) : 0;
    int64_t first = sent - transfer->proxy.sent;
    int64_t body = signet_transfer_number(transfer, CURLINFO_SIZE_UPLOAD_T);
    timings->sent = first + body - sent_with_head(transfer, first, body);
    timings->received = head - (int64_t)transfer->proxy.head_total
        + signet_transfer_number(transfer, CURLINFO_SIZE_DOWNLOAD_T);
    timings->secured = microseconds(transfer, CURLINFO_APPCONNECT_TIME_T);
    timings->first_byte = microseconds(transfer, CURLINFO_STARTTRANSFER_TIME_T);
    timings->reused = connections == 0;
}
