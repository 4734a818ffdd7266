#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

#define BODY_ROOM ((size_t)64 << 10)
// libcurl takes this buffer anew for each request that it encrypts, for the request's header too. Its
// own default of 64 KiB is what makes the C library give memory back to the system, and ask for it
// again, with every call.
#define HEAD_BUFFER 16384L
#define UPLOAD_BUFFER 65536L
#define SPARE_LIMIT 256

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

static void make_unready(signet_transfer *transfer) {
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

static bool append(
    uint8_t **bytes, size_t *count, size_t *room, const void *more, size_t more_count) {
    if (more_count > SIZE_MAX / 4 - *count) return false;
    if (*count + more_count > *room) {
        size_t wanted = *room ? *room : 512;
        while (wanted < *count + more_count) wanted *= 2;
        uint8_t *grown = realloc(*bytes, wanted);
        if (!grown) return false;
        *bytes = grown;
        *room = wanted;
    }
    memcpy(*bytes + *count, more, more_count);
    *count += more_count;
    return true;
}

// --- What libcurl calls ----------------------------------------------------------------------

static size_t refuse(signet_transfer *transfer, signet_refusal refusal) {
    if (!transfer->refusal) transfer->refusal = refusal;
    return 0;
}

static size_t head_came(char *bytes, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t count = size * number;
    // What a proxy answers to CONNECT is none of the reply's.
    if (transfer->proxy.is_used && !transfer->proxy.is_passed) {
        transfer->proxy.head_total += count;
        if (transfer->proxy.head_total > transfer->head_limit)
            return refuse(transfer, SIGNET_PROXY_HEAD_TOO_LARGE);
        return count;
    }
    transfer->head_total += count;
    if (transfer->head_total > transfer->head_limit)
        return refuse(transfer, SIGNET_HEAD_TOO_LARGE);
    if (transfer->has_head) return count;  // a trailer: counted, not kept
    bool is_end = (count == 2 && bytes[0] == '\r' && bytes[1] == '\n')
        || (count == 1 && bytes[0] == '\n');
    if (!is_end) {
        if (++transfer->field_count > transfer->field_limit + 1)
            return refuse(transfer, SIGNET_HEAD_TOO_LARGE);
        if (!append(
                &transfer->head, &transfer->head_count, &transfer->head_room, bytes, count))
            return refuse(transfer, SIGNET_NO_MEMORY);
        return count;
    }
    // "HTTP/1.1 100 …" and "HTTP/2 103 …" come before the reply.
    const uint8_t *space = memchr(transfer->head, ' ', transfer->head_count);
    size_t left = space ? transfer->head_count - (size_t)(space - transfer->head) : 0;
    if (left < 4) return refuse(transfer, SIGNET_MALFORMED_HEAD);
    if (space[1] == '1') {
        if (memcmp(space + 1, "101", 3) == 0) return refuse(transfer, SIGNET_MALFORMED_HEAD);
        transfer->head_count = 0;
        return count;
    }
    transfer->has_head = true;
    signet_transfer_make_ready(transfer);
    return count;
}

static size_t body_came(char *bytes, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t count = size * number;
    if (!transfer->has_head) return refuse(transfer, SIGNET_MALFORMED_HEAD) + !count;
    if (count > transfer->body_limit - transfer->body_total)
        return refuse(transfer, SIGNET_BODY_TOO_LARGE);
    if (transfer->body_count > 0 && transfer->body_count + count > BODY_ROOM) {
        transfer->is_paused = true;
        signet_transfer_make_ready(transfer);
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!append(&transfer->body, &transfer->body_count, &transfer->body_room, bytes, count))
        return refuse(transfer, SIGNET_NO_MEMORY);
    transfer->body_total += count;
    signet_transfer_make_ready(transfer);
    return count;
}

static size_t upload_wanted(char *buffer, size_t size, size_t number, void *context) {
    signet_transfer *transfer = context;
    size_t left = transfer->upload.count - transfer->upload.taken;
    if (left > 0 && !transfer->upload.restarts) {
        size_t count = left < size * number ? left : size * number;
        memcpy(buffer, transfer->upload.bytes + transfer->upload.taken, count);
        transfer->upload.taken += count;
        transfer->upload.was_taken_from = true;
        return count;
    }
    if (transfer->upload.is_ended && !transfer->upload.restarts) return 0;
    transfer->upload.is_wanted = transfer->upload.is_paused = true;
    signet_transfer_make_ready(transfer);
    return CURL_READFUNC_PAUSE;
}

// Back to the body's first byte, where it was left.
static bool rewind_upload(signet_transfer *transfer) {
    if (!transfer->upload.was_taken_from) return true;
    if (!transfer->upload.is_replayable) {
        refuse(transfer, SIGNET_BODY_SPENT);
        return false;
    }
    transfer->upload.was_taken_from = transfer->upload.is_ended = false;
    transfer->upload.restarts = true;
    transfer->upload.count = transfer->upload.taken = 0;
    return true;
}

static int upload_sought(void *context, curl_off_t offset, int origin) {
    if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
    return rewind_upload(context) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

// libcurl tries again by itself where a pooled connection ends without a byte of a reply. Over HTTP/2
// that is also how it answers a stream that the server refused unread (RFC 9113, section 8.7).
static bool may_repeat(signet_transfer *transfer) {
    long sent = 0;
    if (transfer->has_head) return false;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent) != CURLE_OK) sent = 1;
    if (sent > 0 && !transfer->is_repeatable && !transfer->was_http2) return false;
    return rewind_upload(transfer);
}

