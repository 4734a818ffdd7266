import FuzzSupport
import SignetJSON

@testable import SignetCrypto

/// A shared key set is refused with a message, or it's written as it was read, and a recipient opens
/// it to the text that was sealed or not at all.

/// Keys of published vectors: RFC 7748, section 6.1, and RFC 7515, appendix A.3.
private let identities = [
    #"{"kty":"OKP","kid":"x","use":"enc","crv":"X25519","#
        + #""d":"dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo","#
        + #""x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}"#,
    #"{"kty":"EC","kid":"p","use":"enc","crv":"P-256","#
        + #""x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","#
        + #""d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}"#,
].map { text in
    guard
        let key = try? KeySet(parsing: Array("{\"keys\":[\(text)]}".utf8), source: "a key").keys
            .first
    else { broken("an identity is refused") }
    return key
}

private let sealed = Array(Fixture.keys.utf8)

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    var shared: SharedKeySet
    do throws(KeyError) {
        shared = try SharedKeySet(parsing: input)
    } catch {
        checkMessage(error.message, of: "a shared key set")
        return 0
    }
    guard SharedKeySet.isShared(input) else { broken("a shared key set is taken for a key set") }
    let bytes = shared.bytes
    guard (try? SharedKeySet(parsing: bytes))?.bytes == bytes else {
        broken("a shared key set that was written is not read as it was")
    }
    for identity in identities { open(shared, with: identity) }
    change(&shared)
    return 0
}

private func open(_ shared: SharedKeySet, with identity: CryptoKey) {
    do throws(KeyError) {
        guard try shared.open(with: identity) == sealed else {
            broken("a recipient opens a text that nobody sealed")
        }
    } catch {
        checkMessage(error.message, of: "a shared key set that does not open")
    }
}

/// Adds a recipient, which only another one can, and removes all but one.
private func change(_ shared: inout SharedKeySet) {
    let before = shared.thumbprints
    do throws(KeyError) {
        try shared.add([identities[1]], by: identities[0])
        open(shared, with: identities[1])
        guard shared.thumbprints.count == before.count + 1 else { broken("no recipient is added") }
    } catch {
        checkMessage(error.message, of: "a recipient that can't be added")
        guard shared.thumbprints == before else { broken("a refused change changes the set") }
    }
    for thumbprint in shared.thumbprints.dropFirst() {
        guard (try? shared.remove(thumbprint)) != nil else { broken("a recipient stays") }
    }
    guard shared.thumbprints == [before[0]], (try? shared.remove(before[0])) == nil else {
        broken("the last recipient is removed")
    }
}
