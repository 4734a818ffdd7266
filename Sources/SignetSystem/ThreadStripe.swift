#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Parts threads among a few copies of what they all read, so that they do not meet at one.
package enum ThreadStripe {
    /// A number below `count` that stays the same on one thread; other threads often have another.
    package static func index(of count: Int) -> Int {
        // Threads' descriptors lie pages apart.
        Int(truncatingIfNeeded: (UInt(pthread_self()) >> 12) % UInt(count))
    }
}
