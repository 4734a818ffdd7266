// The waiting functions of Swift's Mutex, written so that ThreadSanitizer can see them.
//
// The standard library's own functions (Swift 6.3, Linux) are in a library that is not instrumented. So if a
// thread had to wait for a lock, ThreadSanitizer reports a race between its accesses and those of the thread
// that released the lock. `Scripts/check-threads` links the tests with these functions, which replace the
// library's because they have the same names. Locking without waiting, and unlocking without waiting threads,
// are inlined in the caller, which is instrumented. The functions here never register a waiting thread, so
// every unlocking is of that kind.

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The thread that has the lock, or zero.
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
