// The loop: its creation and end, and the steps in which libcurl handles sockets and timers.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connection.h"
#include "flow.h"
#include "socket.h"
#include "system.h"
#include "transfer.h"

#define IDLE_CONNECTIONS 256L

// Sets an option of `loop`, or shares data by `share`.
#define SET_MULTI(option, value) (curl_multi_setopt(loop->multi, option, value) == CURLM_OK)
#define SHARES(share, data) (curl_share_setopt(share, CURLSHOPT_SHARE, data) == CURLSHE_OK)

static int on_socket(
    CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context) {
    (void)socket_context;
    signet_loop *loop = context;
    if (socket < 0) return 0;
    pthread_mutex_lock(&loop->lock);
    bool has_room = signet_loop_make_room(loop, socket);
    pthread_mutex_unlock(&loop->lock);
    if (!has_room) return -1;
    uint8_t wanted = 0;
    if (what != CURL_POLL_REMOVE && what & CURL_POLL_IN) wanted |= EPOLLIN;
    if (what != CURL_POLL_REMOVE && what & CURL_POLL_OUT) wanted |= EPOLLOUT;
    loop->sockets[socket].wanted = wanted;
    // libcurl's resolver creates its socket without the flag.
    if (what != CURL_POLL_REMOVE && !loop->sockets[socket].is_connection)
        fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (wanted || !loop->sockets[socket].is_connection) signet_loop_update_epoll(loop, socket);
    signet_transfer *transfer = NULL;
    if (easy && curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer) == CURLE_OK
        && transfer && what != CURL_POLL_REMOVE)
        signet_flow_note_reading(transfer, socket);
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    signet_loop *loop = context;
    loop->timer = milliseconds < 0 ? -1 : signet_monotonic_milliseconds() + milliseconds;
    return 0;
}

signet_loop *signet_loop_new(
    bool http2, bool multiplexes, long connections_per_host, long idle_seconds,
    long dns_seconds) {
    signet_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    TAILQ_INIT(&loop->ready);
    loop->timer = -1;
    loop->busy_on = loop->last_opened = loop->corked = -1;
    loop->http2 = http2;
    loop->idle_seconds = idle_seconds;
    loop->dns_seconds = dns_seconds;
    pthread_mutex_init(&loop->lock, NULL);
    pthread_mutex_init(&loop->wake_lock, NULL);
    pthread_cond_init(&loop->gate, NULL);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->multi = curl_multi_init();
    loop->share = curl_share_init();
    // With EPOLLET each write is an event, so the eventfd needn't be read.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.fd = loop->wake}};
    bool ready =
        loop->epoll >= 0 && loop->wake >= 0 && loop->multi && loop->share
        && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event) == 0
        && SHARES(loop->share, CURL_LOCK_DATA_SSL_SESSION)
        && SET_MULTI(CURLMOPT_SOCKETFUNCTION, on_socket) && SET_MULTI(CURLMOPT_SOCKETDATA, loop)
        && SET_MULTI(CURLMOPT_TIMERFUNCTION, on_timer) && SET_MULTI(CURLMOPT_TIMERDATA, loop)
        && SET_MULTI(CURLMOPT_PIPELINING, multiplexes ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING)
        && SET_MULTI(CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS)
        && SET_MULTI(CURLMOPT_MAX_HOST_CONNECTIONS, connections_per_host);
    if (!ready) {
        signet_loop_free(loop);
        return NULL;
    }
    signet_close_wakeups_on_exec(loop->multi);
    return loop;
}

bool signet_loop_set_connections(signet_loop *loop, long per_host) {
    return SET_MULTI(CURLMOPT_MAX_HOST_CONNECTIONS, per_host);
}

CURLSH *signet_loop_new_set(void) {
    CURLSH *share = curl_share_init();
    if (share && SHARES(share, CURL_LOCK_DATA_SSL_SESSION)
        && SHARES(share, CURL_LOCK_DATA_CONNECT))
        return share;
    if (share) curl_share_cleanup(share);
    return NULL;
}