static int64_t now_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static CURLcode context_made(CURL *easy, void *context, void *data) {
    (void)easy;
    signet_transfer *transfer = data;
    // Behind an HTTPS proxy the first handshake of a connection is the proxy's: its keys are not the
    // policy's business. There the early look is left out; before_request judges the origin as ever.
    transfer->proxy.handshakes += 1;
    bool is_proxys = transfer->proxy.is_tls && transfer->proxy.handshakes == 1;
    if (!is_proxys) {
        transfer->proxy.is_passed = true;
        if (transfer->proxy.is_used) transfer->tunnelled = now_microseconds();
    }
    signet_handshake *handshake =
        signet_handshake_new(transfer->proxy.is_tls ? NULL : transfer->wanted);
    if (!handshake) return CURLE_OUT_OF_MEMORY;
    handshake->is_proxys = is_proxys;
    bool attached = signet_handshake_attach(handshake, context);
    signet_handshake_release(transfer->handshake);
    transfer->handshake = handshake;
    return attached ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

// The authority: before each request, on a new, a pooled or a resumed connection.
static int before_request(
    void *data, char *remote, char *local, int remote_port, int local_port) {
    (void)remote, (void)local, (void)remote_port, (void)local_port;
    signet_transfer *transfer = data;
    transfer->proxy.is_passed = true;
    struct curl_tlssessioninfo *info = NULL;
    SSL *ssl = NULL;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info
        && info->backend == CURLSSLBACKEND_OPENSSL)
        ssl = info->internals;
    signet_chain_release(transfer->chain);
    transfer->chain = NULL;
    if (transfer->is_sent && !may_repeat(transfer)) {
        refuse(transfer, SIGNET_NOT_REPEATED);
        return CURL_PREREQFUNC_ABORT;
    }
    if (ssl) {
        const unsigned char *chosen = NULL;
        unsigned count = 0;
        SSL_get0_alpn_selected(ssl, &chosen, &count);
        transfer->was_http2 = count == 2 && memcmp(chosen, "h2", 2) == 0;
    }
    if (transfer->is_secure && !ssl) {
        refuse(transfer, SIGNET_NO_TLS);
        return CURL_PREREQFUNC_ABORT;
    }
    if (!transfer->wanted && !transfer->is_probe) {
        transfer->is_sent = true;
        return CURL_PREREQFUNC_OK;
    }
    signet_chain *chain = ssl ? signet_chain_of(ssl) : NULL;
    if (!chain) {
        refuse(transfer, ssl ? SIGNET_NO_CHAIN : SIGNET_NO_TLS);
        return CURL_PREREQFUNC_ABORT;
    }
    signet_chain_retain(chain);
    transfer->chain = chain;
    signet_wanted *wanted = transfer->wanted;
    if (wanted && wanted->is_enforced && !signet_chain_matches(chain, wanted)) {
        refuse(transfer, SIGNET_PIN_MISMATCH);
        return CURL_PREREQFUNC_ABORT;
    }
    if (transfer->is_probe) {
        refuse(transfer, SIGNET_PROBED);
        return CURL_PREREQFUNC_ABORT;
    }
    transfer->is_sent = true;
    return CURL_PREREQFUNC_OK;
}

