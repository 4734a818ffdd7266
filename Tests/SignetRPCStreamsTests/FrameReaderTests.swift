import TestSupport
import Testing

@testable import SignetRPC
@testable import SignetRPCStreams

/// Frames, however their bytes are cut, and bytes that were changed.
struct FrameReaderTests {
    private static let messages = [
        "{}", "[1,2]", "\"é😀\"", " ", String(repeating: "x", count: 300),
    ]

    private func read(
        _ bytes: [UInt8], _ framing: RPCFraming, _ random: inout SplitMix
    ) throws(PayloadError) -> [[UInt8]] {
        var reader = FrameReader(framing, maximumHeaderSize: 200, maximumMessageSize: 400)
        var messages: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(piece.count)
            reader.push(Array(piece))
            while let message = try reader.next() { messages.append(message) }
        }
        return messages
    }

    @Test(arguments: 0..<20)
    func everyCutGivesTheSameMessages(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        for framing in [RPCFraming.contentLength, .lines] {
            let messages = (0..<20).map { _ in
                bytes(Self.messages.randomElement(using: &random) ?? "")
            }
            let stream = messages.flatMap { framing.frame($0) }
            #expect(try read(stream, framing, &random) == messages)
        }
    }

    /// No change of the bytes does more than change messages, or end the stream.
    @Test(arguments: 0..<20)
    func changedBytesAreMessagesOrAnError(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        let framing = RPCFraming.contentLength
        let stream = Self.messages.flatMap { framing.frame(bytes($0)) }
        for _ in 0..<50 {
            var changed = stream
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0 ... .max, using: &random)
                case 1: changed.remove(at: place)
                default: changed.insert(changed[place], at: place)
                }
            }
            do throws(PayloadError) {
                let messages = try read(changed, framing, &random)
                #expect(messages.allSatisfy { $0.count <= 400 })
            } catch {
                #expect([.malformedFrame, .messageTooLarge].contains(error.code))
            }
        }
    }

    /// A byte order mark as .NET writes it: before the first output
    /// (modelcontextprotocol/kotlin-sdk#956) or each message (microsoft/vs-streamjsonrpc#695).
    @Test(arguments: 0..<5)
    func skipsAByteOrderMarkBeforeAMessage(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let mark = bytes("\u{FEFF}")
        for framing in [RPCFraming.contentLength, .lines] {
            let message = bytes("{\"id\":1}")
            let stream = mark + framing.frame(message) + framing.frame(message)
            #expect(try read(stream, framing, &random) == [message, message])
            let each = framing.frame(mark + message) + framing.frame(mark + mark + message)
            #expect(try read(each, framing, &random) == [message, mark + message])
        }
        for stream in [
            mark + mark + bytes("Content-Length: 1\r\n\r\n1"), mark.prefix(2) + bytes("\r\n"),
        ] {
            #expect(throws: PayloadError.self) { try read(Array(stream), .contentLength, &random) }
        }
    }

    /// The limits apply to frames that arrive in one piece, and to frames without an end.
    @Test func limitsInOnePieceAndWithoutAnEnd() throws {
        let lines = String(repeating: "X: y\r\n", count: 20)
        for end in ["", "Content-Length: 2\r\n\r\n{}"] {
            var reader = FrameReader(
                .contentLength, maximumHeaderSize: 100, maximumMessageSize: 1000)
            reader.push(bytes(lines + end))
            let error = #expect(throws: PayloadError.self) { try reader.next() }
            #expect(error?.code == .malformedFrame)
        }
        for end in ["", "\n", "\r\n"] {
            var reader = FrameReader(.lines, maximumHeaderSize: 0, maximumMessageSize: 10)
            reader.push(bytes("0123456789"))
            #expect(try reader.next() == nil)
            reader.push(bytes("0" + end))
            let error = #expect(throws: PayloadError.self) { try reader.next() }
            #expect(error?.code == .messageTooLarge)
        }
    }

    /// A length without its message takes no memory, and single bytes are read once each.
    @Test func aLengthAloneIsNothing() throws {
        var reader = FrameReader(
            .contentLength, maximumHeaderSize: 100, maximumMessageSize: 1 << 40)
        reader.push(bytes("Content-Length: 1099511627776\r\n\r\n"))
        #expect(try reader.next() == nil)
        #expect(reader.isWithinMessage)
        var lines = FrameReader(.lines, maximumHeaderSize: 0, maximumMessageSize: 1 << 20)
        for _ in 0..<100_000 {
            lines.push([0x20])
            guard try lines.next() == nil else { break }
        }
        lines.push([0x0A])
        #expect(try lines.next()?.count == 100_000)
    }
}
