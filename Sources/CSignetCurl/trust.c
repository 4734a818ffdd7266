// The CAs that handshakes trust, and the certificate that they show to servers.
//
// One loop serves calls with any number of them. libcurl's pool and its cache of TLS sessions keep
// those apart because they compare CURLOPT_CAPATH, to which each trust gives a name of its own that
// no file can have. The CAs and the certificate themselves are set in the handshake's context, and
// check_chain compares what the connection, or the session that it resumes, was made with.
#include "trust.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "system.h"

struct signet_trust {
    atomic_size_t references;
    uint64_t identifier;  // never 0, and never used again
    char label[48];
    X509_STORE *store;
    // What a server gets that asks for a certificate, or NULL.
    X509 *certificate;
    EVP_PKEY *key;
    STACK_OF(X509) *others;
};

static atomic_uint_fast64_t last_identifier;

signet_file_stamp signet_stamp_ca_file(const char *path) {
    signet_file_stamp stamp = {0};
    struct stat found;
    if (!path) path = curl_version_info(CURLVERSION_NOW)->cainfo;
    if (!path || stat(path, &found) != 0) return stamp;
    stamp.device = (uint64_t)found.st_dev;
    stamp.inode = (uint64_t)found.st_ino;
    stamp.size = (int64_t)found.st_size;
    stamp.modified = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
    stamp.changed = (int64_t)found.st_ctim.tv_sec * 1000000000 + found.st_ctim.tv_nsec;
    return stamp;
}

void signet_trust_retain(signet_trust *trust) { atomic_fetch_add(&trust->references, 1); }

void signet_trust_release(signet_trust *trust) {
    if (!trust || atomic_fetch_sub(&trust->references, 1) > 1) return;
    X509_STORE_free(trust->store);
    X509_free(trust->certificate);
    EVP_PKEY_free(trust->key);
    sk_X509_pop_free(trust->others, X509_free);
    free(trust);
}

static signet_trust *trust_new(X509_STORE *store) {
    signet_trust *trust = calloc(1, sizeof *trust);
    if (!trust) return NULL;
    trust->references = 1;
    trust->identifier = atomic_fetch_add(&last_identifier, 1) + 1;
    // Nothing can be below a file that isn't a folder.
    snprintf(
        trust->label, sizeof trust->label, "/dev/null/%llu",
        (unsigned long long)trust->identifier);
    trust->store = store;
    return trust;
}

static bool add_all(X509_STORE *store, X509_STORE *base) {
    STACK_OF(X509) *all = X509_STORE_get1_all_certs(base);
    bool added = all != NULL;
    for (int i = 0; added && i < sk_X509_num(all); i++)
        added = X509_STORE_add_cert(store, sk_X509_value(all, i)) == 1;
    sk_X509_pop_free(all, X509_free);
    return added;
}

// Adds the certificates of a text. Returns 0, or -1 if it has none or an invalid one.
static int add_text(X509_STORE *store, const uint8_t *pem, size_t count) {
    BIO *text = count <= INT32_MAX ? BIO_new_mem_buf(pem, (int)count) : NULL;
    if (!text) return ENOMEM;
    size_t added = 0;
    int problem = 0;
    X509 *certificate;
    // With an empty passphrase OpenSSL asks for none.
    while (!problem && (certificate = PEM_read_bio_X509_AUX(text, NULL, NULL, (void *)""))) {
        problem = X509_STORE_add_cert(store, certificate) == 1 ? 0 : ENOMEM;
        X509_free(certificate);
        added += 1;
    }
    bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    BIO_free(text);
    return problem ? problem : added > 0 && is_at_end ? 0 : -1;
}

signet_trust *signet_trust_new(
    const signet_trust *base, const char *ca_file, bool reads_file, const uint8_t *pem,
    size_t count, int *problem) {
    X509_STORE *store = X509_STORE_new();
    *problem = store && X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST) == 1 ? 0 : ENOMEM;
    const char *file = ca_file ? ca_file : curl_version_info(CURLVERSION_NOW)->cainfo;
    if (!*problem && base && !add_all(store, base->store)) *problem = ENOMEM;
    if (!*problem && reads_file && file && X509_STORE_load_file(store, file) != 1) *problem = -1;
    if (!*problem && count > 0) *problem = add_text(store, pem, count);
    ERR_clear_error();
    signet_trust *trust = *problem ? NULL : trust_new(store);
    if (trust) return trust;
    if (!*problem) *problem = ENOMEM;
    X509_STORE_free(store);
    return NULL;
}

signet_trust *signet_trust_showing(
    const signet_trust *base, struct x509_st *const *certificates, size_t count,
    struct evp_pkey_st *key) {
    if (count == 0 || X509_STORE_up_ref(base->store) != 1) return NULL;
    signet_trust *trust = trust_new(base->store);
    if (!trust) {
        X509_STORE_free(base->store);
        return NULL;
    }
    bool ready = EVP_PKEY_up_ref(key) == 1;
    if (ready) trust->key = key;
    ready = ready && X509_up_ref(certificates[0]) == 1;
    if (ready) trust->certificate = certificates[0];
    ready = ready && (trust->others = sk_X509_new_null());
    for (size_t i = 1; ready && i < count; i++) {
        ready = X509_up_ref(certificates[i]) == 1;
        if (ready && sk_X509_push(trust->others, certificates[i]) > 0) continue;
        if (ready) X509_free(certificates[i]);
        ready = false;
    }
    if (ready) return trust;
    signet_trust_release(trust);
    return NULL;
}

uint64_t signet_trust_identifier(const signet_trust *trust) { return trust->identifier; }
size_t signet_trust_count(const signet_trust *trust) {
    STACK_OF(X509) *all = X509_STORE_get1_all_certs(trust->store);
    int count = all ? sk_X509_num(all) : 0;
    sk_X509_pop_free(all, X509_free);
    return count > 0 ? (size_t)count : 0;
}

const char *signet_trust_label(const signet_trust *trust) { return trust->label; }

bool signet_trust_apply(const signet_trust *trust, SSL_CTX *context) {
    SSL_CTX_set1_cert_store(context, trust->store);
    if (!trust->certificate) return true;
    bool is_set = SSL_CTX_use_cert_and_key(
        context, trust->certificate, trust->key, trust->others, 1) == 1;
    ERR_clear_error();
    return is_set;
}
