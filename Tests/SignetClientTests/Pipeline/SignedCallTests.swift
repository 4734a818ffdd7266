import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// The message that an engine gets for a signed call. A verifier accepts it, wherever the scheme
/// puts its signature.
@Suite struct SignedCallTests {
    /// A scheme with its settings, and the location of its signature.
    struct Case: Sendable, CustomTestStringConvertible {
        enum Place { case header(String), query(String), body(String) }
        var scheme: String
        var settings: [String: String] = [:]
        var place: Place
        var isWeak = false
        var target = "/a/b?x=1&y=%20"
        var method = HTTPRequest.Method.post
        var fields: HTTPFields = [.contentType: "application/json"]
        var body = #"{"tea":2}"#

        var testDescription: String { "\(scheme) \(place)" }
    }

    private static let aws = ["region": "eu-central-1", "service": "execute-api"]
    private static let presigned = aws.merging(["placement": "query"]) { $1 }

    static let cases = [
        Case(scheme: "rfc9421", place: .header("Signature")),
        Case(
            scheme: "rfc9421", settings: ["sf.x-list": "list"],
            place: .header("Signature-Input")),
        Case(scheme: "salted-hmac-v1", place: .header("Signet-Signature")),
        Case(scheme: "aws-sigv4", settings: aws, place: .header("Authorization")),
        Case(scheme: "aws-sigv4", settings: presigned, place: .query("X-Amz-Signature")),
        Case(
            scheme: "aws-sigv4", settings: presigned, place: .query("X-Amz-Signature"),
            target: "/", method: .get, fields: [:], body: ""),
        Case(
            scheme: "tencent-tc3", settings: ["service": "cvm"], place: .header("Authorization")),
        Case(scheme: "alibaba-acs3", place: .header("Authorization")),
        Case(scheme: "standard-webhooks", place: .header("webhook-signature")),
        Case(scheme: "stripe", place: .header("Stripe-Signature")),
        Case(scheme: "github", place: .header("X-Hub-Signature-256")),
        Case(
            scheme: "ctnetworking-get", place: .query("sig"), isWeak: true, method: .get,
            fields: [:], body: ""),
        Case(
            scheme: "ctnetworking-restful-get",
            settings: ["apiVersion": "v1", "methodName": "orders"], place: .query("sig"),
            isWeak: true, method: .get, fields: [:], body: ""),
        Case(
            scheme: "ctnetworking-post", place: .query("sig"), isWeak: true, target: "/a",
            fields: [.contentType: "application/x-www-form-urlencoded"], body: "b=2&a=1"),
        Case(
            scheme: "ctnetworking-restful-post",
            settings: ["apiVersion": "v1", "methodName": "orders"], place: .query("sig"),
            isWeak: true),
        Case(
            scheme: "wechat-v2", place: .body("<sign>"), isWeak: true,
            fields: [.contentType: "text/xml", .contentLength: "36"],
            body: "<xml><mch_id>10000100</mch_id></xml>"),
    ]

