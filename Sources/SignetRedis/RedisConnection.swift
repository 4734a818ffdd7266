internal import SignetBase
internal import SignetSystem

#if Redis
    internal import CSignetHiredis
    internal import SignetCrypto

    /// Why Redis did not do what it was asked for.
    struct RedisFailure: Error, Sendable {
        let reason: String
    }

    /// What Redis answered.
    enum RedisReply: Sendable, Equatable {
        case status(String)
        /// The word that an error begins with, such as `READONLY`; never the rest.
        case error(String)
        case integer(Int64)
        case text([UInt8])
        case nothing
    }

    /// A connection to Redis; the only user of the C module. It is closed with its owner.
    @safe struct RedisConnection: ~Copyable, @unchecked Sendable {
        private let connection: OpaquePointer

        /// Milliseconds of a clock that nobody sets.
        static var now: Int64 { csignet_redis_now() }

        /// Connects.
        ///
        /// - Parameter deadline: When to give up, by `now`; looking up a name may outlast it.
        init(_ options: RedisNonceStore.Options, by deadline: Int64) throws(RedisFailure) {
            var made: OpaquePointer?
            var reason = [UInt8](repeating: 0, count: 200)
            let status = unsafe Self.withServer(options) { server in
                unsafe withUnsafePointer(to: server) { server in
                    unsafe reason.withUnsafeMutableBytes { reason in
                        unsafe csignet_redis_connect(
                            server, deadline, &made,
                            reason.baseAddress?.assumingMemoryBound(to: CChar.self), reason.count)
                    }
                }
            }
            guard Int(status) == CSIGNET_REDIS_OK, let made = unsafe made else {
                let words = printable(
                    String(decoding: reason.prefix { $0 != 0 }, as: UTF8.self))
                throw Self.failure(status, words.isEmpty ? "" : ": \(words)")
            }
            unsafe connection = made
        }

        private static func withServer(
            _ options: RedisNonceStore.Options, _ body: (csignet_redis_server) -> Int32
        ) -> Int32 {
            var server = unsafe csignet_redis_server()
            unsafe server.port = Int32(truncatingIfNeeded: options.place.port)
            unsafe server.uses_tls = options.tls == nil ? 0 : 1
            func with(
                _ text: String?,
                _ member: WritableKeyPath<csignet_redis_server, UnsafePointer<CChar>?>,
                _ next: () -> Int32
            ) -> Int32 {
                guard let text else { return next() }
                return unsafe text.withCString { text in
                    unsafe server[keyPath: member] = unsafe text
                    return next()
                }
            }
            let tls = options.tls
            return unsafe with(options.place.socketPath, \.socket_path) {
                unsafe with(options.place.host, \.host) {
                    unsafe with(tls.map { $0.name ?? options.place.host ?? "" }, \.tls_name) {
                        unsafe with(tls?.authorityFile, \.ca_file) {
                            unsafe with(tls?.certificateFile, \.certificate_file) {
                                unsafe with(tls?.keyFile, \.key_file) { unsafe body(server) }
                            }
                        }
                    }
                }
            }
        }

        private static func failure(_ status: Int32, _ words: String = "") -> RedisFailure {
            let reason =
                switch Int(status) {
                case CSIGNET_REDIS_NO_MEMORY: "there is no memory for it"
                case CSIGNET_REDIS_NOT_CONNECTED: "no connection\(words)"
                case CSIGNET_REDIS_NOT_TRUSTED: "no TLS connection that can be trusted\(words)"
                case CSIGNET_REDIS_TIMED_OUT: "no answer in time"
                case CSIGNET_REDIS_CUT_OFF: "the connection broke"
                default: "what came is no answer of Redis's"
                }
            return RedisFailure(reason: reason)
        }

        /// Whether nothing has come that nobody asked for, the end of the connection for one.
        var isQuiet: Bool { unsafe csignet_redis_is_quiet(connection) == 1 }

        /// Adds a command to what is to be sent.
        borrowing func add(_ parts: [[UInt8]]) throws(RedisFailure) {
            var bytes = Array(parts.joined())
            defer { wipe(&bytes) }
            let lengths = parts.map(\.count)
            let status = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe csignet_redis_add(
                        connection, bytes.baseAddress, lengths.baseAddress, lengths.count)
                }
            }
            guard Int(status) == CSIGNET_REDIS_OK else { throw Self.failure(status) }
        }

        /// Sends what was added.
        borrowing func send(by deadline: Int64) throws(RedisFailure) {
            let status = unsafe csignet_redis_send(connection, deadline)
            guard Int(status) == CSIGNET_REDIS_OK else { throw Self.failure(status) }
        }

        /// Reads the next reply.
        borrowing func read(by deadline: Int64) throws(RedisFailure) -> RedisReply {
            var reply = unsafe csignet_redis_reply()
            let status = unsafe csignet_redis_read(connection, deadline, &reply)
            if Int(status) == CSIGNET_REDIS_WRONG_TYPE {
                throw Self.wrongType(unsafe reply.kind)
            }
            guard Int(status) == CSIGNET_REDIS_OK else { throw Self.failure(status) }
            let text = unsafe Array(UnsafeBufferPointer(start: reply.text, count: reply.count))
            // As hiredis numbers them.
            switch unsafe reply.kind {
            case 1: return .text(text)
            case 3: return .integer(unsafe reply.integer)
            case 4: return .nothing
            case 5: return .status(String(decoding: text, as: UTF8.self))
            case 6: return .error(Self.firstWord(text))
            default: throw Self.failure(Int32(CSIGNET_REDIS_GARBAGE))
            }
        }

        /// Returns the error for a reply that begins with a byte of none of the types in `RedisReply`.
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
            guard let type else { return failure(Int32(CSIGNET_REDIS_GARBAGE)) }
            return RedisFailure(
                reason: "found \(type), expected a status, a string, an integer, null or an error")
        }

        private static func firstWord(_ text: [UInt8]) -> String {
            let word = text.prefix { (0x41...0x5A).contains($0) }
            return (1...32).contains(word.count)
                ? String(decoding: word, as: UTF8.self) : "an error"
        }

        /// Sends one command and reads its reply.
        borrowing func ask(
            _ parts: [[UInt8]], by deadline: Int64
        ) throws(RedisFailure) -> RedisReply {
            try add(parts)
            try send(by: deadline)
            return try read(by: deadline)
        }

        deinit { unsafe csignet_redis_close(connection) }
    }
#endif