void signet_loop_close(signet_loop *loop) {
    while (loop->spare) {
        signet_transfer *transfer = loop->spare;
        loop->spare = transfer->next;
        signet_transfer_close(transfer);
    }
    if (loop->multi) curl_multi_cleanup(loop->multi);
    if (loop->share) curl_share_cleanup(loop->share);
    for (size_t i = 0; i < OTHER_SETS; i++)
        if (loop->others[i]) curl_share_cleanup(loop->others[i]);
    if (loop->epoll >= 0) close(loop->epoll);
    free(loop->sockets);
    loop->multi = NULL;
    loop->share = NULL;
    memset(loop->others, 0, sizeof loop->others);
    loop->sockets = NULL;
    loop->epoll = -1;
    pthread_mutex_lock(&loop->wake_lock);
    if (loop->wake >= 0) close(loop->wake);
    loop->wake = -1;
    pthread_mutex_unlock(&loop->wake_lock);
}

void signet_loop_free(signet_loop *loop) {
    signet_loop_close(loop);
    pthread_mutex_destroy(&loop->lock);
    pthread_mutex_destroy(&loop->wake_lock);
    pthread_cond_destroy(&loop->gate);
    free(loop);
}

void signet_loop_wake(signet_loop *loop) {
    // The load comes first, because an exchange by each caller would move the cache line between
    // processors.
    if (!atomic_load(&loop->waiting) || !atomic_exchange(&loop->waiting, false)) return;
    uint64_t one = 1;
    pthread_mutex_lock(&loop->wake_lock);
    while (loop->wake >= 0 && write(loop->wake, &one, sizeof one) < 0 && errno == EINTR) continue;
    pthread_mutex_unlock(&loop->wake_lock);
}

void signet_loop_will_wait(signet_loop *loop) { atomic_store(&loop->waiting, true); }

// Lets libcurl handle a socket, or its timers and new calls.
static void act(signet_loop *loop, curl_socket_t socket, int mask) {
    signet_loop_enter(loop, socket);
    int running;
    atomic_fetch_add_explicit(&loop->calls, 1, memory_order_relaxed);
    curl_multi_socket_action(loop->multi, socket, mask, &running);
    signet_connection_check_flood(loop, socket);
    signet_loop_uncork(loop);
}

uint64_t signet_loop_calls(const signet_loop *loop) {
    return atomic_load_explicit(&loop->calls, memory_order_relaxed);
}

bool signet_loop_step(signet_loop *loop, bool may_wait, int at_most) {
    loop->steps += 1;
    int timeout = may_wait && TAILQ_EMPTY(&loop->ready) ? at_most : 0;
    if (timeout > 0 && loop->timer >= 0) {
        int64_t left = loop->timer - signet_monotonic_milliseconds();
        timeout = left < 0 ? 0 : left > timeout ? timeout : (int)left;
    }
    timeout = signet_flow_timeout(loop, timeout);
    struct epoll_event events[64];
    int count = epoll_wait(loop->epoll, events, 64, timeout);
    atomic_store(&loop->waiting, false);
    loop->may_cork = loop->starting > 1;
    loop->starting = 0;
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == loop->wake) continue;
        if (!loop->sockets[events[i].data.fd].wanted) {
            signet_loop_update_epoll(loop, events[i].data.fd);
            continue;
        }
        int mask = 0;
        if (events[i].events & EPOLLIN) mask |= CURL_CSELECT_IN;
        if (events[i].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
        if (events[i].events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
        uint64_t written = 0;
        curl_socket_t socket = events[i].data.fd;
        signet_flow_before(loop, socket, loop->sockets[socket].wanted, &mask, &written);
        act(loop, socket, mask);
        signet_flow_after(loop, socket, mask, written);
    }
    if (loop->timer >= 0 && loop->timer <= signet_monotonic_milliseconds()) {
        loop->timer = -1;
        act(loop, CURL_SOCKET_TIMEOUT, 0);
    }
    signet_loop_leave(loop);
    signet_flow_step(loop);
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(loop->multi, &left))) {
        signet_transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        if (!transfer) continue;
        transfer->code = message->data.result;
        if (signet_transfer_repeat(transfer)) continue;
        transfer->is_done = true;
        if (transfer->code == CURLE_COULDNT_RESOLVE_HOST
            || transfer->code == CURLE_SSL_CACERT_BADFILE || transfer->code == CURLE_FAILED_INIT)
            transfer->lacks_resources = transfer->lacks_resources || loop->lacked_descriptors
                || signet_loop_lacks_descriptors(loop);
        signet_transfer_make_ready(transfer);
    }
    return count > 0;
}
