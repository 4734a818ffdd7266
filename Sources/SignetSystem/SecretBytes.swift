import Glibc

/// The bytes of a secret, wiped when their owner is destroyed.
///
/// The type isn't copyable, so `"\(secret)"` and `dump(secret)` don't compile, and no second copy
/// can stay in memory.
@safe package struct SecretBytes: ~Copyable, Sendable {
    // Written only in `init`, and owned only by this value, so several threads may read it.
    private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<UInt8>

    /// Copies `bytes`. The caller wipes its own copy.
    package init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Allocates `count` zero bytes and lets `fill` write them in place. If `fill` throws, they are
    /// wiped.
    package init<Failure: Error>(
        count: Int, filledBy fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let whole = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(count, 1))
        unsafe whole.initialize(repeating: 0)
        let buffer = unsafe UnsafeMutableBufferPointer(rebasing: whole[..<count])
        do throws(Failure) {
            var span = unsafe MutableSpan(_unsafeElements: buffer)
            try fill(&span)
        } catch {
            unsafe zeroize(UnsafeMutableRawBufferPointer(whole))
            unsafe whole.deallocate()
            throw error
        }
        unsafe self.storage = buffer
    }

    package var count: Int { unsafe storage.count }

    /// The bytes, valid for as long as their owner.
    package var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get {
            let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(storage))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    deinit {
        unsafe zeroize(UnsafeMutableRawBufferPointer(storage))
        unsafe storage.deallocate()
    }
}

/// Overwrites memory with zeros; the optimiser cannot remove this.
package func zeroize(_ memory: UnsafeMutableRawBufferPointer) {
    guard let base = memory.baseAddress else { return }
    unsafe explicit_bzero(base, memory.count)
}

/// Overwrites the bytes of an array with zeros and empties it. Earlier copies of the array keep
/// theirs.
package func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { unsafe zeroize($0) }
    bytes.removeAll(keepingCapacity: false)
}

extension SecretBytes {
    /// Returns whether memory contains only zeros after it was wiped as `deinit` does. For tests.
    static func wipesALiveBuffer(of count: Int) -> Bool {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0x5a)
        unsafe zeroize(memory)
        return unsafe memory.allSatisfy { $0 == 0 }
    }
}
