#ifndef SIGNET_CURL_H
#define SIGNET_CURL_H
#include <curl/curl.h>
#endif
