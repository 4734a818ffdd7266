// The list of transfers with news.
#include "loop.h"

void signet_transfer_make_ready(signet_transfer *transfer) {
    if (transfer->is_ready) return;
    signet_loop *loop = transfer->loop;
    transfer->is_ready = true;
    transfer->next = NULL;
    if (loop->ready_last)
        loop->ready_last->next = transfer;
    else
        loop->ready_first = transfer;
    loop->ready_last = transfer;
}

void signet_transfer_make_unready(signet_transfer *transfer) {
    if (!transfer->is_ready) return;
    signet_loop *loop = transfer->loop;
    signet_transfer *before = NULL;
    for (signet_transfer *each = loop->ready_first; each; before = each, each = each->next) {
        if (each != transfer) continue;
        if (before)
            before->next = each->next;
        else
            loop->ready_first = each->next;
        if (loop->ready_last == each) loop->ready_last = before;
        break;
    }
    transfer->next = NULL;
    transfer->is_ready = false;
}

signet_transfer *signet_loop_next_ready(signet_loop *loop) {
    signet_transfer *transfer = loop->ready_first;
    if (!transfer) return NULL;
    loop->ready_first = transfer->next;
    if (!loop->ready_first) loop->ready_last = NULL;
    transfer->next = NULL;
    transfer->is_ready = false;
    return transfer;
}
