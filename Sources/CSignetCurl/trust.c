// CA files, and those in memory.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system.h"

// The system's file has 220 KB.
#define BASE_LIMIT (16u << 20)

// libcurl reads the CAs of a path once for all connections of a multi handle, but those in memory
// again for each (29 to 36 ms for the system's 140). So a file in memory gets a path.
const char *signet_trust_path(int descriptor, char path[SIGNET_TRUST_PATH]) {
    snprintf(path, SIGNET_TRUST_PATH, "/proc/self/fd/%d", descriptor);
    return path;
}

signet_file_stamp signet_stamp_ca_file(const char *path) {
    signet_file_stamp stamp = {0};
    struct stat found;
    if (!path) path = curl_version_info(CURLVERSION_NOW)->cainfo;
    if (!path || stat(path, &found) != 0) return stamp;
    stamp.device = (uint64_t)found.st_dev;
    stamp.inode = (uint64_t)found.st_ino;
    stamp.size = (int64_t)found.st_size;
    stamp.modified = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
    stamp.changed = (int64_t)found.st_ctim.tv_sec * 1000000000 + found.st_ctim.tv_nsec;
    return stamp;
}

static int write_all(int file, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : EIO;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static int copy(const char *path, int file) {
    int base = open(path, O_RDONLY | O_CLOEXEC);
    if (base < 0) return errno;
    uint8_t bytes[16384];
    size_t total = 0;
    int problem = 0;
    while (!problem) {
        ssize_t count = read(base, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) break;
        if (count > 0) total += (size_t)count;
        problem = count < 0 ? errno : total > BASE_LIMIT ? EFBIG
                                                         : write_all(file, bytes, (size_t)count);
    }
    close(base);
    // In case the file has no newline at its end.
    return problem ? problem : write_all(file, (const uint8_t *)"\n", 1);
}

int signet_trust_make(
    const char *base_file, bool adds, const uint8_t *pem, size_t count, int *problem) {
    int file = memfd_create("signet-ca", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) {
        *problem = errno;
        return -1;
    }
    const char *base = base_file ? base_file : curl_version_info(CURLVERSION_NOW)->cainfo;
    *problem = adds ? base ? copy(base, file) : ENOENT : 0;
    if (!*problem) *problem = write_all(file, pem, count);
    int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (!*problem && fcntl(file, F_ADD_SEALS, seals) != 0) *problem = errno;
    // Without /proc libcurl can't read the file. Fail now and not in a handshake.
    char path[SIGNET_TRUST_PATH];
    if (!*problem && access(signet_trust_path(file, path), R_OK) != 0) *problem = errno;
    if (!*problem) return file;
    close(file);
    return -1;
}