    /// One key for the schemes of this package, one for those of partners.
    private static func keys(_ only: String? = nil) throws -> KeySet {
        let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        let all = [("HS", #","alg":"HS256""#), ("AK", "")].map { id, more in
            (id, #"{"kty":"oct","use":"sig","kid":"\#(id)","k":"\#(secret)"\#(more)}"#)
        }
        let wanted = all.filter { only == nil || only == $0.0 }.map(\.1)
        return try KeySet(
            parsing: Array(#"{"keys":[\#(wanted.joined(separator: ","))]}"#.utf8), source: "test")
    }

    private static func scheme(_ one: Case) throws -> SigningScheme {
        try one.isWeak
            ? .Insecure.scheme(named: one.scheme) : SigningScheme(named: one.scheme)
    }

    private static func keyID(_ one: Case) -> String {
        ["rfc9421", "salted-hmac-v1"].contains(one.scheme) ? "HS" : "AK"
    }

    private static func verifier(_ one: Case) throws -> Verifier {
        var policy = VerificationPolicy()
        policy.settings = one.settings.filter { !$0.key.hasPrefix("sf.") }
        return try Verifier(scheme: scheme(one), keys: keys(keyID(one)), policy: policy)
    }

    private static func system(_ one: Case, _ engine: RecordingEngine) async throws -> NetworkSystem
    {
        var options = NetworkSystem.Options()
        options.engine = engine
        var values: JSONObject = [
            "services.a.protocol": "rest", "services.a.signing.scheme": .string(one.scheme),
            "services.a.signing.key": .string(keyID(one)),
            "services.a.signing.insecureSchemeOk": .bool(one.isWeak),
            "retry.statusCodes": [503], "services.a.attempts": 3, "retry.firstPause": "0s",
        ]
        if !one.settings.isEmpty {
            values["services.a.signing.settings"] = .object(
                JSONObject(one.settings.map { (name: $0.key, value: JSONValue.string($0.value)) }))
        }
        return try await NetworkSystem.start(
            Settings.configuration(values), keys: keys(), options: options)
    }

    @Test(.features("003-23"), arguments: cases)
    func theEnginesRequestVerifies(_ one: Case) async throws {
        let engine = RecordingEngine(responses: [.init(status: 503), .init(body: "{}")])
        let system = try await Self.system(one, engine)
        // A PUT is retried: each attempt signs the frozen request again.
        let method = one.method == .post ? HTTPRequest.Method.put : one.method
        let response = try await system.exchange(
            "a", method: method, target: one.target, fields: one.fields,
            body: Array(one.body.utf8))
        #expect(response.status == 200)
        await system.shutdown()
        #expect(engine.count == 2)
        let verifier = try Self.verifier(one)
        let now = Int64(Date().timeIntervalSince1970)
        for request in engine.requests {
            let message = try SignableMessage(request: request.request, body: request.bytes)
            let proof = try await verifier.verify(message, now: now)
            #expect(proof.keyID == Self.keyID(one))
            #expect(one.place.count(in: request) == 1, "\(request.request) \(request.bytes)")
            #expect(request.request.path?.hasPrefix(one.target) == true)
            if let length = request.request.headerFields[.contentLength] {
                #expect(length == "\(request.bytes.count)")
            }
            // Any other byte is refused.
            var changed = request
            changed.request.path?.append("1")
            let other = try SignableMessage(request: changed.request, body: changed.bytes + [0x31])
            await #expect(throws: SigningError.self) { try await verifier.verify(other, now: now) }
        }
    }

    @Test func theSchemeRefusesInvalidSettings() async throws {
        for (change, code) in [
            ({ $0.settings["service"] = nil }, "missing-option"),
            ({ $0.settings["placement"] = "cookie" }, "invalid-value"),
            ({ $0.settings["nothing"] = "x" }, "unsupported-option"),
            ({ $0.scheme = "nothing" }, "unknown-scheme"),
            ({ $0.scheme = "./no/such/scheme.json" }, "unreadable-file"),
            (
                {
                    $0.scheme = "ctnetworking-get"; $0.settings = [:]
                }, "insecure-scheme"
            ),
            (
                {
                    $0.scheme = "rfc9421"; $0.settings = ["sf.x": "tree"]
                }, "invalid-value"
            ),
        ] as [((inout Case) -> Void, String)] {
            var one = Self.cases[3]
            change(&one)
            let broken = one
            let error = await #expect(throws: ClientError.self) {
                try await Self.system(broken, RecordingEngine())
            }
            #expect(error?.code.name == code)
            #expect(error?.message.hasPrefix("service a: ") == true)
        }
    }

    @Test func aWeakSchemeOfAFileMustBeNamed() async throws {
        let folder = try TemporaryDirectory()
        for (name, isWeak) in [("alibaba-acs3", false), ("ctnetworking-get", true)] {
            let document = try SigningScheme.Insecure.scheme(named: name).document
            let path = try folder.write(
                JSONValue.object(document).serialized(), to: "\(name).json")
            let engine = RecordingEngine(responses: [.init(body: "{}")])
            func start(_ signing: ServiceConfiguration.Signing) async throws -> NetworkSystem {
                var options = NetworkSystem.Options()
                options.engine = engine
                let service = ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest, signing: signing)
                return try await NetworkSystem.start(
                    services: ["a": service], keys: Self.keys(), policy: .allowingAll(),
                    options: options)
            }
            if isWeak {
                let error = await #expect(throws: ClientError.self) {
                    try await start(.init(scheme: path, keyID: "AK"))
                }
                #expect(error?.code.name == "insecure-scheme")
                #expect(error?.message.contains(path) == true)
            }
            let system = try await start(
                isWeak
                    ? .insecure(scheme: path, keyID: "AK") : .init(scheme: path, keyID: "AK"))
            _ = try await system.exchange(
                "a", method: .get, target: "/", fields: [.contentType: "text/plain"], body: [])
            await system.shutdown()
            let request = try #require(engine.requests.first)
            let one = try #require(Self.cases.first { $0.scheme == name })
            _ = try await Self.verifier(one).verify(
                SignableMessage(request: request.request, body: request.bytes),
                now: Int64(Date().timeIntervalSince1970))
        }
    }

    @Test func aFetchedValueNamesNoFileAndNoWeakScheme() async throws {
        let all = try Settings.configuration(
            [
                "services.a.signing.scheme": "rfc9421", "services.a.signing.key": "HS",
                "services.a.signing.insecureSchemeOk": false,
            ], setBy: ["defaults", "fetched"])
        for (name, value) in [
            ("scheme", "/etc/hostname"), ("scheme", "../scheme.json"), ("insecureSchemeOk", true),
        ] as [(String, JSONValue)] {
            let fetched = try all.changing(.fetched, with: ["services.a.signing.\(name)": value])
            var options = NetworkSystem.Options()
            options.engine = RecordingEngine()
            let (start, keys) = (options, try Self.keys())
            let error = await #expect(throws: ClientError.self) {
                try await NetworkSystem.start(fetched, keys: keys, options: start)
            }
            #expect(error?.code == .invalidService)
            #expect(error?.message.contains("services.a.signing.\(name)") == true)
            #expect(error?.message.contains("hostname") == false)
        }
    }

