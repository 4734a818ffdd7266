#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// Trailers: the fields that follow the body of a request or a response.
#include <stdlib.h>
#include <string.h>

#include "loop.h"

const uint8_t *signet_transfer_trailers(const signet_transfer *transfer, size_t *count) {
    *count = transfer->trailer_count;
    return transfer->trailer;
}

// Gives libcurl a list of its own, which it frees.
static int on_trailers(struct curl_slist **list, void *context) {
    signet_transfer *transfer = context;
    const char *line = transfer->upload.trailers;
    size_t left = transfer->upload.trailer_count;
    while (left > 0) {
        struct curl_slist *longer = curl_slist_append(*list, line);
        if (!longer) {
            if (!transfer->refusal) transfer->refusal = SIGNET_NO_MEMORY;
            return CURL_TRAILERFUNC_ABORT;
        }
        *list = longer;
        size_t count = strlen(line) + 1;
        line += count;
        left -= count;
    }
    return CURL_TRAILERFUNC_OK;
}

bool signet_transfer_announce_trailers(signet_transfer *transfer) {
    CURL *easy = transfer->easy;
    transfer->upload.has_trailers = true;
    return SET(CURLOPT_TRAILERFUNCTION, on_trailers) && SET(CURLOPT_TRAILERDATA, transfer);
}

bool signet_transfer_set_trailers(signet_transfer *transfer, const uint8_t *lines, size_t count) {
    signet_transfer_drop_trailers(transfer);
    if (count == 0) return true;
    transfer->upload.trailers = malloc(count);
    if (!transfer->upload.trailers) return false;
    memcpy(transfer->upload.trailers, lines, count);
    transfer->upload.trailer_count = count;
    return true;
}

void signet_transfer_drop_trailers(signet_transfer *transfer) {
    free(transfer->upload.trailers);
    transfer->upload.trailers = NULL;
    transfer->upload.trailer_count = 0;
}
