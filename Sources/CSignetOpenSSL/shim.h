#ifndef SIGNET_OPENSSL_SHIM_H
#define SIGNET_OPENSSL_SHIM_H

// What Swift cannot say to OpenSSL by itself: macros, OSSL_PARAM arrays whose strings must outlive
// the call that reads them, and statuses that Swift would drop in silence without
// warn_unused_result. Every function here returns 1 for success unless its comment says otherwise.

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>

#include "asymmetric.h"
#include "base64.h"

#define SIGNET_MUST_CHECK __attribute__((warn_unused_result))

// MAC

// Gives `context` a key and a digest. A nil key with a length of 0 is the empty key.
static inline SIGNET_MUST_CHECK int copenssl_mac_start(
    EVP_MAC_CTX *context, const void *key, size_t count, const char *digest) {
    static const unsigned char nothing[1] = {0};
    OSSL_PARAM parameters[2];
    parameters[0] =
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0);
    parameters[1] = OSSL_PARAM_construct_end();
    return EVP_MAC_init(
        context, key == NULL ? nothing : (const unsigned char *)key, count, parameters);
}

// Gives a context that already has its digest another key.
static inline SIGNET_MUST_CHECK int copenssl_mac_rekey(
    EVP_MAC_CTX *context, const void *key, size_t count) {
    static const unsigned char nothing[1] = {0};
    return EVP_MAC_init(
        context, key == NULL ? nothing : (const unsigned char *)key, count, NULL);
}

// Starts again with the key that the context already has.
static inline SIGNET_MUST_CHECK int copenssl_mac_restart(EVP_MAC_CTX *context) {
    return EVP_MAC_init(context, NULL, 0, NULL);
}

static inline SIGNET_MUST_CHECK int copenssl_mac_update(
    EVP_MAC_CTX *context, const void *bytes, size_t count) {
    return count == 0 ? 1 : EVP_MAC_update(context, (const unsigned char *)bytes, count);
}

// Writes exactly `count` bytes of tag, which must be the digest's whole length.
static inline SIGNET_MUST_CHECK int copenssl_mac_finish(
    EVP_MAC_CTX *context, void *tag, size_t count) {
    size_t written = 0;
    int status = EVP_MAC_final(context, (unsigned char *)tag, &written, count);
    return status == 1 && written == count;
}

// HKDF-Expand (RFC 5869, section 2.3) with SHA-256, in a context that has the pseudorandom key.
static inline SIGNET_MUST_CHECK int copenssl_hkdf_expand(
    EVP_MAC_CTX *context, const void *info, size_t info_count, void *target, size_t count) {
    unsigned char block[32];
    size_t written = 0;
    int status = 1;
    for (unsigned char number = 1; status == 1 && written < count; number++) {
        if (number > 1
            && (copenssl_mac_restart(context) != 1
                || copenssl_mac_update(context, block, sizeof block) != 1))
            status = 0;
        else if (copenssl_mac_update(context, info, info_count) != 1
            || copenssl_mac_update(context, &number, 1) != 1
            || copenssl_mac_finish(context, block, sizeof block) != 1)
            status = 0;
        else {
            const size_t step = count - written < sizeof block ? count - written : sizeof block;
            memcpy((unsigned char *)target + written, block, step);
            written += step;
        }
    }
    OPENSSL_cleanse(block, sizeof block);
    return status;
}

// Digest

static inline SIGNET_MUST_CHECK int copenssl_digest_start(
    EVP_MD_CTX *context, const EVP_MD *algorithm) {
    return EVP_DigestInit_ex2(context, algorithm, NULL);
}

static inline SIGNET_MUST_CHECK int copenssl_digest_update(
    EVP_MD_CTX *context, const void *bytes, size_t count) {
    return count == 0 ? 1 : EVP_DigestUpdate(context, bytes, count);
}

static inline SIGNET_MUST_CHECK int copenssl_digest_finish(
    EVP_MD_CTX *context, void *digest, size_t count) {
    unsigned int written = 0;
    int status = EVP_DigestFinal_ex(context, (unsigned char *)digest, &written);
    return status == 1 && written == count;
}

// A digest by its name, looked up each time.
static inline SIGNET_MUST_CHECK int copenssl_digest_once(
    const char *name, const void *bytes, size_t count, void *digest, size_t digest_count) {
    unsigned char made[EVP_MAX_MD_SIZE];
    size_t written = 0;
    if (EVP_Q_digest(NULL, name, NULL, count == 0 ? "" : bytes, count, made, &written) != 1
        || written != digest_count)
        return 0;
    memcpy(digest, made, written);
    return 1;
}

// AEAD: a 32-byte key, a 12-byte nonce and a 16-byte tag, which the caller has made sure of.