static curl_socket_t open_socket(
    void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    signet_transfer *transfer = context;
    signet_loop *loop = transfer->loop;
    // A new connection begins, perhaps in the place of a pooled one that had died.
    transfer->proxy.is_passed = false;
    transfer->proxy.handshakes = 0;
    transfer->proxy.head_total = 0;
    int type = address->socktype;
#ifdef SOCK_CLOEXEC
    type |= SOCK_CLOEXEC;
#endif
    curl_socket_t opened = socket(address->family, type, address->protocol);
    if (opened < 0) {
        transfer->lacks_resources =
            errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return CURL_SOCKET_BAD;
    }
    signet_loop_note_socket(loop, opened, true);
    pthread_mutex_lock(&loop->lock);
    loop->last_opened = opened;
    pthread_mutex_unlock(&loop->lock);
    return opened;
}

// Under the lock, so that a watching thread never shuts down a number that is another's by now.
static int close_socket(void *context, curl_socket_t closed) {
    signet_loop *loop = context;
    pthread_mutex_lock(&loop->lock);
    if (loop->busy_on == closed) loop->busy_on = -1;
    if (loop->last_opened == closed) loop->last_opened = -1;
    signet_loop_note_socket(loop, closed, false);
    loop->was_short = signet_loop_lacks_descriptors(loop);
    int failed = close(closed);
    pthread_mutex_unlock(&loop->lock);
    return failed;
}

// --- Its life --------------------------------------------------------------------------------

#define SET(option, value) (curl_easy_setopt(easy, option, value) == CURLE_OK)

static bool set_once(signet_transfer *transfer) {
    CURL *easy = transfer->easy;
    signet_loop *loop = transfer->loop;
    return SET(CURLOPT_PRIVATE, transfer) && SET(CURLOPT_ERRORBUFFER, transfer->error)
        && SET(CURLOPT_SHARE, loop->share) && SET(CURLOPT_NOSIGNAL, 1L)
        && SET(CURLOPT_NOPROGRESS, 1L) && SET(CURLOPT_QUICK_EXIT, 1L)
        && SET(CURLOPT_UPLOAD_BUFFERSIZE, HEAD_BUFFER)
        // Only what is asked for: no proxy or credentials of the surroundings, no other protocol.
        && SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*")
        && SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED)
        && SET(CURLOPT_PROTOCOLS_STR, "http,https")
        && SET(CURLOPT_REDIR_PROTOCOLS_STR, "https") && SET(CURLOPT_FOLLOWLOCATION, 0L)
        && SET(CURLOPT_DOH_URL, NULL) && SET(CURLOPT_HTTP09_ALLOWED, 0L) && SET(CURLOPT_PATH_AS_IS, 1L)
        && SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_NONE) && SET(CURLOPT_FAILONERROR, 0L)
        // Trust; nothing turns it off.
        && SET(CURLOPT_SSL_VERIFYPEER, 1L) && SET(CURLOPT_SSL_VERIFYHOST, 2L)
        && SET(CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_NO_PARTIALCHAIN)
        && SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)
        // A proxy's certificate is checked like any, and our fields are for the origin alone.
        && SET(CURLOPT_PROXY_SSL_VERIFYPEER, 1L) && SET(CURLOPT_PROXY_SSL_VERIFYHOST, 2L)
        && SET(CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_NO_PARTIALCHAIN)
        && SET(CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)
        && SET(CURLOPT_PROXY_CAPATH, NULL) && SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE)
        && SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC)
        && SET(CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_BASIC)
        && (!loop->ca_file || SET(CURLOPT_CAINFO, loop->ca_file))
        && SET(CURLOPT_CAPATH, NULL) && SET(CURLOPT_CA_CACHE_TIMEOUT, 86400L)
        && SET(CURLOPT_SSL_CTX_FUNCTION, context_made) && SET(CURLOPT_SSL_CTX_DATA, transfer)
        && SET(CURLOPT_PREREQFUNCTION, before_request) && SET(CURLOPT_PREREQDATA, transfer)
        && SET(CURLOPT_HEADERFUNCTION, head_came) && SET(CURLOPT_HEADERDATA, transfer)
        && SET(CURLOPT_WRITEFUNCTION, body_came) && SET(CURLOPT_WRITEDATA, transfer)
        && SET(CURLOPT_READFUNCTION, upload_wanted) && SET(CURLOPT_READDATA, transfer)
        && SET(CURLOPT_SEEKFUNCTION, upload_sought) && SET(CURLOPT_SEEKDATA, transfer)
        && SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) && SET(CURLOPT_OPENSOCKETDATA, transfer)
        && SET(CURLOPT_CLOSESOCKETFUNCTION, close_socket) && SET(CURLOPT_CLOSESOCKETDATA, loop);
}

