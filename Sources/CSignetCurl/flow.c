#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "flow.h"
#include "socket.h"
#include "transfer.h"

// Limits for connections that calls share (HTTP/2), which libcurl 7.88.1 lacks.
//
// Unread bodies: libcurl opens each stream with a window of 32 MiB, which no option changes, and
// stores everything that arrives for a paused transfer. The limit therefore applies to each
// connection: above it the connection's socket is not read, so that TCP makes the server wait.
//
// Uploads: libcurl requests EPOLLOUT while a stream has something to send, even if the server's
// window for it is closed. The socket is then always writable, so EPOLLOUT is omitted for a while
// after an attempt that wrote nothing.

// A connection with more bytes of unread bodies is not read. One slow reader can have two windows
// unread: one delivered by libcurl and one stored by it.
#define UNREAD_LIMIT ((int64_t)65 << 20)
// A connection with more bytes of unread bodies gets no new calls.
#define CROWDED_UNREAD ((int64_t)32 << 20)
// A connection with this many transfers whose callers don't read gets no new calls, because two
// windows are nearly UNREAD_LIMIT.
#define CROWDED_SLOW 2
// A transfer whose caller has read nothing for so long, in milliseconds, may be ended if others
// need the connection.
#define UNREAD_TIMEOUT_MS 1000
// The interval in which stopped connections and complete responses are checked, in milliseconds.
#define FLOW_PAUSE 100
// How long an upload may make no progress after the response is complete, in milliseconds.
#define EARLY_TIMEOUT_MS 500
// The longest time without EPOLLOUT, in milliseconds.
#define LONGEST_STUCK 64

static signet_flow *flow_of(signet_loop *loop, curl_socket_t socket) {
    return socket >= 0 && (size_t)socket < loop->socket_count ? &loop->sockets[socket].flow : NULL;
}

static void schedule(signet_loop *loop, int64_t time) {
    if (!loop->flow_due || time < loop->flow_due) loop->flow_due = time;
}

// --- Which transfer is on which connection ---------------------------------------------------

void signet_flow_join(signet_transfer *transfer, SSL *ssl, curl_socket_t socket) {
    signet_loop *loop = transfer->loop;
    signet_flow_leave(transfer);
    transfer->flow.socket = socket;
    transfer->flow.is_member = true;
    LIST_INSERT_HEAD(&loop->flowing, transfer, flow.list);
    signet_flow *flow = flow_of(loop, socket);
    if (!flow) return;
    flow->ssl = ssl;
    flow->set = transfer->flow.set;
    signet_flow_unstick(loop, socket);
}

// New calls avoid a connection on which they would wait for the readers of other calls.
static void set_crowded(signet_transfer *transfer, signet_flow *flow) {
    bool is_crowded = flow->slow >= CROWDED_SLOW || flow->unread > CROWDED_UNREAD;
    if (is_crowded == (flow->crowded_origin != 0)) return;
    flow->crowded_origin = is_crowded ? transfer->flow.origin : 0;
    transfer->loop->crowded += is_crowded ? 1 : -1;
}

static void set_unread(signet_transfer *transfer, int64_t unread) {
    signet_loop *loop = transfer->loop;
    signet_flow *flow = flow_of(loop, transfer->flow.socket);
    int64_t change = unread - transfer->flow.unread;
    transfer->flow.unread = unread;
    if (!flow || change == 0) return;
    flow->unread += change;
    set_crowded(transfer, flow);
    bool is_stopped = flow->unread > UNREAD_LIMIT;
    if (is_stopped == flow->is_stopped) return;
    flow->is_stopped = is_stopped;
    if (is_stopped) {
        flow->stopped_since = signet_monotonic_milliseconds();
        schedule(loop, flow->stopped_since + FLOW_PAUSE);
    }
    signet_loop_update_epoll(loop, transfer->flow.socket);
}

