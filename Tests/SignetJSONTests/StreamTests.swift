import Foundation
import SignetJSON
import Synchronization
import TestSupport
import Testing

/// JSON Lines, JSON sequences and long arrays, read record by record.
struct StreamTests {
    /// The results of a stream: a value, or an error's code, record and offset.
    enum Outcome: Equatable, CustomStringConvertible {
        case value(String, at: Int)
        case error(String, record: Int, at: Int)

        var description: String {
            switch self {
            case .value(let text, let offset): "\(text) at \(offset)"
            case .error(let code, let record, let offset): "\(code) in \(record) at \(offset)"
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let format: JSONStreamFormat
        let text: String
        let outcomes: [Outcome]
        var limit = 1 << 20
        var testDescription: String { text }
    }

    static func outcomes(_ vector: Case, chunk: Int) -> [Outcome] {
        var reader = JSONRecordReader(vector.format, maximumRecordSize: vector.limit)
        var outcomes: [Outcome] = []
        func drain() {
            for _ in 0..<1000 {
                do throws(JSONError) {
                    guard let record = try reader.next() else { return }
                    #expect(record.number == outcomes.count + 1)
                    outcomes.append(.value(record.value.text, at: record.offset))
                } catch {
                    #expect(error.message.contains("record"))
                    outcomes.append(
                        .error(error.code.name, record: error.record ?? 0, at: error.offset ?? -1))
                }
            }
            Issue.record("the reader never comes to an end")
        }
        let all = bytes(vector.text)
        for start in stride(from: 0, to: all.count, by: chunk) {
            reader.append(all[start..<min(start + chunk, all.count)])
            drain()
        }
        reader.finish()
        drain()
        reader.append(bytes("1\n"))  // nothing comes after the end
        drain()
        return outcomes
    }

    static let lines: [Case] = [
        Case(format: .lines, text: "", outcomes: []),
        Case(format: .lines, text: "\n \r\n\t\n", outcomes: []),
        Case(
            format: .lines, text: "{\"a\":1}\n[2]\r\n 3 \n\n\"x\\n\"",
            outcomes: [
                .value("{\"a\":1}", at: 0), .value("[2]", at: 8), .value("3", at: 14),
                .value("\"x\\n\"", at: 18),
            ]),
        Case(
            format: .lines, text: "1\n{\"a\":1,\"a\":2}\n3\n",
            outcomes: [
                .value("1", at: 0), .error("duplicate-member", record: 2, at: 9),
                .value("3", at: 16),
            ]),
        Case(
            format: .lines, text: "[1,\n2]\n",
            outcomes: [
                .error("malformed", record: 1, at: 3), .error("malformed", record: 2, at: 5),
            ]),
        Case(
            format: .lines, text: "1\n{\"a\":",
            outcomes: [.value("1", at: 0), .error("truncated", record: 2, at: 7)]),
        Case(
            format: .lines, text: "\"abc", outcomes: [.error("truncated", record: 1, at: 4)]),
        Case(format: .lines, text: "[}\n", outcomes: [.error("malformed", record: 1, at: 1)]),
        Case(format: .lines, text: "1 2\n", outcomes: [.error("malformed", record: 1, at: 2)]),
        Case(
            format: .lines, text: "\u{feff}1\n2\n",
            outcomes: [.error("malformed", record: 1, at: 0), .value("2", at: 5)]),
        Case(
            format: .lines, text: "1\n[1,2,3,4]\n2\n",
            outcomes: [
                .value("1", at: 0), .error("too-large", record: 2, at: 2), .value("2", at: 12),
            ], limit: 8),
        Case(
            format: .lines, text: "123456789",
            outcomes: [.error("too-large", record: 1, at: 0)], limit: 8),
    ]

    static let sequences: [Case] = [
        Case(format: .sequence, text: "", outcomes: []),
        Case(format: .sequence, text: " \n", outcomes: []),
        Case(
            format: .sequence, text: "\u{1e}{\"a\":\n1}\n\u{1e}2\n\u{1e}\u{1e}\"x\"\n",
            outcomes: [
                .value("{\"a\":1}", at: 1), .value("2", at: 11), .value("\"x\"", at: 15),
            ]),
        // RFC 7464, section 2.4: what may be cut off is dropped, what is whole by itself is not.
        Case(
            format: .sequence, text: "\u{1e}12\u{1e}true\u{1e}null \u{1e}[1]\u{1e}{}",
            outcomes: [
                .error("truncated", record: 1, at: 3), .error("truncated", record: 2, at: 8),
                .value("null", at: 9), .value("[1]", at: 15), .value("{}", at: 19),
            ]),
        Case(
            format: .sequence, text: "\u{1e}{\"a\":\u{1e}{\"b\":2}\n",
            outcomes: [.error("truncated", record: 1, at: 6), .value("{\"b\":2}", at: 7)]),
        Case(
            format: .sequence, text: "\u{1e}1\n\u{1e}[1,",
            outcomes: [.value("1", at: 1), .error("truncated", record: 2, at: 7)]),
        Case(
            format: .sequence, text: "\u{1e}1\n\u{1e}",
            outcomes: [.value("1", at: 1), .error("truncated", record: 2, at: 4)]),
        Case(
            format: .sequence, text: "1\n\u{1e}2\n",
            outcomes: [.error("malformed", record: 1, at: 0), .value("2", at: 3)]),
        Case(
            format: .sequence, text: "\u{1e}1\n2\n\u{1e}3\n",
            outcomes: [
                .value("1", at: 1), .error("malformed", record: 2, at: 3), .value("3", at: 6),
            ]),
        Case(
            format: .sequence, text: "\u{1e}\n\n\u{1e}}\n\u{1e}4\n",
            outcomes: [
                .error("truncated", record: 1, at: 3), .error("malformed", record: 2, at: 4),
                .value("4", at: 7),
            ]),
        Case(
            format: .sequence, text: "\u{1e}[1,2,3,4]\n\u{1e}2\n",
            outcomes: [.error("too-large", record: 1, at: 1), .value("2", at: 12)], limit: 8),
    ]

    static let arrays: [Case] = [
        Case(format: .array, text: " [ ] \n", outcomes: []),
        Case(
            format: .array, text: "[1, {\"a\":[2,\"],\"]} ,\"\\\"]\"]",
            outcomes: [
                .value("1", at: 1), .value("{\"a\":[2,\"],\"]}", at: 4),
                .value("\"\\\"]\"", at: 20),
            ]),
        Case(format: .array, text: "", outcomes: [.error("truncated", record: 1, at: 0)]),
        Case(
            format: .array, text: "[1",
            outcomes: [.error("truncated", record: 1, at: 2)]),
        Case(
            format: .array, text: "[1,",
            outcomes: [.value("1", at: 1), .error("truncated", record: 2, at: 3)]),
        Case(
            format: .array, text: "[1,]",
            outcomes: [.value("1", at: 1), .error("malformed", record: 2, at: 3)]),
        Case(format: .array, text: "[,1]", outcomes: [.error("malformed", record: 1, at: 1)]),
        Case(format: .array, text: "{}", outcomes: [.error("malformed", record: 1, at: 0)]),
        Case(
            format: .array, text: "[1][2]",
            outcomes: [.value("1", at: 1), .error("malformed", record: 2, at: 3)]),
        Case(
            format: .array, text: "[[1}],2]",
            outcomes: [.error("malformed", record: 1, at: 3)]),
        Case(
            format: .array, text: "[1,{\"a\":1,\"a\":1},3]",
            outcomes: [.value("1", at: 1), .error("duplicate-member", record: 2, at: 10)]),
        Case(
            format: .array, text: "[\"123456789\",1]",
            outcomes: [.error("too-large", record: 1, at: 1)], limit: 8),
    ]

    @Test(arguments: lines + sequences + arrays)
    func givesTheSameInChunksOfAnySize(_ vector: Case) {
        for chunk in [1, 2, 3, 5, 1000] {
            // A limit applies to the number of received bytes, with chunks of any size.
            #expect(Self.outcomes(vector, chunk: chunk) == vector.outcomes, "by \(chunk)")
        }
    }

    /// RFC 8259, section 8.1: a reader may skip the mark, and a server's response has one.
    @Test(arguments: [JSONStreamFormat.lines, .sequence, .array], [1, 2, 3, 99])
    func skipsOneByteOrderMarkIfAsked(_ format: JSONStreamFormat, chunk: Int) {
        let text = format == .sequence ? "\u{1E}1\n" : format == .array ? "[1]" : "1\n"
        func codes(_ text: String, skips: Bool) -> [String] {
            var reader = JSONRecordReader(format, skipsByteOrderMark: skips)
            var rest = Array(text.utf8)[...]
            var codes: [String] = []
            var isFinished = false
            while true {
                do throws(JSONError) {
                    if let record = try reader.next() {
                        codes.append("\(record.value.text) at \(record.offset)")
                    } else if isFinished {
                        return codes
                    }
                } catch {
                    return codes + [error.message]
                }
                reader.append(rest.prefix(chunk))
                rest = rest.dropFirst(chunk)
                isFinished = rest.isEmpty
                if isFinished { reader.finish() }
            }
        }
        let place = format == .lines ? 3 : 4
        #expect(codes("\u{FEFF}" + text, skips: true) == ["1 at \(place)"])
        #expect(codes(text, skips: true) == ["1 at \(place - 3)"])
        #expect(codes("\u{FEFF}", skips: true).count == codes("", skips: true).count)
        for text in ["\u{FEFF}\u{FEFF}" + text, text + "\u{FEFF}"] {
            #expect(codes(text, skips: true).last?.contains("expected") == true, "\(text)")
        }
        #expect(codes("\u{FEFF}" + text, skips: false).last?.contains("record 1") == true)
    }

    @Test func namesAByteOrderMarkBeforeALine() {
        for text in ["\u{FEFF}1\n", "1\n\u{FEFF}2\n"] {
            var reader = JSONRecordReader(.lines, skipsByteOrderMark: text.hasPrefix("1"))
            reader.append(text.utf8)
            let error = #expect(throws: JSONError.self) {
                while try reader.next() != nil {}
            }
            #expect(error?.message.contains("found a byte order mark") == true)
        }
    }

