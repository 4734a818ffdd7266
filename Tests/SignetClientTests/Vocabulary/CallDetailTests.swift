import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// The details by which a person finds out why a call failed: its message, the service's code, the
/// pins, and the bytes that were signed.
@Suite struct CallDetailTests {
    private static let secret = "ZZZZZZ"

    private static func keys() throws -> KeySet {
        let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        let keys = [("HS", #","alg":"HS256""#), ("AK", "")].map { id, more in
            #"{"kty":"oct","use":"sig","kid":"\#(id)","k":"\#(secret)"\#(more)}"#
        }
        return try KeySet(
            parsing: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8), source: "test")
    }

    /// The signature base of an exchange in development.
    private static func base(
        _ signing: ServiceConfiguration.Signing, target: String = "/a?x=1",
        fields: HTTPFields = [.contentType: "application/json"], body: String = "{}"
    ) async throws -> SignatureBase {
        try await self.signing(signing, target: target, fields: fields, body: body).base
    }

    private static func signing(
        _ signing: ServiceConfiguration.Signing, target: String = "/a?x=1",
        fields: HTTPFields, body: String
    ) async throws -> (base: SignatureBase, contents: [StageContents]) {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [.init(body: "{}")])
        options.runMode = .development
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com", payloadProtocol: .rest, signing: signing)
        let system = try await NetworkSystem.start(
            services: ["a": service], keys: keys(), policy: .allowingAll(), options: options)
        let trace = CallTrace()
        _ = try await system.exchange(
            "a", method: .post, target: target, fields: fields, body: Array(body.utf8),
            options: RequestOptions(trace: trace))
        await system.shutdown()
        let contents = try #require(trace.record?.counted.contents)
        #expect(contents.filter { $0.base != nil }.map(\.stage) == [.signing])
        return (try #require(contents.lazy.compactMap(\.base).first), contents)
    }

