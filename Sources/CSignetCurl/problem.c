// Why a chain is not trusted.
#include <openssl/bio.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "chain.h"

static void append_name(BIO *text, X509_NAME *name) {
    unsigned long flags = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
    X509_NAME_print_ex(text, name, 0, flags);
}

static void append_time(BIO *text, X509 *certificate, bool is_end) {
    ASN1_TIME_print(
        text,
        is_end ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate));
}

// The role of a certificate by its place in the chain.
static const char *role(X509_STORE_CTX *store, X509 *certificate) {
    if (X509_STORE_CTX_get_error_depth(store) == 0) return "the server's certificate";
    bool is_root = X509_NAME_cmp(
                       X509_get_subject_name(certificate), X509_get_issuer_name(certificate))
        == 0;
    return is_root ? "the CA certificate" : "the intermediate certificate";
}

static void describe(X509_STORE_CTX *store, BIO *text) {
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (!certificate) return;
    STACK_OF(X509) *sent = X509_STORE_CTX_get0_untrusted(store);
    switch (X509_STORE_CTX_get_error(store)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: {
        bool has_ended = X509_STORE_CTX_get_error(store) == X509_V_ERR_CERT_HAS_EXPIRED;
        BIO_printf(text, "%s (", role(store, certificate));
        append_name(text, X509_get_subject_name(certificate));
        BIO_printf(text, has_ended ? ") expired on " : ") is not valid before ");
        append_time(text, certificate, has_ended);
        return;
    }
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        if (sent && sk_X509_num(sent) <= 1) {
            BIO_printf(
                text, "the server sent no intermediate certificate, and the issuer of its own (");
            append_name(text, X509_get_issuer_name(certificate));
            BIO_printf(
                text, ") is not a trusted CA; configure the server to send the whole chain, or"
                      " trust that CA");
        } else {
            BIO_printf(text, "the issuer of %s (", role(store, certificate));
            append_name(text, X509_get_issuer_name(certificate));
            BIO_printf(text, ") was not sent and is not a trusted CA");
        }
        return;
    default: return;
    }
}

void signet_describe_problem(X509_STORE_CTX *store, char target[SIGNET_PROBLEM_LIMIT]) {
    target[0] = 0;
    BIO *text = BIO_new(BIO_s_mem());
    if (!text) return;
    describe(store, text);
    char *bytes = NULL;
    long count = BIO_get_mem_data(text, &bytes);
    if (count > 0)
        snprintf(target, SIGNET_PROBLEM_LIMIT, "%.*s", (int)count, bytes);
    BIO_free(text);
}
