#ifndef SIGNET_TRUST_H
#define SIGNET_TRUST_H

#define SIGNET_TRUST_PATH 64

// Writes the path by which this process can open a descriptor's file again into `path`, and returns it.
const char *signet_trust_path(int descriptor, char path[SIGNET_TRUST_PATH]);

#endif
