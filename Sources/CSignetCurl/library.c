#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// What there is once for a process: libcurl and OpenSSL, the clocks, threads.
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;

// A program may end while a loop's thread is at work. OpenSSL's own clean-up at exit would take away
// what that thread uses; it is asked for before anything else starts OpenSSL, or not at all.
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
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return is_shortage(errno) ? -2 : errno;
    char byte;
    ssize_t count = read(descriptor, &byte, 1);
    int problem = count < 0 ? errno : 0;
    close(descriptor);
    if (problem) return problem;
    BIO *file = BIO_new_file(path, "r");
    if (!file) return is_shortage(errno) ? -2 : EIO;
    X509 *certificate = PEM_read_bio_X509_AUX(file, NULL, NULL, NULL);
    BIO_free(file);
    if (!certificate) return -1;
    X509_free(certificate);
    return 0;
}

const char *signet_error_text(int number) { return strerrordesc_np(number) ? strerrordesc_np(number) : "unknown error"; }

int64_t signet_monotonic_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t signet_unix_seconds(void) { return (int64_t)time(NULL); }

typedef struct {
    void (*body)(void *);
    void *context;
} thread_start;

static void *run_thread(void *argument) {
    thread_start begin = *(thread_start *)argument;
    free(argument);
    begin.body(begin.context);
    return NULL;
}

bool signet_thread_start(const char *name, void (*body)(void *), void *context) {
    thread_start *begin = malloc(sizeof *begin);
    if (!begin) return false;
    *begin = (thread_start){body, context};
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, run_thread, begin);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(begin);
        return false;
    }
#if defined(__linux__)
    pthread_setname_np(thread, name);
#else
    (void)name;
#endif
    pthread_detach(thread);
    return true;
}
