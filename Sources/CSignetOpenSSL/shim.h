#ifndef SIGNET_OPENSSL_SHIM_H
#define SIGNET_OPENSSL_SHIM_H
#include <openssl/evp.h>
#include <openssl/ssl.h>
#endif
