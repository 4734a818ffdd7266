/// An event of a `text/event-stream` (WHATWG HTML, section 9.2).
public struct ServerEvent: Sendable, Hashable {
    /// The event's type: its field `event`, or `message`.
    public var type: String
    /// The event's data: its fields `data`, joined by line feeds.
    public var data: String
    /// The last id that the stream has given, with this event or before it; empty if none.
    public var id: String
}

/// Reads the lines of an event stream (WHATWG HTML, sections 9.2.5 and 9.2.6): in UTF-8, with lines
/// that end with CRLF, LF or CR. An event that the stream ends within is dropped.
struct ServerEventParser {
    /// The maximum size of a line and of an event's data, in bytes.
    let limit: Int
    /// The last id; empty for none.
    private(set) var lastID: String
    /// The time to wait before a reconnection in milliseconds, if the stream gave one.
    private(set) var retry: Int64?
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var type: [UInt8] = []
    private var id: String
    /// Whether the last byte was a CR, after which an LF belongs to the same line's end.
    private var isAfterReturn = false
    private var isAtStart = true

    /// - Parameter lastID: The last id of the connection before.
    init(limit: Int, lastID: String = "") {
        self.limit = limit
        self.lastID = lastID
        id = lastID
    }

    /// Begins a new connection: what is incomplete is dropped, the last id is kept.
    mutating func restart() {
        (line, data, type) = ([], [], [])
        (isAfterReturn, isAtStart, id) = (false, true, lastID)
    }

    /// Takes bytes, and returns the events that they complete.
    ///
    /// - Throws: `response-too-large` for a line or an event beyond the limit.
    mutating func push(_ bytes: [UInt8]) throws(ClientError) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            if isAfterReturn, byte == 0x0A {
                isAfterReturn = false
                continue
            }
            isAfterReturn = byte == 0x0D
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                guard line.count <= limit else { throw Self.tooLarge(limit) }
                continue
            }
            if let event = try endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() throws(ClientError) -> ServerEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        // A line that begins with a colon is a comment.
        guard colon != 0 else { return nil }
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: name, as: UTF8.self) {
        case "event": type = Array(value)
        case "data":
            data += value
            data.append(0x0A)
            guard data.count <= limit else { throw Self.tooLarge(limit) }
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { break }
            retry = Int64(String(decoding: value, as: UTF8.self)) ?? retry
        default: break
        }
        return nil
    }

    /// Ends an event at an empty line. One without data isn't dispatched, but its id counts.
    private mutating func dispatch() -> ServerEvent? {
        lastID = id
        defer { (data, type) = ([], []) }
        guard !data.isEmpty else { return nil }
        data.removeLast()
        return ServerEvent(
            type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self),
            data: String(decoding: data, as: UTF8.self), id: lastID)
    }

    private static func tooLarge(_ limit: Int) -> ClientError {
        ClientError(.responseTooLarge, "an event of the stream has more than \(limit) bytes")
    }
}
