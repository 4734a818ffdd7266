import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// Bodies that are sealed: around every adapter, with signatures outside or inside, and what is
/// never sent in the clear.
@Suite struct SealedBodyTests {
    @Test func sealsWhatTheRESTAdapterMakes() async throws {
        let host = SealingHost()
        let system = try await host.system(.rest)
        let response = try await system.call(
            RESTRequest(.post, "/orders", body: .json(["item": "tea"])), on: "bank")
        #expect(response.result?.value == ["echo": ["item": "tea"]])
        #expect(response.raw.fields[.contentType] == "application/json")
        let request = try #require(host.engine.requests.first)
        #expect(request.request.headerFields[.contentType] == "application/jose")
        #expect(request.request.headerFields[.accept] == "application/jose")
        #expect(!String(decoding: request.bytes, as: UTF8.self).contains("tea"))
        #expect(try host.opened(request).contentType == "json")
        await system.shutdown()
    }

    @Test func sealsCallsBatchesAndNotifications() async throws {
        let host = SealingHost()
        let system = try await host.system(.jsonRPC2)
        let single = try await system.call(
            RPCCall("add", parameters: .array([1])), on: "bank")
        #expect(single.result?.value == [1])
        let batch = try await system.batch(
            [RPCCall("a", parameters: .array([2])), RPCCall("b", parameters: .array([3]))],
            on: "bank")
        #expect(batch.outcomes.count == 2)
        host.answer { _ in (204, []) }
        let note = try await system.call(RPCCall("note", isNotification: true), on: "bank")
        #expect(note.result == nil)
        #expect(host.engine.requests.allSatisfy { $0.bytes.starts(with: "ey".utf8) })
        await system.shutdown()
    }

    @Test(arguments: ServiceConfiguration.Sealing.SignaturePlace.allCases)
    func signsOutsideOrInside(_ place: ServiceConfiguration.Sealing.SignaturePlace) async throws {
        let host = SealingHost()
        let system = try await host.system(.rest) { service in
            service.sealing?.signature = place
            service.signing = .init(
                scheme: "rfc9421", keyID: "sign",
                covered: ["@method", "@authority", "@path", "content-digest"])
        }
        _ = try await system.call(
            RESTRequest(.post, "/orders", body: .json(["item": "tea"])), on: "bank")
        let request = try #require(host.engine.requests.first)
        #expect(request.bytes.starts(with: "ey".utf8))
        let opened = try host.opened(request).text
        let verifier = try Verifier(scheme: .rfc9421, keys: host.keys)
        for (body, fits) in [(request.bytes, place == .outside), (opened, place == .inside)] {
            let message = try SignableMessage(request: request.request, body: body)
            let isVerified = (try? await verifier.verify(message)) != nil
            #expect(isVerified == fits)
        }
        await system.shutdown()
    }

    @Test func aRequestWithoutBodyIsSentAsItIs() async throws {
        let host = SealingHost()
        let system = try await host.system(.rest)
        _ = try await system.call(RESTRequest(.get, "/orders"), on: "bank")
        #expect(host.engine.requests.map(\.bytes) == [[]])
        await system.shutdown()
    }

    /// Keys that `signet keys new --type aes` makes seal and open, each by its algorithm alone.
    @Test(arguments: [
        (JWEKeyAlgorithm.direct, JWEContentEncryption.a256GCM, "A256GCM"),
        (.direct, .a128GCM, "A128GCM"), (.a256KW, .a256GCM, "A256KW"),
        (.a128KW, .a128GCM, "A128KW"),
    ])
    func aNewKeySealsByItsAlgorithmAlone(
        _ algorithm: JWEKeyAlgorithm, _ encryption: JWEContentEncryption, _ alg: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keys")
        for name in ["A128KW", "A256KW", "A128GCM", "A256GCM"] {
            try KeyFile.add(.aes, id: name, algorithm: name, to: path, append: true)
        }
        let keys = try KeySource(path).load()
        let engine = AnsweringEngine()
        engine.respond { request in
            guard let message = try? JWEMessage(parsing: request.bytes, textLimit: 1 << 20),
                let key = keys[message.keyID ?? ""], let text = try? message.open(with: key),
                let sealed = try? JWEMessage.seal(text, for: key, by: algorithm, encryption)
            else { return (500, [:], []) }
            return (200, [.contentType: "application/jose"], sealed)
        }
        func start(_ keyID: String) async throws(ClientError) -> NetworkSystem {
            var service = ServiceConfiguration(
                baseURL: "https://bank.example/api", payloadProtocol: .rest)
            service.sealing = .init(algorithm, encryption, keyIDs: [keyID])
            var options = NetworkSystem.Options()
            options.engine = engine
            options.dangerous.allowUnpinnedServices()
            return try await NetworkSystem.start(
                services: ["bank": service], keys: keys, options: options)
        }
        let system = try await start(alg)
        let response = try await system.call(
            RESTRequest(.post, "/orders", body: .json(["item": "tea"])), on: "bank")
        #expect(response.result?.value == ["item": "tea"])
        #expect(engine.requests.allSatisfy { !$0.bytes.contains(UInt8(ascii: "{")) })
        await system.shutdown()
        for other in keys.keys where other.id != alg {
            let error = await #expect(throws: ClientError.self) { try await start(other.id) }
            #expect(error?.message.contains(other.id) == true, "\(error?.message ?? "")")
        }
        #expect(engine.requests.count == 1)
    }

