#ifndef SIGNET_OPENSSL_SHIM_H
#define SIGNET_OPENSSL_SHIM_H

// OpenSSL calls that Swift cannot make itself: macros, OSSL_PARAM arrays whose strings must be
// valid until they are read, and statuses that Swift would ignore without warn_unused_result. Every
// function returns 1 for success unless its comment says otherwise.

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
#include "encryption.h"
#include "identity.h"

// MAC

// Sets a context's key and digest; a `digest` of NULL keeps the context's own. NULL with a length
// of 0 is the empty key.
static inline SIGNET_MUST_CHECK int signet_openssl_mac_start(
    EVP_MAC_CTX *context, const void *key, size_t count, const char *digest) {
    static const unsigned char nothing[1] = {0};
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(
        context, key == NULL ? nothing : key, count, digest == NULL ? NULL : parameters);
}

// Starts a new message with the context's key.
static inline SIGNET_MUST_CHECK int signet_openssl_mac_restart(EVP_MAC_CTX *context) {
    return EVP_MAC_init(context, NULL, 0, NULL);
}

static inline SIGNET_MUST_CHECK int signet_openssl_mac_update(
    EVP_MAC_CTX *context, const void *bytes, size_t count) {
    return count == 0 ? 1 : EVP_MAC_update(context, bytes, count);
}

// Writes the tag. `count` must be the digest's length.
static inline SIGNET_MUST_CHECK int signet_openssl_mac_finish(
    EVP_MAC_CTX *context, void *tag, size_t count) {
    size_t written = 0;
    int status = EVP_MAC_final(context, tag, &written, count);
    return status == 1 && written == count;
}

// HKDF-Expand (RFC 5869, section 2.3) with SHA-256. The context has the pseudorandom key.
static inline SIGNET_MUST_CHECK int signet_openssl_hkdf_expand(
    EVP_MAC_CTX *context, const void *info, size_t info_count, void *target, size_t count) {
    unsigned char block[32];
    size_t written = 0;
    int status = 1;
    for (unsigned char number = 1; status == 1 && written < count; number++) {
        if (number > 1
            && (signet_openssl_mac_restart(context) != 1
                || signet_openssl_mac_update(context, block, sizeof block) != 1))
            status = 0;
        else if (signet_openssl_mac_update(context, info, info_count) != 1
            || signet_openssl_mac_update(context, &number, 1) != 1
            || signet_openssl_mac_finish(context, block, sizeof block) != 1)
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

static inline SIGNET_MUST_CHECK int signet_openssl_digest_start(
    EVP_MD_CTX *context, const EVP_MD *algorithm) {
    return EVP_DigestInit_ex2(context, algorithm, NULL);
}

static inline SIGNET_MUST_CHECK int signet_openssl_digest_update(
    EVP_MD_CTX *context, const void *bytes, size_t count) {
    return count == 0 ? 1 : EVP_DigestUpdate(context, bytes, count);
}

static inline SIGNET_MUST_CHECK int signet_openssl_digest_finish(
    EVP_MD_CTX *context, void *digest, size_t count) {
    unsigned int written = 0;
    int status = EVP_DigestFinal_ex(context, digest, &written);
    return status == 1 && written == count;
}

// Computes a digest by its name, which is looked up each time.
static inline SIGNET_MUST_CHECK int signet_openssl_digest_once(
    const char *name, const void *bytes, size_t count, void *digest, size_t digest_count) {
    unsigned char made[EVP_MAX_MD_SIZE];
    size_t written = 0;
    if (EVP_Q_digest(NULL, name, NULL, count == 0 ? "" : bytes, count, made, &written) != 1
        || written != digest_count)
        return 0;
    memcpy(digest, made, written);
    return 1;
}

// AEAD. The caller has checked that the key has 32 bytes, the nonce 12 and the tag 16.

// Encrypts or decrypts a text, without the final step that makes or checks the tag. `expected_tag`
// is NULL for encryption.
static inline SIGNET_MUST_CHECK int signet_openssl_gcm_transform(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const void *key, const void *nonce,
    const void *associated, int associated_count, const void *source, int count, void *target,
    const void *expected_tag) {
    int written = 0;
    const int encrypts = expected_tag == NULL;
    if (EVP_CipherInit_ex2(context, cipher, key, nonce, encrypts, NULL) != 1) return 0;
    if (!encrypts
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)expected_tag) != 1)
        return 0;
    if (associated_count > 0
        && EVP_CipherUpdate(context, NULL, &written, associated, associated_count) != 1)
        return 0;
    return count == 0
        || (EVP_CipherUpdate(context, target, &written, source, count) == 1 && written == count);
}

// Encrypts a text in place and writes the tag.
static inline SIGNET_MUST_CHECK int signet_openssl_gcm_seal(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const void *key, const void *nonce,
    const void *associated, int associated_count, void *text, int count, void *tag) {
    unsigned char rest[16];
    int written = 0;
    return signet_openssl_gcm_transform(
               context, cipher, key, nonce, associated, associated_count, text, count, text, NULL)
        && EVP_EncryptFinal_ex(context, rest, &written) == 1 && written == 0
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
}