bool signet_transfer_close(signet_transfer *transfer) {
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    free(transfer->head);
    free(transfer->body);
    free(transfer->upload.bytes);
    free(transfer);
    return true;
}

signet_transfer *signet_transfer_take(signet_loop *loop, uint64_t identifier) {
    signet_transfer *transfer = loop->spare;
    if (transfer) {
        loop->spare = transfer->next;
        loop->spare_count -= 1;
        transfer->next = NULL;
    } else {
        transfer = calloc(1, sizeof *transfer);
        if (!transfer) return NULL;
        transfer->loop = loop;
        transfer->easy = curl_easy_init();
        if (!transfer->easy || !set_once(transfer)) {
            signet_transfer_close(transfer);
            return NULL;
        }
    }
    transfer->identifier = identifier;
    return transfer;
}

void signet_transfer_give_back(signet_transfer *transfer) {
    signet_loop *loop = transfer->loop;
    CURL *easy = transfer->easy;
    if (transfer->is_started) curl_multi_remove_handle(loop->multi, easy);
    make_unready(transfer);
    bool cleared = SET(CURLOPT_POSTFIELDS, NULL) && SET(CURLOPT_HTTPHEADER, NULL)
        && SET(CURLOPT_CONNECT_TO, NULL);
    if (transfer->proxy.is_used)
        cleared = SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*")
            && SET(CURLOPT_PROXYUSERNAME, NULL) && SET(CURLOPT_PROXYPASSWORD, NULL)
            && SET(CURLOPT_HTTPPROXYTUNNEL, 0L) && cleared;
    if (transfer->upload.is_streamed)
        cleared = SET(CURLOPT_UPLOAD_BUFFERSIZE, HEAD_BUFFER) && cleared;
    memset(&transfer->proxy, 0, sizeof transfer->proxy);
    transfer->started = transfer->tunnelled = 0;
    free(transfer->request_body);
    free(transfer->upload.bytes);
    memset(&transfer->upload, 0, sizeof transfer->upload);
    transfer->is_repeatable = transfer->was_http2 = false;
    free(transfer->fields);
    free(transfer->field_bytes);
    free(transfer->connect_to);
    free(transfer->connect_to_bytes);
    transfer->request_body = NULL;
    transfer->fields = transfer->connect_to = NULL;
    transfer->field_bytes = transfer->connect_to_bytes = NULL;
    signet_wanted_release(transfer->wanted);
    signet_handshake_release(transfer->handshake);
    signet_chain_release(transfer->chain);
    transfer->wanted = NULL;
    transfer->handshake = NULL;
    transfer->chain = NULL;
    if (!cleared || loop->spare_count >= SPARE_LIMIT) {
        signet_transfer_close(transfer);
        return;
    }
    transfer->is_started = transfer->is_done = transfer->is_paused = false;
    transfer->is_secure = transfer->is_probe = transfer->is_sent = transfer->has_head = false;
    transfer->lacks_resources = false;
    transfer->code = CURLE_OK;
    transfer->refusal = SIGNET_NO_REFUSAL;
    transfer->head_count = transfer->head_total = transfer->body_count = 0;
    transfer->field_count = 0;
    transfer->body_total = 0;
    transfer->error[0] = 0;
    if (transfer->body_room > BODY_ROOM * 2) {
        free(transfer->body);
        transfer->body = NULL;
        transfer->body_room = 0;
    }
    transfer->next = loop->spare;
    loop->spare = transfer;
    loop->spare_count += 1;
}

