import Foundation
import SignetCrypto
import SignetJSON
import SignetPinning
import TestSupport
import Testing

/// Signed policies: how they are made, checked and stored, and changed ones, which are refused.
@Suite struct PinUpdateTests {
    private static let now: Int64 = 1_795_228_551
    private static let day: Int64 = 86_400
    private static let pins = #"{"hosts":{"api.example":{"pins":["$a","$b"]}}}"#
        .replacing("$a", with: "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")
        .replacing("$b", with: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=")

    private let folder: TemporaryDirectory
    private let keys: KeySet
    private let verifier: PinUpdateVerifier

    init() throws {
        folder = try TemporaryDirectory()
        keys = try Self.keys(.ed25519, "pins-2026", in: folder)
        verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app"))
    }

    private static func keys(_ kind: CryptoKey.Kind, _ id: String, in folder: TemporaryDirectory)
        throws
        -> KeySet
    {
        let path = folder.path(UUID().uuidString)
        try KeyFile.add(kind, id: id, to: path, append: false)
        return try KeySource(path).load()
    }

    private func document(
        _ serial: Int64 = 7, from: Int64 = 0, days: Int64 = 90, policy: String = Self.pins,
        keys: KeySet? = nil
    ) throws -> [UInt8] {
        let keys = keys ?? self.keys
        return try SignedPinPolicy(
            serial: serial, notBefore: Self.now + from, expires: Self.now + from + days * Self.day,
            policy: PinPolicy(parsing: Array(policy.utf8))
        ).signed(by: keys.keys[0], now: Self.now)
    }

    private func refusal(_ bytes: [UInt8], now: Int64 = Self.now) -> String? {
        do throws(PinError) {
            _ = try verifier.verify(bytes, now: now)
            return nil
        } catch {
            return error.code.name
        }
    }

    @Test func acceptsASignedPolicy() throws {
        let verified = try verifier.verify(document(), now: Self.now)
        #expect(verified.serial == 7 && verified.keyID == "pins-2026")
        #expect(try verified.policy == PinPolicy(parsing: Array(Self.pins.utf8)))
    }

    @Test func holdsItsTime() throws {
        let bytes = try document(from: 100, days: 1)
        #expect(refusal(bytes, now: Self.now + 99) == "update-not-yet-valid")
        #expect(refusal(bytes, now: Self.now + 100) == nil)
        #expect(refusal(bytes, now: Self.now + 100 + Self.day - 1) == nil)
        #expect(refusal(bytes, now: Self.now + 100 + Self.day) == "update-expired")
    }

    @Test func refusesOtherKeys() throws {
        let same = try Self.keys(.ed25519, "pins-2026", in: folder)
        #expect(try refusal(document(keys: same)) == "tampered")
        let other = try Self.keys(.ed25519, "pins-2027", in: folder)
        #expect(try refusal(document(keys: other)) == "unknown-key")
        for kind in [CryptoKey.Kind.p256, .rsa, .hmac] {
            let wrong = try Self.keys(kind, "x", in: folder)
            let error = #expect(throws: PinError.self) { try document(keys: wrong) }
            #expect(error?.code == .wrongKeyUse)
            #expect(throws: PinError.self) { try PinUpdateVerifier(keys: wrong) }
        }
        let half = try KeySet(parsing: keys.publicHalves.serialized(), source: "x")
        #expect(throws: PinError.self) { try document(keys: half) }
        let none = try KeySet(parsing: Array(#"{"keys":[]}"#.utf8), source: "x")
        #expect(throws: PinError.self) { try PinUpdateVerifier(keys: none) }
    }

    /// Each bit of the document, each cut and each doubled byte.
    @Test func refusesEveryFlippedBit() throws {
        let bytes = try document()
        #expect(refusal(bytes) == nil)
        for index in bytes.indices {
            for bit in 0..<8 {
                var mutant = bytes
                mutant[index] ^= 1 << UInt8(bit)
                #expect(refusal(mutant) != nil, "bit \(bit) of byte \(index)")
            }
            if index < bytes.count - 1 { #expect(refusal(Array(bytes[..<index])) != nil) }
        }
    }

    /// A document of these parts, signed with the test's key by OpenSSL's program through the
    /// crypto module.
    private func forged(header: String, payload: String) throws -> [UInt8] {
        let protected = Base64.encode(Array(header.utf8), as: .url)
        let body = Base64.encode(Array(payload.utf8), as: .url)
        let (signer, algorithm) = try keys.keys[0].signatureKey()
        let message = Array("\(protected).\(body)".utf8)
        let signature = try signer.sign(message.span, by: algorithm)
        return Array(
            (#"{"payload":"\#(body)","protected":"\#(protected)","#
                + #""signature":"\#(Base64.encode(signature, as: .url))"}"#).utf8)
    }

    private static let header = #"{"alg":"EdDSA","kid":"pins-2026","typ":"signet-pins"}"#
    private static func payload(_ serial: String = "7", _ more: String = "") -> String {
        #"{"serial":\#(serial),"notBefore":0,"expires":9000000000,"policy":\#(pins)\#(more)}"#
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"pins-2026","typ":"signet-pins"}"#,
        #"{"alg":"HS256","kid":"pins-2026","typ":"signet-pins"}"#,
        #"{"alg":"ES256","kid":"pins-2026","typ":"signet-pins"}"#,
        #"{"alg":"Ed448","kid":"pins-2026","typ":"signet-pins"}"#,
        #"{"alg":"eddsa","kid":"pins-2026","typ":"signet-pins"}"#,
        #"{"alg":"EdDSA","kid":"pins-2026","typ":"JWT"}"#,
        #"{"alg":"EdDSA","kid":"pins-2026","typ":"Signet-Pins"}"#,
        #"{"alg":"EdDSA","kid":"pins-2026"}"#, #"{"alg":"EdDSA","typ":"signet-pins"}"#,
        #"{"alg":"EdDSA","kid":7,"typ":"signet-pins"}"#,
        #"{"alg":"EdDSA","kid":"pins-2026","typ":"signet-pins","jwk":{}}"#,
        #"{"alg":"EdDSA","kid":"pins-2026","typ":"signet-pins","crit":[]}"#,
        #"{"alg":"EdDSA","kid":"pins-2026","typ":"signet-pins","b64":false}"#,
        #"{"alg":"EdDSA","alg":"EdDSA","kid":"pins-2026","typ":"signet-pins"}"#,
        "[]", "", "{}",
    ])
    func letsNoMessageChoose(_ header: String) throws {
        #expect(
            try refusal(forged(header: header, payload: Self.payload())) == "malformed-update")
    }

    @Test(
        arguments: [
            (payload("0"), "malformed-update"), (payload("-1"), "malformed-update"),
            (payload("1.5"), "malformed-update"), (payload("\"7\""), "malformed-update"),
            (payload("9007199254740992"), "malformed-update"),
            (payload("7", #","x":1"#), "malformed-update"),
            (payload("7", #","app":"""#), "malformed-update"),
            (payload("7", #","app":null"#), "malformed-update"),
            (payload("7", #","app":["a"]"#), "malformed-update"),
            (payload("7", #","app":"a","app":"a""#), "malformed-update"),
            (payload("7", #","app":"a""#), "wrong-app"),
            (
                #"{"serial":7,"notBefore":0,"expires":9000000000,"app":"a"}"#, "malformed-update"
            ),
            (payload("7", #","serial":8"#), "malformed-update"), ("", "malformed-update"),
            ("{}", "malformed-update"), (#"{"hosts":{}}"#, "malformed-update"),
            (
                #"{"serial":7,"notBefore":5,"expires":5,"policy":{"hosts":{}}}"#, "malformed-update"
            ),
            (
                #"{"serial":7,"notBefore":-5,"expires":5,"policy":{"hosts":{}}}"#,
                "malformed-update"
            ),
            (
                #"{"serial":7,"notBefore":0,"expires":9000000000,"policy":{}}"#, "malformed-policy"
            ),
            (
                #"{"serial":7,"notBefore":0,"expires":9000000000,"policy":[]}"#, "malformed-policy"
            ),
        ])
    func refusesPayloads(_ payload: String, _ code: String) throws {
        #expect(try refusal(forged(header: Self.header, payload: payload)) == code)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"payload":"","protected":"","signature":""}"#,
        #"{"payload":"e30","protected":"e30","signature":"e30","header":{}}"#,
        #"{"payload":"e30","protected":"e30"}"#, #"{"payload":1,"protected":"e30","signature":""}"#,
        #"{"payload":"e30","signatures":[{"protected":"e30","signature":""}]}"#, "e30.e30.e30",
        #"{"payload":"e30=","protected":"e30","signature":"AA"}"#,
        #"{"payload":"e31","protected":"e30","signature":"AB"}"#,
    ])
    func refusesOtherForms(_ text: String) {
        #expect(refusal(Array(text.utf8)) == "malformed-update")
    }

    /// `é` in one and in two characters are different ids.
    @Test(arguments: [nil, "com.example.shop", "caf\u{E9}", "cafe\u{301}", "a\",\n\"serial\":9"])
    func acceptsTheOwnAppsDocumentsAlone(_ appID: String?) throws {
        let bytes = try SignedPinPolicy(
            serial: 7, notBefore: Self.now, expires: Self.now + 1, appID: appID,
            policy: PinPolicy(parsing: Array(Self.pins.utf8))
        ).signed(by: keys.keys[0], now: Self.now)
        let others = [
            nil, "com.example.Shop", "com.example.shop.", "com.example", "caf\u{E9}",
            "cafe\u{301}", "",
        ]
        for other in others + [appID] {
            let isOwn = other.map { Array($0.utf8) } == appID.map { Array($0.utf8) }
            let verifier = try PinUpdateVerifier(keys: keys, appID: other)
            let own = PinUpdateStore(path: folder.path(UUID().uuidString), verifier: verifier)
            guard !isOwn else {
                #expect(try own.accept(bytes, now: Self.now).signed.appID == appID)
                continue
            }
            let error = #expect(throws: PinError.self) { try own.accept(bytes, now: Self.now) }
            #expect(error?.code == .wrongApp)
            #expect(try own.current() == nil)
        }
    }

    /// A program that names its app for the first time doesn't use what it kept before, and accepts
    /// a newer document in its place.
    @Test func replacesAKeptDocumentWithoutAnApp() throws {
        #expect(try accept(document(7)) == nil)
        let named = PinUpdateStore(
            path: store.path, verifier: try PinUpdateVerifier(keys: keys, appID: "shop"))
        #expect(throws: PinError.self) { try named.current() }
        for serial: Int64 in [7, 8] {
            let new = try SignedPinPolicy(
                serial: serial, notBefore: Self.now, expires: Self.now + 1, appID: "shop",
                policy: PinPolicy(parsing: Array(Self.pins.utf8)))
            let bytes = try new.signed(by: keys.keys[0], now: Self.now)
            if serial == 7 {
                #expect(throws: PinError.self) { try named.accept(bytes, now: Self.now) }
            } else {
                #expect(try named.accept(bytes, now: Self.now).serial == 8)
            }
        }
        #expect(try named.current()?.serial == 8)
    }

    @Test func refusesATooLargeDocument() {
        let bytes = [UInt8](repeating: 0x20, count: SignedPinPolicy.maximumByteCount + 1)
        #expect(refusal(bytes) == "malformed-update")
    }

    // MARK: - Kept across restarts

    private func accept(_ bytes: [UInt8], now: Int64 = Self.now) -> String? {
        do throws(PinError) {
            _ = try store.accept(bytes, now: now)
            return nil
        } catch {
            return error.code.name
        }
    }

    private var store: PinUpdateStore {
        PinUpdateStore(path: folder.path("newest.json"), verifier: verifier)
    }

    @Test func neverGoesBack() throws {
        #expect(try store.current() == nil)
        let seven = try document(7)
        #expect(accept(seven) == nil && accept(seven) == nil)
        #expect(try store.current()?.serial == 7)
        #expect(try accept(document(6)) == "rolled-back")
        #expect(try accept(document(7, days: 91)) == "rolled-back")
        #expect(try accept(document(9)) == nil)
        #expect(accept(seven) == "rolled-back")
        #expect(try store.current()?.serial == 9)
        let mode = try FileManager.default.attributesOfItem(atPath: store.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func keepsAnExpiredOneInUse() throws {
        let nine = try document(9, days: 1)
        #expect(accept(nine) == nil)
        let later = Self.now + 2 * Self.day
        #expect(try store.current()?.serial == 9)
        // It is no longer accepted, and no older one replaces it.
        #expect(accept(nine, now: later) == "update-expired")
        #expect(try accept(document(8), now: later) == "rolled-back")
        #expect(try store.current()?.serial == 9)
        #expect(try accept(document(10), now: later) == nil)
        #expect(try store.current()?.serial == 10)
    }

    @Test func aDocumentOlderThanTheProgramIsIgnored() throws {
        #expect(try accept(document(7)) == nil)
        let path = folder.path("newest.json")
        for (own, current) in [(0, 7), (6, 7), (7, nil), (8, nil)] as [(Int64, Int64?)] {
            let store = PinUpdateStore(path: path, verifier: verifier, builtInSerial: own)
            #expect(try store.current()?.serial == current)
        }
        let store = PinUpdateStore(path: path, verifier: verifier, builtInSerial: 8)
        for serial in [7, 8] as [Int64] {
            let bytes = try document(serial)
            let error = #expect(throws: PinError.self) { try store.accept(bytes, now: Self.now) }
            #expect(error?.code == .rolledBack)
        }
        #expect(try store.accept(document(9), now: Self.now).serial == 9)
        #expect(try store.current()?.serial == 9)
    }

    @Test func usesNoKeptDocumentOfARevokedKey() throws {
        #expect(try accept(document(7)) == nil)
        var object = try #require(JSONValue(parsing: keys.publicHalves.serialized()).object)
        var key = try #require(object["keys"]?.array?.first?.object)
        key["revoked"] = .bool(true)
        object["keys"] = .array([.object(key)])
        let revoked = PinUpdateStore(
            path: folder.path("newest.json"),
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: JSONValue.object(object).serialized(), source: "app")))
        let error = #expect(throws: PinError.self) { try revoked.current() }
        #expect(error?.code == .keyRevoked)
    }

    @Test func refusedDocumentsLeaveNoTrace() throws {
        #expect(try accept(document(from: 100)) == "update-not-yet-valid")
        #expect(accept([]) == "malformed-update")
        #expect(!FileManager.default.fileExists(atPath: store.path))
        let seven = try document(7)
        #expect(accept(seven) == nil)
        var mutant = try document(8)
        mutant[40] ^= 1
        #expect(accept(mutant) != nil)
        #expect(try [UInt8](folder.read("newest.json")) == seven)
    }

    @Test(arguments: ["", "x", "{}", "cut", "flip"])
    func refusesADamagedFile(_ damage: String) throws {
        let seven = try document(7)
        #expect(accept(seven) == nil)
        var bytes = Array(damage.utf8)
        if damage == "cut" { bytes = Array(seven.dropLast(9)) }
        if damage == "flip" {
            bytes = seven
            bytes[30] ^= 1
        }
        try folder.write(bytes, to: "newest.json")
        let error = #expect(throws: PinError.self) { try store.current() }
        #expect(error?.code == .stateTampered)
        #expect(try accept(document(8)) == "state-tampered")
    }

    /// The next release of a program carries the next key alone.
    @Test func remembersTheNumberUnderAnotherKey() throws {
        #expect(try accept(document(7)) == nil)
        let next = try Self.keys(.ed25519, "pins-2027", in: folder)
        let store = PinUpdateStore(
            path: folder.path("newest.json"), verifier: try PinUpdateVerifier(keys: next))
        let unknown = #expect(throws: PinError.self) { try store.current() }
        #expect(unknown?.code == .unknownKey)
        let old = try document(7, keys: next)
        let error = #expect(throws: PinError.self) { try store.accept(old, now: Self.now) }
        #expect(error?.code == .rolledBack)
        #expect(try store.accept(document(8, keys: next), now: Self.now).serial == 8)
    }

    @Test func manyAtOnceKeepTheHighest() async throws {
        let documents = try (1...16).map { try document($0) }
        let store = store
        await withTaskGroup(of: Void.self) { group in
            for document in documents.shuffled() {
                group.addTask { _ = try? store.accept(document, now: Self.now) }
            }
        }
        #expect(try store.current()?.serial == 16)
    }
}
