import Glibc

/// A copy of a secret in pages of its own, which the system doesn't write to swap or to core files.
/// The copy is wiped when its owner is destroyed.
///
/// A page that is locked twice is unlocked by the first `munlock`, so no two copies share a page.
@safe package struct LockedBytes: ~Copyable, Sendable {
    // Written only in `init`, and owned only by this value, so several threads may read it.
    private nonisolated(unsafe) let pages: UnsafeMutableRawBufferPointer
    private let count: Int
    /// Whether the pages are locked. If not, the process has reached its limit of locked memory, or
    /// may not lock any.
    package let isLocked: Bool

    /// Copies `bytes`. The caller wipes its own copy.
    ///
    /// - Returns: Nil if the system has no memory left.
    package init?(copying bytes: Span<UInt8>) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        let size = (max(bytes.count, 1) + page - 1) / page * page
        let start = unsafe mmap(
            nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
        isLocked = unsafe mlock(start, size) == 0
        _ = unsafe madvise(start, size, MADV_DONTDUMP)
        unsafe pages = UnsafeMutableRawBufferPointer(start: start, count: size)
        count = bytes.count
        for index in bytes.indices { unsafe pages[index] = bytes[index] }
    }

    /// The address of the pages, to find them among those of the process.
    package var address: UInt { unsafe UInt(bitPattern: pages.baseAddress) }

    /// The bytes, valid for as long as their owner.
    package var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get {
            let buffer = unsafe UnsafeRawBufferPointer(rebasing: pages[..<count])
            let span = unsafe Span<UInt8>(_bytes: buffer.bytes)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    deinit {
        unsafe zeroize(pages)
        _ = unsafe munmap(pages.baseAddress, pages.count)
    }
}