static void set_counted(signet_transfer *transfer, bool is_counted) {
    if (transfer->flow.is_counted == is_counted) return;
    signet_loop *loop = transfer->loop;
    signet_flow *flow = flow_of(loop, transfer->flow.socket);
    transfer->flow.is_counted = is_counted;
    loop->counted += is_counted ? 1 : -1;
    if (!flow) return;
    flow->slow += is_counted ? 1 : -1;
    set_crowded(transfer, flow);
}

void signet_flow_leave(signet_transfer *transfer) {
    if (!transfer->flow.is_member) return;
    set_unread(transfer, 0);
    set_counted(transfer, false);
    LIST_REMOVE(transfer, flow.list);
    transfer->flow.is_member = false;
    transfer->flow.socket = -1;
}

void signet_flow_forget(signet_loop *loop, curl_socket_t socket) {
    signet_flow *flow = flow_of(loop, socket);
    if (!flow) return;
    signet_transfer *each;
    if (flow->ssl)
        LIST_FOREACH(each, &loop->flowing, flow.list) {
            if (each->flow.socket != socket) continue;
            each->flow.unread = 0;
            each->flow.socket = -1;
        }
    if (flow->crowded_origin) loop->crowded -= 1;
    *flow = (signet_flow){0};
}

// --- Unread bodies ---------------------------------------------------------------------------

void signet_flow_count(signet_transfer *transfer) {
    CURL *easy = transfer->easy;
    if (!transfer->flow.is_member) return;
    // If libcurl 7.88.1 ends a paused transfer whose connection others use, it never frees what it
    // has stored of the body. So the deadline is watched here until the transfer continues.
    transfer->flow.is_timed = SET(CURLOPT_TIMEOUT_MS, 0L);
    if (transfer->flow.is_timed) schedule(transfer->loop, transfer->time.deadline);
    if (transfer->flow.is_counted) return;
    transfer->flow.taken_at = signet_monotonic_milliseconds();
    set_counted(transfer, true);
}

bool signet_flow_resume(signet_transfer *transfer) {
    CURL *easy = transfer->easy;
    if (!transfer->flow.is_timed) return true;
    transfer->flow.is_timed = false;
    return SET(CURLOPT_TIMEOUT_MS, transfer->time.limit);
}

void signet_flow_note_taken(signet_transfer *transfer, size_t count) {
    transfer->flow.taken += (int64_t)count;
    if (transfer->flow.is_counted) transfer->flow.taken_at = signet_monotonic_milliseconds();
}

static void end_unread(signet_transfer *transfer, signet_refusal reason) {
    if (!transfer->refusal) transfer->refusal = reason;
    signet_flow_leave(transfer);
    signet_transfer_make_ready(transfer);
}

static void measure(signet_loop *loop) {
    size_t left = loop->counted;
    int64_t now = signet_monotonic_milliseconds();
    signet_transfer *next;
    for (signet_transfer *each = LIST_FIRST(&loop->flowing); each && left > 0; each = next) {
        next = LIST_NEXT(each, flow.list);
        if (!each->flow.is_counted) continue;
        left -= 1;
        if (each->flow.is_timed && !each->is_done && each->time.deadline <= now) {
            end_unread(each, SIGNET_NOT_READ_IN_TIME);
            continue;
        }
        int64_t unread = signet_transfer_number(each, CURLINFO_SIZE_DOWNLOAD_T) - each->flow.taken;
        set_unread(each, unread > 0 ? unread : 0);
        if (each->is_paused || unread > (int64_t)BODY_ROOM) continue;
        set_counted(each, false);
    }
}

static bool is_crowded(const signet_loop *loop, uint64_t origin, unsigned set) {
    for (size_t i = 0; i < loop->socket_count; i++)
        if (loop->sockets[i].flow.crowded_origin == origin
            && loop->sockets[i].flow.set == set)
            return true;
    return false;
}

