import Synchronization

/// The bytes that the compressed bodies of one recording may have together after decompression, so
/// that a file of many small bodies that decompress to large ones costs no more than a large file.
final class DecodingBudget: Sendable {
    static let size = 128 << 20

    let size: Int
    private let left: Atomic<Int>
    private let isTold = Atomic(false)

    init(_ size: Int = DecodingBudget.size) {
        self.size = size
        left = Atomic(size)
    }

    /// The bytes that are left, at least 0.
    var rest: Int { max(left.load(ordering: .relaxed), 0) }

    func spend(_ count: Int) { left.subtract(count, ordering: .relaxed) }

    /// Whether nothing is left, which is true for its first reader alone, so that there is one
    /// problem about it.
    func tellsEnd() -> Bool { rest == 0 && !isTold.exchange(true, ordering: .relaxed) }
}
