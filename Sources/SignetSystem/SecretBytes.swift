#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Bytes of a secret: one owner, wiped when it goes.
///
/// Not copyable, so `"\(secret)"` and `dump(secret)` do not compile, and there is never a second
/// copy that nobody wipes.
@safe package struct SecretBytes: ~Copyable, Sendable {
    // Written only in `init`; the type is its only owner, so it may cross threads.
    private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<UInt8>

    /// Copies `bytes`. The caller's copy is the caller's to wipe.
    package init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Takes `count` bytes of zero and lets `fill` write them in place.
    ///
    /// When `fill` throws, what it has written is wiped.
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

    /// The bytes, for as long as the owner lives.
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

/// Overwrites memory with zeros in a way the optimiser may not leave out.
package func zeroize(_ memory: UnsafeMutableRawBufferPointer) {
    guard let base = memory.baseAddress else { return }
    unsafe explicit_bzero(base, memory.count)
}

/// Overwrites the bytes of an array and empties it.
///
/// Reaches this array's storage only: copies made before are not touched.
package func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { unsafe zeroize($0) }
    bytes.removeAll(keepingCapacity: false)
}

extension SecretBytes {
    /// Whether what `deinit` does to its memory leaves only zeros; looked at while the memory is
    /// still ours. For tests.
    static func wipesALiveBuffer(of count: Int) -> Bool {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0x5a)
        unsafe zeroize(memory)
        return unsafe memory.allSatisfy { $0 == 0 }
    }
}