bool signet_flow_choose(signet_transfer *transfer) {
    signet_loop *loop = transfer->loop;
    CURL *easy = transfer->easy;
    uint64_t origin = transfer->flow.origin;
    unsigned set = 0;
    if (loop->crowded > 0)
        while (set < OTHER_SETS && is_crowded(loop, origin, set)) set++;
    transfer->flow.set = set;
    if (set == 0) return true;
    CURLSH **share = &loop->others[set - 1];
    if (!*share) *share = signet_loop_new_set();
    return *share && SET(CURLOPT_SHARE, *share)
        && (!is_crowded(loop, origin, set) || SET(CURLOPT_FRESH_CONNECT, 1L));
}

// Whether a call on this connection waits for bytes from the socket.
static bool is_needed(const signet_loop *loop, curl_socket_t socket) {
    signet_transfer *each;
    LIST_FOREACH(each, &loop->flowing, flow.list)
        if (each->flow.socket == socket && !each->is_paused && !each->is_done
            && each->flow.unread <= (int64_t)BODY_ROOM)
            return true;
    return false;
}

// Ends transfers whose callers read nothing, the largest first, until the connection can be read
// again.
static void end_slow_readers(signet_loop *loop, curl_socket_t socket, int64_t now) {
    signet_flow *flow = flow_of(loop, socket);
    if (now - flow->stopped_since < UNREAD_TIMEOUT_MS || !is_needed(loop, socket)) return;
    while (flow->unread >= CROWDED_UNREAD) {
        signet_transfer *each, *most = NULL;
        LIST_FOREACH(each, &loop->flowing, flow.list)
            if (each->flow.socket == socket && each->flow.unread > (int64_t)BODY_ROOM
                && now - each->flow.taken_at >= UNREAD_TIMEOUT_MS
                && (!most || each->flow.unread > most->flow.unread))
                most = each;
        if (!most) return;
        end_unread(most, SIGNET_NOT_READ);
    }
}

// --- Uploads ---------------------------------------------------------------------------------

static uint64_t written_to(const signet_flow *flow) {
    return BIO_number_written(SSL_get_wbio(flow->ssl));
}

void signet_flow_before(
    signet_loop *loop, curl_socket_t socket, uint8_t wanted, int *mask, uint64_t *written) {
    signet_flow *flow = flow_of(loop, socket);
    if (!flow || !flow->ssl) return;
    // Let libcurl write too, because the bytes that it is about to read may open a window.
    if (flow->stuck_until && wanted & EPOLLOUT) *mask |= CURL_CSELECT_OUT;
    if (*mask & CURL_CSELECT_OUT) *written = written_to(flow);
}

void signet_flow_after(signet_loop *loop, curl_socket_t socket, int mask, uint64_t written) {
    signet_flow *flow = flow_of(loop, socket);
    if (!flow || !flow->ssl || !(mask & CURL_CSELECT_OUT)) return;
    if (written_to(flow) != written) {
        signet_flow_unstick(loop, socket);
    } else if (!(mask & CURL_CSELECT_IN)) {
        flow->stuck_pause = flow->stuck_pause ? flow->stuck_pause * 2 : 1;
        if (flow->stuck_pause > LONGEST_STUCK) flow->stuck_pause = LONGEST_STUCK;
        flow->stuck_until = signet_monotonic_milliseconds() + flow->stuck_pause;
        schedule(loop, flow->stuck_until);
        signet_loop_update_epoll(loop, socket);
    }
}

void signet_flow_unstick(signet_loop *loop, curl_socket_t socket) {
    signet_flow *flow = flow_of(loop, socket);
    if (!flow) return;
    flow->stuck_pause = 0;
    if (!flow->stuck_until) return;
    flow->stuck_until = 0;
    signet_loop_update_epoll(loop, socket);
}

// --- Responses before the request's end ------------------------------------------------------

