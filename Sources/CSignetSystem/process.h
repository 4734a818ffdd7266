#ifndef SIGNET_PROCESS_H
#define SIGNET_PROCESS_H

#include <signal.h>
#include <spawn.h>

#include "CSignetSystem.h"

// Starts `/bin/sh` with these arguments and actions, with no signal blocked and those in `fresh` at their
// default. Destroys `actions`. Returns 0 or the error's number.
SIGNET_MUST_CHECK int signet_spawn(
    char *const arguments[], posix_spawn_file_actions_t *actions, const sigset_t *fresh, pid_t *child);

#endif
