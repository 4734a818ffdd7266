#ifndef SIGNET_OPENSSL_ASYMMETRIC_H
#define SIGNET_OPENSSL_ASYMMETRIC_H

// Keys from their numbers, and signatures. Functions that create a key return NULL on failure; the
// caller frees the key with EVP_PKEY_free. ECDSA signatures are not DER but r followed by s, each
// as long as the curve's field (RFC 9421, section 3.3.4).

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdint.h>
#include <string.h>

// Each C target defines this for itself: a module of its own sees only its own headers and those of
// targets it depends on, and a system library such as this one can depend on no target.
#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

// Ed25519 (RFC 8032) or X25519 (RFC 7748), as `type` says in capitals. `secret` is NULL for a
// public key. Returns NULL if the halves don't match.
static inline EVP_PKEY *signet_openssl_25519_key(
    const char *type, const void *point, const void *secret) {
    if (secret == NULL)
        return EVP_PKEY_new_raw_public_key_ex(NULL, type, NULL, point, 32);
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key_ex(NULL, type, NULL, secret, 32);
    unsigned char made[32];
    size_t count = sizeof made;
    if (key != NULL
        && (EVP_PKEY_get_raw_public_key(key, made, &count) != 1 || count != 32
            || memcmp(made, point, 32) != 0)) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

static inline EVP_PKEY *signet_openssl_key_from_parameters(
    const char *type, int selection, OSSL_PARAM_BLD *builder) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (parameters != NULL && context != NULL && EVP_PKEY_fromdata_init(context) == 1
        && EVP_PKEY_fromdata(context, &key, selection, parameters) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    return key;
}

// Returns whether the public half is a point on the curve and in its group and, for a pair, whether
// the halves match.
static inline SIGNET_MUST_CHECK int signet_openssl_key_is_sound(EVP_PKEY *key, int is_pair) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    int sound = context != NULL && EVP_PKEY_public_check(context) == 1
        && (!is_pair || EVP_PKEY_pairwise_check(context) == 1);
    EVP_PKEY_CTX_free(context);
    return sound;
}

// ECDSA on a named curve (FIPS 186-4). Each number has `count` bytes, at most 66. `secret` is NULL
// for a public key.
static inline EVP_PKEY *signet_openssl_ec_key(
    const char *curve, const void *x, const void *y, const void *secret, int count) {
    unsigned char point[1 + 2 * 66];
    if (count < 1 || count > 66) return NULL;
    point[0] = 4;
    memcpy(point + 1, x, (size_t)count);
    memcpy(point + 1 + count, y, (size_t)count);
    EVP_PKEY *key = NULL;
    BIGNUM *number = secret == NULL ? NULL : BN_bin2bn(secret, count, BN_secure_new());
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder != NULL && (secret == NULL || number != NULL)
        && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1
        && OSSL_PARAM_BLD_push_octet_string(
               builder, OSSL_PKEY_PARAM_PUB_KEY, point, 1 + 2 * (size_t)count)
            == 1
        && (number == NULL
            || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number) == 1))
        key = signet_openssl_key_from_parameters(
            "EC", number == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, builder);
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(number);
    if (key != NULL && signet_openssl_key_is_sound(key, secret != NULL) != 1) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

// How a message is hashed and padded.
typedef enum {
    signet_openssl_ed25519,
    signet_openssl_ecdsa_sha256,
    signet_openssl_ecdsa_sha384,
    signet_openssl_rsa_pss_sha512, // MGF1 with SHA-512, a salt of 64 bytes
    signet_openssl_rsa_pkcs1_sha256,
} signet_openssl_scheme;

static inline SIGNET_MUST_CHECK int signet_openssl_start_signature(
    EVP_MD_CTX *context, EVP_PKEY *key, signet_openssl_scheme scheme, int signs) {
    static const char *const digests[] = {NULL, "SHA2-256", "SHA2-384", "SHA2-512", "SHA2-256"};
    const char *digest = digests[scheme];
    EVP_PKEY_CTX *details = NULL;
    int status = signs ? EVP_DigestSignInit_ex(context, &details, digest, NULL, NULL, key, NULL)
                       : EVP_DigestVerifyInit_ex(context, &details, digest, NULL, NULL, key, NULL);
    if (status != 1) return 0;
    if (scheme == signet_openssl_rsa_pss_sha512)
        return EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_mgf1_md_name(details, "SHA2-512", NULL) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(details, 64) > 0;
    if (scheme == signet_openssl_rsa_pkcs1_sha256)
        return EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PADDING) > 0;
    return 1;
}

