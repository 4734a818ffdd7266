import Foundation
import SignetCrypto
import SignetJSON
import TestSupport
import Testing

@testable import SignetBase
@testable import SignetVault

/// Dumps that Python made (`Vectors/dumps.json`): 16 that must open and 129 that must be refused.
@Suite struct DumpVectorTests {
    @Test func noVectorIsMissing() throws {
        #expect(try DumpVector.all("accepted").count == 16)
        #expect(try DumpVector.all("refused").count == 129)
    }

    @Test(arguments: try DumpVector.all("accepted"))
    func opensPythonsDumps(_ vector: DumpVector) throws {
        let dump = try SealedDump(parsing: vector.dump)
        #expect(try dump.binding == vector.binding)
        #expect(try sameBytes(dump.kid, vector.text("kid")))
        let opened = try dump.open(with: vector.keys, for: vector.binding, now: noon)
        let wanted = try JSONValue(parsing: Array(vector.text("plaintext").utf8))
        #expect(JSONValue.object(opened.plaintext).text == wanted.text)
        #expect(opened.isExactVersion)
        let jwk = try dump.exportKey(with: vector.keys, now: noon)
        #expect(try jwk["k"]?.string == vector.text("contentKey"))
        #expect(Set(jwk.memberNames) == ["kty", "k", "kid", "alg"])
        #expect(jwk["alg"] == "A256GCM")
        #expect(try jwk["kid"] == .string(vector.text("kid")))
    }

    @Test(arguments: try DumpVector.all("accepted"))
    func sealsToTheSameBytes(_ vector: DumpVector) throws {
        let dump = try SealedDump(
            sealing: Array(vector.text("plaintext").utf8),
            with: .key(vector.keys.key(id: vector.text("keyID"))), for: vector.binding, now: noon,
            salt: vector.bytes("salt"))
        #expect(try dump.kid == vector.text("kid"))
        if try !vector.text("name").contains("header") && !vector.text("name").contains("order") {
            #expect(try dump.bytes == vector.dump)
        }
    }

    @Test(arguments: try DumpVector.all("refused"))
    func refuses(_ vector: DumpVector) throws {
        let error = error {
            _ = try SealedDump(parsing: vector.dump)
                .open(with: vector.keys, for: vector.binding, now: noon)
        }
        #expect(try error?.code.name == vector.text("refusal"), "\(error?.message ?? "accepted")")
        // A malformed dump is refused without a key, so before any cryptography.
        let parsing = code { _ = try SealedDump(parsing: vector.dump) }
        #expect(try (parsing != nil) == (vector.text("refusal") == "malformed-dump"))
    }

    @Test(.enabled(if: SharedVectors.directory != nil))
    func refusesEveryTokenOfWycheproof() throws {
        let folder = try #require(SharedVectors.directory)
        let url = folder.appending(path: "wycheproof/json_web_encryption_test.json")
        let suite = try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
        var count = 0
        for group in try #require(suite["testGroups"]?.array) {
            for test in try #require(group["tests"]?.array) {
                let token = try #require(test["jwe"]?.string)
                #expect(code { _ = try SealedDump(parsing: Array(token.utf8)) } == "malformed-dump")
                count += 1
            }
        }
        #expect(count == 139)
    }
}
