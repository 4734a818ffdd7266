// The same work with the bare C libraries: the floor of every benchmark.
#ifndef SIGNET_CFLOOR_H
#define SIGNET_CFLOOR_H

#include <stddef.h>
#include <stdint.h>

// Seconds of a clock that goes on while nothing runs.
double floor_wall_seconds(void);
// Seconds of processor time that this thread has used.
double floor_thread_seconds(void);
// Seconds of processor time that the whole process has used.
double floor_process_seconds(void);

// Fetches algorithms and makes contexts, once. Returns 1 when all is there.
int floor_prepare(const uint8_t *key, size_t key_size);

// Digest of `body` and HMAC-SHA256 of `base`, contexts reused. Returns 1 on success.
int floor_digest_and_mac(
    const uint8_t *body, size_t body_size, const uint8_t *base, size_t base_size, size_t rounds);

// Digests of `body` and `request`, and HMAC-SHA256 of `text`: SigV4 under the day's key.
int floor_two_digests_and_mac(
    const uint8_t *body, size_t body_size, const uint8_t *request, size_t request_size,
    const uint8_t *text, size_t text_size);

// Two MACs, one keyed by the other, as salted-hmac-v1 needs, and the body's digest.
int floor_salted_mac(
    const uint8_t *body, size_t body_size, const uint8_t *base, size_t base_size, size_t rounds);

// HKDF-SHA256 (extract, and expand to 76 bytes) and AES-256-GCM of `in`: the work for one dump.
int floor_hkdf_and_gcm(const uint8_t *in, uint8_t *out, size_t size, size_t rounds);

// AES-256-GCM of `size` bytes, the key set each time. Returns 1 on success.
int floor_gcm_seal(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16], size_t rounds);
int floor_gcm_open(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16], size_t rounds);

// One pass of memchr for a byte that does not occur; returns a number that depends on it.
size_t floor_memchr(const uint8_t *bytes, size_t size, size_t rounds);

// GET requests through one bare libcurl multi handle. Returns how many responses had status 200.
size_t floor_requests(
    const char *url, const char *connect_to, const char *ca_file, int http2, size_t concurrency,
    size_t total);

// Makes an SQLite database with one row of `size` bytes, once. Returns 1 on success.
int floor_row_prepare(const char *path, size_t size);
// Reads the row with a prepared statement; returns the bytes read.
size_t floor_row_read(size_t rounds);

// What this thread has asked of the heap since it began: bytes, and how often. Always 0 where the C
// library is not glibc.
uint64_t floor_allocated_bytes(void);
uint64_t floor_allocated_blocks(void);

#endif
