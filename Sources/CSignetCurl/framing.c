// The fields that determine where a response's body ends.
#include <string.h>
#include <strings.h>

#include "framing.h"

// A part of the response's header.
typedef struct {
    const uint8_t *start, *end;
} piece;

static bool is_blank(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static piece trimmed(const uint8_t *start, const uint8_t *end) {
    while (start < end && is_blank(*start)) start++;
    while (end > start && (is_blank(end[-1]) || end[-1] == '\r')) end--;
    return (piece){start, end};
}

// Sets the value of a line if it is the field `name`, which includes the colon.
static bool has_name(piece line, const char *name, piece *value) {
    size_t count = strlen(name);
    if ((size_t)(line.end - line.start) < count) return false;
    if (strncasecmp((const char *)line.start, name, count) != 0) return false;
    *value = trimmed(line.start + count, line.end);
    return true;
}

static bool is_word(piece text, const char *word) {
    size_t count = strlen(word);
    return (size_t)(text.end - text.start) == count
        && strncasecmp((const char *)text.start, word, count) == 0;
}

// Reads a number of digits only, at most INT64_MAX.
static bool read_length(piece text, int64_t *length) {
    if (text.start == text.end) return false;
    *length = 0;
    for (const uint8_t *at = text.start; at < text.end; at++) {
        if (*at < '0' || *at > '9') return false;
        if (*length > (INT64_MAX - (*at - '0')) / 10) return false;
        *length = *length * 10 + (*at - '0');
    }
    return true;
}

// Reads a field's list of lengths. All, and `length` unless it is -1, must be equal.
static bool read_lengths(piece value, int64_t *length) {
    const uint8_t *start = value.start;
    for (;;) {
        const uint8_t *comma = memchr(start, ',', (size_t)(value.end - start));
        int64_t found;
        if (!read_length(trimmed(start, comma ? comma : value.end), &found)) return false;
        if (*length >= 0 && *length != found) return false;
        *length = found;
        if (!comma) return true;
        start = comma + 1;
    }
}

// Whether a response with this start line has no body, whatever its fields say: 204 and 304.
static bool has_bodyless_status(piece line) {
    const uint8_t *space = memchr(line.start, ' ', (size_t)(line.end - line.start));
    if (!space || line.end - space < 4) return false;
    return memcmp(space + 1, "204", 3) == 0 || memcmp(space + 1, "304", 3) == 0;
}

static bool contains(piece text, const char *word) {
    size_t count = strlen(word);
    for (const uint8_t *at = text.start; (size_t)(text.end - at) >= count; at++) {
        if (strncasecmp((const char *)at, word, count) == 0) return true;
    }
    return false;
}

// The registered codings that the engine doesn't decode, and two newer content codings
// (https://www.iana.org/assignments/http-parameters).
static const char *const unread_codings[] = {
    "br", "compress", "deflate", "gzip", "identity", "trailers", "x-compress", "x-gzip", "zstd",
};

// Whether a value is one word that means nothing as a transfer coding, such as `binary`. A server
// that sends it hasn't coded the body, because the request asks for no coding. Two recipients could
// read a word with "chunk" in it in two ways.
static bool is_meaningless(piece value) {
    if (value.start == value.end || contains(value, "chunk")) return false;
    for (const uint8_t *at = value.start; at < value.end; at++) {
        bool is_letter = (*at | 0x20) >= 'a' && (*at | 0x20) <= 'z';
        if (!is_letter && !(*at >= '0' && *at <= '9') && *at != '-' && *at != '_') return false;
    }
    for (size_t index = 0; index < sizeof unread_codings / sizeof *unread_codings; index++) {
        if (is_word(value, unread_codings[index])) return false;
    }
    return true;
}

signet_refusal signet_framing_read(
    const uint8_t *head, size_t count, bool is_head, bool *ends_with_connection,
    bool *is_bodyless) {
    const uint8_t *at = head, *end = head + count;
    int64_t length = -1;
    unsigned codings = 0;
    bool is_chunked = false;
    // Only HTTP/1.1 has chunks. With a transfer coding in HTTP/1.0 a message's length is in doubt,
    // and HTTP/2 has no transfer codings (RFC 9112, section 6.1; RFC 9113, section 8.2.2).
    bool is_http1 = count > 5 && memcmp(head, "HTTP/1", 6) == 0;
    bool has_chunks = count > 8 && memcmp(head, "HTTP/1.1", 8) == 0;
    bool has_body = !is_head;
    while (at < end) {
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        piece line = {at, newline ? newline : end}, value;
        if (at == head) has_body = has_body && !has_bodyless_status(line);
        at = newline ? newline + 1 : end;
        // libcurl doesn't read the rest of a folded field.
        bool is_folded = at < end && is_blank(*at);
        if (has_name(line, "Content-Length:", &value)) {
            if (is_folded || !read_lengths(value, &length)) return SIGNET_BAD_LENGTH;
        } else if (has_name(line, "Transfer-Encoding:", &value)) {
            is_chunked = is_word(value, "chunked");
            if (is_folded || !has_chunks || ++codings > 1) return SIGNET_BAD_CODING;
            if (!is_chunked && !is_meaningless(value)) return SIGNET_BAD_CODING;
        }
    }
    if (codings > 0 && length >= 0) return SIGNET_BAD_CODING;
    *is_bodyless = !has_body;
    *ends_with_connection = is_http1 && has_body && !is_chunked && length < 0;
    return SIGNET_NO_REFUSAL;
}
