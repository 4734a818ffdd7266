#if Redis
    public import SignetSigning

    extension RedisNonceStore {
        /// Where Redis is and how it is spoken to.
        public struct Options: Sendable, Hashable {
            /// How a connection is encrypted.
            public struct TLS: Sendable, Hashable {
                /// A PEM file of the authorities to trust; nil for the system's.
                public var authorityFile: String?
                /// A PEM file of our certificate, for a server that wants one, with `keyFile`.
                public var certificateFile: String?
                /// A PEM file of the certificate's key, without a passphrase.
                public var keyFile: String?
                /// Whom the server's certificate must name; nil for the host.
                public var name: String?

                /// The system's authorities, and the host's name.
                public init() {}
            }

            let place: RedisPlace
            /// nil for none, as for a socket of this machine.
            public var tls: TLS?
            /// The user of Redis's access list; nil for the default one. The password is no option.
            public var username: String?
            /// The number of the database; other than 0 it is selected.
            public var database = 0
            /// What each key begins with, before 43 bytes of base64url. Stores that share nonces have the
            /// same; at most 200 bytes of visible ASCII.
            public var prefix = "signet:nonce:"
            /// Connections at most, each with a thread while it is busy: 1 to 64.
            public var connections = 4
            /// The longest a connection may take to be made, with TLS and password.
            public var connectTimeout: Duration = .seconds(1)
            /// The longest that Redis may take to answer.
            public var commandTimeout: Duration = .milliseconds(500)
            /// How many calls may wait; the next one is refused.
            public var waitingLimit = 4096
            /// Whether a Redis is taken that may drop keys before their time (a `maxmemory-policy` other
            /// than `noeviction`) or that will not tell. What it drops can be replayed.
            public var allowsEviction = false

            private init(_ place: RedisPlace) { self.place = place }

            /// A Redis on a host.
            public static func host(_ host: String, port: Int = 6379) -> Options {
                Options(.host(host, port))
            }

            /// A Redis behind a socket of this machine.
            public static func socket(_ path: String) -> Options { Options(.socket(path)) }

            /// Reads `redis://HOST[:PORT][/DATABASE]`, `rediss://…` (TLS), or `unix:PATH`.
            ///
            /// - Throws: `SigningError` with `invalid-value`, which does not repeat the text: a URL with
            ///   a user or a password is refused.
            public init(url: String) throws(SigningError) {
                if url.utf8.starts(with: "unix:".utf8) {
                    self.init(.socket(String(url.dropFirst("unix:".count))))
                } else if url.utf8.starts(with: "redis://".utf8) {
                    self.init(.host("", 0))
                    self = try Self.read(url.dropFirst("redis://".count))
                } else if url.utf8.starts(with: "rediss://".utf8) {
                    self.init(.host("", 0))
                    self = try Self.read(url.dropFirst("rediss://".count))
                    tls = TLS()
                } else {
                    throw Self.invalid("wanted redis://, rediss:// or unix:")
                }
                try check()
            }

            private static func read(_ text: Substring) throws(SigningError) -> Options {
                guard !text.utf8.contains(UInt8(ascii: "@")) else {
                    throw invalid("a user and a password do not belong in it")
                }
                let parts = text.split(
                    separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                var host = parts[0]
                var port: Substring?
                if host.hasPrefix("[") {
                    guard let end = host.firstIndex(of: "]") else {
                        throw invalid("an address in brackets does not end")
                    }
                    let rest = host[host.index(after: end)...]
                    guard rest.isEmpty || rest.hasPrefix(":") else {
                        throw invalid("behind the address stands no port")
                    }
                    port = rest.isEmpty ? nil : rest.dropFirst()
                    host = host[host.index(after: host.startIndex)..<end]
                } else if let colon = host.firstIndex(of: ":") {
                    port = host[host.index(after: colon)...]
                    host = host[..<colon]
                }
                var options = Options(.host(String(host), try number(port, "the port") ?? 6379))
                let database = parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil
                options.database = try number(database, "the database") ?? 0
                return options
            }

            private static func number(
                _ text: Substring?, _ what: String
            ) throws(SigningError) -> Int? {
                guard let text else { return nil }
                guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text)
                else { throw invalid("\(what) is no number") }
                return value
            }

            /// - Throws: `SigningError` with `invalid-value`.
            func check() throws(SigningError) {
                func demand(_ isRight: Bool, _ what: String) throws(SigningError) {
                    guard isRight else { throw Self.invalid(what) }
                }
                switch place {
                case .host(let host, let port):
                    try demand(!host.isEmpty, "the host is empty")
                    try demand(
                        host.utf8.allSatisfy(Self.isOfHost), "the host is no name or address")
                    try demand((1...65_535).contains(port), "the port is not in 1...65535")
                case .socket(let path):
                    // The length of a socket's address.
                    try demand(
                        (1...107).contains(path.utf8.count), "the socket's path has 1 to 107 bytes")
                    try demand(tls == nil || tls?.name != nil, "TLS to a socket wants a name")
                }
                let texts = [
                    place.host, place.socketPath, username, tls?.name, tls?.authorityFile,
                    tls?.certificateFile, tls?.keyFile,
                ]
                try demand(
                    texts.allSatisfy { $0?.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F } ?? true },
                    "a text holds a control character")
                try demand(database >= 0, "the database is negative")
                try demand((1...64).contains(connections), "connections is not in 1...64")
                try demand(
                    (1...1_000_000).contains(waitingLimit), "waitingLimit is not in 1...1000000")
                try demand(
                    prefix.utf8.count <= 200 && prefix.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
                    "the prefix is no visible ASCII of at most 200 bytes")
                for timeout in [connectTimeout, commandTimeout] {
                    try demand(
                        timeout >= .milliseconds(1) && timeout <= .seconds(60),
                        "a timeout is not in 1 ms...60 s")
                }
            }

            private static func isOfHost(_ byte: UInt8) -> Bool {
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                // Point, hyphen, underscore, and an IPv6 address with its zone.
                default: [0x2E, 0x2D, 0x5F, 0x3A, 0x25].contains(byte)
                }
            }

            private static func invalid(_ what: String) -> SigningError {
                SigningError(.invalidValue, "the place of Redis: \(what)")
            }
        }
    }

    /// Where Redis listens.
    enum RedisPlace: Sendable, Hashable {
        case host(String, Int)
        case socket(String)

        var host: String? {
            if case .host(let host, _) = self { host } else { nil }
        }

        var port: Int {
            if case .host(_, let port) = self { port } else { 0 }
        }

        var socketPath: String? {
            if case .socket(let path) = self { path } else { nil }
        }
    }

    extension Duration {
        /// Whole milliseconds, at least one.
        var milliseconds: Int64 {
            max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
        }
    }
#endif
