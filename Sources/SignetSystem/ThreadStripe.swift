#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Spreads threads over several copies of shared data, to reduce contention.
package enum ThreadStripe {
    /// Returns an index below `count`, always the same on one thread and usually different on
    /// others.
    package static func index(of count: Int) -> Int {
        // The descriptors of two threads are at least a page apart.
        Int(truncatingIfNeeded: (UInt(pthread_self()) >> 12) % UInt(count))
    }
}
