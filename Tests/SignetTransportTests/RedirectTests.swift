import Foundation
import HTTPTypes
import SignetPinning
import SignetTransport
import TestSupport
import Testing

/// The table of `Vectors/location-resolution.json`.
struct LocationCase: Decodable, Sendable, CustomTestStringConvertible {
    var reference: String
    var target: String?
    var code: String?

    var testDescription: String { reference.debugDescription }
}

private func request(
    _ method: HTTPRequest.Method = .get, _ url: String = "https://api.test/a",
    _ fields: HTTPFields = [:]
) -> HTTPRequest {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return HTTPRequest(
        method: method, scheme: String(parts[0].dropLast()), authority: String(parts[2]),
        path: parts.count > 3 ? "/\(parts[3])" : "/", headerFields: fields)
}

private func response(_ status: Int, _ locations: String...) -> HTTPResponse {
    var fields = HTTPFields()
    for location in locations { fields.append(HTTPField(name: .location, value: location)) }
    return HTTPResponse(status: .init(code: status), headerFields: fields)
}

private func failure(
    _ chain: RedirectChain, _ response: HTTPResponse, body: RedirectChain.BodyKind = .none,
    pins: PinPolicy? = nil
) -> TransportError? {
    var chain = chain
    do {
        _ = try chain.follow(response, body: body, pins: pins, now: 1_800_000_000)
        return nil
    } catch {
        return error
    }
}

@Suite struct LocationTests {
    @Test(
        arguments: try VectorFile<LocationCase>.load("location-resolution", in: .module))
    func resolves(_ one: LocationCase) throws {
        let base = try WebURL(request(.get, "http://a/b/c/d;p?q"))
        do {
            let url = try base.resolving(one.reference)
            #expect("\(url.origin)\(url.target)" == one.target)
        } catch {
            #expect(error.code.name == one.code, "\(error.message)")
            #expect(!error.message.contains("s3cr3t") && !error.message.contains("evil"))
        }
    }

    @Test func refusesTooLongURLs() throws {
        let base = try WebURL(request())
        #expect(throws: TransportError.self) {
            try base.resolving("/" + String(repeating: "a", count: 16384))
        }
    }
}

@Suite struct RedirectTests {
    @Test(
        arguments: [
            (301, .get, .get, false), (301, .post, .get, false), (301, .put, .put, true),
            (301, .head, .head, false), (302, .post, .get, false), (302, .delete, .delete, true),
            (303, .post, .get, false), (303, .put, .get, false), (303, .get, .get, false),
            (303, .head, .head, false), (307, .post, .post, true), (307, .get, .get, false),
            (308, .post, .post, true), (308, .patch, .patch, true),
        ] as [(Int, HTTPRequest.Method, HTTPRequest.Method, Bool)])
    func rewritesMethodAndBody(
        _ status: Int, _ before: HTTPRequest.Method, _ after: HTTPRequest.Method, _ keeps: Bool
    ) throws {
        let fields: HTTPFields = [
            .contentType: "text/plain", .contentLength: "3", .contentEncoding: "br",
            HTTPField.Name("Content-Digest")!: "x", .accept: "*/*", .authorization: "a",
            HTTPField.Name("Repr-Digest")!: "y", .expect: "100-continue",
        ]
        var chain = try RedirectChain(
            request(before, "https://api.test/a", fields), policy: RedirectPolicy())
        let body: RedirectChain.BodyKind = [.get, .head].contains(before) ? .none : .replayable
        let redirect = try chain.follow(response(status, "/b"), body: body, pins: nil, now: 0)
        #expect(redirect?.keepsBody == keeps)
        #expect(chain.request.method == after && chain.request.path == "/b")
        let kept = Set(chain.request.headerFields.map { $0.name.canonicalName })
        #expect(kept.isSuperset(of: ["accept", "authorization"]))
        #expect(kept.contains("content-type") == (before == after))
        #expect(kept.count == (before == after ? 8 : 2))
        #expect(chain.isWithinOrigin)
    }

