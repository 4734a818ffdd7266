import FuzzSupport
import SignetJSON

@testable import SignetCrypto

/// A sealed body is refused with a message, or a key opens it to the text that was sealed, or not at
/// all.

/// Keys of published vectors (RFC 7748, section 6.1; RFC 7515, appendix A.3), one of OpenSSL for RSA, and
/// bytes that count.
private let keys = """
    {"keys":[
    {"kty":"OKP","kid":"x","use":"enc","crv":"X25519",
     "d":"dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"},
    {"kty":"EC","kid":"p","use":"enc","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
     "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
     "d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"},
    {"kty":"RSA","kid":"r","use":"enc","e":"AQAB",
     "n":"tDQ6-c3cZlvV7i37RbCo2Zf_W_9nJ2FmQ9RyawdwS30hlTD7VB6XwZJ5hwy5OtNUYsBTypzrfXf9aN6fOqhywjn_\
    qFs3zjE78lUOw3jfvCCST_8M9g3v9wI2Y_8kk-KudlPKnsrmx_s98ilO0bl7-hIH855i2NZ5qVFZqdBwE3hcaNJU\
    DfnU2SDcL5yM7FdV_wC_c-5zuZqxTo8-M4W1pU2r-4rxTeHTrYjBhhRog6Q480UNycTw10GthGM7GYkYBrX6P3NF\
    TR-7puHIWizSkceSS2GPo_D0Sky9eg61d12KElKSDkRSyIPVGqzX_sq3aB03k4fsl9jUe8CemMHCMw",
     "d":"MSVbfjxsIwhhyGMG9-MtsaZYEO2PYviXzOD4UYNGV3gpfAhPSwpK5hJ-DVxlegsfpQ0B7SytttrOJFcuwu8k2R67\
    QF2cUyIvULBs5del4Sda7_FFxidX7hxO3Ce-AI0eeovwoy0AEsNNCinE4sK88p8PRxxHpg6cQJa8puj_X_eJOSbG\
    q2HxXLeDqfzQ9FE9wpndIgHf56Ri1TQ65N3NZzzrmLF6JGCs8wIt1cVItsuUAJfoBqomFxWlTUaYfXlHcyYjbF2p\
    l8ycsfJXzqlIW5COBf_3uMtbwPJnsJkpWi3smjx_w0oQCsroHnJ6i9p8URnq4VjZ4FHJYAMMlo0RCQ",
     "p":"_NC8W2m2YqlFLKcNdFawhVS36NPa62Bib2x1AZIAwS0cmdIOBfLka7uOcnsZQFhEQoRjov9svwBG4I7KPCFE63OT\
    i2r4F11dpaoxJ1oQGIo1H7wUSpYk3XLJ7A-g95Q6mG_uRFziRxzniPHR_ljCn7qbxXa7lSwfx0w6PMXyzgs",
     "q":"tnlXfmwYPNFOszqMuCHkLFdNmsPBJg645-QqAULe9pa1iAQpVy4eb-RMLjrahb8woN95WGuYnYe4fMCavVO4oJzS\
    mnNFQvS31K5ZtPWVZ2Gviw0V4xw7yRfGhwl3BDqsii2Jgdaf_pTQ__MbXEwP3gxkMQhe1wGuW1ALzjQJfXk",
     "dp":"yjgYgbIT_eTRfP7-RxFUTsHN_UEAOge1lNSW3rOvQNVZrDwVlXKMfRPfw_hs4Uf5CY-ltupCTKDnEJWGdARUgVTI\
    LttYKDA5SNrSSFzExSw_g-vH-0UPpcY8d0KlCYOaPvZBCpOVNzaKiMKMqrrKqkL0eEUZlB9gJ-T0LEpVhbM",
     "dq":"Q1GM19UlM_q8IB8vnxbRyRIETV5-uX2g9dwVKxXyj-KV4jI21jTrgbgl6sBHsiQQ2qjXaal4SlWx2ERuUf67FHYG\
    tHhmSwdhcpNIARzBG7zMOG6BbqIR5GRjF5qEUAkdcnTOUBpQOGnKmUKlC238RJ0psXU3F_dEzedAE7ja73E",
     "qi":"skktO5trqO6NoR7h69vW97tuu6WNmdPbq-sD7FDga5crJLkjkrPN31NQpsjCXO90Excso0Y4tzZaE6X__5R6V8VK\
    5TdDdAA75s8E5f4F9sujstnnTacOX9gKarJQHZT_dUAV_E-aB2T6U0XffyxpF8DdcLeeA0SCLqbFvH0HGiQ"},
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
        ("r", .rsaOAEP256, .a256GCM),
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