// Whether the server has closed its side, so that a response without a length may have been cut
// off.
static bool has_ended(const signet_transfer *transfer, curl_socket_t socket) {
    if (transfer->traffic && transfer->traffic->was_closed) return true;
    char byte;
    ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void signet_flow_note_reading(signet_transfer *transfer, curl_socket_t socket) {
    transfer->flow.watched = socket;
    transfer->flow.has_stopped_reading = transfer->has_head && !transfer->was_http2
        && !transfer->is_paused && socket >= 0
        && !(transfer->loop->sockets[socket].wanted & EPOLLIN) && !has_ended(transfer, socket);
}

bool signet_flow_response_is_whole(const signet_transfer *transfer) {
    if (!transfer->has_head || transfer->is_paused
        || transfer->body.count > transfer->body_taken)
        return false;
    int64_t length = signet_transfer_content_length(transfer);
    if (length >= 0 && transfer->body_total == (uint64_t)length) return true;
    return transfer->is_bodyless || (!transfer->was_http2 && transfer->flow.has_stopped_reading);
}

bool signet_flow_response_is_complete(const signet_transfer *transfer) {
    if (!transfer->has_head || transfer->is_paused) return false;
    int64_t length = signet_transfer_content_length(transfer);
    return transfer->is_bodyless || (length >= 0 && transfer->body_total == (uint64_t)length);
}

static bool is_uploading(const signet_transfer *transfer, int64_t sent) {
    if (!transfer->upload.is_streamed) return sent < (int64_t)transfer->sent_body.count;
    if (transfer->upload.length >= 0) return sent < transfer->upload.length;
    return !transfer->upload.is_ended || transfer->upload.taken < transfer->upload.piece.count;
}

bool signet_transfer_has_early_response(signet_transfer *transfer) {
    if (!transfer->upload.is_streamed && transfer->sent_body.count == 0) return false;
    if (transfer->is_done || transfer->refusal || !signet_flow_response_is_whole(transfer))
        return false;
    int64_t sent = signet_transfer_number(transfer, CURLINFO_SIZE_UPLOAD_T);
    if (!is_uploading(transfer, sent)) return false;
    int64_t now = signet_monotonic_milliseconds();
    if (transfer->flow.early_since && sent == transfer->flow.early_sent)
        return now - transfer->flow.early_since >= EARLY_TIMEOUT_MS;
    transfer->flow.early_since = now;
    transfer->flow.early_sent = sent;
    schedule(transfer->loop, now + FLOW_PAUSE);
    return false;
}

// --- Timed checks ----------------------------------------------------------------------------

int signet_flow_timeout(const signet_loop *loop, int timeout) {
    if (!loop->flow_due || timeout <= 0) return timeout;
    int64_t left = loop->flow_due - signet_monotonic_milliseconds();
    return left < 0 ? 0 : left < timeout ? (int)left : timeout;
}

void signet_flow_step(signet_loop *loop) {
    if (loop->counted > 0) measure(loop);
    if (!loop->flow_due) return;
    int64_t now = signet_monotonic_milliseconds();
    if (now < loop->flow_due) return;
    loop->flow_due = 0;
    for (size_t i = 0; i < loop->socket_count; i++) {
        signet_flow *flow = &loop->sockets[i].flow;
        if (flow->stuck_until && flow->stuck_until <= now) {
            flow->stuck_until = 0;
            signet_loop_update_epoll(loop, (curl_socket_t)i);
        }
        if (flow->stuck_until) schedule(loop, flow->stuck_until);
        if (flow->is_stopped) end_slow_readers(loop, (curl_socket_t)i, now);
        if (flow->is_stopped) schedule(loop, now + FLOW_PAUSE);
    }
    signet_transfer *each;
    LIST_FOREACH(each, &loop->flowing, flow.list) {
        if (each->flow.is_timed && !each->is_done) schedule(loop, each->time.deadline);
        if (!each->flow.early_since || each->is_done) continue;
        signet_transfer_make_ready(each);
        schedule(loop, now + FLOW_PAUSE);
    }
}
