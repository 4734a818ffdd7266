#ifndef SIGNET_CURL_SYSTEM_H
#define SIGNET_CURL_SYSTEM_H

#include "state.h"

// Memory, clocks and descriptors (system.c, wakeup.c).

// Adds bytes to a buffer. Returns false if memory ran out.
bool signet_append(signet_buffer *buffer, const void *bytes, size_t count) SIGNET_MUST_CHECK;
// The monotonic clock in microseconds.
int64_t signet_now_microseconds(void);

// FNV-1a with 64 bits.
#define HASH_START 0xcbf29ce484222325u
static inline uint64_t signet_hash_add(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x100000001b3u;
}
static inline uint64_t signet_hash_text(uint64_t hash, const char *text) {
    for (; *text; text++) hash = signet_hash_add(hash, (uint8_t)*text);
    return hash;
}

// Sets the close-on-exec flag of the two sockets that curl_multi_init creates without it
// (wakeup.c).
void signet_close_wakeups_on_exec(CURLM *multi);

#endif
