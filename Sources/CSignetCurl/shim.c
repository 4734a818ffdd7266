#include "CSignetCurl.h"
