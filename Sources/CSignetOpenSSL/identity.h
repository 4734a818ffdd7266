#ifndef SIGNET_OPENSSL_IDENTITY_H
#define SIGNET_OPENSSL_IDENTITY_H

// A client's certificate with its private key, from PEM or PKCS #12 (RFC 7292).

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <string.h>

typedef enum {
    signet_openssl_identity_ok = 0,
    signet_openssl_identity_no_certificate,
    signet_openssl_identity_too_many,
    signet_openssl_identity_no_key,
    signet_openssl_identity_needs_passphrase,
    signet_openssl_identity_wrong_passphrase,
    signet_openssl_identity_mismatch,
    signet_openssl_identity_failed,
} signet_openssl_identity_status;

typedef struct {
    const void *bytes;
    int count;  // -1: none was given
    int was_asked;
} signet_openssl_passphrase;

// Gives OpenSSL the passphrase, and never asks on a terminal, as its default does.
static inline int signet_openssl_give_passphrase(
    char *target, int room, int is_new, void *context) {
    signet_openssl_passphrase *passphrase = context;
    passphrase->was_asked = 1;
    if (is_new || passphrase->count < 0 || passphrase->count > room) return -1;
    if (passphrase->count > 0) memcpy(target, passphrase->bytes, (size_t)passphrase->count);
    return passphrase->count;
}

static inline EVP_PKEY *signet_openssl_read_key(
    const void *bytes, int count, signet_openssl_passphrase *passphrase) {
    BIO *text = BIO_new_mem_buf(bytes, count);
    if (text == NULL) return NULL;
    EVP_PKEY *key =
        PEM_read_bio_PrivateKey(text, NULL, signet_openssl_give_passphrase, passphrase);
    BIO_free(text);
    if (key != NULL || passphrase->was_asked) return key;
    const unsigned char *cursor = bytes;
    key = d2i_AutoPrivateKey(NULL, &cursor, count);
    if (key != NULL && cursor != (const unsigned char *)bytes + count) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

static inline signet_openssl_identity_status signet_openssl_read_pkcs12(
    const void *bytes, int count, const signet_openssl_passphrase *passphrase, EVP_PKEY **key,
    X509 **all, int room, int *found) {
    char secret[1025] = {0};
    const unsigned char *cursor = bytes;
    PKCS12 *file = d2i_PKCS12(NULL, &cursor, count);
    if (file == NULL || cursor != (const unsigned char *)bytes + count) {
        PKCS12_free(file);
        return signet_openssl_identity_no_certificate;
    }
    signet_openssl_identity_status status = signet_openssl_identity_ok;
    X509 *leaf = NULL;
    STACK_OF(X509) *others = NULL;
    if (passphrase->count >= (int)sizeof secret
        || (passphrase->count > 0
            && memchr(passphrase->bytes, 0, (size_t)passphrase->count) != NULL))
        status = signet_openssl_identity_wrong_passphrase;
    else if (passphrase->count > 0)
        memcpy(secret, passphrase->bytes, (size_t)passphrase->count);
    if (status == signet_openssl_identity_ok && PKCS12_parse(file, secret, key, &leaf, &others) != 1)
        status = passphrase->count < 0 ? signet_openssl_identity_needs_passphrase
                                       : signet_openssl_identity_wrong_passphrase;
    OPENSSL_cleanse(secret, sizeof secret);
    PKCS12_free(file);
    int more = others == NULL ? 0 : sk_X509_num(others);
    if (status == signet_openssl_identity_ok) {
        if (leaf == NULL) status = signet_openssl_identity_no_certificate;
        else if (more + 1 > room) status = signet_openssl_identity_too_many;
    }
    if (status == signet_openssl_identity_ok) {
        all[(*found)++] = leaf;
        leaf = NULL;
        while (sk_X509_num(others) > 0) all[(*found)++] = sk_X509_shift(others);
    }
    X509_free(leaf);
    sk_X509_pop_free(others, X509_free);
    return status;
}

// Reads certificates in PEM, the leaf first, and a key from `key_bytes`; or, if `is_pem` is 0, a
// PKCS #12 file, or a leaf in DER if `has_key_bytes`. `passphrase` is NULL if none was given. The
// caller frees the key and the certificates, also after a failure.
static inline signet_openssl_identity_status signet_openssl_read_identity(
    int is_pem, const void *bytes, int count, const void *key_bytes, int key_count,
    int has_key_bytes, const void *passphrase, int passphrase_count, EVP_PKEY **key, X509 **all,
    int room, int *found) {
    signet_openssl_passphrase secret = {
        passphrase, passphrase == NULL ? -1 : passphrase_count, 0};
    *key = NULL;
    *found = 0;
    if (is_pem) {
        BIO *text = BIO_new_mem_buf(bytes, count);
        X509 *next;
        // With an empty passphrase OpenSSL asks for none.
        while (text != NULL && *found <= room
               && (next = PEM_read_bio_X509(text, NULL, NULL, (void *)""))) {
            if (*found == room) {
                X509_free(next);
                BIO_free(text);
                return signet_openssl_identity_too_many;
            }
            all[(*found)++] = next;
        }
        int is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
        BIO_free(text);
        if (*found == 0 || !is_at_end) return signet_openssl_identity_no_certificate;
    } else if (has_key_bytes) {
        const unsigned char *cursor = bytes;
        X509 *leaf = d2i_X509(NULL, &cursor, count);
        if (leaf == NULL || cursor != (const unsigned char *)bytes + count) {
            X509_free(leaf);
            return signet_openssl_identity_no_certificate;
        }
        all[(*found)++] = leaf;
    } else {
        signet_openssl_identity_status status =
            signet_openssl_read_pkcs12(bytes, count, &secret, key, all, room, found);
        if (status != signet_openssl_identity_ok) return status;
    }
    if (*key == NULL) {
        if (!has_key_bytes) return signet_openssl_identity_no_key;
        *key = signet_openssl_read_key(key_bytes, key_count, &secret);
        if (*key == NULL && secret.was_asked)
            return secret.count < 0 ? signet_openssl_identity_needs_passphrase
                                    : signet_openssl_identity_wrong_passphrase;
        if (*key == NULL) return signet_openssl_identity_no_key;
    }
    return X509_check_private_key(all[0], *key) == 1 ? signet_openssl_identity_ok
                                                     : signet_openssl_identity_mismatch;
}

static inline unsigned char *signet_openssl_certificate_der(const X509 *certificate, int *count) {
    unsigned char *der = NULL;
    int length = i2d_X509(certificate, &der);
    *count = length > 0 ? length : 0;
    return length > 0 ? der : NULL;
}

#endif