static inline SIGNET_MUST_CHECK int copenssl_gcm_seal(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const void *key, const void *nonce,
    const void *associated, int associated_count, const void *plaintext, int count,
    void *ciphertext, void *tag) {
    int written = 0;
    if (EVP_EncryptInit_ex2(
            context, cipher, (const unsigned char *)key, (const unsigned char *)nonce, NULL)
        != 1)
        return 0;
    if (associated_count > 0
        && EVP_EncryptUpdate(
               context, NULL, &written, (const unsigned char *)associated, associated_count)
            != 1)
        return 0;
    if (count > 0) {
        if (EVP_EncryptUpdate(
                context, (unsigned char *)ciphertext, &written,
                (const unsigned char *)plaintext, count)
            != 1)
            return 0;
        if (written != count) return 0;
    }
    unsigned char rest[16];
    if (EVP_EncryptFinal_ex(context, rest, &written) != 1 || written != 0) return 0;
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

// 1 when the tag holds, 0 when it does not, -1 when OpenSSL failed before it could tell.
static inline SIGNET_MUST_CHECK int copenssl_gcm_open(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const void *key, const void *nonce,
    const void *associated, int associated_count, const void *ciphertext, int count,
    const void *tag, void *plaintext) {
    int written = 0;
    if (EVP_DecryptInit_ex2(
            context, cipher, (const unsigned char *)key, (const unsigned char *)nonce, NULL)
        != 1)
        return -1;
    if (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag) != 1) return -1;
    if (associated_count > 0
        && EVP_DecryptUpdate(
               context, NULL, &written, (const unsigned char *)associated, associated_count)
            != 1)
        return -1;
    if (count > 0) {
        if (EVP_DecryptUpdate(
                context, (unsigned char *)plaintext, &written,
                (const unsigned char *)ciphertext, count)
            != 1)
            return -1;
        if (written != count) return -1;
    }
    unsigned char rest[16];
    return EVP_DecryptFinal_ex(context, rest, &written) == 1 && written == 0 ? 1 : 0;
}

// Key derivation and random bytes

static inline SIGNET_MUST_CHECK int copenssl_scrypt(
    const void *passphrase, size_t passphrase_count, const void *salt, size_t salt_count,
    uint64_t n, uint64_t r, uint64_t p, uint64_t maximum_memory, void *key, size_t count) {
    return EVP_PBE_scrypt(
        (const char *)passphrase, passphrase_count, (const unsigned char *)salt, salt_count, n,
        r, p, maximum_memory, (unsigned char *)key, count);
}

static inline SIGNET_MUST_CHECK int copenssl_random(void *bytes, int count) {
    return RAND_bytes((unsigned char *)bytes, count);
}

static inline SIGNET_MUST_CHECK int copenssl_random_secret(void *bytes, int count) {
    return RAND_priv_bytes((unsigned char *)bytes, count);
}

// 1 when equal. Reads `count` bytes of both, whatever they hold.
static inline SIGNET_MUST_CHECK int copenssl_equal(const void *a, const void *b, size_t count) {
    return count == 0 || CRYPTO_memcmp(a, b, count) == 0;
}

// Memory that OpenSSL allocated, behind macros

static inline void copenssl_free(void *pointer) { OPENSSL_free(pointer); }

static inline void copenssl_free_wiped(void *pointer, size_t count) {
    OPENSSL_clear_free(pointer, count);
}

// Drops what OpenSSL queued on this thread, so that a later reader is not told of our errors.
static inline void copenssl_forget_errors(void) { ERR_clear_error(); }

// X.509 and keys in DER. Each reader demands that all of `der` is used.

