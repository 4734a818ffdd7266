import HTTPTypes
import SignetClient
import SignetCrypto
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// `Options.decoding`, from a server that sends correct codings, invalid ones and compression
/// bombs.
@Suite struct DecodingCallTests {
    private static let text = Array(
        (#"{"jsonrpc":"2.0","id":1,"result":""# + String(repeating: "tea ", count: 1000) + #""}"#)
            .utf8)

    private func server() async throws -> (server: ServerProcess, url: String) {
        let (server, port) = try await SocketServer.start("codings")
        return (server, "http://127.0.0.1:\(port)")
    }

    private func system(
        _ url: String, _ decoding: ContentDecoding? = ContentDecoding(),
        _ payload: ServiceConfiguration.PayloadProtocol = .rest, maximumResponseSize: Int = 64 << 20
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.decoding = decoding
        options.maximumResponseSize = maximumResponseSize
        return try await NetworkSystem.start(
            services: [
                "a": ServiceConfiguration(
                    baseURL: url, payloadProtocol: payload, timeout: .seconds(300))
            ], policy: .allowingAll(), options: options)
    }

    private func fetch(
        _ system: NetworkSystem, _ target: String, method: HTTPRequest.Method = .get
    ) async -> Result<RawResponse, ClientError> {
        do throws(ClientError) {
            return .success(
                try await system.exchange(
                    "a", method: method, target: target, fields: [:], body: [UInt8]()))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<RawResponse, ClientError>) -> String? {
        if case .failure(let error) = result { error.code.name } else { nil }
    }

    @Test(.features("000-56", "003-38")) func decodesValidBodies() async throws {
        let (server, url) = try await server()
        let system = try await system(url)
        for target in ["/gzip", "/deflate", "/plain", "/identity", "/digest"] {
            let response = try await fetch(system, target).get()
            #expect(response.body == Self.text, "\(target)")
            let isCoded = ["/gzip", "/deflate", "/digest"].contains(target)
            // After decoding, the fields that described the encoded body are gone.
            #expect((response.fields[.contentLength] == nil) == isCoded)
            if isCoded { #expect(response.fields[.contentEncoding] == nil) }
        }
        let head = try await fetch(system, "/gzip", method: .head).get()
        #expect(head.body.isEmpty && head.fields[.contentEncoding] == "gzip")
        await system.shutdown()
        try await server.stop()
    }

    @Test(arguments: [
        ("/digest-of-text", "malformed-response"), ("/bomb", "response-too-large"),
        ("/members", "response-too-large"), ("/cut", "malformed-response"),
        ("/more", "malformed-response"), ("/lie", "malformed-response"),
        ("/twice", "unsupported-encoding"), ("/br", "unsupported-encoding"),
    ])
    func refuses(_ target: String, _ wanted: String) async throws {
        let (server, url) = try await server()
        let system = try await system(url)
        let result = await fetch(system, target)
        #expect(code(result) == wanted)
        // The system and its connection pool keep working.
        #expect(try await fetch(system, "/gzip").get().body == Self.text)
        await system.shutdown()
        try await server.stop()
    }

    /// An empty body, and deflate without zlib's header (RFC 9110, section 8.4.1.2).
    @Test func decodesWhatServersSendInstead() async throws {
        let (server, url) = try await server()
        let system = try await system(url)
        #expect(try await fetch(system, "/raw").get().body == Self.text)
        #expect(try await fetch(system, "/empty").get().body.isEmpty)
        await system.shutdown()
        try await server.stop()
    }

    @Test func theSmallestLimitHolds() async throws {
        let (server, url) = try await server()
        var small = ContentDecoding()
        small.maximumSize = Self.text.count - 1
        var exact = ContentDecoding()
        exact.maximumSize = Self.text.count
        for (decoding, response, wanted) in [
            (small, 64 << 20, "response-too-large"), (exact, 64 << 20, nil),
            (ContentDecoding(), Self.text.count - 1, "response-too-large"),
            (ContentDecoding(), Self.text.count, nil),
        ] as [(ContentDecoding, Int, String?)] {
            let system = try await system(url, decoding, maximumResponseSize: response)
            #expect(code(await fetch(system, "/gzip")) == wanted)
            await system.shutdown()
        }
        // A body that does not shrink is held to the response's limit as it comes.
        let system = try await system(url, maximumResponseSize: 200_000)
        #expect(code(await fetch(system, "/large")) == "response-too-large")
        await system.shutdown()
        try await server.stop()
    }

    @Test func isAskedForByCallsAndNotWithoutTheOption() async throws {
        let (server, url) = try await server()
        for decoding in [nil, ContentDecoding()] {
            let system = try await system(url + "/gzip", decoding, .jsonRPC2)
            // The outcome isn't checked, because the server always sends the same.
            _ = try? await system.call(RPCCall("m"), on: "a")
            await system.shutdown()
            let plain = try await self.system(url, decoding)
            let response = try await fetch(plain, "/gzip").get()
            #expect((response.body == Self.text) == (decoding != nil))
            #expect((response.fields[.contentEncoding] == "gzip") == (decoding == nil))
            await plain.shutdown()
        }
        let requests = server.received.map {
            String(decoding: $0, as: UTF8.self).lowercased()
        }
        #expect(
            requests.map { $0.contains("accept-encoding: gzip, deflate") } == [
                false, false, true, false,
            ])
        try await server.stop()
    }
}
