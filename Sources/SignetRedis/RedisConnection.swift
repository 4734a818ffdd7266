#if Redis
import CSignetHiredis
import SignetBase
import SignetSystem
import SignetCrypto

/// The reason why Redis did not execute a command.
struct RedisFailure: Error, Sendable {
    let reason: String
}

/// A response of Redis.
enum RedisResponse: Sendable, Equatable {
    case status(String)
    /// An error's first word, such as `READONLY`; never the rest.
    case error(String)
    case integer(Int64)
    case text([UInt8])
    case null
}

/// A connection to Redis, closed on deinit. Nothing else uses the C module.
@safe struct RedisConnection: ~Copyable, @unchecked Sendable {
    private let connection: OpaquePointer

    /// Milliseconds of the monotonic clock.
    static var now: Int64 { signet_redis_now() }

    /// Connects.
    ///
    /// - Parameter deadline: The deadline, in milliseconds like `now`. A name lookup can
    ///   take longer.
    init(_ options: RedisNonceStore.Options, by deadline: Int64) throws(RedisFailure) {
        var made: OpaquePointer?
        var reason = [UInt8](repeating: 0, count: 200)
        let status = unsafe Self.withServer(of: options) { server in
            unsafe withUnsafePointer(to: server) { server in
                unsafe reason.withUnsafeMutableBytes { reason in
                    unsafe signet_redis_connect(
                        server, deadline, &made,
                        reason.baseAddress?.assumingMemoryBound(to: CChar.self), reason.count)
                }
            }
        }
        guard Int(status) == SIGNET_REDIS_OK, let made = unsafe made else {
            let details = printable(
                String(decoding: reason.prefix { $0 != 0 }, as: UTF8.self))
            throw Self.failure(status, details: details.isEmpty ? "" : ": \(details)")
        }
        unsafe connection = made
    }

    private static func withServer(
        of options: RedisNonceStore.Options, _ body: (signet_redis_server) -> Int32
    ) -> Int32 {
        var server = unsafe signet_redis_server()
        unsafe server.port = Int32(truncatingIfNeeded: options.address.port)
        unsafe server.uses_tls = options.tls == nil ? 0 : 1
        let tls = options.tls
        let texts: [(WritableKeyPath<signet_redis_server, UnsafePointer<CChar>?>, String?)] =
            unsafe [
                (\.socket_path, options.address.socketPath),
                (\.host, options.address.host),
                (\.tls_name, tls.map { $0.name ?? options.address.host ?? "" }),
                (\.ca_file, tls?.authorityFile),
                (\.certificate_file, tls?.certificateFile),
                (\.key_file, tls?.keyFile),
            ]
        // Each string is valid inside its closure only, so the closures are nested.
        func set(_ index: Int) -> Int32 {
            guard unsafe index < texts.count else { return unsafe body(server) }
            guard let text = unsafe texts[index].1 else { return set(index + 1) }
            return unsafe text.withCString {
                unsafe server[keyPath: texts[index].0] = unsafe $0
                return set(index + 1)
            }
        }
        return set(0)
    }

    private static func failure(_ status: Int32, details: String = "") -> RedisFailure {
        let reason =
            switch Int(status) {
            case SIGNET_REDIS_NO_MEMORY: "out of memory"
            case SIGNET_REDIS_NOT_CONNECTED: "no connection\(details)"
            case SIGNET_REDIS_NOT_TRUSTED: "no TLS connection that can be trusted\(details)"
            case SIGNET_REDIS_TIMED_OUT: "no response in time"
            case SIGNET_REDIS_CONNECTION_LOST: "the connection broke"
            default: "the response is not valid RESP"
            }
        return RedisFailure(reason: reason)
    }

    /// Whether the connection is still open and has received no unexpected bytes.
    var isReusable: Bool { unsafe signet_redis_is_reusable(connection) == 1 }

    /// Adds a command to those that the next `send` sends.
    borrowing func add(_ parts: [[UInt8]]) throws(RedisFailure) {
        var bytes = Array(parts.joined())
        defer { wipe(&bytes) }
        let lengths = parts.map(\.count)
        let status = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe lengths.withUnsafeBufferPointer { lengths in
                unsafe signet_redis_add(
                    connection, bytes.baseAddress, lengths.baseAddress, lengths.count)
            }
        }
        guard Int(status) == SIGNET_REDIS_OK else { throw Self.failure(status) }
    }

    /// Sends the added commands.
    borrowing func send(by deadline: Int64) throws(RedisFailure) {
        let status = unsafe signet_redis_send(connection, deadline)
        guard Int(status) == SIGNET_REDIS_OK else { throw Self.failure(status) }
    }

    /// Reads the next response.
    borrowing func read(by deadline: Int64) throws(RedisFailure) -> RedisResponse {
        var response = unsafe signet_redis_response()
        let status = unsafe signet_redis_read(connection, deadline, &response)
        if Int(status) == SIGNET_REDIS_WRONG_TYPE {
            throw Self.wrongType(unsafe response.kind)
        }
        guard Int(status) == SIGNET_REDIS_OK else { throw Self.failure(status) }
        let text = unsafe Array(
            UnsafeBufferPointer(start: response.text, count: response.count))
        // REDIS_REPLY_STRING and so on, of hiredis.
        switch unsafe response.kind {
        case 1: return .text(text)
        case 3: return .integer(unsafe response.integer)
        case 4: return .null
        case 5: return .status(String(decoding: text, as: UTF8.self))
        case 6: return .error(Self.firstWord(text))
        default: throw Self.failure(Int32(SIGNET_REDIS_INVALID))
        }
    }

    /// Returns the error for a response whose first byte names a type that `RedisResponse`
    /// lacks.
    private static func wrongType(_ byte: Int32) -> RedisFailure {
        let type: String? =
            switch UInt8(truncatingIfNeeded: byte) {
            case UInt8(ascii: "*"): "a list"
            case UInt8(ascii: "#"): "a boolean"
            case UInt8(ascii: ","): "a double"
            case UInt8(ascii: "("): "a big number"
            case UInt8(ascii: "!"): "a bulk error"
            case UInt8(ascii: "="): "a verbatim string"
            case UInt8(ascii: "%"): "a map"
            case UInt8(ascii: "~"): "a set"
            case UInt8(ascii: "|"): "an attribute"
            case UInt8(ascii: ">"): "a push message"
            default: nil
            }
        guard let type else { return failure(Int32(SIGNET_REDIS_INVALID)) }
        return RedisFailure(
            reason: "found \(type), expected a status, a string, an integer, null or an error")
    }

    private static func firstWord(_ text: [UInt8]) -> String {
        let word = text.prefix { (0x41...0x5A).contains($0) }
        return (1...32).contains(word.count)
            ? String(decoding: word, as: UTF8.self) : "an error"
    }

    /// Sends one command and reads its response.
    borrowing func response(
        to parts: [[UInt8]], by deadline: Int64
    ) throws(RedisFailure) -> RedisResponse {
        try add(parts)
        try send(by: deadline)
        return try read(by: deadline)
    }

    deinit { unsafe signet_redis_close(connection) }
}
#endif
