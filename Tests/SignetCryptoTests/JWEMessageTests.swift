import SignetBase
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// Sealed bodies: JWE compact with every algorithm, and what is refused.
@Suite struct JWEMessageTests {
    /// An algorithm with the id of its key in `Sealing.keys`.
    struct Case: Sendable, CustomStringConvertible {
        let algorithm: JWEKeyAlgorithm
        let encryption: JWEContentEncryption
        let key: String

        var description: String { "\(algorithm.rawValue) \(encryption.rawValue) \(key)" }

        static let all: [Case] = JWEContentEncryption.allCases.flatMap { encryption in
            [
                Case(algorithm: .direct, encryption: encryption, key: encryption.rawValue),
                Case(algorithm: .a128KW, encryption: encryption, key: "A128KW"),
                Case(algorithm: .a256KW, encryption: encryption, key: "A256KW"),
                Case(algorithm: .rsaOAEP256, encryption: encryption, key: "rsa"),
            ]
                + ["x25519", "p256", "p384"].flatMap { key in
                    [JWEKeyAlgorithm.ecdhES, .ecdhESA256KW].map {
                        Case(algorithm: $0, encryption: encryption, key: key)
                    }
                }
        }
    }

    /// Keys of every kind, made once.
    private static let keys = Result { try Self.makeKeys() }

    private static func makeKeys() throws -> (set: KeySet, text: String) {
        let folder = try TemporaryDirectory()
        for name in ["x25519", "p256", "p384", "rsa"] {
            let kind = try #require(CryptoKey.Kind(name: name))
            try KeyFile.add(kind, id: name, use: "enc", to: folder.path("keys"), append: true)
        }
        var document = try JSONValue(parsing: folder.read("keys"))
        var list = (document["keys"]?.array ?? []).map { key in
            // A key without `alg` takes both forms of key agreement.
            var key = key.object ?? [:]
            key["alg"] = nil
            return JSONValue.object(key)
        }
        for (alg, count) in [("A128KW", 16), ("A256KW", 32), ("A128GCM", 16), ("A256GCM", 32)] {
            let secret = try RandomBytes.bytes(count)
            list.append([
                "kty": "oct", "kid": .string(alg), "use": "enc", "alg": .string(alg),
                "k": .string(Base64.encode(secret, as: .url)),
            ])
        }
        document = ["keys": .array(list)]
        let bytes = document.serialized()
        return (
            try KeySet(parsing: bytes, source: "test"), String(decoding: bytes, as: UTF8.self)
        )
    }

    private static func key(_ id: String) throws -> CryptoKey { try keys.get().set.key(id: id) }

    private static func seal(_ text: [UInt8], _ item: Case) throws -> [UInt8] {
        try JWEMessage.seal(
            text, for: key(item.key), by: item.algorithm, item.encryption, contentType: "json")
    }

    private static func open(
        _ sealed: [UInt8], with id: String, limit: Int = 1 << 20
    ) throws -> [UInt8] {
        try JWEMessage(parsing: sealed, textLimit: limit).open(with: key(id))
    }

    @Test(arguments: Case.all) func opensWhatItSealed(_ item: Case) throws {
        for count in [0, 1, 15, 16, 17, 1000] {
            let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let sealed = try Self.seal(text, item)
            let message = try JWEMessage(parsing: sealed, textLimit: 1000)
            #expect(message.algorithm == item.algorithm)
            #expect(message.encryption == item.encryption)
            #expect(message.keyID == item.key && message.contentType == "json")
            #expect(try message.open(with: Self.key(item.key)) == text)
            #expect(try Self.seal(text, item) != sealed, "the same text is sealed anew each time")
        }
    }

    @Test(arguments: Case.all) func refusesEveryChangedPart(_ item: Case) throws {
        let sealed = try Self.seal(Array("amount=100".utf8), item)
        let parts = sealed.split(separator: ASCII.dot, omittingEmptySubsequences: false)
        for part in parts where !part.isEmpty {
            var changed = sealed
            let place = part.startIndex + part.count / 2
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : 0x41
            #expect(throws: (any Error).self) { try Self.open(changed, with: item.key) }
        }
    }