// Returns 1 if a key can be used for a scheme.
static inline SIGNET_MUST_CHECK int signet_openssl_allows(
    EVP_PKEY *key, signet_openssl_scheme scheme) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int status = context != NULL && signet_openssl_start_signature(context, key, scheme, 0) == 1;
    EVP_MD_CTX_free(context);
    return status;
}

static inline int signet_openssl_is_ecdsa(signet_openssl_scheme scheme) {
    return scheme == signet_openssl_ecdsa_sha256 || scheme == signet_openssl_ecdsa_sha384;
}

// Writes a signature of exactly `count` bytes.
static inline SIGNET_MUST_CHECK int signet_openssl_sign(
    EVP_PKEY *key, signet_openssl_scheme scheme, const void *message, size_t message_count,
    void *signature, size_t count) {
    unsigned char der[160];
    size_t written = signet_openssl_is_ecdsa(scheme) ? sizeof der : count;
    unsigned char *target = signet_openssl_is_ecdsa(scheme) ? der : signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int status = context != NULL && signet_openssl_start_signature(context, key, scheme, 1) == 1
        && EVP_DigestSign(context, target, &written, message, message_count) == 1;
    EVP_MD_CTX_free(context);
    if (!signet_openssl_is_ecdsa(scheme)) return status && written == count;
    const unsigned char *cursor = der;
    ECDSA_SIG *pair = status ? d2i_ECDSA_SIG(NULL, &cursor, (long)written) : NULL;
    int half = (int)(count / 2);
    status = pair != NULL
        && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, half) == half
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), (unsigned char *)signature + half, half) == half;
    ECDSA_SIG_free(pair);
    return status;
}

// Returns 1 if the signature is valid, 0 if it is not, -1 if OpenSSL failed before it could decide.
static inline SIGNET_MUST_CHECK int signet_openssl_verify(
    EVP_PKEY *key, signet_openssl_scheme scheme, const void *message, size_t message_count,
    const void *signature, size_t count) {
    const unsigned char *given = signature;
    unsigned char *der = NULL;
    if (signet_openssl_is_ecdsa(scheme)) {
        int half = (int)(count / 2);
        ECDSA_SIG *pair = ECDSA_SIG_new();
        BIGNUM *r = BN_bin2bn(given, half, NULL);
        BIGNUM *s = BN_bin2bn(given + half, half, NULL);
        int length = -1;
        if (pair != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(pair, r, s) == 1) {
            r = NULL;
            s = NULL;
            length = i2d_ECDSA_SIG(pair, &der);
        }
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(pair);
        if (length <= 0) return -1;
        given = der;
        count = (size_t)length;
    }
    int status = -1;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context != NULL && signet_openssl_start_signature(context, key, scheme, 0) == 1)
        status = EVP_DigestVerify(context, given, count, message, message_count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    return status;
}

// RSA from its concatenated big-endian numbers (RFC 8017): n, e, and for a pair d and optionally p,
// q, dp, dq, qi. A missing number has the count 0.
static inline EVP_PKEY *signet_openssl_rsa_key(
    const unsigned char *bytes, const int32_t counts[8]) {
    static const char *const names[8] = {
        OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
        OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
    };
    BIGNUM *numbers[8] = {NULL};
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    int good = builder != NULL;
    for (int index = 0; good && index < 8; index++) {
        if (counts[index] == 0) continue;
        numbers[index] = BN_bin2bn(bytes, counts[index], index < 2 ? BN_new() : BN_secure_new());
        good = numbers[index] != NULL
            && OSSL_PARAM_BLD_push_BN(builder, names[index], numbers[index]) == 1;
        bytes += counts[index];
    }
    EVP_PKEY *key = NULL;
    if (good)
        key = signet_openssl_key_from_parameters(
            "RSA", counts[2] == 0 ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, builder);
    OSSL_PARAM_BLD_free(builder);
    for (int index = 0; index < 8; index++) BN_clear_free(numbers[index]);
    if (key == NULL || counts[2] == 0) return key;
    // Checks the pair with a signature. OpenSSL's own check tests the primes, which takes a tenth
    // of a second, a hundred times as long.
    unsigned char signature[2048];
    const signet_openssl_scheme scheme = signet_openssl_rsa_pkcs1_sha256;
    size_t count = (size_t)EVP_PKEY_get_size(key);
    if (count > sizeof signature
        || signet_openssl_sign(key, scheme, "signet", 6, signature, count) != 1
        || signet_openssl_verify(key, scheme, "signet", 6, signature, count) != 1) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

#endif
