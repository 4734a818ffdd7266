import SignetJSON
import SignetRPC
import Synchronization
import TestSupport

@testable import SignetRPCStreams

/// The other end of a stream, which sends the exact bytes of a test.
///
/// It splits the received bytes into messages with its own code, to check ours independently.
actor HostilePeer {
    private let stream: MemoryStream
    private let isFramed: Bool
    private var buffer: [UInt8] = []

    init(_ stream: MemoryStream, framing: RPCFraming = .contentLength) {
        self.stream = stream
        self.isFramed = framing == .contentLength
    }

    /// A connection, and the peer at its other end.
    static func pair(
        _ options: RPCConnection.Options = .languageServer,
        adapter: JSONRPCAdapter = .fromSeven(), handler: RPCHandler = .none,
        capacity: Int = 1 << 16
    ) -> (RPCConnection, HostilePeer) {
        let (near, far) = MemoryStream.pair(capacity: capacity)
        return (
            RPCConnection(near, adapter: adapter, options: options, handler: handler),
            HostilePeer(far, framing: options.framing)
        )
    }

    /// The next message; nil at the stream's end.
    func message() async throws -> JSONValue? {
        while true {
            if let message = cut() { return try JSONValue(parsing: message) }
            let bytes = try await stream.read(atMost: 1 << 16)
            if bytes.isEmpty { return nil }
            buffer += bytes
        }
    }

    /// Takes some bytes of a message, at least one.
    func readSome() async throws { buffer += try await stream.read(atMost: 1) }

    /// The next so many messages' member.
    func members(_ name: String, count: Int) async throws -> [JSONValue?] {
        var members: [JSONValue?] = []
        for _ in 0..<count { members.append(try await message()?[name]) }
        return members
    }

    /// Sends bytes unchanged.
    func send(raw text: String) async throws { try await stream.write(bytes(text)) }

    /// Sends a message in its frame.
    func send(_ text: String) async throws {
        try await send(
            raw: isFramed ? "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" : text + "\n")
    }

    nonisolated func close() { stream.close() }

    private func cut() -> [UInt8]? {
        if !isFramed {
            guard let end = buffer.firstIndex(of: 0x0A) else { return nil }
            defer { buffer.removeFirst(end + 1) }
            return Array(buffer[..<end])
        }
        let end = bytes("\r\n\r\n")
        guard
            let start = (0..<max(0, buffer.count - 3)).first(where: {
                Array(buffer[$0..<($0 + 4)]) == end
            })
        else { return nil }
        let head = text(Array(buffer[..<start]))
        guard head.hasPrefix("Content-Length: "), let length = Int(head.dropFirst(16)),
            buffer.count >= start + 4 + length
        else { return nil }
        defer { buffer.removeFirst(start + 4 + length) }
        return Array(buffer[(start + 4)..<(start + 4 + length)])
    }
}

/// The outcome of a call: the result's text, or the error's code.
func outcome(_ call: () async throws -> RPCResult) async -> String {
    do {
        return text(try await call().bytes)
    } catch {
        return (error as? PayloadError)?.code.name ?? "\(error)"
    }
}

/// Texts that come from any thread.
final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
