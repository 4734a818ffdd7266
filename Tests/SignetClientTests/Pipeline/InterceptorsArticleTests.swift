import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetSigning
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// The code of the article "Interceptors and credentials", exactly as the article shows it.
@Suite struct InterceptorsArticleTests {
    struct Language: CallInterceptor {
        let language: String

        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            call.fields[.acceptLanguage] = language
            do {
                return try await next(call)
            } catch {
                if error.code == .timeout { print("\(call.identity.service) was too slow") }
                throw error
            }
        }
    }

    struct Renewal: CallInterceptor {
        let tokens: Tokens
        func intercept(_ call: PendingCall, next: NextCall) async throws -> UnboxedResponse {
            var call = call
            let token = try await tokens.token()
            call.fields[.authorization] = "Bearer \(token)"
            do throws(ClientError) {
                return try await next(call)
            } catch {
                guard error.response?.result?.value["code"] == 4001 else { throw error }
                let new = try await tokens.token(replacing: token)
                call.fields[.authorization] = "Bearer \(new)"
                return try await next(call)
            }
        }
    }

    actor Tokens {
        private let renew: @Sendable () async throws -> String
        private var current: Task<String, any Error>?

        init(renew: @escaping @Sendable () async throws -> String) { self.renew = renew }

        /// The token, or a new one; calls that replace the same one at once get the same new one.
        func token(replacing old: String? = nil) async throws -> String {
            while let running = current {
                if let token = try? await running.value, token != old { return token }
                if current == running { current = nil }  // it has expired, or couldn't be had
            }
            let task = Task { try await renew() }
            current = task
            return try await task.value
        }
    }

    struct Numbered: AttemptInterceptor {
        func intercept(_ call: OutgoingCall, next: NextAttempt) async throws -> EngineResponse {
            var call = call
            call.request.headerFields[.init("X-Attempt")!] = "\(call.attempt ?? 0)"
            return try await next(call)
        }
    }

    struct ListOrders: Endpoint {
        var service: ServiceName { "orders" }
        var method: RPCMethod { "orders.list" }
        typealias Success = [String]
        var callOptions: RequestOptions {
            var options = RequestOptions()
            options.attemptInterceptors = [Numbered()]  // for this endpoint alone
            return options
        }
    }

    struct SessionToken: CredentialSource {
        let system: NetworkSystem
        let scope: String  // the user

        func credential(
            replacing old: Credential?, for call: CallIdentity
        ) async throws -> Credential {
            let parameters: JSONObject = ["user": .string(scope)]
            let response = try await system.call(
                RPCCall("session.renew", parameters: .object(parameters)), on: "login")
            return .bearer(response.result?.value["token"]?.string ?? "")
        }
    }

    func listOrders(of user: String, with system: NetworkSystem) async throws -> UnboxedResponse {
        var options = RequestOptions()
        options.credentials = SessionToken(system: system, scope: user)
        return try await system.call(RPCCall("orders.list"), on: "orders", options: options)
    }

    func useClientCertificate(_ orders: inout ServiceConfiguration) throws {
        orders.clientCertificate = try ClientCertificate(
            .file("/etc/shop/client.pem"), key: .file("/etc/shop/client.key"),
            passphrase: .credential("client-passphrase"))
    }

    struct HSMKey: ExternalSigner {
        let keyID = "orders-2026"
        let algorithm = HTTPSignatureAlgorithm.ecdsaP256SHA256
        let device: @Sendable ([UInt8]) async throws -> [UInt8]  // the HSM's driver

        func sign(_ base: [UInt8]) async throws -> [UInt8] {
            try await device(base)  // r and s, 64 bytes
        }
    }

    func start(
        _ orders: ServiceConfiguration, signingWith key: HSMKey, options: NetworkSystem.Options
    ) async throws -> NetworkSystem {
        var (orders, options) = (orders, options)
        orders.signing = .init(scheme: "rfc9421", keyID: key.keyID)
        options.externalSigners = [key]
        return try await NetworkSystem.start(
            services: ["orders": orders], options: options)
    }

    // MARK: Running it

    private static func response(_ result: String) -> RecordingEngine.Response {
        .init(body: #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)
    }

    private static func options(_ engine: RecordingEngine) -> NetworkSystem.Options {
        var options = NetworkSystem.Options()
        options.engine = engine
        options.clock.sleep = { _ in }
        return options
    }

    private static func system(_ engine: RecordingEngine) async throws -> NetworkSystem {
        let login = ServiceConfiguration(
            baseURL: "https://login.example.com/rpc", payloadProtocol: .jsonRPC2)
        var orders = login
        orders.baseURL = "https://api.example.com/rpc"
        return try await NetworkSystem.start(
            services: ["orders": orders, "login": login], policy: .allowingAll(),
            options: options(engine))
    }

    @Test(.features("001-08")) func interceptorsRunAroundCallsAndAttempts() async throws {
        let engine = RecordingEngine(responses: [
            .init(failure: TransportError(.connect, "down")), Self.response(#"["tea"]"#),
            Self.response("1"), .init(failure: TransportError(.timeout, "late")),
        ])
        let system = try await Self.system(engine)
        var options = RequestOptions()
        options.interceptors = [Language(language: "en")]
        let english = options
        #expect(try await system.send(ListOrders(), options: english) == ["tea"])
        _ = try await system.call(RPCCall("orders.count"), on: "orders", options: english)
        let error = await #expect(throws: ClientError.self) {
            try await system.send(ListOrders(), options: english)
        }
        #expect(error?.code == .timeout)
        await system.shutdown()
        let fields = engine.requests.map(\.request.headerFields)
        #expect(fields.allSatisfy { $0[.acceptLanguage] == "en" })
        #expect(fields.map { $0[.init("X-Attempt")!] } == ["1", "2", nil, "1"])
    }

    @Test func aCredentialIsFetchedOnceAndRenewed() async throws {
        let engine = RecordingEngine(responses: [
            Self.response(#"{"token":"t1"}"#), Self.response("[]"), .init(status: 401, body: ""),
            Self.response(#"{"token":"t2"}"#), Self.response("[]"),
        ])
        let system = try await Self.system(engine)
        #expect(try await listOrders(of: "ann", with: system).status == 200)
        #expect(try await listOrders(of: "ann", with: system).status == 200)
        await system.shutdown()
        #expect(
            engine.requests.map { $0.request.headerFields[.authorization] }
                == [nil, "Bearer t1", "Bearer t1", nil, "Bearer t2"])
    }

    @Test func aKeyThatIsHeldElsewhereSigns() async throws {
        let folder = try TemporaryDirectory()
        try KeyFile.add(.p256, id: "orders-2026", to: folder.path("key"), append: false)
        let keys = try KeySource(folder.path("key")).load()
        let held = try keys.key(id: "orders-2026")
        @Sendable func device(_ base: [UInt8]) throws -> [UInt8] {
            let (pair, algorithm) = try held.signatureKey()
            return try pair.sign(base.span, by: algorithm)
        }
        let engine = RecordingEngine(responses: [Self.response("1")])
        let orders = ServiceConfiguration(
            baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2,
            pins: [try Pin(parsing: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")])
        let system = try await start(
            orders, signingWith: HSMKey(device: device),
            options: Self.options(engine))
        _ = try await system.call(RPCCall("orders.count"), on: "orders")
        await system.shutdown()
        let request = try #require(engine.requests.first)
        let verifier = try Verifier(
            scheme: SigningScheme(named: "rfc9421"),
            keys: KeySet(parsing: keys.publicHalves.serialized(), source: "server"),
            policy: VerificationPolicy())
        let proof = try await verifier.verify(
            SignableMessage(request: request.request, body: request.bytes),
            now: Int64(Date().timeIntervalSince1970))
        #expect(proof.keyID == "orders-2026")
    }

    /// Every word of the article's code is in this file, in the same order.
    @Test func theArticleShowsThisCode() throws {
        func words(_ lines: some Sequence<some StringProtocol>) -> String {
            lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
                .split { $0.isWhitespace }.joined(separator: " ")
        }
        let file = try String(contentsOfFile: #filePath, encoding: .utf8)
        let source = words(file.split(separator: "\n"))
        // Not a literal: Scripts/check-examples still compiles the article's examples with their
        // imports.
        let path = "Sources/SignetClient/SignetClient.docc/Interceptors-and-credentials.md"
        let blocks = try Article(path).blocks(in: "swift")
        #expect(blocks.count == 6)
        var rest = source[...]
        for block in blocks {
            let code = words(block)
            let range = try #require(rest.range(of: code), "\(code)")
            rest = rest[range.upperBound...]
        }
    }
}

/// Takes the place of Swift's `print` in the article's code.
private func print(_: Any...) {}
