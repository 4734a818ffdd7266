import FuzzSupport
import SignetJSON

@testable import SignetCrypto

/// A sealed body is refused with a message, or a key opens it to the text that was sealed, or not at
/// all.

/// Keys of published vectors (RFC 7748, section 6.1; RFC 7515, appendix A.3), and bytes that count.
private let keys = """
    {"keys":[
    {"kty":"OKP","kid":"x","use":"enc","crv":"X25519",
     "d":"dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"},
    {"kty":"EC","kid":"p","use":"enc","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
     "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
     "d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"},
    {"kty":"oct","kid":"a","alg":"A128KW","k":"AAECAwQFBgcICQoLDA0ODw"},
    {"kty":"oct","kid":"b","alg":"A256KW","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"},
    {"kty":"oct","kid":"c","alg":"A128GCM","k":"AQECAwQFBgcICQoLDA0ODw"},
    {"kty":"oct","kid":"d","alg":"A256GCM","k":"AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}
    """

private let set: KeySet = {
    guard let set = try? KeySet(parsing: Array(keys.utf8), source: "the fuzzer") else {
        broken("the keys are refused")
    }
    return set
}()

private let text = Array(#"{"paid":true}"#.utf8)

private let sealed: [[UInt8]] = {
    let cases: [(String, JWEKeyAlgorithm, JWEContentEncryption)] = [
        ("x", .ecdhES, .a128GCM), ("x", .ecdhESA256KW, .a256GCM), ("p", .ecdhES, .a256GCM),
        ("p", .ecdhESA256KW, .a128GCM), ("a", .a128KW, .a128GCM), ("b", .a256KW, .a256GCM),
        ("c", .direct, .a128GCM), ("d", .direct, .a256GCM),
    ]
    return cases.map { id, algorithm, encryption in
        guard let key = set[id],
            let sealed = try? JWEMessage.seal(
                text, for: key, by: algorithm, encryption, contentType: "json")
        else { broken("\(algorithm) does not seal") }
        return sealed
    }
}()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(sealed.enumerated().map { ("sealed-\($0)", $1) })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let message: JWEMessage
    do throws(JWEContent.Malformed) {
        message = try JWEMessage(parsing: input, textLimit: 4096)
    } catch {
        checkMessage(error.problem, of: "a sealed body")
        return 0
    }
    for key in set.keys {
        do throws(KeyError) {
            // The corpus keeps bodies of earlier runs, which were sealed with other nonces.
            guard try message.open(with: key) == text else {
                broken("a key opens a text that nobody sealed")
            }
        } catch {
            checkMessage(error.message, of: "a sealed body that does not open")
            if sealed.contains(input), message.keyID == key.id {
                broken("a sealed body does not open: \(error)")
            }
        }
    }
    return 0
}
