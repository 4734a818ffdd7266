#ifndef SIGNET_OPENSSL_ENCRYPTION_H
#define SIGNET_OPENSSL_ENCRYPTION_H

// Encryption of a key for another key: key agreement, RSA-OAEP and AES key wrap. Every function
// returns 1 for success.

#include "asymmetric.h"

// Computes the shared secret of a pair and a public key of the same curve. OpenSSL checks that the
// public key is on the curve, and refuses an X25519 secret that is all zeros (RFC 7748, section
// 6.1).
static inline SIGNET_MUST_CHECK int signet_openssl_agree(
    EVP_PKEY *own, EVP_PKEY *peer, void *secret, size_t count) {
    size_t written = 0;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    int status = context != NULL && EVP_PKEY_derive_init(context) == 1
        && EVP_PKEY_derive_set_peer_ex(context, peer, 1) == 1
        && EVP_PKEY_derive(context, NULL, &written) == 1 && written == count
        && EVP_PKEY_derive(context, secret, &written) == 1 && written == count;
    EVP_PKEY_CTX_free(context);
    return status;
}

// RSAES-OAEP with SHA-256 and MGF1 with SHA-256 (RFC 8017, section 7.1). Writes at most `*count`
// bytes and sets it to the number written.
static inline SIGNET_MUST_CHECK int signet_openssl_rsa_oaep(
    EVP_PKEY *key, int encrypts, const void *source, size_t source_count, void *target,
    size_t *count) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    int status = context != NULL
        && (encrypts ? EVP_PKEY_encrypt_init(context) : EVP_PKEY_decrypt_init(context)) == 1
        && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0
        && EVP_PKEY_CTX_set_rsa_oaep_md_name(context, "SHA2-256", NULL) > 0
        && EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, "SHA2-256", NULL) > 0
        && (encrypts ? EVP_PKEY_encrypt(context, target, count, source, source_count)
                     : EVP_PKEY_decrypt(context, target, count, source, source_count))
            == 1;
    EVP_PKEY_CTX_free(context);
    return status;
}

// Wraps a key of 16 or 32 bytes with AES (RFC 3394), or unwraps one. `key` has 16 or 32 bytes too.
// The wrapped form has 8 bytes more than `count`, the size of the key that it holds.
static inline SIGNET_MUST_CHECK int signet_openssl_wrap(
    const void *key, size_t key_count, int wraps, const void *source, void *target, int count) {
    const int source_count = wraps ? count : count + 8, target_count = wraps ? count + 8 : count;
    unsigned char made[48];
    int written = 0, rest = 0;
    if ((key_count != 16 && key_count != 32) || (count != 16 && count != 32)) return 0;
    EVP_CIPHER *cipher =
        EVP_CIPHER_fetch(NULL, key_count == 16 ? "AES-128-WRAP" : "AES-256-WRAP", NULL);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int status = cipher != NULL && context != NULL;
    if (status) {
        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        status = EVP_CipherInit_ex2(context, cipher, key, NULL, wraps, NULL) == 1
            && EVP_CipherUpdate(context, made, &written, source, source_count) == 1
            && EVP_CipherFinal_ex(context, made + written, &rest) == 1
            && written + rest == target_count;
    }
    if (status) memcpy(target, made, (size_t)target_count);
    OPENSSL_cleanse(made, sizeof made);
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
    return status;
}

#endif