    @Test(.enabled(if: RunMode.isSwitchable)) func theSignedBytesAreKeptWithTheirParts()
        async throws
    {
        let base = try await Self.base(.init(scheme: "rfc9421", keyID: "HS"))
        #expect(base.scheme == "rfc9421" && base.keyID == "HS")
        #expect(base.text.hasPrefix("\"@method\": POST\n"))
        #expect(base.parts.contains { $0.name == "@method" && $0.value == "POST" })
        for part in base.parts { #expect(base.text.contains(part.value)) }
        #expect(base.text.contains("keyid=\"HS\""))
    }

    /// No secret of a request is in its base, by whatever scheme and in whatever place.
    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            (
                .init(scheme: "rfc9421", keyID: "HS", covered: ["@method", "authorization"]),
                "/a", [.authorization: "Bearer ZZZZZZ"], ""
            ),
            (
                .init(scheme: "rfc9421", keyID: "HS", covered: ["@target-uri", "@query"]),
                "/a?api_key=ZZZZZZ&b=%20&access_token=%5AZZZZZ", [:], ""
            ),
            (
                .init(
                    scheme: "rfc9421", keyID: "HS",
                    covered: ["\"@query-param\";name=\"api_key\""]), "/a?api_key=ZZZZZZ", [:], ""
            ),
            (
                .init(scheme: "salted-hmac-v1", keyID: "HS", covered: ["cookie"]),
                "/a?api_key=ZZZZZZ", [.cookie: "sid=ZZZZZZ"], ""
            ),
            (
                .insecure(scheme: "ctnetworking-post", keyID: "AK"), "/a",
                [.contentType: "application/x-www-form-urlencoded"], "b=2&password=ZZZZZZ"
            ),
            (
                .init(scheme: "standard-webhooks", keyID: "AK"), "/a",
                [.contentType: "application/json"], #"{"user":{"password":"ZZZZZZ"},"n":1}"#
            ),
            (
                .insecure(scheme: "wechat-v2", keyID: "AK"), "/a", [.contentType: "text/xml"],
                "<xml><mch_id>1</mch_id><password>ZZZZZZ</password></xml>"
            ),
            (
                .init(scheme: "github", keyID: "AK"), "/a", [.contentType: "text/plain"],
                "the password is ZZZZZZ"
            ),
        ] as [(ServiceConfiguration.Signing, String, HTTPFields, String)])
    func noSecretIsInTheBase(
        _ signing: ServiceConfiguration.Signing, _ target: String, _ fields: HTTPFields,
        _ body: String
    ) async throws {
        let base = try await Self.base(signing, target: target, fields: fields, body: body)
        var text = ""
        dump(base, to: &text)
        #expect(!text.contains(Self.secret) && !text.contains("5AZZZZZ"), "\(text)")
        #expect(text.contains("(redacted)"))
    }

    /// A mark between other digits would tell which of them are the secret's.
    @Test(.enabled(if: RunMode.isSwitchable)) func aShortSecretHidesItsWholeLine() async throws {
        let signing = ServiceConfiguration.Signing(
            scheme: "rfc9421", keyID: "HS", covered: ["@method", "@target-uri", "@query"])
        let base = try await Self.base(signing, target: "/a?page=17&password=7&size=70")
        let values = base.parts.map(\.value) + [base.text]
        for value in values {
            #expect(!value.contains("7") && !value.contains("=(redacted)"), "\(value)")
        }
        let lines = ["\"@method\": POST", "\"@target-uri\": (redacted)", "\"@query\": (redacted)"]
        #expect(base.text.split(separator: "\n").prefix(3).map(String.init) == lines)
    }

    /// The digest of a body that is shown whole is the first line to compare if a signature is
    /// wrong. Beside a body without its secrets it would tell a short one.
    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            (#"{"n":1}"#, "application/json", true),
            ("a=1&b=2", "application/x-www-form-urlencoded", true), ("", "text/plain", true),
            (#"{"n":1,"password":"ZZZZZZ"}"#, "application/json", false),
            (#"{"user":{"password":7}}"#, "application/json", false),
            ("a=1&password=ZZZZZZ", "application/x-www-form-urlencoded", false),
            ("the password is ZZZZZZ", "text/plain", false),
            (String(repeating: " ", count: 65_600) + "1", "application/json", false),
        ])
    func onlyAShownBodyHasItsDigest(_ body: String, _ type: String, _ isShown: Bool) async throws {
        let digest = try ContentDigest.field(of: Array(body.utf8))
        let value = String(decoding: digest.value, as: UTF8.self)
        let (base, contents) = try await Self.signing(
            .init(scheme: "rfc9421", keyID: "HS", covered: ["@method", "content-digest"]),
            fields: [.contentType: type], body: body)
        #expect(base.text.contains(value) == isShown)
        let part = try #require(base.parts.first { $0.name == "content-digest" })
        #expect(part.value == (isShown ? value : "(redacted)"))
        var text = ""
        dump(contents, to: &text)
        #expect(text.contains(value) == isShown)
    }

    /// A digest of something else is a secret like any other.
    @Test(.enabled(if: RunMode.isSwitchable), arguments: [#"{"n":2}"#, "ZZZZZZ"])
    func anotherDigestIsNotShown(_ other: String) async throws {
        let digest = try ContentDigest.field(of: Array(other.utf8))
        let value = String(decoding: digest.value, as: UTF8.self)
        let (base, contents) = try await Self.signing(
            .init(scheme: "rfc9421", keyID: "HS", covered: ["@method", "x-other"]),
            fields: [.contentType: "application/json", .init("X-Other")!: value], body: #"{"n":1}"#)
        var text = ""
        dump((base, contents), to: &text)
        #expect(!text.contains(value))
    }

    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [(#"{"n":1}"#, true), (#"{"password":"ZZZZZZ"}"#, false)])
    func theSaltedBaseHasTheDigestToo(_ body: String, _ isShown: Bool) async throws {
        let base = try await Self.base(.init(scheme: "salted-hmac-v1", keyID: "HS"), body: body)
        let value = Base64.encode(try Digest.of(Array(body.utf8)), as: .standard)
        #expect(base.text.contains(value) == isShown)
        #expect(base.parts.last?.value == (isShown ? value : "(redacted)"))
    }

    /// AWS signs a hash of the whole request.
    @Test(
        .enabled(if: RunMode.isSwitchable),
        arguments: [
            ("/a", #"{"n":1,"password":7}"#), ("/a?password=7", "{}"),
        ])
    func aHashOfSecretsIsNotShown(_ target: String, _ body: String) async throws {
        var signing = ServiceConfiguration.Signing(scheme: "aws-sigv4", keyID: "AK")
        signing.settings = ["region": "eu-central-1", "service": "execute-api"]
        let base = try await Self.base(signing, target: target, body: body)
        #expect(base.text.split(separator: "\n").last == "(redacted)")
    }

    @Test func aFailureHasItsMessageAndTheServicesCode() async throws {
        let engine = RecordingEngine(responses: [
            .init(body: #"{"jsonrpc":"2.0","id":1,"error":{"code":-7,"message":"no"}}"#)
        ])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2)
        let response = await system.response(to: ProcedureCall(RPCCall("m"), on: "a"))
        let record = try #require(response.record)
        #expect(record.serverCode == "-7" && record.failure == .rpcError)
        #expect(record.message?.contains("no") == true)
        await system.shutdown()
    }

    @Test(arguments: [
        (#"{"code":4001}"#, "4001"), (#"{"code":"OUT"}"#, "OUT"), (#"{"code":null}"#, nil),
        (#"{"code":0}"#, nil), (#"{}"#, nil),
    ])
    func aBusinessCodeIsInTheRecord(_ body: String, _ code: String?) async throws {
        let answer = #"{"jsonrpc":"2.0","id":1,"result":\#(body)}"#
        let engine = RecordingEngine(responses: [.init(body: answer)])
        let system = try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.callOptions.responseChecks = [BusinessCodeCheck(field: "code", goodCodes: [0])]
        }
        let response = await system.response(to: ProcedureCall(RPCCall("m"), on: "a"))
        let record = try #require(response.record)
        #expect(record.serverCode == code)
        #expect((record.failure == .businessCode) == (record.message != nil))
        await system.shutdown()
    }

    /// An engine that shows a chain, and refuses as libcurl's does.
    private struct ChainEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "chain", pinsPublicKeys: true, speaksHTTP2: false)
        let seen: Pin

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            guard let host = try? HostName.canonical(request.request.authority ?? "") else {
                throw TransportError(.connect, "no host")
            }
            let chain = [SeenCertificate(subject: "CN=a", pin: seen, der: [1, 2, 3])]
            let verdict = request.policy?.verdict(for: host, chain: chain)
            if let refusal = verdict?.refusal { throw TransportError(refusal) }
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: []),
                httpVersion: .init(major: 1, minor: 1), verdict: verdict)
        }

        func shutdown() async {}
    }

    @Test(arguments: [true, false]) func aRequestNamesThePinsSeenAndWanted(_ isPinned: Bool)
        async throws
    {
        let (one, other) = (
            try Pin(bytes: [UInt8](repeating: 1, count: 32)),
            try Pin(bytes: [UInt8](repeating: 2, count: 32))
        )
        var options = NetworkSystem.Options()
        options.engine = ChainEngine(seen: one)
        let service = ServiceConfiguration(
            baseURL: "https://api.example.com", payloadProtocol: .rest,
            pins: isPinned ? [one, other] : [other])
        let system = try await NetworkSystem.start(services: ["a": service], options: options)
        let response = await system.response(to: .get("/x", on: "a"), as: .raw)
        let hop = try #require(response.record?.attempts.first?.hops.first)
        let pins = try #require(hop.pins)
        #expect(pins.isMatch == isPinned && hop.isPinned == isPinned)
        #expect(pins.seen.map(\.pin) == [one] && pins.seen.map(\.der) == [[]])
        #expect(pins.wanted == (isPinned ? [one, other] : [other]))
        #expect(pins.rule == "api.example.com")
        #expect(pins.refusal == (isPinned ? nil : "pin-mismatch"))
        await system.shutdown()
    }
}
