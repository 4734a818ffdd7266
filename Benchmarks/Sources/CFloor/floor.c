#include "CFloor.h"

#include <curl/curl.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double floor_wall_seconds(void) { return seconds(CLOCK_MONOTONIC); }
double floor_thread_seconds(void) { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double floor_process_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

static EVP_MD *sha256;
static EVP_CIPHER *gcm;
static EVP_MD_CTX *digest_context;
static EVP_MAC *hmac;
static EVP_MAC_CTX *keyed, *rekeyed;
static EVP_CIPHER_CTX *cipher_context;

int floor_prepare(const uint8_t *key, size_t key_size) {
    if (keyed) return 1;
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    digest_context = EVP_MD_CTX_new();
    cipher_context = EVP_CIPHER_CTX_new();
    keyed = EVP_MAC_CTX_new(hmac);
    rekeyed = EVP_MAC_CTX_new(hmac);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end()};
    return sha256 && gcm && hmac && EVP_MAC_init(keyed, key, key_size, params) == 1
        && EVP_MAC_init(rekeyed, key, key_size, params) == 1;
}

int floor_digest_and_mac(
    const uint8_t *body, size_t body_size, const uint8_t *base, size_t base_size, size_t rounds) {
    uint8_t out[EVP_MAX_MD_SIZE];
    unsigned digest_size;
    size_t size;
    for (size_t i = 0; i < rounds; i++) {
        if (EVP_DigestInit_ex2(digest_context, sha256, NULL) != 1
            || EVP_DigestUpdate(digest_context, body, body_size) != 1
            || EVP_DigestFinal_ex(digest_context, out, &digest_size) != 1
            || EVP_MAC_init(keyed, NULL, 0, NULL) != 1
            || EVP_MAC_update(keyed, base, base_size) != 1
            || EVP_MAC_final(keyed, out, &size, sizeof out) != 1)
            return 0;
    }
    return 1;
}

int floor_two_digests_and_mac(
    const uint8_t *body, size_t body_size, const uint8_t *request, size_t request_size,
    const uint8_t *text, size_t text_size) {
    uint8_t out[EVP_MAX_MD_SIZE];
    unsigned digest_size;
    if (EVP_DigestInit_ex2(digest_context, sha256, NULL) != 1
        || EVP_DigestUpdate(digest_context, body, body_size) != 1
        || EVP_DigestFinal_ex(digest_context, out, &digest_size) != 1)
        return 0;
    return floor_digest_and_mac(request, request_size, text, text_size, 1);
}

int floor_salted_mac(
    const uint8_t *body, size_t body_size, const uint8_t *base, size_t base_size, size_t rounds) {
    uint8_t out[EVP_MAX_MD_SIZE], key[EVP_MAX_MD_SIZE];
    unsigned digest_size;
    size_t size, key_size;
    for (size_t i = 0; i < rounds; i++) {
        if (EVP_DigestInit_ex2(digest_context, sha256, NULL) != 1
            || EVP_DigestUpdate(digest_context, body, body_size) != 1
            || EVP_DigestFinal_ex(digest_context, out, &digest_size) != 1
            || EVP_MAC_init(keyed, NULL, 0, NULL) != 1
            || EVP_MAC_update(keyed, base, 31) != 1
            || EVP_MAC_final(keyed, key, &key_size, sizeof key) != 1
            || EVP_MAC_init(rekeyed, key, key_size, NULL) != 1
            || EVP_MAC_update(rekeyed, base, base_size) != 1
            || EVP_MAC_final(rekeyed, out, &size, sizeof out) != 1)
            return 0;
    }
    return 1;
}

static const uint8_t gcm_key[32] = {1}, gcm_iv[12] = {2};

