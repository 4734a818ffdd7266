import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetCrypto

/// JWK thumbprints: RFC 7638, section 3.1, RFC 8037, appendix A.3, and jwcrypto on keys of each
/// kind.
@Suite struct ThumbprintTests {
    private static func key(_ jwk: JSONValue) throws -> CryptoKey {
        let set = JSONValue.object(["keys": .array([jwk])])
        return try #require(try KeySet(parsing: set.serialized(), source: "a test").keys.first)
    }

    private static let vectors: Result<[(jwk: JSONValue, thumbprint: String)], any Error> = Result {
        let url = try #require(
            Bundle.module.url(
                forResource: "thumbprints", withExtension: "json", subdirectory: "Vectors")
        )
        let file = try JSONValue(parsing: Array(Data(contentsOf: url)))
        return try (try #require(file["keys"]?.array)).map {
            (try #require($0["jwk"]), try #require($0["thumbprint"]?.string))
        }
    }

    @Test func matchesTheRFCs() throws {
        let vectors = try Self.vectors.get()
        #expect(vectors.count == 2)
        for (jwk, thumbprint) in vectors {
            #expect(try Self.key(jwk).thumbprint == thumbprint)
            // Only the members that define the key change the thumbprint.
            var object = try #require(jwk.object)
            object["kid"] = "another"
            object["use"] = "sig"
            object["exp"] = 1
            #expect(try Self.key(.object(object)).thumbprint == thumbprint)
        }
    }

    @Test func agreesWithAPeerOnEveryKind() async throws {
        let made = try CryptoKey.Kind.all.map { try KeyFile.tree($0, id: $0.name) }
        let output = try await PythonPeer.run(
            "thumbprints",
            stdin: JSONValue.array(made.map(JSONValue.object)).serialized())
        #expect(output.exit == 0, "\(output.stderr)")
        let keys = try made.map { try Self.key(.object($0)) }
        #expect(output.text.split(separator: "\n").map(String.init) == keys.map(\.thumbprint))
        for key in keys {
            guard let half = key.publicHalf else { continue }
            #expect(try Self.key(.object(half)).thumbprint == key.thumbprint)
        }
        #expect(Set(keys.map(\.thumbprint)).count == CryptoKey.Kind.all.count)
    }

    @Test func isNoneOfAKeyThatCannotBeUsed() throws {
        let jwk: JSONValue = [
            "kty": "OKP", "kid": "x", "crv": "X448",
            "x": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo",
        ]
        #expect(try Self.key(jwk).thumbprint == nil)
    }
}