uint64_t signet_transfer_identifier(const signet_transfer *transfer) {
    return transfer->identifier;
}

bool signet_transfer_set_request(
    signet_transfer *transfer, const char *url, const char *target, const char *method,
    bool is_head, bool sends_body, const uint8_t *body, size_t body_count) {
    CURL *easy = transfer->easy;
    if (!SET(CURLOPT_HTTPGET, 1L) || !SET(CURLOPT_NOBODY, is_head ? 1L : 0L)) return false;
    if (!is_head && !sends_body && !SET(CURLOPT_HTTPGET, 1L)) return false;
    if (sends_body) {
        transfer->request_body = malloc(body_count + 1);
        if (!transfer->request_body) return false;
        if (body_count > 0) memcpy(transfer->request_body, body, body_count);
        transfer->request_body[body_count] = 0;
        if (!SET(CURLOPT_POST, 1L) || !SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_count)
            || !SET(CURLOPT_POSTFIELDS, transfer->request_body))
            return false;
    }
    return SET(CURLOPT_CUSTOMREQUEST, method) && SET(CURLOPT_URL, url)
        && SET(CURLOPT_REQUEST_TARGET, target);
}

void signet_transfer_set_repeatable(signet_transfer *transfer, bool is_repeatable) {
    transfer->is_repeatable = is_repeatable;
}

bool signet_transfer_set_upload(
    signet_transfer *transfer, int64_t length, bool is_replayable) {
    CURL *easy = transfer->easy;
    transfer->upload.is_streamed = true;
    transfer->upload.is_replayable = is_replayable;
    return SET(CURLOPT_UPLOAD, 1L) && SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)length)
        && SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER);
}

// A list whose nodes are one block and whose texts are another: two allocations for all.
static bool make_list(
    const uint8_t *lines, size_t count, struct curl_slist **list, char **bytes) {
    size_t number = 0;
    for (size_t i = 0; i < count; i++) number += lines[i] == 0;
    if (number == 0) return true;
    *bytes = malloc(count);
    *list = calloc(number, sizeof **list);
    if (!*bytes || !*list) return false;
    memcpy(*bytes, lines, count);
    char *text = *bytes;
    for (size_t i = 0; i < number; i++) {
        (*list)[i].data = text;
        (*list)[i].next = i + 1 < number ? *list + i + 1 : NULL;
        text += strlen(text) + 1;
    }
    return true;
}

bool signet_transfer_set_fields(signet_transfer *transfer, const uint8_t *lines, size_t count) {
    CURL *easy = transfer->easy;
    return make_list(lines, count, &transfer->fields, &transfer->field_bytes)
        && SET(CURLOPT_HTTPHEADER, transfer->fields);
}

bool signet_transfer_set_connect_to(
    signet_transfer *transfer, const uint8_t *lines, size_t count) {
    CURL *easy = transfer->easy;
    return make_list(lines, count, &transfer->connect_to, &transfer->connect_to_bytes)
        && SET(CURLOPT_CONNECT_TO, transfer->connect_to);
}

