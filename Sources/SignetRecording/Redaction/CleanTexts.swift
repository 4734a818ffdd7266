import Synchronization

/// Remembers names and values that were judged before and aren't secret, because most of them
/// occur again. It never has a secret.
final class CleanTexts: Sendable {
    private static let limit = 8192
    private static let longest = 256

    private let texts = Mutex<Set<[UInt8]>>([])

    func contains(_ text: [UInt8]) -> Bool {
        text.count <= Self.longest && texts.withLock { $0.contains(text) }
    }

    func insert(_ text: [UInt8]) {
        guard text.count <= Self.longest else { return }
        texts.withLock { texts in
            if texts.count >= Self.limit { texts.removeAll(keepingCapacity: true) }
            texts.insert(text)
        }
    }
}
