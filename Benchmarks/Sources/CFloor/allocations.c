// Counts the heap allocations of this thread. The C library's own functions do the work; the
// program's names stand before them for every library that it loads.
#include "CFloor.h"

#include <errno.h>
#include <stddef.h>

#if defined(__GLIBC__)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t bytes, blocks;

static inline void count(size_t size) {
    bytes += size;
    blocks += 1;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count(size);
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count(size);
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

uint64_t floor_allocated_bytes(void) { return bytes; }
uint64_t floor_allocated_blocks(void) { return blocks; }
#else
uint64_t floor_allocated_bytes(void) { return 0; }
uint64_t floor_allocated_blocks(void) { return 0; }
#endif
