// How Swift's Mutex waits, where ThreadSanitizer can see it.
//
// The standard library's own way (Swift 6.3, Linux) stands in a library that is not instrumented: what one
// thread wrote before it let a lock go seems to be a race with what the next thread does, whenever that had
// to wait. `Scripts/check-threads` links the tests with these functions in the place of the library's, by
// the same names. A lock that is taken at once, and is let go with nobody waiting, is in the caller's code,
// which is instrumented; so nobody is ever known to wait here, and letting go is always of that kind.

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The thread that holds the lock, or zero.
typedef _Atomic(uint32_t) lock_word;

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Synchronization._MutexHandle._lockSlow(UInt32)
SWIFT void lock_slow(uint32_t thread, SELF lock_word *lock)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void lock_slow(uint32_t thread, SELF lock_word *lock) {
    uint32_t holder = 0;
    while (!atomic_compare_exchange_strong_explicit(
        lock, &holder, thread, memory_order_acquire, memory_order_relaxed)) {
        holder = 0;
        sched_yield();
    }
}

// Synchronization._MutexHandle._tryLockSlow() -> Bool
SWIFT bool try_lock_slow(SELF lock_word *lock)
    __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT bool try_lock_slow(SELF lock_word *lock) {
    (void)lock;
    return false;
}

// Synchronization._MutexHandle._unlockSlow()
SWIFT void unlock_slow(SELF lock_word *lock)
    __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void unlock_slow(SELF lock_word *lock) {
    atomic_store_explicit(lock, 0, memory_order_release);
}
