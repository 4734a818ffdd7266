#include "traffic.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "CSignetCurl.h"

// Received bytes that one delivered byte allows. Chunks of one byte need six, DATA frames of one
// byte ten.
#define RECEIVED_PER_DELIVERED 16u
// Sent bytes that allow one more received byte. A server acknowledges an upload with small
// frames, and libcurl answers a PING with as many bytes.
#define SENT_PER_RECEIVED 8u
#define ALLOWANCE ((uint64_t)1 << 20)
// For long streams: keep-alive frames, and records that a server pads.
#define BYTES_PER_SECOND ((uint64_t)64 << 10)
// libcurl's window of an HTTP/2 stream.
#define STREAM_WINDOW ((uint64_t)32 << 20)
// A paced connection with this many undelivered bytes reads no other record if it has read as many
// in this step.
#define PACE_BYTES ((uint64_t)4 << 10)
// For this many delivered bytes of bodies, one byte of frames and records counts as delivered too.
#define DELIVERED_PER_FRAME_BYTE 128u

bool signet_traffic_is_flood(const signet_traffic *traffic) {
    uint64_t streams = (uint64_t)traffic->streams + traffic->abandoned;
    uint64_t usual = ALLOWANCE + STREAM_WINDOW * streams
        + RECEIVED_PER_DELIVERED * traffic->delivered + traffic->sent / SENT_PER_RECEIVED;
    if (traffic->received <= usual) return false;
    int64_t milliseconds = signet_monotonic_milliseconds() - traffic->since;
    return traffic->received - usual > BYTES_PER_SECOND * (uint64_t)milliseconds / 1000;
}

// Returns how many bytes a record has beyond its plain text: exactly with TLS 1.3 and AEAD,
// otherwise at most.
static size_t overhead(const SSL *ssl) {
    if (SSL_version(ssl) == TLS1_3_VERSION) return 17;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    return cipher && SSL_CIPHER_is_aead(cipher) ? 24 : 80;
}

// Makes the reads of a flooded connection fail, and the others of a paced one wait. libcurl's own
// BIO function has run before and stored its result, which libcurl checks too.
static long on_read(
    BIO *bio, int operation, const char *bytes, size_t count, int number, long other, int result,
    size_t *processed) {
    (void)bytes, (void)count, (void)number, (void)other;
    if ((operation & ~BIO_CB_RETURN) != BIO_CB_READ) return result;
    signet_traffic *traffic = (signet_traffic *)BIO_get_callback_arg(bio);
    signet_pace *pace = &traffic->pace;
    if (operation & BIO_CB_RETURN) {
        if (traffic->is_flooded && !BIO_should_retry(bio)) return -1;
        pace->was_drained = result <= 0;
        if (result <= 0) return result;
        pace->step_bytes += *processed;
        pace->undelivered += *processed;
        return result;
    }
    if (!pace->steps || traffic->streams == 0) return result;
    if (pace->step != *pace->steps) {
        pace->step = *pace->steps;
        pace->step_bytes = 0;
        // After the socket was read empty, the undelivered bytes are those of frames, not bodies.
        if (pace->was_drained) pace->undelivered = 0;
        pace->was_drained = false;
    }
    if (pace->step_bytes < PACE_BYTES || pace->undelivered < PACE_BYTES) return result;
    BIO_set_retry_read(bio);
    return -1;
}

void signet_traffic_note_body(signet_traffic *traffic, size_t count) {
    uint64_t delivered = count + count / DELIVERED_PER_FRAME_BYTE;
    uint64_t *undelivered = &traffic->pace.undelivered;
    *undelivered -= delivered < *undelivered ? delivered : *undelivered;
}

static void watch_reads(signet_traffic *traffic) {
    BIO *bio = SSL_get_rbio(traffic->ssl);
    BIO_set_callback_arg(bio, (char *)traffic);
    BIO_set_callback_ex(bio, on_read);
}

void signet_traffic_pace(signet_traffic *traffic, const uint64_t *steps) {
    if (traffic->pace.steps) return;
    traffic->pace.steps = steps;
    watch_reads(traffic);
}

static void on_message(
    int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *context) {
    (void)version;
    signet_traffic *traffic = context;
    const uint8_t *seen = bytes;
    traffic->ssl = ssl;
    if (type == SSL3_RT_ALERT && !is_sent && count == 2 && seen[1] == SSL_AD_CLOSE_NOTIFY)
        traffic->was_closed = true;
    // The handshake isn't counted.
    if (type != SSL3_RT_HEADER || count < SSL3_RT_HEADER_LENGTH || !traffic->since) return;
    size_t length = (size_t)seen[3] << 8 | seen[4], added = overhead(ssl);
    size_t plain = length > added ? length - added : 1;
    // In TLS 1.3 an alert of 2 bytes looks like application data.
    if (seen[0] == SSL3_RT_APPLICATION_DATA && plain > 2) traffic->was_sent_last = is_sent;
    if (is_sent) {
        traffic->sent += plain;
        return;
    }
    traffic->received += plain;
    if (traffic->is_flooded || !signet_traffic_is_flood(traffic)) return;
    traffic->is_flooded = true;
    watch_reads(traffic);
}

void signet_traffic_watch(SSL_CTX *context, signet_traffic *traffic) {
    SSL_CTX_set_msg_callback(context, on_message);
    SSL_CTX_set_msg_callback_arg(context, traffic);
}

bool signet_traffic_of_socket(int socket, uint64_t *received) {
    struct tcp_info information = {0};
    socklen_t size = sizeof information;
    int unread = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &information, &size) != 0) return false;
    size_t needed =
        offsetof(struct tcp_info, tcpi_bytes_received) + sizeof information.tcpi_bytes_received;
    if (size < needed || ioctl(socket, FIONREAD, &unread) != 0) return false;
    // More bytes may arrive between the two calls. Then the count is too low, never too high.
    uint64_t total = information.tcpi_bytes_received;
    *received = total > (uint64_t)unread ? total - (uint64_t)unread : 0;
    return true;
}