bool signet_transfer_set_limits(
    signet_transfer *transfer, int64_t timeout_milliseconds, int64_t connect_milliseconds,
    int64_t body_bytes, int64_t head_bytes, int head_fields) {
    CURL *easy = transfer->easy;
    transfer->body_limit = (uint64_t)body_bytes;
    transfer->head_limit = (size_t)head_bytes;
    transfer->field_limit = head_fields;
    return SET(CURLOPT_TIMEOUT_MS, (long)timeout_milliseconds)
        && SET(CURLOPT_CONNECTTIMEOUT_MS, (long)connect_milliseconds);
}

bool signet_transfer_set_trust(
    signet_transfer *transfer, bool is_secure, const uint8_t *digests, size_t digest_count,
    bool is_enforced, bool is_probe, bool offers_http2, bool waits_for_multiplexing) {
    CURL *easy = transfer->easy;
    transfer->is_secure = is_secure;
    transfer->is_probe = is_probe;
    if (digests) {
        transfer->wanted = signet_wanted_new(digests, digest_count, is_enforced);
        if (!transfer->wanted) return false;
    }
    bool http2 = offers_http2 && transfer->loop->http2;
    return SET(
               CURLOPT_HTTP_VERSION,
               (long)(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        && SET(CURLOPT_PIPEWAIT, http2 && waits_for_multiplexing ? 1L : 0L)
        && SET(CURLOPT_FRESH_CONNECT, is_probe ? 1L : 0L);
}

bool signet_transfer_set_proxy(
    signet_transfer *transfer, const char *url, const char *user, const char *password,
    bool tunnels, bool is_tls, const char *ca_file) {
    CURL *easy = transfer->easy;
    transfer->proxy.is_used = true;
    transfer->proxy.is_tls = is_tls;
    const char *ca = ca_file ? ca_file : curl_version_info(CURLVERSION_NOW)->cainfo;
    return SET(CURLOPT_PROXY, url) && SET(CURLOPT_NOPROXY, "")
        && SET(CURLOPT_PROXYUSERNAME, user) && SET(CURLOPT_PROXYPASSWORD, password)
        && SET(CURLOPT_HTTPPROXYTUNNEL, tunnels ? 1L : 0L)
        && (!is_tls || !ca || SET(CURLOPT_PROXY_CAINFO, ca));
}

bool signet_transfer_start(signet_transfer *transfer) {
    transfer->started = now_microseconds();
    transfer->is_started =
        curl_multi_add_handle(transfer->loop->multi, transfer->easy) == CURLM_OK;
    return transfer->is_started;
}

static void unpause(signet_transfer *transfer) {
    curl_easy_pause(
        transfer->easy,
        (transfer->is_paused ? CURLPAUSE_RECV : 0)
            | (transfer->upload.is_paused ? CURLPAUSE_SEND : 0));
}

void signet_transfer_resume(signet_transfer *transfer) {
    if (!transfer->is_paused || transfer->is_done) return;
    transfer->is_paused = false;
    unpause(transfer);
}

bool signet_transfer_wants_upload(const signet_transfer *transfer) {
    return transfer->upload.is_wanted && !transfer->is_done;
}

bool signet_transfer_take_restart(signet_transfer *transfer) {
    bool restarts = transfer->upload.restarts;
    transfer->upload.restarts = false;
    return restarts;
}

bool signet_transfer_feed(
    signet_transfer *transfer, const uint8_t *bytes, size_t count, bool is_end) {
    transfer->upload.count = transfer->upload.taken = 0;
    if (count > 0
        && !append(
            &transfer->upload.bytes, &transfer->upload.count, &transfer->upload.room, bytes,
            count))
        return false;
    transfer->upload.is_ended = is_end;
    transfer->upload.is_wanted = false;
    signet_transfer_wake_upload(transfer);
    return true;
}

void signet_transfer_wake_upload(signet_transfer *transfer) {
    if (!transfer->upload.is_paused || transfer->is_done) return;
    transfer->upload.is_paused = false;
    unpause(transfer);
}

// --- What came -------------------------------------------------------------------------------

bool signet_transfer_has_head(const signet_transfer *transfer) { return transfer->has_head; }

const uint8_t *signet_transfer_head(const signet_transfer *transfer, size_t *count) {
    *count = transfer->head_count;
    return transfer->head;
}

const uint8_t *signet_transfer_body(const signet_transfer *transfer, size_t *count) {
    *count = transfer->body_count;
    return transfer->body;
}

void signet_transfer_drop_body(signet_transfer *transfer) { transfer->body_count = 0; }

bool signet_transfer_is_done(const signet_transfer *transfer) { return transfer->is_done; }

signet_refusal signet_transfer_refusal(const signet_transfer *transfer) {
    if (transfer->refusal) return transfer->refusal;
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
    case CURLE_OK: return SIGNET_OK;
    case CURLE_COULDNT_RESOLVE_HOST: return SIGNET_FAILED_NAME;
    case CURLE_COULDNT_CONNECT: return SIGNET_FAILED_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_INVALIDCERTSTATUS: return SIGNET_FAILED_TLS;
    case CURLE_OPERATION_TIMEDOUT: return SIGNET_FAILED_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM: return SIGNET_FAILED_CUT_OFF;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR: return SIGNET_FAILED_MALFORMED;
    case CURLE_SSL_CACERT_BADFILE: return SIGNET_FAILED_TRUST_STORE;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return SIGNET_FAILED_RESOURCES;
    default: return SIGNET_FAILED_OTHER;
    }
}

const char *signet_transfer_message(const signet_transfer *transfer) {
    return transfer->error[0] ? transfer->error : curl_easy_strerror(transfer->code);
}

bool signet_transfer_is_untrusted(const signet_transfer *transfer) {
    return transfer->handshake && transfer->handshake->is_untrusted
        && !transfer->handshake->is_proxys;
}

// A time in microseconds, or a number of bytes.
static int64_t microseconds(const signet_transfer *transfer, CURLINFO what) {
    curl_off_t value = 0;
    return curl_easy_getinfo(transfer->easy, what, &value) == CURLE_OK ? (int64_t)value : 0;
}

int64_t signet_transfer_content_length(const signet_transfer *transfer) {
    curl_off_t length = -1;
    return curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
            == CURLE_OK
        ? (int64_t)length
        : -1;
}

void signet_transfer_timings(const signet_transfer *transfer, signet_timings *timings) {
    long connections = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connections) != CURLE_OK)
        connections = 1;
    timings->name_resolved = microseconds(transfer, CURLINFO_NAMELOOKUP_TIME_T);
    timings->connected = microseconds(transfer, CURLINFO_CONNECT_TIME_T);
    timings->tunnelled = transfer->tunnelled > 0 ? transfer->tunnelled - transfer->started : 0;
    timings->total = transfer->is_done ? microseconds(transfer, CURLINFO_TOTAL_TIME_T) : 0;
    long sent = 0, head = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent) != CURLE_OK) sent = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_HEADER_SIZE, &head) != CURLE_OK) head = 0;
    timings->sent = sent + microseconds(transfer, CURLINFO_SIZE_UPLOAD_T);
    timings->received = head + microseconds(transfer, CURLINFO_SIZE_DOWNLOAD_T);
    timings->secured = microseconds(transfer, CURLINFO_APPCONNECT_TIME_T);
    timings->first_byte = microseconds(transfer, CURLINFO_STARTTRANSFER_TIME_T);
    timings->reused = connections == 0;
}

const signet_chain *signet_transfer_chain(const signet_transfer *transfer) {
    if (transfer->chain) return transfer->chain;
    const signet_handshake *handshake = transfer->handshake;
    return handshake && transfer->is_done && !handshake->is_proxys ? handshake->chain : NULL;
}
