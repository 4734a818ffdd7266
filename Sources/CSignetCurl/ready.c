// The list of transfers with news.
#include "transfer.h"

void signet_transfer_make_ready(signet_transfer *transfer) {
    if (transfer->is_ready) return;
    transfer->is_ready = true;
    TAILQ_INSERT_TAIL(&transfer->loop->ready, transfer, ready);
}

void signet_transfer_make_unready(signet_transfer *transfer) {
    if (!transfer->is_ready) return;
    transfer->is_ready = false;
    TAILQ_REMOVE(&transfer->loop->ready, transfer, ready);
}

signet_transfer *signet_loop_next_ready(signet_loop *loop) {
    signet_transfer *transfer = TAILQ_FIRST(&loop->ready);
    if (transfer) signet_transfer_make_unready(transfer);
    return transfer;
}