static inline X509 *copenssl_read_certificate(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    X509 *certificate = d2i_X509(NULL, &cursor, count);
    if (certificate != NULL && cursor != (const unsigned char *)der + count) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

// A certificate followed by OpenSSL's own trust settings, as in "TRUSTED CERTIFICATE".
static inline X509 *copenssl_read_trusted_certificate(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    X509 *certificate = d2i_X509_AUX(NULL, &cursor, count);
    if (certificate != NULL && cursor != (const unsigned char *)der + count) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

static inline X509_PUBKEY *copenssl_read_public_key(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    X509_PUBKEY *key = d2i_X509_PUBKEY(NULL, &cursor, count);
    if (key != NULL && cursor != (const unsigned char *)der + count) {
        X509_PUBKEY_free(key);
        return NULL;
    }
    return key;
}

static inline X509_REQ *copenssl_read_request(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    X509_REQ *request = d2i_X509_REQ(NULL, &cursor, count);
    if (request != NULL && cursor != (const unsigned char *)der + count) {
        X509_REQ_free(request);
        return NULL;
    }
    return request;
}

static inline EVP_PKEY *copenssl_read_private_key(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &cursor, count);
    if (key != NULL && cursor != (const unsigned char *)der + count) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

// An RSA public key in the older form of PKCS #1 ("RSA PUBLIC KEY").
static inline EVP_PKEY *copenssl_read_rsa_public_key(const void *der, long count) {
    const unsigned char *cursor = (const unsigned char *)der;
    EVP_PKEY *key = d2i_PublicKey(EVP_PKEY_RSA, NULL, &cursor, count);
    if (key != NULL && cursor != (const unsigned char *)der + count) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

// SubjectPublicKeyInfo in DER, to be given to copenssl_free; nil and a count of 0 on failure.
static inline unsigned char *copenssl_spki(const X509_PUBKEY *key, int *count) {
    unsigned char *der = NULL;
    int length = key == NULL ? 0 : i2d_X509_PUBKEY(key, &der);
    *count = length > 0 ? length : 0;
    return length > 0 ? der : NULL;
}

static inline unsigned char *copenssl_key_spki(const EVP_PKEY *key, int *count) {
    unsigned char *der = NULL;
    int length = key == NULL ? 0 : i2d_PUBKEY(key, &der);
    *count = length > 0 ? length : 0;
    return length > 0 ? der : NULL;
}

// A name on one line as RFC 2253 writes it, in UTF-8, control characters escaped.
// To be given to copenssl_free; nil on failure.
static inline unsigned char *copenssl_name(const X509_NAME *name, size_t *count) {
    *count = 0;
    if (name == NULL) return NULL;
    BIO *memory = BIO_new(BIO_s_mem());
    if (memory == NULL) return NULL;
    unsigned char *text = NULL;
    unsigned long flags = (XN_FLAG_RFC2253 | ASN1_STRFLGS_ESC_CTRL) & ~ASN1_STRFLGS_ESC_MSB;
    if (X509_NAME_print_ex(memory, name, 0, flags) >= 0) {
        char *data = NULL;
        long length = BIO_get_mem_data(memory, &data);
        text = length >= 0 ? (unsigned char *)OPENSSL_malloc((size_t)length + 1) : NULL;
        if (text != NULL) {
            if (length > 0) memcpy(text, data, (size_t)length);
            *count = (size_t)length;
        }
    }
    BIO_free(memory);
    return text;
}

// The names of a subject alternative name (RFC 5280, section 4.2.1.6); nil where there is none or it
// is broken. To be given to GENERAL_NAMES_free.
static inline GENERAL_NAMES *copenssl_certificate_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

// The same of what a request asks for (RFC 2986).
static inline GENERAL_NAMES *copenssl_request_names(X509_REQ *request) {
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names =
        (GENERAL_NAMES *)X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return names;
}

static inline int copenssl_names_count(const GENERAL_NAMES *names) {
    return names == NULL ? 0 : sk_GENERAL_NAME_num(names);
}

// The bytes of a name and whether it is an address; nil for every other kind.
static inline const unsigned char *copenssl_names_bytes(
    const GENERAL_NAMES *names, int index, int *is_address, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name == NULL || (name->type != GEN_DNS && name->type != GEN_IPADD)) return NULL;
    *is_address = name->type == GEN_IPADD;
    const ASN1_STRING *text =
        *is_address ? (const ASN1_STRING *)name->d.iPAddress : (const ASN1_STRING *)name->d.dNSName;
    *count = ASN1_STRING_length(text);
    return ASN1_STRING_get0_data(text);
}

// Seconds since 1970 of an ASN.1 time.
static inline SIGNET_MUST_CHECK int copenssl_unix_time(const ASN1_TIME *time, int64_t *seconds) {
    int days = 0, rest = 0, status = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    if (epoch != NULL && time != NULL) status = ASN1_TIME_diff(&days, &rest, epoch, time);
    ASN1_TIME_free(epoch);
    *seconds = (int64_t)days * 86400 + rest;
    return status;
}

// PEM

static inline BIO *copenssl_reader(const void *bytes, int count) {
    return BIO_new_mem_buf(bytes, count);
}

// The next block: its label, the header lines inside it, and its bytes; 0 when there is none
// or it is broken. Nothing is decrypted and nobody is asked for a pass phrase.
static inline SIGNET_MUST_CHECK int copenssl_next_block(
    BIO *reader, char **label, char **header, unsigned char **bytes, long *count) {
    return PEM_read_bio(reader, label, header, bytes, count);
}

// 1 when the last failure means that there was no further block, not that one was broken.
static inline SIGNET_MUST_CHECK int copenssl_no_more_blocks(void) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// Key pairs

static inline EVP_PKEY *copenssl_generate_ed25519(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

static inline EVP_PKEY *copenssl_generate_ec(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}

static inline EVP_PKEY *copenssl_generate_rsa(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

// An integer of a key, big-endian, left-padded to `width` (0: as short as can be). Returns the
// number of bytes written, 0 on failure.
static inline SIGNET_MUST_CHECK size_t copenssl_key_integer(
    const EVP_PKEY *key, const char *name, void *bytes, size_t capacity, size_t width) {
    BIGNUM *number = NULL;
    size_t written = 0;
    if (EVP_PKEY_get_bn_param(key, name, &number) == 1) {
        size_t count = width > 0 ? width : (size_t)BN_num_bytes(number);
        if (count <= capacity
            && BN_bn2binpad(number, (unsigned char *)bytes, (int)count) == (int)count)
            written = count;
    }
    BN_clear_free(number);
    return written;
}

// An octet string of a key ("pub" or "priv" of Ed25519). Returns the count, 0 on failure.
static inline SIGNET_MUST_CHECK size_t copenssl_key_octets(
    const EVP_PKEY *key, const char *name, void *bytes, size_t capacity) {
    size_t written = 0;
    if (EVP_PKEY_get_octet_string_param(key, name, (unsigned char *)bytes, capacity, &written)
        != 1)
        return 0;
    return written;
}

#endif
