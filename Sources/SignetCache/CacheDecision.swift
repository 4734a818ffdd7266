public import HTTPTypes

/// The next step for a request.
public enum CacheDecision: Sendable {
    /// Answer with a stored response.
    ///
    /// If the exchange isn't nil, carry it out afterwards, in the background: the response is stale
    /// and `stale-while-revalidate` allows it (RFC 5861, section 3).
    case serve(ServedResponse, revalidation: CacheExchange?)
    /// Ask the origin if a stored response is still valid (RFC 9111, section 4.3).
    case validate(CacheExchange)
    /// Send the request, or the one that completes a stored part (section 3.3), to the origin.
    case fetch(CacheExchange)
    /// Answer with 504: `only-if-cached` forbids a request to the origin (section 5.2.1.7).
    case unavailable(HTTPResponse)
}

/// An answer from the cache.
public struct ServedResponse: Sendable, Hashable {
    /// The status and the fields, with `Age` and `Cache-Status`.
    public var response: HTTPResponse
    /// The stored bytes to send, as positions in the stored content; empty for a response without
    /// content.
    public var content: Range<Int64>
    /// The age that the fields tell, in seconds.
    public let age: Int64
    /// The identity under which the content is stored, before the changes of an outcome.
    public let source: StoredResponse.ID
    /// The status that the fields tell.
    public var status: CacheStatus
}

/// A request on its way to the origin, with all that the cache must know when the response arrives.
public struct CacheExchange: Sendable {
    /// The part of a content that a request asks for, to complete a stored one.
    struct Completion: Sendable, Hashable {
        let missing: ContentPart
    }

    /// The request of the caller.
    public let original: HTTPRequest
    /// The request to send.
    public internal(set) var request: HTTPRequest
    /// When the request was sent, in Unix seconds.
    public let requestTime: Int64
    /// Why the request isn't answered from the cache.
    public let reason: CacheStatus.Forwarding
    /// The key of the request; nil if responses to it are never stored.
    let key: CacheKey?
    /// The stored response that the request selects.
    var selected: StoredResponse?
    /// The stored responses whose validators the request carries.
    var nominated: [StoredResponse] = []
    var completion: Completion?

    /// The public keys of the chain by which the response arrived; set them before
    /// ``PrivateCache/receive(_:to:at:)``. Of a stored response that the origin validates, those
    /// stay that it has in common with the response.
    public var publicKeys: [String] = []

    /// Whether a 304 would be for a stored response, and not for the caller.
    public var isValidation: Bool { !nominated.isEmpty }
}

/// The consequences of a response of the origin.
public struct CacheOutcome: Sendable {
    /// The answer to the caller.
    public enum Answer: Sendable {
        /// The origin's response, with its content.
        case received(HTTPResponse)
        /// A stored response. The content of the origin's response, if there is any, is not used.
        case stored(ServedResponse)
        /// The stored content of a response together with the content that the origin sent, which
        /// is placed before or after it.
        case joined(ServedResponse, receivedIsFirst: Bool)
        /// The response can't be used. Carry out this exchange instead; it is not conditional.
        case again(CacheExchange)
    }

    /// The answer to the caller.
    public var answer: Answer
    /// The changes to the store, in their order.
    public var changes: [CacheChange] = []
}

/// A change of a store.
public enum CacheChange: Sendable {
    /// Store the response with the content that is received, in place of one with the same
    /// identity.
    ///
    /// Call ``StoredResponse/finished(length:isWhole:)`` when the content has ended. If it returns
    /// `nil`, remove the old one, which the origin has replaced.
    case store(StoredResponse)
    /// Replace the metadata of a stored response and keep its content. The identity may be new.
    ///
    /// This, a copy and a join are for the first response only: if another one with its identity
    /// was stored meanwhile, change nothing. Otherwise its content would get foreign metadata.
    case update(StoredResponse, StoredResponse)
    /// Store a copy of the first response's content under another identity.
    case copy(StoredResponse, StoredResponse)
    /// Add the content that is received to the stored one, before or after it, if it has exactly
    /// the missing length. Otherwise keep what is stored.
    case join(StoredResponse, StoredResponse, receivedIsFirst: Bool)
    /// Remove a response.
    case remove(StoredResponse.ID)
    /// Remove all responses of a URL, in all scopes (RFC 9111, section 4.4).
    case invalidate(url: String)
    /// Remove all responses of an origin, in all scopes (Clear-Site-Data).
    case clear(origin: String)
}
