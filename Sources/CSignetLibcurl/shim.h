#ifndef SIGNET_LIBCURL_SHIM_H
#define SIGNET_LIBCURL_SHIM_H
#include <curl/curl.h>
#endif