    @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 399, 400, 503])
    func leavesOtherStatusesAlone(_ status: Int) throws {
        var chain = try RedirectChain(request(), policy: RedirectPolicy())
        #expect(try chain.follow(response(status, "/b"), pins: nil, now: 0) == nil)
    }

    @Test func aResponseWithoutLocationIsFinal() throws {
        var chain = try RedirectChain(request(), policy: RedirectPolicy())
        #expect(try chain.follow(response(302), pins: nil, now: 0) == nil)
        var none = try RedirectChain(request(), policy: .never)
        #expect(try none.follow(response(302, "/b"), pins: nil, now: 0) == nil)
    }

    @Test func onlyPlainFieldsGoToAnotherOrigin() throws {
        let secret = HTTPField.Name("X-Api-Key")!
        var fields: HTTPFields = [
            .accept: "text/html", .userAgent: "signet", .authorization: "Bearer s3cr3t",
            .proxyAuthorization: "Basic s3cr3t", .cookie: "id=s3cr3t", .range: "bytes=1-",
            .contentType: "text/plain", secret: "s3cr3t", HTTPField.Name("Host")!: "api.test",
            .referer: "https://api.test/s3cr3t", .ifNoneMatch: "\"s3cr3t\"",
        ]
        for name in [
            "Signature", "Signature-Input", "Signet-Signature", "X-Amz-Security-Token",
            "webhook-signature", "Content-Digest", "X-Request-Id",
        ] { fields[HTTPField.Name(name)!] = "s3cr3t" }
        for location in [
            "https://other.test/", "https://api.test:8443/", "//api.test.evil.test/",
            "https://api.test@evil.test/",
        ] {
            var chain = try RedirectChain(
                request(.get, "https://api.test/a", fields), policy: RedirectPolicy())
            guard
                let redirect = try? chain.follow(
                    response(302, location), pins: nil, now: 0)
            else {
                #expect(location.contains("@"))
                continue
            }
            #expect(redirect.crossesOrigins && !chain.isWithinOrigin)
            let kept = Set(chain.request.headerFields.map { $0.name.canonicalName })
            #expect(kept == ["accept", "user-agent", "range"])
            // Led back, nothing comes again.
            _ = try chain.follow(response(302, "https://api.test/b"), pins: nil, now: 0)
            #expect(!chain.isWithinOrigin && chain.request.headerFields.count == 3)
        }
        var policy = RedirectPolicy()
        policy.fieldsForOtherOrigins = [secret]
        var chain = try RedirectChain(
            request(.get, "https://api.test/a", fields), policy: policy)
        _ = try chain.follow(response(302, "https://other.test/"), pins: nil, now: 0)
        #expect(chain.request.headerFields[secret] == "s3cr3t")
    }

    @Test func sendsNoCredentialsToAnotherOrigin() throws {
        let names = [
            "Authorization", "Proxy-Authorization", "Cookie", "Signature", "Signature-Input",
            "Signet-Signature", "X-Api-Key",
        ].compactMap { HTTPField.Name($0) }
        var fields: HTTPFields = [:]
        for name in names { fields[name] = "s3cr3t" }
        var policy = RedirectPolicy()
        policy.fieldsForOtherOrigins = Set(names)
        var chain = try RedirectChain(
            request(.get, "https://api.test/a", fields), policy: policy)
        _ = try chain.follow(response(302, "/b"), pins: nil, now: 0)
        #expect(chain.request.headerFields.count == 7)
        _ = try chain.follow(response(302, "https://other.test/"), pins: nil, now: 0)
        #expect(chain.request.headerFields.map(\.name.canonicalName) == ["x-api-key"])
    }

    @Test(arguments: [
        ("http://api.test:443/a", "https://api.test/b"),
        ("http://api.test:8443/a", "https://api.test:8443/b"),
        ("http://api.test/a", "http://api.test:443/b"),
        ("https://api.test/a", "https://api.test:80/b"),
        ("https://127.0.0.1/a", "https://127.0.0.2/b"),
    ])
    func schemePortAndHostMakeAnOriginEach(_ from: String, _ location: String) throws {
        var chain = try RedirectChain(
            request(.get, from, [.authorization: "x"]), policy: RedirectPolicy())
        let redirect = try chain.follow(response(302, location), pins: nil, now: 0)
        #expect(redirect?.crossesOrigins == true && !chain.isWithinOrigin)
        #expect(chain.request.headerFields[.authorization] == nil)
    }

    @Test(arguments: ["https://API.TEST/b", "https://api.test.:443/b", "//api.test/b", "b", "?b"])
    func oneOriginInAllItsSpellingsKeepsFields(_ location: String) throws {
        var chain = try RedirectChain(
            request(
                .get, "https://api.test/a",
                [.authorization: "x", HTTPField.Name("Host")!: "api.test:443"]),
            policy: RedirectPolicy())
        let redirect = try chain.follow(response(302, location), pins: nil, now: 0)
        #expect(redirect?.crossesOrigins == false && chain.isWithinOrigin)
        // The engine writes Host for each URL.
        #expect(chain.request.headerFields == [.authorization: "x"])
    }

    @Test func bodiesStayWithTheirOrigin() throws {
        let chain = try RedirectChain(
            request(.post, "https://api.test/a"), policy: RedirectPolicy())
        for status in [307, 308] {
            let error = failure(
                chain, response(status, "https://other.test/?token=s3cr3t"), body: .replayable)
            #expect(error?.code == .redirectRefused)
            #expect(
                error?.message
                    == "redirect \(status) from https://api.test/a to https://other.test/?…: "
                    + "a body is not sent to another origin")
        }
        #expect(failure(chain, response(303, "https://other.test/"), body: .replayable) == nil)
        #expect(failure(chain, response(307, "/b"), body: .once)?.code == .bodyNotReplayable)
        #expect(failure(chain, response(303, "/b"), body: .once) == nil)
        var policy = RedirectPolicy()
        policy.dangerous.sendBodyAcrossOrigins()
        var loose = try RedirectChain(
            request(.post, "https://api.test/a", [.contentType: "text/plain"]), policy: policy)
        let redirect = try loose.follow(
            response(307, "https://other.test/"), body: .replayable, pins: nil, now: 0)
        #expect(redirect?.keepsBody == true)
        #expect(loose.request.headerFields[.contentType] == "text/plain")
    }

    @Test func httpsIsNotLeft() throws {
        let chain = try RedirectChain(request(), policy: RedirectPolicy())
        #expect(failure(chain, response(302, "http://api.test/a"))?.code == .redirectRefused)
        let plain = try RedirectChain(
            request(.get, "http://api.test/a"), policy: RedirectPolicy())
        #expect(failure(plain, response(302, "http://other.test/")) == nil)
        #expect(failure(plain, response(302, "https://api.test/a")) == nil)
        var policy = RedirectPolicy()
        policy.dangerous.allowCleartext()
        let loose = try RedirectChain(request(), policy: policy)
        #expect(failure(loose, response(302, "http://other.test/")) == nil)
        let pin = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        let pins = try PinPolicy(rules: [
            PinRule(host: "other.test", pins: [Pin(parsing: pin)]),
            PinRule(host: "api.test", pins: [Pin(parsing: pin)]),
        ])
        for host in ["other.test", "OTHER.test.", "%6fther.test"] {
            let error = failure(loose, response(302, "http://\(host)/"), pins: pins)
            #expect(error?.code == .cleartextToPinnedHost)
        }
        #expect(
            failure(loose, response(302, "https://third.test/"), pins: pins)?.code == .unlistedHost)
    }

    @Test func onlyTheNumberEndsACircle() throws {
        for (method, location) in [
            (HTTPRequest.Method.get, "/a"), (.get, ""), (.get, "#x"), (.put, "/a"), (.put, "/b"),
        ] {
            var chain = try RedirectChain(
                request(method, "https://api.test/a"), policy: RedirectPolicy())
            for _ in 0..<5 {
                let redirect = try chain.follow(
                    response(307, location), body: .replayable, pins: nil, now: 0)
                #expect(redirect?.keepsBody == true)
            }
            let error = failure(chain, response(302, location), body: .replayable)
            #expect(error?.code == .tooManyRedirects && chain.redirects.count == 5)
            #expect(error?.message.hasSuffix("it has requested this URL before") == true)
        }
        var chain = try RedirectChain(request(), policy: RedirectPolicy())
        for number in 1...5 {
            _ = try chain.follow(response(307, "/\(number)"), pins: nil, now: 0)
        }
        let error = failure(chain, response(302, "/6"))
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.message.hasSuffix("which is the limit") == true)
    }

    @Test(
        arguments: [
            ("https://api.test/a", "http://api.test/b", "https://api.test/b"),
            ("https://api.test:8443/a", "http://api.test/b?c", "https://api.test:8443/b?c"),
            ("https://api.test:8443/a", "http://api.test:8443/b", "https://api.test:8443/b"),
            ("https://api.test/a", "http://api.test:8080/b", nil),
            ("https://api.test/a", "http://other.test/b", nil),
            ("https://api.test/a", "http://x.api.test/b", nil),
            ("http://api.test/a", "http://api.test/b", "http://api.test/b"),
        ] as [(String, String, String?)])
    func staysOnHTTPSAtTheSameHost(_ from: String, _ location: String, _ to: String?) throws {
        var policy = RedirectPolicy()
        policy.staysOnHTTPS = true
        var chain = try RedirectChain(request(.get, from), policy: policy)
        guard let to else {
            #expect(failure(chain, response(302, location))?.code == .redirectRefused)
            return
        }
        let redirect = try chain.follow(response(302, location), pins: nil, now: 0)
        #expect(redirect.map { "\($0.to.origin)\($0.to.target)" } == to)
        #expect(redirect?.crossesOrigins == false)
    }

    @Test func rulesCanBeNarrowed() throws {
        var policy = RedirectPolicy()
        policy.crossesOrigins = false
        policy.changesMethod = false
        let chain = try RedirectChain(request(.post), policy: policy)
        #expect(failure(chain, response(307, "https://other.test/"))?.code == .redirectRefused)
        #expect(failure(chain, response(302, "/b"))?.code == .redirectRefused)
        #expect(failure(chain, response(307, "/b")) == nil)
    }

    @Test func severalLocationsMustAgree() throws {
        let chain = try RedirectChain(request(), policy: RedirectPolicy())
        #expect(failure(chain, response(302, "/b", "/b")) == nil)
        #expect(failure(chain, response(302, "/b", "/c"))?.code == .malformedResponse)
        #expect(
            failure(chain, response(302, "/b", "https://evil.test/"))?.code == .malformedResponse)
    }

    @Test func signaturesInTheQueryAreNotSentOn() throws {
        var chain = try RedirectChain(request(.get, "https://api.test/a?x=1"), policy: .init())
        _ = try chain.follow(
            response(302, "https://other.test/b?x=1&sig=s3cr3t&t=2&sig"), pins: nil, now: 0,
            droppingParameters: ["sig"])
        #expect(chain.request.path == "/b?x=1&t=2")
    }
}
