import HTTPTypes
import SignetClient
import SignetCrypto
import SignetCurl
import SignetTransport
import TestSupport
import Testing

@testable import SignetRecording

/// Recording changes no byte on the wire.
@Suite struct WireTests {
    private static let key = #"""
        {"keys":[{"kty":"oct","use":"sig","kid":"k","alg":"HS256","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"},
        {"kty":"oct","use":"sig","kid":"h","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}
        """#

    /// A body that is read once, in pieces.
    private static func stream() -> HTTPRequestBody {
        let pieces = (0..<5).map { Array("piece \($0) of a body;".utf8) }
        return .stream(
            length: Int64(pieces.joined().count),
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            })
    }

    /// Makes calls of all forms.
    private static func send(on system: NetworkSystem) async throws {
        let json: HTTPFields = [.contentType: "application/json", .authorization: "Bearer ZZZZZZ"]
        _ = try await system.exchange("plain", method: .get, target: "/a?token=ZZZZZZ&b=%20c")
        _ = try await system.exchange(
            "plain", method: .post, target: "/json", fields: json,
            body: Array(#"{ "item" : "tea", "password": "ZZ\u005aZZZ" }"#.utf8))
        for service: ServiceName in ["signed", "hook"] {
            _ = try await system.exchange(
                service, method: .post, target: "/signed?x=1", fields: json,
                body: Array(#"{"n":1}"#.utf8))
        }
        _ = try await system.upload(
            stream(), contentType: "text/plain", with: RESTRequest(.put, "/stream"), to: "plain")
        let file = MultipartUpload.File(
            name: "file", fileName: "a.txt", contentType: "text/plain",
            content: HTTPRequestBody(Array("a file".utf8)))
        _ = try await system.upload(
            MultipartUpload(files: [file]), with: RESTRequest(.post, "/upload"), to: "plain")
        var options = RequestOptions()
        options.attempts = 3
        _ = try? await system.exchange("down", method: .get, target: "/retry", options: options)
    }

    /// The bytes that two servers get: one that works, and one that is down.
    private static func bytes(isRecording: Bool) async throws -> [String] {
        let server = try await CaptureServer()
        let down = try await CaptureServer(status: "503 Service Unavailable")
        func service(
            _ server: CaptureServer, signing: ServiceConfiguration.Signing? = nil
        ) -> ServiceConfiguration {
            ServiceConfiguration(baseURL: server.url, payloadProtocol: .rest, signing: signing)
        }
        let system = try await startSystem(
            CurlEngine(),
            services: [
                "plain": service(server), "down": service(down),
                "signed": service(server, signing: .init(scheme: "rfc9421", keyID: "k")),
                "hook": service(server, signing: .init(scheme: "github", keyID: "h")),
            ], keys: KeySet(parsing: Array(key.utf8), source: "test")
        ) { $0.clock.sleep = { _ in } }
        let recorder = Recorder(.anywhere)
        if isRecording { try recorder.start(on: system) }
        try await send(on: system)
        let requests = try await server.requests(count: 6) + down.requests(count: 3)
        await system.shutdown()
        if isRecording {
            let exchanges = try await recorder.recording().exchanges
            #expect(exchanges.count == requests.count)
        }
        let ports = ["\(server.port)", "\(down.port)"]
        try await server.stop()
        try await down.stop()
        return requests.map { String(decoding: $0, as: UTF8.self) }.map {
            fixed($0, without: ports)
        }
    }

    /// A request with fixed values in place of those that are others each time: the ports, and the
    /// times, nonces, signatures and boundaries that are random.
    private static func fixed(_ request: String, without ports: [String]) -> String {
        var request = request
        for port in ports { request = request.replacing(":\(port)", with: ":PORT") }
        request = request.replacing(/created=[0-9]{10}/, with: "created=T")
        request = request.replacing(/nonce="[A-Za-z0-9_-]{22}"/, with: "nonce=N")
        request = request.replacing(/ignature: [a-z0-9]+=:[A-Za-z0-9+\/=]+:/, with: "SIGNATURE")
        if let boundary = request.firstMatch(of: /boundary="?([A-Za-z0-9_-]+)/)?.output.1 {
            request = request.replacing(boundary, with: "BOUNDARY")
        }
        return request
    }

    @Test(.features("000-47")) func recordingChangesNoByte() async throws {
        let plain = try await Self.bytes(isRecording: false)
        let recorded = try await Self.bytes(isRecording: true)
        #expect(plain.count == 9)
        for (one, other) in zip(plain, recorded) { #expect(one == other) }
        // The bytes are those that were asked for.
        let all = recorded.joined()
        for part in [
            "GET /a?token=ZZZZZZ&b=%20c HTTP", #"{ "item" : "tea", "password": "ZZ\u005aZZZ" }"#,
            "X-Hub-Signature-256: sha256=", "created=T", "piece 4 of a body;", "--BOUNDARY--",
            "GET /retry HTTP",
        ] { #expect(all.contains(part), "\(part)") }
    }
}
