import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetCurl
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// Requests whose bodies are compressed.
@Suite struct CompressedRequestTests {
    private static let text = Array(String(repeating: "tea and cups. ", count: 400).utf8)

    private static func decoded(_ bytes: [UInt8]) throws -> [UInt8] {
        var header = HTTPResponse(status: .ok)
        header.headerFields[.contentEncoding] = "gzip"
        var decoder = try ContentDecoder(header, answering: .get)
        decoder.push(bytes)
        var whole: [UInt8] = []
        while let piece = try decoder.next() { whole += piece }
        try decoder.finish()
        return whole
    }

    private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var chunks: [[UInt8]]
        func makeAsyncIterator() -> Chunks { self }
        mutating func next() async -> [UInt8]? { chunks.isEmpty ? nil : chunks.removeFirst() }
    }

    /// The request that leaves, and its body's bytes.
    private func sent(
        _ body: HTTPRequestBody, _ compression: RequestCompression = .gzip(),
        fields: HTTPFields = [:],
        service: RequestCompression? = nil
    ) async throws -> (request: EngineRequest, bytes: [UInt8]) {
        let engine = FeedingEngine()
        let system = try await Pipeline.system(engine) {
            _ in
        } changeService: {
            $0.options.compression = service
        }
        var options = RequestOptions()
        options.compression = compression
        let response = try await system.stream(
            "a", method: .put, target: "/x", fields: fields, body: body, options: options)
        response.cancel()
        await system.shutdown()
        return (try #require(engine.requests.first), try #require(engine.bytes.first))
    }

    @Test(.features("003-38")) func bytesAreCompressed() async throws {
        let (request, bytes) = try await sent(
            HTTPRequestBody(Self.text), fields: [.contentLength: "\(Self.text.count)"])
        #expect(request.request.headerFields[.contentEncoding] == "gzip")
        #expect(request.request.headerFields[.contentLength] == nil)
        #expect(request.body.length == Int64(bytes.count) && bytes.count < Self.text.count / 10)
        #expect(try Self.decoded(bytes) == Self.text)
    }

    @Test(.features("003-38"), arguments: [false, true])
    func streamsAreCompressedWhileTheyAreSent(_ hasTrailers: Bool) async throws {
        let chunks = (0..<50).map { _ in Self.text } + [[]] + [[1]]
        var body = HTTPRequestBody.replayable(length: Int64(50 * Self.text.count + 1)) {
            Chunks(chunks: chunks)
        }
        if hasTrailers { body = body.withTrailers { [:] } }
        let (request, bytes) = try await sent(body)
        #expect(request.request.headerFields[.contentEncoding] == "gzip")
        #expect(request.body.length == nil && request.body.isReplayable)
        #expect(request.body.hasTrailers == hasTrailers)
        #expect(try Self.decoded(bytes) == chunks.flatMap { $0 })
        // Another reading gives the same bytes.
        var reader = try request.body.makeReader()
        var again: [UInt8] = []
        while let chunk = try await reader.next() { again += chunk }
        #expect(again == bytes)
    }

    @Test func anEmptyStreamIsAnEmptyBody() async throws {
        let (_, bytes) = try await sent(.replayable { Chunks(chunks: []) })
        #expect(try Self.decoded(bytes).isEmpty)
    }

    @Test func someBodiesStayAsTheyAre() async throws {
        var generator = SplitMix(seed: 1)
        let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let short = HTTPRequestBody.stream(length: 5, Chunks(chunks: [Array("short".utf8)]))
        let digest = try #require(HTTPField.Name("Content-Digest"))
        let wholesDigest = try #require(HTTPField.Name("Repr-Digest"))
        for (body, compression, fields) in [
            (HTTPRequestBody(Self.text), .none, [:]),
            (HTTPRequestBody(Self.text), .gzip(minimumSize: Self.text.count + 1), [:]),
            (HTTPRequestBody(noise), .gzip(), [:]), (HTTPRequestBody([]), .gzip(), [:]),
            (short, .gzip(), [:]),
            (HTTPRequestBody(Self.text), .gzip(), [.contentEncoding: "x-own"]),
            (HTTPRequestBody(Self.text), .gzip(), [digest: "sha-256=:AA==:"]),
            (HTTPRequestBody(Self.text), .gzip(), [wholesDigest: "sha-256=:AA==:"]),
            (HTTPRequestBody(Self.text), .gzip(), [.contentRange: "bytes 0-1/2"]),
        ] as [(HTTPRequestBody, RequestCompression, HTTPFields)] {
            let (request, bytes) = try await sent(body, compression, fields: fields)
            #expect(request.request.headerFields[.contentEncoding] == fields[.contentEncoding])
            #expect(body.bytes == nil ? bytes == Array("short".utf8) : bytes == body.bytes)
        }
    }

    @Test func theCallsOptionWinsOverTheServices() async throws {
        let (plain, _) = try await sent(HTTPRequestBody(Self.text), .none, service: .gzip())
        #expect(plain.request.headerFields[.contentEncoding] == nil)
    }

    /// The digest and the signature cover the compressed body, of bytes and of a stream that is
    /// read twice.
    @Test(arguments: [false, true]) func theSentBodyIsTheSignedBody(_ isStream: Bool) async throws {
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"HS","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
        let engine = FeedingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        options.callOptions.compression = .gzip()
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest,
                    signing: .init(scheme: "rfc9421", keyID: "HS"))
            ], keys: keys, policy: .allowingAll(), options: options)
        let body: HTTPRequestBody =
            isStream ? .replayable { Chunks(chunks: [Self.text]) } : HTTPRequestBody(Self.text)
        let response = try await system.stream("a", method: .put, target: "/x", body: body)
        response.cancel()
        await system.shutdown()
        let request = try #require(engine.requests.first).request
        let bytes = try #require(engine.bytes.first)
        #expect(request.headerFields[.contentEncoding] == "gzip")
        #expect(try Self.decoded(bytes) == Self.text)
        let verifier = try Verifier(scheme: SigningScheme(named: "rfc9421"), keys: keys)
        let message = try SignableMessage(request: request, body: bytes)
        _ = try await verifier.verify(message, now: UnixTime.now())
        var other = message
        other.setBody(Self.text)
        await #expect(throws: SigningError.self) {
            try await verifier.verify(other, now: UnixTime.now())
        }
    }

    /// A form or XML body whose parameters are signed can't be read after it has been compressed.
    @Test(arguments: [
        ("ctnetworking-post", "application/x-www-form-urlencoded", true),
        ("ctnetworking-post", "Application/X-WWW-Form-URLencoded; charset=utf-8", true),
        ("ctnetworking-post", "text/plain", false),
        ("ctnetworking-get", "application/x-www-form-urlencoded", false),
        ("wechat-v2", "text/xml", true), ("aws-sigv4", "text/plain", false),
    ])
    func noSignatureLeavesTheBodyUncovered(
        _ scheme: String, _ type: String, _ isRefused: Bool
    ) async throws {
        let keys = try Self.secretKey()
        let text = String(repeating: "x", count: 5000)
        let body = scheme == "wechat-v2" ? "<xml><a>\(text)</a></xml>" : "a=\(text)&b=1"
        for compression in [RequestCompression.gzip(), .none] {
            let engine = FeedingEngine()
            var options = NetworkSystem.Options()
            options.engine = engine
            options.callOptions.compression = compression
            let system = try await NetworkSystem.start(
                services: [
                    "a": ServiceConfiguration(
                        baseURL: "https://api.example.com", payloadProtocol: .rest,
                        signing: .insecure(
                            scheme: scheme, keyID: "AK",
                            settings: scheme == "aws-sigv4"
                                ? ["region": "eu-west-1", "service": "sqs"] : [:]))
                ], keys: keys, policy: .allowingAll(), options: options)
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.stream(
                    "a", method: .post, target: "/x", fields: [.contentType: type],
                    body: HTTPRequestBody(Array(body.utf8))
                ).cancel()
            }
            await system.shutdown()
            if compression == .gzip(), isRefused {
                #expect(code == .invalidOptions, "\(scheme)")
                #expect(engine.requests.isEmpty)
            } else {
                #expect(code == nil, "\(scheme) \(type)")
                let sent = try #require(engine.requests.first)
                let isCompressed = compression == .gzip()
                #expect(
                    sent.request.headerFields[.contentEncoding] == (isCompressed ? "gzip" : nil))
            }
        }
    }

    private static func secretKey() throws -> KeySet {
        try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","kid":"AK","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#
                    .utf8), source: "test")
    }

    /// The program sets the field itself.
    @Test(arguments: [
        ("identity", false), ("Identity, identity", false), ("gzip", true), ("identity,br", true),
    ])
    func aSignedFormIsRefusedIfItIsCoded(_ coding: String, _ isRefused: Bool) async throws {
        let engine = RecordingEngine()
        var options = NetworkSystem.Options()
        options.engine = engine
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "https://api.example.com", payloadProtocol: .rest,
                    signing: .insecure(scheme: "ctnetworking-post", keyID: "AK"))
            ], keys: Self.secretKey(), policy: .allowingAll(), options: options)
        let error: ClientError?
        do throws(ClientError) {
            _ = try await system.exchange(
                "a", method: .post, target: "/x",
                fields: [
                    .contentType: "application/x-www-form-urlencoded", .contentEncoding: coding,
                ], body: Array("a=1".utf8))
            error = nil
        } catch let failure {
            error = failure
        }
        #expect(error?.code == (isRefused ? .invalidOptions : nil))
        #expect(error?.message.contains("without this field") != false)
        #expect(engine.count == (isRefused ? 0 : 1))
        await system.shutdown()
    }

    @Test(.features("003-38")) func aServerDecodesTheSentBody() async throws {
        let (server, port) = try await SocketServer.start("decompress")
        let system = try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: "http://127.0.0.1:\(port)", payloadProtocol: .rest)
            ], policy: .allowingAll())
        for compression in [RequestCompression.none, .gzip()] {
            var options = RequestOptions()
            options.compression = compression
            let response = try await system.exchange(
                "a", method: .post, target: "/", fields: [:], body: Self.text, options: options)
            #expect(response.body == (compression == .none ? Array("plain".utf8) : Self.text))
        }
        await system.shutdown()
        try await server.stop()
    }
}
