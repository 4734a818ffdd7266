import SignetCrypto
import SignetCurl
import SignetJSON
import Testing

@testable import SignetRecording

/// A recording of many small compressed bodies costs no more than a large one.
@Suite struct DecodingBudgetTests {
    /// A HAR with compressed bodies, some of them damaged at the end.
    private static func har(
        _ count: Int, size: Int, isDamaged: (Int) -> Bool = { _ in false }
    ) throws -> JSONValue {
        let whole = try ContentEncoder.encode(whole: [UInt8](repeating: 0x20, count: size))
        let texts = [whole, whole.dropLast(4) + [1, 2, 3, 4]].map {
            JSONValue.string(Base64.encode(Array($0), as: .standard))
        }
        let entries = (0..<count).map { number -> JSONValue in
            [
                "startedDateTime": "2026-11-27T09:00:00.000Z",
                "request": ["method": "GET", "url": .string("https://a/\(number)")],
                "response": [
                    "status": 200,
                    "headers": [["name": "Content-Encoding", "value": "gzip"]],
                    "content": [
                        "mimeType": "text/plain", "encoding": "base64", "size": -1,
                        "text": texts[isDamaged(number) ? 1 : 0],
                    ],
                ],
            ]
        }
        return ["log": ["entries": .array(entries)]]
    }

    @Test func manySmallBombsEndWithOneProblem() throws {
        let document = try Self.har(10_000, size: 1 << 20)
        let start = ContinuousClock.now
        let recording = try Recording(harDocument: document)
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(recording.exchanges.count == 10_000)
        let problem = try #require(recording.problems.first { $0.message.contains("128 MiB") })
        #expect(problem.place == "log.entries[128].response.content")
        #expect(recording.problems.filter { $0.message.contains("together") }.count == 1)
        let bodies = recording.exchanges.compactMap { $0.response?.body }
        #expect(bodies.filter { $0.problem == nil }.count == 128)
        #expect(bodies.reduce(0) { $0 + $1.bytes.count } < 160 << 20)
    }

    /// The bytes of a damaged body before its end count too.
    @Test(arguments: [1000, 100_000]) func damagedBombsCountToo(_ size: Int) throws {
        let document = try Self.har(100, size: size) { _ in true }
        let recording = try Recording(harDocument: document, decoding: DecodingBudget(1_000_000))
        let damaged = recording.problems.filter { $0.message.contains("damaged gzip") }
        #expect((5..<20).contains(damaged.count))
        #expect(recording.problems.filter { $0.message.contains("together") }.count == 1)
    }

    /// A body that can't be searched for secrets isn't kept.
    @Test func redactionHasABudgetToo() throws {
        let document = try Self.har(100, size: 1000)
        let compressed = try Recording(harDocument: document, decoding: DecodingBudget(0))
        let redacted = compressed.redacted(
            by: RedactionRules(), decoding: DecodingBudget(10_000))
        let bodies = redacted.exchanges.compactMap { $0.response?.body }
        #expect(bodies.filter { !$0.bytes.isEmpty }.count == 10)
        #expect(bodies.filter { $0.problem?.contains("can't be searched") == true }.count == 90)
    }

    @Test func theCheckNamesTheFirstOne() throws {
        let document = try Self.har(200, size: 1000)
        let findings = try Recording.findings(
            inHAR: document.serialized(), decoding: DecodingBudget(128_000))
        let places = findings.filter { $0.message.contains("together") }.map(\.place)
        #expect(places == ["log.entries[128].response.content"])
    }

    @Test func fewCompressedBodiesAreRead() throws {
        let recording = try Recording(harDocument: Self.har(20, size: 1000))
        #expect(recording.problems.allSatisfy { !$0.message.contains("gzip") })
        #expect(recording.exchanges.allSatisfy { $0.response?.body?.bytes.count == 1000 })
    }
}
