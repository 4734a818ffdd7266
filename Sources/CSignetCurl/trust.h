#ifndef SIGNET_TRUST_H
#define SIGNET_TRUST_H

#define SIGNET_TRUST_PATH 64

// The path under which this process finds an open file; written into `path`.
const char *signet_trust_path(int descriptor, char path[SIGNET_TRUST_PATH]);

#endif
