#ifndef SIGNET_BASE64_H
#define SIGNET_BASE64_H

// Base64 with AVX2, 32 characters at a time. Swift code processes the ends, and everything on
// machines without AVX2. Method: Mula and Lemire, "Faster Base64 Encoding and Decoding Using AVX2
// Instructions" (2018). The time doesn't depend on the bytes, except that decoding stops at an
// invalid character.
//
// Only a header and a module map, so that the functions are inlined into Swift code.

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define SIGNET_AVX2 __attribute__((target("avx2")))

SIGNET_AVX2 static inline size_t signet_base64_encode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    const __m256i places = _mm256_setr_epi8(
        1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10,
        1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
    const char p = (char)(plus - 62), s = (char)(slash - 63);
    const __m256i distances = _mm256_setr_epi8(
        65, 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, p, s, 0, 0,
        65, 71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, p, s, 0, 0);
    size_t read = 0;
    // The upper half loads 16 bytes from offset 12.
    while (count - read >= 28) {
        const __m128i lower = _mm_loadu_si128((const __m128i *)(source + read));
        const __m128i upper = _mm_loadu_si128((const __m128i *)(source + read + 12));
        const __m256i spread =
            _mm256_shuffle_epi8(_mm256_set_m128i(upper, lower), places);
        const __m256i odd = _mm256_mulhi_epu16(
            _mm256_and_si256(spread, _mm256_set1_epi32(0x0fc0fc00)),
            _mm256_set1_epi32(0x04000040));
        const __m256i even = _mm256_mullo_epi16(
            _mm256_and_si256(spread, _mm256_set1_epi32(0x003f03f0)),
            _mm256_set1_epi32(0x01000010));
        const __m256i sextets = _mm256_or_si256(odd, even);
        // 0 for upper case, 1 for lower case, then 2, 3, ... from the first digit on.
        const __m256i row = _mm256_sub_epi8(
            _mm256_subs_epu8(sextets, _mm256_set1_epi8(51)),
            _mm256_cmpgt_epi8(sextets, _mm256_set1_epi8(25)));
        const __m256i letters =
            _mm256_add_epi8(sextets, _mm256_shuffle_epi8(distances, row));
        _mm256_storeu_si256((__m256i *)target, letters);
        target += 32;
        read += 24;
    }
    return read;
}

// Tables for the value and validity of a character, indexed by its two 4-bit halves. A character is
// valid if the rows of both halves share a bit. Characters above `bound` use the row after that of
// their upper half, which separates the character for 63 from others with the same upper half.
struct signet_letters_avx2 {
    __m256i low, high, distances, bound;
};

SIGNET_AVX2 static inline struct signet_letters_avx2 signet_letters_avx2(
    uint8_t plus, uint8_t slash) {
    // Each upper half has a bit: 1 for 0x2 (plus, slash), 2 for 0x3 (digits), 4 for 0x4 and 0x6
    // (from A, a), 8 for 0x5 (to Z, slash), 16 for 0x7 (to z).
    uint8_t low[16], distances[16] = {0};
    for (int half = 0; half < 16; half++)
        low[half] = (uint8_t)((plus == (0x20 | half) || slash == (0x20 | half) ? 1 : 0)
                              | (half <= 9 ? 2 : 0) | (half >= 1 ? 4 : 0)
                              | (half <= 10 || slash == (0x50 | half) ? 8 : 0)
                              | (half <= 10 ? 16 : 0));
    // In the standard form, the character for 63 follows that for 62; in the URL form, it follows
    // Z.
    const uint8_t bound = slash < 'A' ? plus : 'Z';
    distances[2] = (uint8_t)(62 - plus);
    distances[(slash >> 4) + 1] = (uint8_t)(63 - slash);
    distances['0' / 16 + ('0' > bound)] = 4;
    distances['A' / 16 + ('A' > bound)] = distances['P' / 16 + ('A' > bound)] = (uint8_t)-65;
    distances['a' / 16 + 1] = distances['p' / 16 + 1] = (uint8_t)-71;
    struct signet_letters_avx2 letters;
    letters.low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)low));
    letters.high = _mm256_setr_epi8(
        0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0);
    letters.distances = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)distances));
    letters.bound = _mm256_set1_epi8((char)bound);
    return letters;
}