    @Test func aTagAndWeakSettingsWithoutASchemeAreNamed() async throws {
        var values: JSONObject = [
            "services.a.signing.scheme": "rfc9421", "services.a.signing.key": "HS",
            "services.a.signing.tag": "orders",
        ]
        let engine = RecordingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            Settings.configuration(values), keys: Self.keys(), options: options)
        _ = try await system.call(RPCCall("m"), on: "a")
        await system.shutdown()
        #expect(
            engine.requests[0].request.headerFields[HTTPField.Name("Signature-Input")!]?
                .contains(#"tag="orders""#) == true)
        values["services.a.signing.scheme"] = nil
        values["services.a.signing.key"] = nil
        let (alone, start) = (values, options)
        let error = await #expect(throws: ClientError.self) {
            try await NetworkSystem.start(
                Settings.configuration(alone), keys: Self.keys(), options: start)
        }
        #expect(error?.message.contains("services.a.signing.tag") == true)
    }

    // MARK: Common parameters

    /// The kinds of calls, which differ in the parts that a signature must cover.
    enum CommonCall: CaseIterable { case head, get, procedure }

    private static func send(
        _ call: CommonCall, at base: String?, by engine: RecordingEngine
    ) async throws -> EngineRequest {
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1",
            payloadProtocol: call == .procedure ? .jsonRPC2 : .rest,
            signing: .init(scheme: "rfc9421", keyID: "HS"), commonParameters: ["app": "shop"])
        service.sets["php"] = RequestDefaults(parameters: ["format": "json"])
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            services: ["a": service], keys: keys(), policy: .allowingAll(), options: options)
        var own = RequestOptions()
        own.baseURL = base
        own.sets = [RequestDefaults.common, "php"]
        switch call {
        case .head: _ = try await system.call(RESTRequest(.head, "/x"), on: "a", options: own)
        case .get: _ = try await system.call(RESTRequest(.get, "/x"), on: "a", options: own)
        case .procedure: _ = try await system.call(RPCCall("pay"), on: "a", options: own)
        }
        await system.shutdown()
        #expect(engine.count == 1)
        return try #require(engine.requests.first)
    }

    /// Other libraries never sign HEAD, leave the method or the common parameters out of the
    /// signature, or skip both for a URL that isn't the service's own.
    @Test(arguments: CommonCall.allCases, [nil, "https://other.example.com/v2"])
    func theSignatureCoversWhatIsCommon(_ call: CommonCall, _ base: String?) async throws {
        let sent = try await Self.send(call, at: base, by: RecordingEngine())
        #expect(sent.request.authority == (base == nil ? "api" : "other") + ".example.com")
        func verify(_ request: HTTPRequest, _ body: [UInt8]) async throws {
            // A verifier of its own: nothing is refused for a nonce that was seen before.
            _ = try await Self.verifier(Self.cases[0]).verify(
                SignableMessage(request: request, body: body),
                now: Int64(Date().timeIntervalSince1970))
        }
        try await verify(sent.request, sent.bytes)
        let isProcedure = call == .procedure
        let text =
            isProcedure ? String(decoding: sent.bytes, as: UTF8.self) : sent.request.path ?? ""
        let changes =
            isProcedure
            ? [(#""shop""#, #""ship""#), (#""json""#, #""xml""#), (#""pay""#, #""say""#)]
            : [("app=shop", "app=ship"), ("format=json", "format=xml")]
        for (part, other) in changes {
            #expect(text.contains(part), "\(text)")
            let changed = text.replacing(part, with: other)
            var request = sent.request
            if !isProcedure { request.path = changed }
            let (head, body) = (request, isProcedure ? Array(changed.utf8) : sent.bytes)
            let error = await #expect(throws: SigningError.self) { try await verify(head, body) }
            #expect(error?.code == (isProcedure ? .digestMismatch : .signatureMismatch))
        }
        var other = sent.request
        other.method = .delete
        let changed = other
        let error = await #expect(throws: SigningError.self) {
            try await verify(changed, sent.bytes)
        }
        #expect(error?.code == .signatureMismatch)
    }
}

extension SignedCallTests.Case.Place {
    /// The number of signatures in a request, and that there is only one.
    func count(in request: EngineRequest) -> Int {
        switch self {
        case .header(let name):
            return request.request.headerFields.count { $0.name.canonicalName == name.lowercased() }
        case .query(let name):
            let path = request.request.path ?? ""
            return path.split(whereSeparator: { $0 == "?" || $0 == "&" })
                .count { $0.hasPrefix("\(name)=") }
        case .body(let text):
            return String(decoding: request.bytes, as: UTF8.self).components(separatedBy: text)
                .count
                - 1
        }
    }
}
