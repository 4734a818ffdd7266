import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetTransport
import Synchronization

/// An engine that opens sealed requests and seals its responses, as a partner's server does.
final class SealingHost: Sendable {
    typealias Answer = @Sendable (JSONValue) -> (status: Int, body: [UInt8])

    /// A request as the server sees it.
    struct Opened {
        let text: [UInt8]
        let keyID: String?
        let contentType: String?
        let encryption: JWEContentEncryption
    }

    let engine = AnsweringEngine()
    let keys: KeySet
    private let answer: Mutex<Answer?> = Mutex(nil)
    private let keyID = Mutex<String?>(nil)

    /// The id of the key that responses are sealed for; nil is that of the request.
    var answerKeyID: String? {
        get { keyID.withLock { $0 } }
        set { keyID.withLock { $0 = newValue } }
    }

    /// - Parameter ours: The shared secrets, by id, with further members of their JWKs.
    init(ours: [String: String] = ["ours": ""]) {
        let secrets = ours.enumerated().map { index, key in
            let k = Base64.encode([UInt8](repeating: UInt8(index + 1), count: 32), as: .url)
            let more = key.value.isEmpty ? "" : ",\(key.value)"
            return
                #"{"kty":"oct","kid":"\#(key.key)","use":"enc","alg":"A256KW","k":"\#(k)"\#(more)}"#
        }
        let signing =
            #"{"kty":"oct","kid":"sign","use":"sig","alg":"HS256","#
            + #""k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#
        let text = "{\"keys\":[\((secrets + [signing]).joined(separator: ","))]}"
        guard let keys = try? KeySet(parsing: Array(text.utf8), source: "test") else {
            fatalError("the keys of the test are refused")
        }
        self.keys = keys
        engine.respond { [weak self] request in
            self?.response(to: request) ?? (500, [:], [])
        }
    }

    /// Responds with a status and a body that is sealed, or with an empty one.
    func answer(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

    /// Starts a system with the service `bank` here.
    func system(
        _ payload: ServiceConfiguration.PayloadProtocol,
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws(ClientError) -> NetworkSystem {
        var service = ServiceConfiguration(
            baseURL: "https://bank.example/api", payloadProtocol: payload)
        service.sealing = .init(.a256KW, keyIDs: ["ours"])
        change(&service)
        var options = NetworkSystem.Options()
        options.engine = engine
        options.dangerous.allowUnpinnedServices()
        return try await NetworkSystem.start(
            services: ["bank": service], keys: keys, options: options)
    }

    /// Responds to everything with these bytes, as no sealing server would.
    func answer(_ status: Int, _ fields: HTTPFields, raw body: [UInt8]) {
        engine.respond { _ in (status, fields, body) }
    }

    /// Opens a request.
    func opened(_ request: EngineRequest) throws -> Opened {
        let message = try JWEMessage(parsing: request.bytes, textLimit: 1 << 20)
        return Opened(
            text: try message.open(with: keys.key(id: message.keyID ?? "")),
            keyID: message.keyID, contentType: message.contentType,
            encryption: message.encryption)
    }

    /// Seals a body as the server does.
    func sealed(_ body: [UInt8], for id: String? = nil) -> [UInt8] {
        guard let key = keys[id ?? "ours"],
            let sealed = try? JWEMessage.seal(body, for: key, by: .a256KW, .a256GCM)
        else { return [] }
        return sealed
    }

    private func response(
        to request: EngineRequest
    ) -> (status: Int, fields: HTTPFields, body: [UInt8]) {
        let opened = try? opened(request)
        let json = opened.flatMap { try? JSONValue(parsing: $0.text) } ?? [:]
        let (status, body) = answer.withLock { $0 }?(json) ?? (200, Self.echo(json))
        let id = answerKeyID ?? opened?.keyID
        return (
            status, [.contentType: "application/jose"], body.isEmpty ? [] : sealed(body, for: id)
        )
    }

    /// The response of an adapter's protocol, with the parameters of the call.
    private static func echo(_ request: JSONValue) -> [UInt8] {
        func reply(_ call: JSONValue) -> JSONValue {
            ["jsonrpc": "2.0", "id": call["id"] ?? nil, "result": call["params"] ?? nil]
        }
        if let calls = request.array { return JSONValue.array(calls.map(reply)).serialized() }
        if request["jsonrpc"] != nil { return reply(request).serialized() }
        return JSONValue.object(["echo": request]).serialized()
    }
}

/// An engine without a network whose responses a function makes.
final class AnsweringEngine: HTTPEngine {
    typealias Response = (status: Int, fields: HTTPFields, body: [UInt8])

    let capabilities: EngineCapabilities
    private let recorded = Mutex<[EngineRequest]>([])
    private let answer = Mutex<@Sendable (EngineRequest) -> Response>({ _ in (500, [:], []) })

    init(usesClientCertificates: Bool = false) {
        capabilities = EngineCapabilities(
            name: "answering", pinsPublicKeys: true, speaksHTTP2: false,
            usesClientCertificates: usesClientCertificates)
    }

    /// The requests so far.
    var requests: [EngineRequest] { recorded.withLock { $0 } }

    func respond(_ answer: @escaping @Sendable (EngineRequest) -> Response) {
        self.answer.withLock { $0 = answer }
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        recorded.withLock { $0.append(request) }
        let response = answer.withLock { $0 }(request)
        return EngineResponse(
            response: HTTPResponse(
                status: .init(code: response.status), headerFields: response.fields),
            body: HTTPResponseBody(bytes: response.body), httpVersion: .init(major: 1, minor: 1))
    }

    func shutdown() async {}
}
