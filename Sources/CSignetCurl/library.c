// libcurl and OpenSSL, which are initialised once for a process, and CA files.
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <stdio.h>

#include "route.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;

// A program may exit while a loop's thread runs. OpenSSL's clean-up at exit would free memory
// that the thread uses. It can be turned off only before any other code initialises OpenSSL.
__attribute__((constructor)) static void keep_openssl_to_the_end(void) {
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

static void start(void) {
    started = signet_chain_start() && signet_route_start()
        && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

bool signet_global_start(void) {
    pthread_once(&once, start);
    return started;
}

const char *signet_libcurl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
unsigned signet_libcurl_version_number(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num;
}
const char *signet_libcurl_tls(void) {
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return tls ? tls : "";
}
const char *signet_openssl_version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }
bool signet_libcurl_has_http2(void) {
    return curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2;
}

static bool is_shortage(int number) {
    return number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOBUFS;
}

int signet_check_ca_file(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file) return is_shortage(errno) ? -2 : errno;
    // A folder, for example, can be opened and not read.
    int problem = ungetc(getc(file), file) == EOF && ferror(file) ? errno : 0;
    X509 *certificate = problem ? NULL : PEM_read_X509_AUX(file, NULL, NULL, NULL);
    fclose(file);
    if (!certificate) return problem ? problem : -1;
    X509_free(certificate);
    return 0;
}
