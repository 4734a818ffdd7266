#if Inspector
import Testing

@testable import SignetInspector

/// The decisions about requests to the page.
@Suite struct PageAccessTests {
    private static let port: UInt16 = 50321
    private static let user: UInt32 = 1000

    /// A request that is good, once its cookie and its token are those of the access.
    private static func request(_ method: String = "GET", _ path: String = "/") -> PageRequest {
        PageRequest(
            method: method, path: path, fields: ["host": "127.0.0.1:\(port)"], user: user)
    }

    /// An access whose link was used, and the cookie that it gave.
    private static func opened() throws -> (access: PageAccess, cookie: String) {
        let access = try PageAccess(user: user, port: port)
        var request = request()
        request.query = try query(of: access.link())
        guard case .welcome(let cookie) = access.decide(request) else {
            throw InspectorError(.cannotListen, "the link is refused")
        }
        return (access, String(cookie.prefix { $0 != ";" }))
    }

    private static func query(of link: String) throws -> String {
        try String(#require(link.split(separator: "?").last))
    }

    private static func isRefused(_ decision: PageAccess.Decision) -> Bool {
        if case .refused = decision { true } else { false }
    }

    @Test func aLinkOpensThePageOnce() throws {
        let access = try PageAccess(user: Self.user, port: Self.port)
        let link = try access.link()
        #expect(link.hasPrefix("http://127.0.0.1:50321/?token="))
        var request = Self.request()
        request.query = try Self.query(of: link)
        guard case .welcome(let cookie) = access.decide(request) else {
            Issue.record("the first use is refused")
            return
        }
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(Self.isRefused(access.decide(request)))
        // Also with the cookie that it gave.
        request.fields["cookie"] = String(cookie.prefix { $0 != ";" })
        #expect(Self.isRefused(access.decide(request)))
        request.query = ""
        #expect(access.decide(request) == .page)
    }

    @Test func eachLinkIsAnotherOne() throws {
        let access = try PageAccess(user: Self.user, port: Self.port)
        let links = try (0..<3).map { _ in try access.link() }
        #expect(Set(links).count == 3)
        for link in links {
            var request = Self.request()
            request.query = try Self.query(of: link)
            #expect(!Self.isRefused(access.decide(request)))
        }
    }

    @Test(arguments: ["", "token=", "token=x", "token", "other=1", "token=x&token=y"])
    func anotherTokenIsRefused(_ query: String) throws {
        let access = try PageAccess(user: Self.user, port: Self.port)
        _ = try access.link()
        var request = Self.request()
        request.query = query
        #expect(Self.isRefused(access.decide(request)))
    }

    /// A page of a name that leads to 127.0.0.1 sends that name.
    @Test(arguments: [
        "evil.example", "evil.example:50321", "localhost:50321", "127.0.0.1", "127.0.0.1:80",
        "127.0.0.1:50321.evil.example", "[::1]:50321", "", "127.0.0.1:503210",
    ])
    func anotherHostIsRefused(_ host: String) throws {
        let (access, cookie) = try Self.opened()
        var request = Self.request("GET", "/api/calls")
        request.fields["cookie"] = cookie
        request.fields["signet-token"] = access.pageToken
        #expect(access.decide(request) == .data)
        request.fields["host"] = host
        #expect(Self.isRefused(access.decide(request)))
        request.fields["host"] = nil
        #expect(Self.isRefused(access.decide(request)))
    }

    @Test(arguments: [
        "http://evil.example", "http://127.0.0.1:50322", "https://127.0.0.1:50321", "null", "",
        "http://127.0.0.1:50321/",
    ])
    func anotherOriginIsRefused(_ origin: String) throws {
        let (access, cookie) = try Self.opened()
        var request = Self.request("POST", "/api/act")
        request.fields["cookie"] = cookie
        request.fields["signet-token"] = access.pageToken
        request.fields["origin"] = "http://127.0.0.1:50321"
        #expect(access.decide(request) == .data)
        request.fields["origin"] = origin
        #expect(Self.isRefused(access.decide(request)))
        request.fields["origin"] = nil
        #expect(Self.isRefused(access.decide(request)))
    }

    @Test(arguments: ["cross-site", "same-site", "SAME-ORIGIN", ""])
    func whatAnotherSiteMakesIsRefused(_ site: String) throws {
        let (access, cookie) = try Self.opened()
        var request = Self.request()
        request.fields["cookie"] = cookie
        request.fields["sec-fetch-site"] = "same-origin"
        #expect(access.decide(request) == .page)
        request.fields["sec-fetch-site"] = site
        #expect(Self.isRefused(access.decide(request)))
    }

    @Test func anotherUserIsRefused() throws {
        let (access, cookie) = try Self.opened()
        for user in [nil, 0, 1001] as [UInt32?] {
            var request = Self.request()
            request.fields["cookie"] = cookie
            request.user = user
            #expect(Self.isRefused(access.decide(request)))
            request.query = try Self.query(of: access.link())
            #expect(Self.isRefused(access.decide(request)))
        }
    }

    @Test func theCookieAloneGivesNoData() throws {
        let (access, cookie) = try Self.opened()
        for method in ["GET", "POST", "PUT", "get"] {
            for path in ["/api/calls", "/api/act"] {
                var request = Self.request(method, path)
                request.fields["cookie"] = cookie
                request.fields["origin"] = "http://127.0.0.1:50321"
                #expect(Self.isRefused(access.decide(request)))
                request.fields["signet-token"] = "x"
                #expect(Self.isRefused(access.decide(request)))
            }
        }
    }

    @Test(arguments: ["", "signet-50321=", "signet-50321=x", "signet-1=C", "a=b; c", "C=1"])
    func anotherCookieIsRefused(_ cookie: String) throws {
        let (access, own) = try Self.opened()
        let value = String(own.drop { $0 != "=" }.dropFirst())
        var request = Self.request()
        request.fields["cookie"] = cookie.replacing("C", with: value)
        #expect(Self.isRefused(access.decide(request)))
        request.fields["cookie"] = "other=1; \(own)"
        #expect(access.decide(request) == .page)
    }

    /// The kernel's table, as Linux writes it.
    @Test func theUserIsFoundInTheKernelsTable() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:C491 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11
               1: 0100007F:D431 0100007F:C491 01 00000000:00000000 00:00000000 00000000  1000        0 12
               2: 0100007F:C491 0100007F:D431 01 00000000:00000000 00:00000000 00000000     5        0 13
               3: 0100007F:D432 0100007F:C491 05 00000000:00000000 00:00000000 00000000     0        0 0
               4: 0100007F:D433 0100007F:C491 01 00000000:00000000 00:00000000 00000000     0        0 0
            """
        let (from, to) = (PeerUser.address("", 54321), PeerUser.address("", 50321))
        #expect(PeerUser.user(in: Array(table.utf8), from: from, to: to) == 1000)
        #expect(PeerUser.user(in: Array(table.utf8), from: to, to: from) == 5)
        #expect(PeerUser.user(in: Array(table.utf8), from: from, to: from) == nil)
        #expect(PeerUser.user(in: [], from: from, to: to) == nil)
        // Closed sockets: the kernel says user 0, who may be the program's own.
        for port: UInt16 in [54322, 54323] {
            let closed = PeerUser.address("", port)
            #expect(PeerUser.user(in: Array(table.utf8), from: closed, to: to) == nil)
        }
    }
}
#endif