    @Test(arguments: Case.all) func opensWithNoOtherKey(_ item: Case) throws {
        let sealed = try Self.seal([1, 2, 3], item)
        let keys = try Self.keys.get().set.keys
        for other in keys where other.id != item.key {
            do {
                _ = try Self.open(sealed, with: other.id)
                Issue.record("\(other.id) opens it")
            } catch let error as KeyError {
                #expect([.wrongKeyUse, .tampered, .malformedKeys].contains(error.code))
            }
        }
    }

    /// OpenSSL would accept most of them.
    @Test(arguments: [0, 1, 4, 8, 12, 15]) func refusesATagOfLength(_ count: Int) throws {
        let item = Case(algorithm: .direct, encryption: .a128GCM, key: "A128GCM")
        let sealed = try Self.seal(Array("amount=100".utf8), item)
        let dot = try #require(sealed.lastIndex(of: ASCII.dot))
        let decoded = Base64.decode(Array(sealed[(dot + 1)...]), from: .url)
        let tag = try #require(decoded)
        let short =
            Array(sealed[...dot]) + Base64.encodeBytes(Array(tag.prefix(count)).span, as: .url)
        #expect(throws: JWEContent.Malformed.self) { try Self.open(short, with: "A128GCM") }
    }

    @Test(arguments: [
        #"{"alg":"dir","enc":"A128GCM","crit":[]}"#,
        #"{"alg":"dir","enc":"A128GCM","crit":["exp"],"exp":1}"#,
        #"{"alg":"dir","enc":"A128GCM","zip":"DEF"}"#,
        #"{"alg":"dir","enc":"A128GCM","zip":null}"#,
        #"{"alg":"dir","alg":"dir","enc":"A128GCM"}"#,
        #"{"alg":"RSA1_5","enc":"A128GCM"}"#,
        #"{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2c":1,"p2s":"AA"}"#,
        #"{"alg":"dir","enc":"A128CBC-HS256"}"#,
        #"{"alg":"none","enc":"A128GCM"}"#,
        #"{"alg":"DIR","enc":"A128GCM"}"#,
        #"{"alg":"dir"}"#, #"{"enc":"A128GCM"}"#, #"{"alg":1,"enc":"A128GCM"}"#, "{}", "[]", "",
        #"{"alg":"dir","enc":"A128GCM","kid":7}"#, #"{"alg":"dir","enc":"A128GCM","kid":""}"#,
        #"{"alg":"dir","enc":"A128GCM","cty":{}}"#,
        #"{"alg":"dir","enc":"A128GCM","epk":{}}"#, #"{"alg":"dir","enc":"A128GCM","apu":"AA"}"#,
        #"{"alg":"ECDH-ES","enc":"A128GCM"}"#, #"{"alg":"ECDH-ES","enc":"A128GCM","epk":"x"}"#,
        #"{"alg":"ECDH-ES","enc":"A128GCM","epk":{},"apu":"=="}"#,
        #"{"alg":"A128KW","enc":"A128GCM"}"#,
        #"{"alg":"RSA-OAEP-256","enc":"A128GCM"}"#,
    ])
    func refusesTheHeader(_ header: String) throws {
        let text =
            Base64.encode(Array(header.utf8), as: .url)
            + "..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA"
        #expect(throws: JWEContent.Malformed.self) {
            try JWEMessage(parsing: Array(text.utf8), textLimit: 100)
        }
    }

    /// RFC 7516, section 4: what isn't understood is ignored, unless `crit` names it.
    @Test func ignoresMembersThatDoNotMatter() throws {
        let header =
            #"{"alg":"dir","enc":"A128GCM","typ":"JOSE","iat":1,"x5c":["a"],"jku":"http://a"}"#
        let key = try Self.key("A128GCM")
        let content = try key.withSealingSecret(for: .direct, .a128GCM) { secret in
            Result {
                try JWEContent(
                    sealing: [7], header: Array(header.utf8), key: secret, size: .bits128,
                    nonce: [UInt8](repeating: 1, count: 12))
            }
        }.get()
        #expect(try Self.open(content.compact, with: "A128GCM") == [7])
    }

    @Test func limitsTheSize() throws {
        let item = Case.all[0]
        let sealed = try Self.seal([UInt8](repeating: 0, count: 1001), item)
        #expect(throws: JWEContent.Malformed.self) {
            try Self.open(sealed, with: item.key, limit: 1000)
        }
        #expect(try Self.open(sealed, with: item.key, limit: 1001).count == 1001)
    }

    /// RFC 7518, appendix C.
    @Test func agreesAsTheStandardsExample() throws {
        let alice =
            #"{"kid":"a","kty":"EC","crv":"P-256","x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","#
            + #""y":"SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps","#
            + #""d":"0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo"}"#
        let bob =
            #"{"kid":"b","kty":"EC","crv":"P-256","x":"weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ","#
            + #""y":"e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck","#
            + #""d":"VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"}"#
        let set = try KeySet(
            parsing: Array("{\"keys\":[\(alice),\(bob)]}".utf8), source: "RFC 7518")
        let key = try KeyEncryption.agreedKey(
            of: set.key(id: "a").sealingKey(.ecdhES), with: set.key(id: "b").sealingKey(.ecdhES),
            for: "A128GCM", count: 16,
            parties: .init(own: Array("Alice".utf8), other: Array("Bob".utf8)))
        let text = Base64.encode(Array(copying: key.bytes), as: .url)
        #expect(text == "VqqN6vgjbSBcIijNcacQGg")
    }

    /// A key's `alg` binds it: a message can't choose another one.
    @Test(arguments: [
        (#""kty":"oct","alg":"A256KW","k":"AAAA""#, JWEKeyAlgorithm.a256KW),
        (#""kty":"oct","alg":"A128GCM","use":"sig","k":"AAAAAAAAAAAAAAAAAAAAAA""#, .direct),
        (#""kty":"oct","alg":"A128GCM","k":"AAAAAAAAAAAAAAAAAAAAAA""#, .a128KW),
        (#""kty":"oct","alg":"HS256","k":"AAAAAAAAAAAAAAAAAAAAAA""#, .a128KW),
        (#""kty":"oct","use":"enc","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#, .a256KW),
        (#""kty":"oct","use":"enc","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#, .direct),
    ])
    func refusesAKeyOfAnotherUse(_ members: String, _ algorithm: JWEKeyAlgorithm) {
        #expect(throws: KeyError.self) {
            let set = try KeySet(
                parsing: Array("{\"keys\":[{\"kid\":\"a\",\(members)}]}".utf8), source: "test")
            try set.key(id: "a").requireSealing(algorithm, .a128GCM)
        }
    }

    /// 500 random bodies of each algorithm, opened by the peer, which seals them again backwards.
    @Test(.features("000-56"), arguments: ["jwcrypto", "joserfc"])
    func agreesWithThePeer(_ library: String) async throws {
        var random = SplitMix(seed: 35)
        var texts: [[UInt8]] = []
        var cases: [JSONValue] = []
        for algorithm in JWEKeyAlgorithm.allCases {
            let items = Case.all.filter { $0.algorithm == algorithm }
            for index in 0..<500 {
                let item = items[index % items.count]
                let count = Int.random(in: 1...600, using: &random)
                let text = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                texts.append(text)
                let token = try Self.seal(text, item)
                cases.append([
                    "alg": .string(algorithm.rawValue), "enc": .string(item.encryption.rawValue),
                    "kid": .string(item.key),
                    "token": .string(String(decoding: token, as: UTF8.self)),
                ])
            }
        }
        let keys = try #require(JSONValue(parsing: Self.keys.get().text)["keys"])
        let input = JSONValue.object(["keys": keys, "cases": .array(cases)]).serialized()
        let output = try await PythonPeer.run("sealed-bodies", [library], stdin: input)
        #expect(output.exit == 0, "\(output.stderr)")
        let made = try #require(JSONValue(parsing: output.stdout).array)
        #expect(made.count == 3000)
        for (text, answer) in zip(texts, made) {
            let token = try #require(answer.array?.last?.string)
            let message = try JWEMessage(parsing: Array(token.utf8), textLimit: 600)
            let opened = try message.open(with: Self.key(message.keyID ?? ""))
            guard opened == Array(text.reversed()) else {
                Issue.record("another text than the peer sealed")
                return
            }
        }
    }
}

extension [UInt8] {
    fileprivate init(copying span: Span<UInt8>) { self = span.indices.map { span[$0] } }
}