    /// Nothing that no adapter makes or reads leaves, because it would leave in the clear.
    @Test func sendsNothingUnsealed() async throws {
        let host = SealingHost()
        let system = try await host.system(.rest) { $0.options.compression = .gzip(minimumSize: 1) }
        let body = HTTPRequestBody(Array("amount=100".utf8))
        func code(_ call: () async throws(ClientError) -> Void) async -> ClientError.Code? {
            do throws(ClientError) {
                try await call()
                return nil
            } catch { return error.code }
        }
        let request = RESTRequest(.post, "/orders")
        #expect(
            await code { () throws(ClientError) in
                _ = try await system.exchange("bank", method: .post, target: "/", body: body)
            } == .unsupportedCall)
        #expect(
            await code { () throws(ClientError) in
                _ = try await system.stream("bank", method: .get, target: "/")
            } == .unsupportedCall)
        #expect(
            await code { () throws(ClientError) in
                _ = try await system.upload(
                    body, contentType: "text/plain", with: request, to: "bank")
            } == .unsupportedCall)
        #expect(host.engine.requests.isEmpty)
        // Not compressed either, before or after.
        _ = try await system.call(
            RESTRequest(.post, "/orders", body: .json(["item": "tea"])), on: "bank")
        let sent = try #require(host.engine.requests.first)
        #expect(sent.request.headerFields[.contentEncoding] == nil)
        #expect(try host.opened(sent).text == Array(#"{"item":"tea"}"#.utf8))
        await system.shutdown()
    }

    /// Keys with `nbf`, `exp` and `revoked` replace each other without a new configuration.
    @Test func rotatesByTheKeysThemselves() async throws {
        let host = SealingHost(ours: ["old": #""exp":1"#, "gone": #""revoked":true"#, "new": ""])
        let system = try await host.system(.rest) { service in
            service.sealing = .init(.a256KW, keyIDs: ["old", "gone", "new"])
        }
        _ = try await system.call(RESTRequest(.post, "/", body: .json([:])), on: "bank")
        #expect(try host.opened(#require(host.engine.requests.first)).keyID == "new")
        host.answerKeyID = "old"
        await #expect(throws: ClientError.self) {
            try await system.call(RESTRequest(.post, "/", body: .json([:])), on: "bank")
        }
        await system.shutdown()
    }

    @Test func eachAttemptAndCallHasANonceOfItsOwn() async throws {
        let host = SealingHost()
        let system = try await host.system(.rest)
        for _ in 0..<20 {
            _ = try await system.call(RESTRequest(.post, "/", body: .json(["a": 1])), on: "bank")
        }
        #expect(Set(host.engine.requests.map(\.bytes)).count == 20)
        await system.shutdown()
    }

    @Test(arguments: [
        (["unknown"], JWEKeyAlgorithm.a256KW, ClientError.Code.unknownKey),
        (["ours"], .a128KW, .wrongKeyUse), (["sign"], .a256KW, .wrongKeyUse),
        ([], .a256KW, .invalidService), (["ours"], .ecdhES, .invalidService),
    ])
    func refusesKeysAtStart(
        _ ids: [String], _ algorithm: JWEKeyAlgorithm, _ code: ClientError.Code
    ) async throws {
        let host = SealingHost()
        do {
            _ = try await host.system(.rest) { $0.sealing = .init(algorithm, keyIDs: ids) }
            Issue.record("the system started")
        } catch {
            #expect(error.code == code && error.message.contains("bank"), "\(error.message)")
        }
    }

    /// The keys of a configuration, and what can't be said in it.
    @Test func readsTheConfiguration() async throws {
        let host = SealingHost()
        func start(_ values: JSONObject) async throws -> NetworkSystem {
            var all = values
            for name in values.memberNames where name.hasPrefix("sealing") {
                all["services.a.\(name)"] = values[name]
                all[name] = nil
            }
            var options = NetworkSystem.Options()
            options.engine = host.engine
            return try await NetworkSystem.start(
                Settings.configuration(all), keys: host.keys, options: options)
        }
        let system = try await start([
            "sealing.algorithm": "A256KW", "sealing.encryption": "A128GCM",
            "sealing.keys": ["ours"], "sealing.signature": "inside",
            "sealing.mediaType": "application/jose; charset=utf-8",
        ])
        _ = try? await system.call(RPCCall("a"), on: "a")
        let request = try #require(host.engine.requests.first)
        #expect(try host.opened(request).encryption == .a128GCM)
        #expect(
            request.request.headerFields[.contentType] == "application/jose; charset=utf-8")
        await system.shutdown()
        for values: JSONObject in [
            ["sealing.algorithm": "RSA1_5", "sealing.keys": ["ours"]],
            ["sealing.algorithm": "A256KW"], ["sealing.keys": ["ours"]],
            ["sealing.algorithm": "A256KW", "sealing.keys": ["ours"], "sealing.signature": "none"],
            ["sealing.algorithm": "A256KW", "sealing.keys": ["ours"], "sealing.mediaType": "a\nb"],
        ] {
            await #expect(throws: ClientError.self) { try await start(values) }
        }
    }
}