// Returns 1 if the tag matches, 0 if it doesn't, -1 if OpenSSL failed before it could decide.
static inline SIGNET_MUST_CHECK int signet_openssl_gcm_open(
    EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, const void *key, const void *nonce,
    const void *associated, int associated_count, const void *ciphertext, int count,
    const void *tag, void *plaintext) {
    unsigned char rest[16];
    int written = 0;
    if (!signet_openssl_gcm_transform(
            context, cipher, key, nonce, associated, associated_count, ciphertext, count,
            plaintext, tag))
        return -1;
    return EVP_DecryptFinal_ex(context, rest, &written) == 1 && written == 0;
}

// Key derivation and random bytes

static inline SIGNET_MUST_CHECK int signet_openssl_scrypt(
    const void *passphrase, size_t passphrase_count, const void *salt, size_t salt_count,
    uint64_t n, uint64_t r, uint64_t p, uint64_t maximum_memory, void *key, size_t count) {
    return EVP_PBE_scrypt(
        passphrase, passphrase_count, salt, salt_count, n, r, p, maximum_memory, key, count);
}

static inline SIGNET_MUST_CHECK int signet_openssl_random(void *bytes, int count) {
    return RAND_bytes(bytes, count);
}

static inline SIGNET_MUST_CHECK int signet_openssl_random_secret(void *bytes, int count) {
    return RAND_priv_bytes(bytes, count);
}

// Returns 1 if both are equal. Always reads all `count` bytes.
static inline SIGNET_MUST_CHECK int signet_openssl_equal(
    const void *a, const void *b, size_t count) {
    return count == 0 || CRYPTO_memcmp(a, b, count) == 0;
}

// Memory allocated by OpenSSL, which is freed by macros

static inline void signet_openssl_free(void *pointer) { OPENSSL_free(pointer); }

static inline void signet_openssl_free_wiped(void *pointer, size_t count) {
    OPENSSL_clear_free(pointer, count);
}

// Clears this thread's error queue, so that other code doesn't read our errors.
static inline void signet_openssl_forget_errors(void) { ERR_clear_error(); }

// X.509 and keys in DER. Each reader returns NULL if there are bytes after the structure.

#define SIGNET_OPENSSL_READER(name, type, decode, release)                               \
    static inline type *name(const void *der, long count) {                              \
        const unsigned char *cursor = der;                                               \
        type *value = decode;                                                            \
        if (value == NULL || cursor == (const unsigned char *)der + count) return value; \
        release(value);                                                                  \
        return NULL;                                                                     \
    }

SIGNET_OPENSSL_READER(
    signet_openssl_read_certificate, X509, d2i_X509(NULL, &cursor, count), X509_free)
// A certificate followed by OpenSSL's trust settings, as in "TRUSTED CERTIFICATE".
SIGNET_OPENSSL_READER(
    signet_openssl_read_trusted_certificate, X509, d2i_X509_AUX(NULL, &cursor, count), X509_free)
SIGNET_OPENSSL_READER(
    signet_openssl_read_public_key, X509_PUBKEY, d2i_X509_PUBKEY(NULL, &cursor, count),
    X509_PUBKEY_free)
SIGNET_OPENSSL_READER(
    signet_openssl_read_request, X509_REQ, d2i_X509_REQ(NULL, &cursor, count), X509_REQ_free)
SIGNET_OPENSSL_READER(
    signet_openssl_read_private_key, EVP_PKEY, d2i_AutoPrivateKey(NULL, &cursor, count),
    EVP_PKEY_free)
// An RSA public key in the older form of PKCS #1 ("RSA PUBLIC KEY").
SIGNET_OPENSSL_READER(
    signet_openssl_read_rsa_public_key, EVP_PKEY, d2i_PublicKey(EVP_PKEY_RSA, NULL, &cursor, count),
    EVP_PKEY_free)

// Returns the SubjectPublicKeyInfo in DER, or NULL and a count of 0. Free it with
// signet_openssl_free.
static inline unsigned char *signet_openssl_spki(const X509_PUBKEY *key, int *count) {
    unsigned char *der = NULL;
    int length = key == NULL ? 0 : i2d_X509_PUBKEY(key, &der);
    *count = length > 0 ? length : 0;
    return length > 0 ? der : NULL;
}

static inline unsigned char *signet_openssl_key_spki(const EVP_PKEY *key, int *count) {
    unsigned char *der = NULL;
    int length = key == NULL ? 0 : i2d_PUBKEY(key, &der);
    *count = length > 0 ? length : 0;
    return length > 0 ? der : NULL;
}

