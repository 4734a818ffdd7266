import SignetTransport
import TestSupport
import Testing

@testable import SignetCurl

/// The buffer between a request body's producer and the transfer that sends it.
@Suite struct UploadFeedTests {
    @Test func holdsNoMoreThanItsBuffer() async throws {
        let news = AsyncStream.makeStream(of: Void.self)
        let producer = Producer { _ in [UInt8](repeating: 1, count: 1_000) }
        let feed = UploadFeed(.stream(producer), capacity: 10_000) { news.continuation.yield() }
        guard case .pending = feed.next() else {
            return #expect(Bool(false), "nothing was asked yet")
        }
        for await _ in news.stream { break }
        #expect(try await eventually { producer.log.bytes == 10_000 })
        for _ in 0..<1_000 { await Task.yield() }
        #expect(producer.log.bytes == 10_000)
        guard case .chunk(let chunk) = feed.next() else { return #expect(Bool(false), "a chunk") }
        #expect(chunk.count == 1_000)
        #expect(try await eventually { producer.log.bytes == 11_000 })
        feed.close()
    }

    @Test func feedsManySmallChunksInOrder() async throws {
        let news = AsyncStream.makeStream(of: Void.self)
        let wanted = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let producer = Producer { $0 < wanted.count ? [wanted[$0]] : nil }
        let feed = UploadFeed(.stream(producer), capacity: 20_000) { news.continuation.yield() }
        var (found, arrived) = ([UInt8](), news.stream.makeAsyncIterator())
        while true {
            switch feed.next() {
            case .chunk(let chunk): found += chunk
            case .pending: await arrived.next()
            case .end, .failed: return #expect(found == wanted)
            }
        }
    }
}
