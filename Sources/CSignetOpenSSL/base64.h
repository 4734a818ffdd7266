#ifndef SIGNET_BASE64_H
#define SIGNET_BASE64_H

// Base64's long middle, 32 letters at a time, where the machine has AVX2; the ends, and all of it on
// other machines, are Swift's. Method: Mula and Lemire, "Faster Base64 Encoding and Decoding Using
// AVX2 Instructions" (2018). No step depends on what the bytes are but the early end at a letter
// that is foreign, so nothing is told by the time it takes.

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define SIGNET_AVX2 __attribute__((target("avx2")))

SIGNET_AVX2 static inline size_t csignet_base64_encode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    const __m256i places = _mm256_setr_epi8(
        1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10,
        1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
    const char p = (char)(plus - 62), s = (char)(slash - 63);
    const __m256i distances = _mm256_setr_epi8(
        71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, p, s, 65, 0, 0,
        71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, p, s, 65, 0, 0);
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
        const __m256i isUpperCase = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), sextets);
        const __m256i row = _mm256_or_si256(
            _mm256_subs_epu8(sextets, _mm256_set1_epi8(51)),
            _mm256_and_si256(isUpperCase, _mm256_set1_epi8(13)));
        const __m256i letters =
            _mm256_add_epi8(sextets, _mm256_shuffle_epi8(distances, row));
        _mm256_storeu_si256((__m256i *)target, letters);
        target += 32;
        read += 24;
    }
    return read;
}

SIGNET_AVX2 static inline __m256i csignet_between_avx2(__m256i letters, char low, char high) {
    return _mm256_and_si256(
        _mm256_cmpgt_epi8(letters, _mm256_set1_epi8((char)(low - 1))),
        _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(high + 1)), letters));
}

SIGNET_AVX2 static inline size_t csignet_base64_decode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    const __m256i order = _mm256_setr_epi8(
        2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1,
        2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
    const __m256i together = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    size_t read = 0;
    // Each step writes 32 bytes, 24 of which stay: the letters behind it make up for the rest.
    while (count - read >= 45) {
        const __m256i letters = _mm256_loadu_si256((const __m256i *)(source + read));
        const __m256i isUpper = csignet_between_avx2(letters, 'A', 'Z');
        const __m256i isLower = csignet_between_avx2(letters, 'a', 'z');
        const __m256i isDigit = csignet_between_avx2(letters, '0', '9');
        const __m256i isPlus = _mm256_cmpeq_epi8(letters, _mm256_set1_epi8((char)plus));
        const __m256i isSlash = _mm256_cmpeq_epi8(letters, _mm256_set1_epi8((char)slash));
        const __m256i isOurs = _mm256_or_si256(
            _mm256_or_si256(_mm256_or_si256(isUpper, isLower), isDigit),
            _mm256_or_si256(isPlus, isSlash));
        if (_mm256_movemask_epi8(isOurs) != -1) return read;
        const __m256i distances = _mm256_or_si256(
            _mm256_or_si256(
                _mm256_and_si256(isUpper, _mm256_set1_epi8(-65)),
                _mm256_and_si256(isLower, _mm256_set1_epi8(-71))),
            _mm256_or_si256(
                _mm256_and_si256(isDigit, _mm256_set1_epi8(4)),
                _mm256_or_si256(
                    _mm256_and_si256(isPlus, _mm256_set1_epi8((char)(62 - plus))),
                    _mm256_and_si256(isSlash, _mm256_set1_epi8((char)(63 - slash))))));
        const __m256i sextets = _mm256_add_epi8(letters, distances);
        const __m256i pairs = _mm256_maddubs_epi16(sextets, _mm256_set1_epi32(0x01400140));
        const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
        const __m256i bytes =
            _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(groups, order), together);
        _mm256_storeu_si256((__m256i *)target, bytes);
        target += 24;
        read += 32;
    }
    return read;
}

static inline int csignet_has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }

#else

static inline int csignet_has_avx2(void) { return 0; }

static inline size_t csignet_base64_encode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    (void)source, (void)count, (void)target, (void)plus, (void)slash;
    return 0;
}

static inline size_t csignet_base64_decode_avx2(
    const uint8_t *source, size_t count, uint8_t *target, uint8_t plus, uint8_t slash) {
    (void)source, (void)count, (void)target, (void)plus, (void)slash;
    return 0;
}

#endif

// Writes letters for a multiple of 24 bytes; returns how many bytes were read, 0 where it cannot.
static inline size_t csignet_base64_encode(
    const void *source, size_t count, void *target, uint8_t plus, uint8_t slash) {
    if (count < 28 || !csignet_has_avx2()) return 0;
    return csignet_base64_encode_avx2(
        (const uint8_t *)source, count, (uint8_t *)target, plus, slash);
}

// Reads a multiple of 32 letters, up to the first group that holds a foreign one; returns how many.
// `target` has room for the bytes of all `count` letters.
static inline size_t csignet_base64_decode(
    const void *source, size_t count, void *target, uint8_t plus, uint8_t slash) {
    if (count < 45 || !csignet_has_avx2()) return 0;
    return csignet_base64_decode_avx2(
        (const uint8_t *)source, count, (uint8_t *)target, plus, slash);
}

#endif
