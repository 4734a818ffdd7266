#if Inspector
import SignetBase
import SignetCrypto
import Synchronization

/// Decides who may use the page: the user of the process, with a link that was given to them, from
/// the page itself.
///
/// A link has a token that is good once and is exchanged for a cookie. Other sites can't send the
/// cookie (`SameSite`); a name that leads here is another `Host`; a request that does something
/// comes from the page (`Origin`), whose own token other sites can't read. Ports of one address
/// share their cookies, so the cookie alone never is enough for data.
final class PageAccess: Sendable {
    /// A decision about a request.
    enum Decision: Sendable, Equatable {
        /// The page and its parts.
        case page
        /// The calls and the switches.
        case data
        /// The token is good: the cookie is set.
        case welcome(cookie: String)
        /// The reason is for the user, and has nothing of the request.
        case refused(String)
    }

    /// The user who may use the page.
    private let user: UInt32
    private let authority: String
    private let cookieName: String
    private let session: String
    /// The token of the page's own requests.
    let pageToken: String
    private let links = Mutex<[String]>([])

    /// The most links that wait to be used.
    private static let linkLimit = 16

    /// - Throws: `cannot-listen` if there are no random numbers.
    init(user: UInt32, port: UInt16) throws(InspectorError) {
        self.user = user
        authority = "127.0.0.1:\(port)"
        cookieName = "signet-\(port)"
        session = try Self.secret()
        pageToken = try Self.secret()
    }

    private static func secret() throws(InspectorError) -> String {
        do throws(CryptoFailure) {
            return Base64.encode(try RandomBytes.bytes(32), as: .url)
        } catch {
            throw InspectorError(.cannotListen, "OpenSSL gave no random numbers")
        }
    }

    /// Returns a link that can be used once.
    func link() throws(InspectorError) -> String {
        let token = try Self.secret()
        links.withLock { links in
            links.append(token)
            if links.count > Self.linkLimit { links.removeFirst() }
        }
        return "http://\(authority)/?token=\(token)"
    }

    /// Decides about a request. A token that is good is used up.
    func decide(_ request: PageRequest) -> Decision {
        guard request.user == user else {
            return .refused("the request comes from another user, or from another machine")
        }
        guard sameBytes(request.fields["host"] ?? "", authority) else {
            return .refused("the page is at \(authority), and at no other name")
        }
        // Browsers say so if another site made the request, and no script can change it.
        let site = request.fields["sec-fetch-site"] ?? "none"
        guard sameBytes(site, "same-origin") || sameBytes(site, "none") else {
            return .refused("another site made the request; open the link from the terminal")
        }
        let origin = request.fields["origin"]
        guard origin == nil || sameBytes(origin ?? "", "http://\(authority)") else {
            return .refused("another site made the request")
        }
        let isReading = sameBytes(request.method, "GET")
        if isReading, sameBytes(request.path, "/"), let token = request.parameter("token") {
            guard use(token) else {
                return .refused(
                    "the link was used before, or is of another run; open a new link, each is good once"
                )
            }
            return .welcome(
                cookie: "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict")
        }
        guard hasSession(request) else {
            return .refused("open the link that the program printed; each is good once")
        }
        if isReading, !request.path.utf8.starts(with: "/api/".utf8) { return .page }
        guard let token = request.fields["signet-token"], Self.isEqual(token, pageToken) else {
            return .refused("the request doesn't have the page's token")
        }
        guard isReading || origin != nil else {
            return .refused("the request doesn't say from which site it comes")
        }
        return .data
    }

    private func hasSession(_ request: PageRequest) -> Bool {
        let cookies = request.fields["cookie"]?.split(separator: ";") ?? []
        return cookies.contains { cookie in
            let parts = cookie.drop { $0 == " " }
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && sameBytes(String(parts[0]), cookieName)
                && Self.isEqual(String(parts[1]), session)
        }
    }

    private func use(_ token: String) -> Bool {
        links.withLock { links in
            guard let index = links.firstIndex(where: { Self.isEqual($0, token) }) else {
                return false
            }
            links.remove(at: index)
            return true
        }
    }

    private static func isEqual(_ one: String, _ other: String) -> Bool {
        constantTimeEqual(Array(one.utf8), Array(other.utf8))
    }
}
#endif
