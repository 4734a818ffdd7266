#ifndef SIGNET_SYSTEM_PROCESS_H
#define SIGNET_SYSTEM_PROCESS_H

#include <signal.h>

#include "CSignetSystem.h"

// Starts `/bin/sh` with these arguments, with no signal blocked and those in `fresh` at their
// default. Its standard input is this process's own if `has_input`, else empty. Its standard output
// goes to `output`; if that is negative, it is this process's own. Returns 0 or the error's number.
SIGNET_MUST_CHECK int signet_spawn(
    char *const arguments[], int has_input, int output, const sigset_t *fresh, pid_t *child);

#endif
