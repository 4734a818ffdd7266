// The list of transfers with news.
#include "loop.h"

void signet_transfer_make_ready(signet_transfer *transfer) {
    if (transfer->is_ready) return;
    signet_loop *loop = transfer->loop;
    transfer->is_ready = true;
    transfer->next = NULL;
    transfer->previous = loop->ready_last;
    if (loop->ready_last)
        loop->ready_last->next = transfer;
    else
        loop->ready_first = transfer;
    loop->ready_last = transfer;
}

void signet_transfer_make_unready(signet_transfer *transfer) {
    if (!transfer->is_ready) return;
    signet_loop *loop = transfer->loop;
    if (transfer->previous)
        transfer->previous->next = transfer->next;
    else
        loop->ready_first = transfer->next;
    if (transfer->next)
        transfer->next->previous = transfer->previous;
    else
        loop->ready_last = transfer->previous;
    transfer->next = transfer->previous = NULL;
    transfer->is_ready = false;
}

signet_transfer *signet_loop_next_ready(signet_loop *loop) {
    signet_transfer *transfer = loop->ready_first;
    if (transfer) signet_transfer_make_unready(transfer);
    return transfer;
}
