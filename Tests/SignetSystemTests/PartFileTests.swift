import TestSupport
import Testing

@testable import SignetSystem

@Suite struct PartFileTests {
    private struct Stop: Error {}

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func readsInPiecesUntilTheReceiverThrows() throws {
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var part = try PartFile(for: folder.path("file"))
        try part.append(bytes)
        var found: [UInt8] = []
        try part.read { piece in
            for index in piece.indices { found.append(piece[index]) }
        }
        #expect(found == bytes)
        var pieces = 0
        #expect(throws: Stop.self) {
            try part.read { _ in
                pieces += 1
                throw Stop()
            }
        }
        #expect(pieces == 1)
        part.discard()
    }
}
