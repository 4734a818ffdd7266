import HTTPTypes
import SignetCurl
import SignetTransport
import Synchronization

/// The cookies of one service, in memory (RFC 6265bis, a strict part of it).
///
/// A service without a store takes and sends no cookies. The store works for each attempt and for
/// each redirect within the service's origin, and for no other request.
///
/// ```swift
/// var service = ServiceConfiguration(
///     baseURL: "https://shop.example.com", payloadProtocol: .rest)
/// service.cookies = CookieStore()
/// ```
///
/// - Cookies belong to the origin that set them: scheme, host and port. A `Domain` must be the host
///   or one above it, and doesn't extend the cookie to other hosts. So no list of public suffixes
///   is needed.
/// - `Secure`, `Path`, `Max-Age` and `Expires` hold, as do the prefixes `__Host-` and `__Secure-`.
///   A cookie lives for 400 days at most, and one without an expiration as long as the store.
/// - A cookie with control characters, or longer than 4096 bytes, is ignored. Other bytes are sent
///   back as they came.
/// - An origin has at most 50 cookies with 16384 bytes; the ones that were set first make room.
/// - A Cookie field that the call has itself is kept. Cookies of its names are left out.
///
/// All calls of the service share the store. If one system makes calls for several users, give each
/// user a service of its own, or use no store.
///
/// Cookies are credentials: no log, description, event or error has one.
public final class CookieStore: Sendable, CustomStringConvertible, CustomReflectable {
    private let cookies = Mutex<[WebOrigin: [Cookie]]>([:])

    static let maximumCount = 50
    static let maximumBytes = 16384

    /// Creates an empty store.
    public init() {}

    /// The number of cookies, with those that have expired since the last request.
    public var count: Int { cookies.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Removes all cookies, for example when the user signs out.
    public func removeAll() { cookies.withLock { $0 = [:] } }

    /// A redacted description.
    public var description: String { "CookieStore(redacted)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Adds the origin's cookies to a request.
    ///
    /// - Parameters:
    ///   - url: The request's URL.
    ///   - now: Unix seconds.
    func add(to head: inout HTTPRequest, of url: WebURL, at now: Int64) {
        let own = head.headerFields.bytes(of: .cookie)
        let names = Set(own.flatMap(Cookie.names))
        let found = cookies.withLock { cookies -> [Cookie] in
            guard var ofOrigin = cookies[url.origin] else { return [] }
            ofOrigin.removeAll { $0.hasExpired(at: now) }
            cookies[url.origin] = ofOrigin
            return ofOrigin.filter { $0.matches(path: url.path) && !names.contains($0.name) }
        }
        guard !found.isEmpty else { return }
        // Longer paths first, then those that were set first (section 5.8.3); the sort is stable.
        let pairs = found.enumerated().sorted { left, right in
            let (first, second) = (left.element.path.utf8.count, right.element.path.utf8.count)
            return first == second ? left.offset < right.offset : first > second
        }
        head.headerFields[.cookie] = nil
        head.headerFields.append(
            HTTPField(
                name: .cookie,
                value: Array((own + pairs.map(\.element.pair)).joined(separator: "; ".utf8))))
    }

    /// All cookies of an origin with their paths, for a cache that tells users apart by them.
    func all(of origin: WebOrigin, at now: Int64) -> [[UInt8]] {
        let found = cookies.withLock { $0[origin] ?? [] }
        return found.filter { !$0.hasExpired(at: now) }
            .map { Array("\($0.path) ".utf8) + $0.pair }
    }

    /// Takes the cookies of a response.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - now: Unix seconds.
    func take(_ response: HTTPResponse, from url: WebURL, at now: Int64) {
        let fields = response.headerFields.bytes(of: .setCookie)
        guard !fields.isEmpty else { return }
        let set = fields.compactMap { Cookie(parsing: $0, from: url, now: now) }
        cookies.withLock { cookies in
            var ofOrigin = cookies[url.origin] ?? []
            var places: [Cookie.ID: Int] = [:]
            for (place, cookie) in ofOrigin.enumerated() { places[cookie.id] = place }
            for cookie in set {
                if let place = places[cookie.id] {
                    ofOrigin[place] = cookie
                } else {
                    places[cookie.id] = ofOrigin.count
                    ofOrigin.append(cookie)
                }
            }
            ofOrigin.removeAll { $0.hasExpired(at: now) }
            // The ones at the end stay, as many as there is room for.
            var room = Self.maximumBytes
            let kept = ofOrigin.reversed().prefix(Self.maximumCount).prefix { cookie in
                room -= cookie.byteCount
                return room >= 0
            }
            ofOrigin.removeFirst(ofOrigin.count - kept.count)
            cookies[url.origin] = ofOrigin.isEmpty ? nil : ofOrigin
        }
    }
}