// Returns a name on one line (RFC 2253), in UTF-8 with control characters escaped, or NULL. Free it
// with signet_openssl_free.
static inline unsigned char *signet_openssl_name(const X509_NAME *name, size_t *count) {
    *count = 0;
    if (name == NULL) return NULL;
    BIO *memory = BIO_new(BIO_s_mem());
    if (memory == NULL) return NULL;
    unsigned char *text = NULL;
    unsigned long flags = (XN_FLAG_RFC2253 | ASN1_STRFLGS_ESC_CTRL) & ~ASN1_STRFLGS_ESC_MSB;
    if (X509_NAME_print_ex(memory, name, 0, flags) >= 0) {
        char *data = NULL;
        long length = BIO_get_mem_data(memory, &data);
        text = length >= 0 ? OPENSSL_malloc((size_t)length + 1) : NULL;
        if (text != NULL) {
            if (length > 0) memcpy(text, data, (size_t)length);
            *count = (size_t)length;
        }
    }
    BIO_free(memory);
    return text;
}

// Returns the subject alternative names (RFC 5280, section 4.2.1.6), or NULL if they are missing or
// malformed. Free them with GENERAL_NAMES_free.
static inline GENERAL_NAMES *signet_openssl_certificate_names(const X509 *certificate) {
    return X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

// Returns the same names for a certificate request (RFC 2986).
static inline GENERAL_NAMES *signet_openssl_request_names(X509_REQ *request) {
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names = X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return names;
}

static inline int signet_openssl_names_count(const GENERAL_NAMES *names) {
    return names == NULL ? 0 : sk_GENERAL_NAME_num(names);
}

// Returns the bytes of a host name or address, or NULL for any other kind of name.
static inline const unsigned char *signet_openssl_names_bytes(
    const GENERAL_NAMES *names, int index, int *is_address, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name == NULL || (name->type != GEN_DNS && name->type != GEN_IPADD)) return NULL;
    *is_address = name->type == GEN_IPADD;
    const ASN1_STRING *text = *is_address ? name->d.iPAddress : name->d.dNSName;
    *count = ASN1_STRING_length(text);
    return ASN1_STRING_get0_data(text);
}

// Converts an ASN.1 time to Unix seconds.
static inline SIGNET_MUST_CHECK int signet_openssl_unix_time(
    const ASN1_TIME *time, int64_t *seconds) {
    int days = 0, rest = 0, status = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    if (epoch != NULL && time != NULL) status = ASN1_TIME_diff(&days, &rest, epoch, time);
    ASN1_TIME_free(epoch);
    *seconds = (int64_t)days * 86400 + rest;
    return status;
}

// PEM

// Reads the next block: its label, header lines and bytes. Returns 0 if it is missing or malformed.
// Decrypts nothing and asks for no passphrase.
static inline SIGNET_MUST_CHECK int signet_openssl_next_block(
    BIO *reader, char **label, char **header, unsigned char **bytes, long *count) {
    return PEM_read_bio(reader, label, header, bytes, count);
}

// Returns 1 if the last failure means that there are no more blocks, 0 if a block is malformed.
static inline SIGNET_MUST_CHECK int signet_openssl_no_more_blocks(void) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// Key pairs

// `type` is "ED25519" or "X25519".
static inline EVP_PKEY *signet_openssl_generate_25519(const char *type) {
    return EVP_PKEY_Q_keygen(NULL, NULL, type);
}

static inline EVP_PKEY *signet_openssl_generate_ec(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}

static inline EVP_PKEY *signet_openssl_generate_rsa(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

// Writes an integer of a key, big-endian and left-padded to `width` bytes (0: without leading
// zeros). Returns the number of bytes written, 0 on failure.
static inline SIGNET_MUST_CHECK size_t signet_openssl_key_integer(
    const EVP_PKEY *key, const char *name, void *bytes, size_t capacity, size_t width) {
    BIGNUM *number = NULL;
    size_t written = 0;
    if (EVP_PKEY_get_bn_param(key, name, &number) == 1) {
        size_t count = width > 0 ? width : (size_t)BN_num_bytes(number);
        if (count <= capacity && BN_bn2binpad(number, bytes, (int)count) == (int)count)
            written = count;
    }
    BN_clear_free(number);
    return written;
}

// Writes an octet string of a key ("pub" or "priv" of Ed25519). Returns the count, 0 on failure.
static inline SIGNET_MUST_CHECK size_t signet_openssl_key_octets(
    const EVP_PKEY *key, const char *name, void *bytes, size_t capacity) {
    size_t written = 0;
    return EVP_PKEY_get_octet_string_param(key, name, bytes, capacity, &written) == 1 ? written : 0;
}

// Returns the curve of an EC key as a NID, 0 if the curve has no name.
static inline int signet_openssl_key_curve(const EVP_PKEY *key) {
    char name[64];
    size_t count = 0;
    if (EVP_PKEY_get_group_name(key, name, sizeof name, &count) != 1) return 0;
    int curve = OBJ_txt2nid(name);
    return curve != NID_undef ? curve : EC_curve_nist2nid(name);
}

#endif