// Writes the 24 bytes of 32 characters, and 4 unused bytes. Clears the byte of `valid` for an
// invalid character.
SIGNET_AVX2 static inline void signet_base64_step_avx2(
    const uint8_t *source, uint8_t *target, struct signet_letters_avx2 rules, __m256i *valid) {
    const __m256i order = _mm256_setr_epi8(
        2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 7, 11, 15,
        2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 7, 11, 15);
    const __m256i letters = _mm256_loadu_si256((const __m256i *)source);
    const __m256i high =
        _mm256_and_si256(_mm256_srli_epi32(letters, 4), _mm256_set1_epi8(15));
    // A character above 127 yields 0 from the first table.
    *valid = _mm256_min_epu8(
        *valid,
        _mm256_and_si256(
            _mm256_shuffle_epi8(rules.low, letters), _mm256_shuffle_epi8(rules.high, high)));
    const __m256i row = _mm256_sub_epi8(high, _mm256_cmpgt_epi8(letters, rules.bound));
    const __m256i sextets =
        _mm256_add_epi8(letters, _mm256_shuffle_epi8(rules.distances, row));
    const __m256i pairs = _mm256_maddubs_epi16(sextets, _mm256_set1_epi32(0x01400140));
    const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
    const __m256i bytes = _mm256_shuffle_epi8(groups, order);
    _mm_storeu_si128((__m128i *)target, _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((__m128i *)(target + 12), _mm256_extracti128_si256(bytes, 1));
}

SIGNET_AVX2 static inline int signet_all_set_avx2(__m256i bytes) {
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) == 0;
}

SIGNET_AVX2 static inline size_t signet_base64_decode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    const struct signet_letters_avx2 rules = signet_letters_avx2(plus, slash);
    size_t read = 0;
    // Each step writes 28 bytes and keeps 24. The other four fit, because six characters follow.
    while (count - read >= 4 * 32 + 6) {
        __m256i valid = _mm256_set1_epi8(-1);
        for (int step = 0; step < 4; step++)
            signet_base64_step_avx2(
                source + read + 32 * step, target + 24 * step, rules, &valid);
        if (!signet_all_set_avx2(valid)) return read;
        target += 4 * 24;
        read += 4 * 32;
    }
    while (count - read >= 32 + 6) {
        __m256i valid = _mm256_set1_epi8(-1);
        signet_base64_step_avx2(source + read, target, rules, &valid);
        if (!signet_all_set_avx2(valid)) return read;
        target += 24;
        read += 32;
    }
    return read;
}

#endif

// Encodes a multiple of 24 bytes. Returns how many bytes were read, 0 without AVX2.
static inline size_t signet_base64_encode(
    const void *source, size_t count, void *target, uint8_t plus, uint8_t slash) {
#if defined(__x86_64__)
    if (count >= 28 && __builtin_cpu_supports("avx2"))
        return signet_base64_encode_avx2(source, count, target, plus, slash);
#endif
    (void)source, (void)count, (void)target, (void)plus, (void)slash;
    return 0;
}

// Decodes a multiple of 32 characters, up to the first group with an invalid one. Returns how many
// were read. `target` must have room for the bytes of all `count` characters.
static inline size_t signet_base64_decode(
    const void *source, size_t count, void *target, uint8_t plus, uint8_t slash) {
#if defined(__x86_64__)
    if (count >= 38 && __builtin_cpu_supports("avx2"))
        return signet_base64_decode_avx2(source, count, target, plus, slash);
#endif
    (void)source, (void)count, (void)target, (void)plus, (void)slash;
    return 0;
}

#endif
