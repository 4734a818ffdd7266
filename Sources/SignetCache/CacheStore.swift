/// Keeps stored responses with their contents.
///
/// No function fails: a store that can't read has nothing stored, and one that can't write stores
/// nothing. ``MemoryCacheStore`` is one, and `DiskCacheStore` of SignetStorage another.
public protocol CacheStore: Sendable {
    /// A random key of 32 bytes or more, with which the values that tell users apart are hashed.
    /// It is the same for all processes that share the store, and no other store has it.
    var scopeKey: [UInt8] { get }

    /// Returns the responses that are stored under a key. This counts as a use.
    func responses(for key: CacheKey) async -> [CacheEntry]

    /// Applies a change that needs no received content.
    ///
    /// - Returns: `false` if a response should have been stored and wasn't, as for
    ///   ``CacheChange/store(_:)`` and ``CacheChange/join(_:_:receivedIsFirst:)``, which need a
    ///   ``writer(for:)``.
    @discardableResult
    func change(_ change: CacheChange) async -> Bool

    /// Begins to store the content that is received.
    ///
    /// - Parameter change: ``CacheChange/store(_:)`` or ``CacheChange/join(_:_:receivedIsFirst:)``.
    /// - Returns: `nil` if nothing is stored.
    func writer(for change: CacheChange) async -> (any CacheWriter)?

    /// Removes responses.
    func remove(_ selection: CacheSelection) async

    /// Removes the least recently used responses of an origin until those that stay take at most
    /// so many bytes.
    func trim(origin: String, to byteCount: Int) async

    /// Returns all responses, without their contents, the most recently used first.
    func list() async -> [StoredResponse]
}

/// Receives the content of a response that is being stored. A writer that is released before
/// ``finish(isWhole:)`` stores nothing.
public protocol CacheWriter: Sendable {
    /// Adds received bytes. If they can't be stored, they are ignored.
    func write(_ chunk: [UInt8]) async

    /// Stores the response.
    ///
    /// - Parameter isWhole: Whether the content ended as its framing says.
    /// - Returns: Whether it was stored: not if it is too large or its length isn't the one that
    ///   its fields tell.
    @discardableResult
    func finish(isWhole: Bool) async -> Bool
}

/// A stored response with its content.
public struct CacheEntry: Sendable {
    /// The response.
    public let response: StoredResponse
    /// The content.
    public let content: CacheContent

    /// Creates an entry.
    public init(_ response: StoredResponse, content: CacheContent) {
        self.response = response
        self.content = content
    }
}

/// The content of a stored response.
public enum CacheContent: Sendable {
    /// A content in memory.
    case bytes([UInt8])
    /// A content that is read piece by piece.
    case pieces(any CacheContentReader)

    /// Whether the content can be read. It reads a content that is not in memory to its end, so
    /// that damage is found before the first byte is used.
    public func isIntact() async -> Bool {
        switch self {
        case .bytes: true
        case .pieces(let reader): await reader.isIntact()
        }
    }
}

/// Reads the content of a stored response piece by piece. What it reads stays the same, even if the
/// response is removed meanwhile.
public protocol CacheContentReader: Sendable {
    /// Whether each piece can be read and is as it was written.
    func isIntact() async -> Bool

    /// Returns bytes at a position, at least one and at most as many as the range has; `nil` if
    /// they can't be read.
    func piece(in range: Range<Int64>) async -> [UInt8]?
}

/// The responses that are removed from a store.
public enum CacheSelection: Sendable, Hashable {
    /// All responses.
    case all
    /// The responses under a key, such as one call's.
    case key(CacheKey)
    /// The responses of an origin (``CacheKey/origin``), in all scopes.
    case origin(String)
    /// The responses of a host, in all scopes, by its canonical name.
    case host(String)
    /// The responses whose scope has this service.
    case service(String)
    /// The responses whose scope has this user.
    case user(String)

    /// Whether responses under a key are selected.
    package func includes(_ key: CacheKey) -> Bool {
        switch self {
        case .all: true
        case .key(let other): key == other
        case .origin(let origin): key.origin == origin
        case .host(let host): key.host == host
        case .service(let service): CacheScope(key.scope)?.service == service
        case .user(let user): CacheScope(key.scope)?.user == user
        }
    }
}

/// The parts of a ``CacheKey``'s scope: the service, the user, and all else that tells responses
/// apart. Each is a token of letters and digits, such as a hash in hexadecimal.
public struct CacheScope: Sendable, Hashable {
    /// The service.
    public let service: String
    /// The user.
    public let user: String
    /// All else: how a response is obtained.
    public let way: String

    /// Creates a scope of three tokens of ASCII without dots.
    public init(service: String, user: String, way: String) {
        self.service = service
        self.user = user
        self.way = way
    }

    /// Reads a scope's text.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        self.init(service: texts[0], user: texts[1], way: texts[2])
    }

    /// The text of a ``CacheKey``'s scope.
    public var text: String { "\(service).\(user).\(way)" }
}