int floor_gcm_seal(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16], size_t rounds) {
    int part;
    for (size_t i = 0; i < rounds; i++) {
        if (EVP_EncryptInit_ex2(cipher_context, gcm, gcm_key, gcm_iv, NULL) != 1
            || EVP_EncryptUpdate(cipher_context, out, &part, in, (int)size) != 1
            || EVP_EncryptFinal_ex(cipher_context, out + size, &part) != 1
            || EVP_CIPHER_CTX_ctrl(cipher_context, EVP_CTRL_AEAD_GET_TAG, 16, tag) != 1)
            return 0;
    }
    return 1;
}

int floor_gcm_open(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16], size_t rounds) {
    int part;
    for (size_t i = 0; i < rounds; i++) {
        if (EVP_DecryptInit_ex2(cipher_context, gcm, gcm_key, gcm_iv, NULL) != 1
            || EVP_DecryptUpdate(cipher_context, out, &part, in, (int)size) != 1
            || EVP_CIPHER_CTX_ctrl(cipher_context, EVP_CTRL_AEAD_SET_TAG, 16, tag) != 1
            || EVP_DecryptFinal_ex(cipher_context, out + size, &part) != 1)
            return 0;
    }
    return 1;
}

int floor_hkdf_and_gcm(const uint8_t *in, uint8_t *out, size_t size, size_t rounds) {
    static EVP_KDF_CTX *context;
    static char hash[] = "SHA256";
    static uint8_t root[32] = {3}, salt[32] = {4}, info[96] = {5};
    uint8_t material[76], tag[16];
    if (!context) {
        EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
        context = EVP_KDF_CTX_new(kdf);
        EVP_KDF_free(kdf);
    }
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, root, sizeof root),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt, sizeof salt),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info),
        OSSL_PARAM_construct_end()};
    for (size_t i = 0; i < rounds; i++) {
        if (EVP_KDF_derive(context, material, sizeof material, params) != 1
            || floor_gcm_seal(in, out, size, tag, 1) != 1)
            return 0;
    }
    return 1;
}

size_t floor_memchr(const uint8_t *bytes, size_t size, size_t rounds) {
    size_t found = 0;
    for (size_t i = 0; i < rounds; i++) {
        const uint8_t *volatile start = bytes;
        found += memchr(start, 0, size) != NULL;
    }
    return found;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static CURL *request(
    const char *url, struct curl_slist *connect_to, const char *ca_file, int http2) {
    CURL *easy = curl_easy_init();
    if (!easy) return NULL;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    if (connect_to) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to);
    curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(
        easy, CURLOPT_HTTP_VERSION, http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    if (http2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    return easy;
}

size_t floor_requests(
    const char *url, const char *connect_to, const char *ca_file, int http2, size_t concurrency,
    size_t total) {
    struct curl_slist *list = connect_to ? curl_slist_append(NULL, connect_to) : NULL;
    CURLM *multi = curl_multi_init();
    CURL **handles = calloc(concurrency, sizeof *handles);
    size_t started = 0, finished = 0, good = 0;
    if (!multi || !handles) return 0;
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, http2 ? 1L : (long)concurrency);
    for (; started < concurrency && started < total; started++) {
        handles[started] = request(url, list, ca_file, http2);
        curl_multi_add_handle(multi, handles[started]);
    }
    while (finished < total) {
        int running, left;
        CURLMsg *message;
        if (curl_multi_perform(multi, &running) != CURLM_OK) break;
        while ((message = curl_multi_info_read(multi, &left))) {
            long status = 0;
            CURL *easy = message->easy_handle;
            CURLcode result = message->data.result;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            good += result == CURLE_OK && status == 200;
            finished++;
            curl_multi_remove_handle(multi, easy);
            if (started < total) {
                started++;
                curl_multi_add_handle(multi, easy);
            }
        }
        if (finished < total) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (size_t i = 0; i < concurrency; i++) {
        if (!handles[i]) continue;
        curl_multi_remove_handle(multi, handles[i]);
        curl_easy_cleanup(handles[i]);
    }
    curl_multi_cleanup(multi);
    curl_slist_free_all(list);
    free(handles);
    return good;
}