    /// With unmatched closing brackets, the elements are still those of the strict reader.
    @Test func anArrayIsReadAsTheStrictReaderReadsIt() {
        var random = SplitMix(seed: 7)
        var accepted = 0
        for _ in 0..<4000 {
            let pieces = ["[", "]", "{", "}", ",", "\"", "\"a\":", "1", " ", "\\", "\"b\"", "null"]
            let text =
                "["
                + (0..<Int.random(in: 0...7, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined() + "]"
            let outcomes = Self.outcomes(
                Case(format: .array, text: text, outcomes: []), chunk: 3)
            var values: [String] = []
            for case .value(let value, at: _) in outcomes { values.append(value) }
            let whole = try? JSONValue(parsing: text)
            if let whole {
                accepted += 1
                #expect(whole.array?.map(\.text) == values, "\(text)")
            }
            #expect((whole != nil) == (values.count == outcomes.count), "\(text)")
        }
        #expect(accepted > 50)
    }

    struct Point: Codable, Equatable {
        var x: Int
    }

    @Test func recordsAreDecodedWithTheirPlace() throws {
        var reader = JSONRecordReader(.lines)
        reader.append(bytes("{\"x\":1}\n{\"x\":\"2\"}\n"))
        #expect(try reader.next()?.decode(Point.self) == Point(x: 1))
        let record = try #require(try reader.next())
        let error = #expect(throws: JSONError.self) { try record.decode(Point.self) }
        #expect(error?.record == 2)
        #expect(error?.offset == 13)
        #expect(error?.message.contains("$.x") == true)
    }

    @Test func aStreamOfChunksGivesItsRecords() async throws {
        let chunks = AsyncStream<[UInt8]> { continuation in
            for text in ["{\"x\":", "1}\n{\"x\":2}\n", "oops\n{\"x\"", ":3}"] {
                continuation.yield(bytes(text))
            }
            continuation.finish()
        }
        var points: [Point] = []
        let defects = Defects()
        for try await record in chunks.jsonRecords(.lines, skipping: { defects.add($0) }) {
            points.append(try record.decode(Point.self))
        }
        #expect(points == [Point(x: 1), Point(x: 2), Point(x: 3)])
        #expect(defects.all.map(\.record) == [3])
    }

    @Test func theFirstErrorEndsAStreamWithoutSkipping() async throws {
        let chunks = AsyncStream<[UInt8]> { continuation in
            continuation.yield(bytes("1\n}\n2\n"))
            continuation.finish()
        }
        var values: [String] = []
        let error = await #expect(throws: JSONError.self) {
            for try await record in chunks.jsonRecords(.lines) { values.append(record.value.text) }
        }
        #expect(values == ["1"])
        #expect(error?.record == 2)
    }

    /// A flood without an end is dropped as it comes.
    @Test(arguments: [JSONStreamFormat.lines, .sequence, .array])
    func keepsNoMoreThanAChunkAndARecord(_ format: JSONStreamFormat) throws {
        var reader = JSONRecordReader(format, maximumRecordSize: 1000)
        let flood = [UInt8](repeating: UInt8(ascii: "["), count: 500)
        if format == .sequence { reader.append([0x1e]) }
        var errors = 0
        for _ in 0..<200 {
            reader.append(flood)
            do throws(JSONError) {
                #expect(try reader.next()?.number == nil)
            } catch {
                #expect(error.code == .tooLargeJSON)
                errors += 1
                #expect(try reader.next()?.number == nil)
            }
            #expect(reader.pendingCount <= 1500)
        }
        #expect(errors == 1)
    }

    /// 100 MB with `SIGNET_SOAK`, else a hundredth of it.
    @Test(arguments: [JSONStreamFormat.lines, .sequence, .array])
    func aLongStreamIsReadInBoundedMemory(_ format: JSONStreamFormat) throws {
        let isSoak = ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil
        let count = isSoak ? 100_000_000 : 1_000_000
        let (before, behind): ([UInt8], [UInt8]) =
            switch format {
            case .sequence: ([0x1e], [0x0a])
            case .array: ([0x2c], [])
            default: ([], [0x0a])
            }
        let record = bytes(#"{"id":4711,"name":"Darjeeling No. 3","price":12.5,"tags":["a","b"]}"#)
        let chunk = Array((0..<900).flatMap { _ in before + record + behind })
        var reader = JSONRecordReader(format)
        if format == .array { reader.append(bytes("[0")) }
        let start = residentBytes()
        var peak = start
        var read = 0
        var records = 0
        while read < count {
            reader.append(chunk)
            read += chunk.count
            while try reader.next() != nil { records += 1 }
            peak = max(peak, residentBytes())
        }
        if format == .array { reader.append(bytes("]")) }
        reader.finish()
        while try reader.next() != nil { records += 1 }
        #expect(records >= read / chunk.count * 900)
        #expect(reader.pendingCount == 0)
        // A soak runs this test alone.
        if isSoak { #expect(peak - start < 16 << 20, "\(peak - start) bytes") }
    }

    private func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
            return 0
        }
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }
}

/// Receives the bytes that a stream skips.
final class Defects: Sendable {
    private let errors = Mutex<[JSONError]>([])
    var all: [JSONError] { errors.withLock { $0 } }
    func add(_ error: JSONError) { errors.withLock { $0.append(error) } }
}
