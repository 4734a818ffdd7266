#if Inspector
import FlyingSocks

/// The body of the last response of a connection: FlyingFox closes the connection when the body
/// fails after its last byte, and reads no further request from it.
struct LastBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    /// The end of the connection.
    private struct End: Error {}

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate var bytes: [UInt8]

        mutating func next() async throws -> UInt8? {
            guard !bytes.isEmpty else { throw End() }
            return bytes.removeFirst()
        }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard !bytes.isEmpty else { throw End() }
            defer { bytes = [] }
            return bytes
        }
    }
}
#endif
