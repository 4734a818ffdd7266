import FuzzSupport
import SignetCrypto
import SignetJSON

@testable import SignetPinning

/// A signed policy is refused with a message, or says what one of the signed ones said. What is taken as a
/// payload can be signed, and is then the same.
private let fixture: SignedUpdates = {
    do {
        return try SignedUpdates()
    } catch {
        broken("the fixtures cannot be made: \(error)")
    }
}()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        fixture.documents.enumerated().map { ("signed-\($0)", $1) }
            + fixture.payloads.enumerated().map { ("payload-\($0)", $1) })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    do throws(PinError) {
        let verified = try fixture.verifier.verify(input, now: Fixture.now)
        guard fixture.digests.contains(verified.digest) else {
            broken("a document is taken that nobody signed")
        }
    } catch {
        checkMessage(error.message, of: "a signed policy")
    }
    do throws(PinError) {
        let policy = try SignedPinPolicy(payload: input)
        guard policy.policy.rules.allSatisfy({ $0.pins.allSatisfy { $0.bytes.count == 32 } }) else {
            broken("a pin of a wrong length")
        }
        let document = try policy.signed(by: fixture.key, now: Fixture.now)
        let again = try fixture.verifier.verifySignature(document, now: nil)
        guard again.signed == policy else { broken("a policy that was signed says something else") }
    } catch {
        checkMessage(error.message, of: "a signed policy's payload")
    }
    return 0
}

/// A key, and documents that it signed.
private struct SignedUpdates {
    let key: CryptoKey
    let verifier: PinUpdateVerifier
    let documents: [[UInt8]]
    let payloads: [[UInt8]]
    let digests: Set<[UInt8]>

    init() throws {
        guard let key = try Fixture.keySet()["ed"], let half = key.publicHalf else {
            broken("no key that signs")
        }
        let keys: JSONValue = ["keys": [.object(half)]]
        let verifier = try PinUpdateVerifier(
            keys: KeySet(parsing: keys.serialized(), source: "the fuzzer"))
        let pins = #"["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="]"#
        let policies = [
            #"{"hosts":{"api.example.com":{"pins":\#(pins)}}}"#,
            #"{"hosts":{"a":{"pins":\#(pins),"expires":"2027-01-01"},"b":{"exclude":true}}}"#,
        ]
        let times = #""notBefore":\#(Fixture.now - 10),"expires":\#(Fixture.now + 10)"#
        payloads = policies.enumerated().map {
            Array(#"{"serial":\#($0 + 1),\#(times),"policy":\#($1)}"#.utf8)
        }
        documents = try payloads.map {
            try SignedPinPolicy(payload: $0).signed(by: key, now: Fixture.now)
        }
        digests = try Set(documents.map { try verifier.verify($0, now: Fixture.now).digest })
        self.key = key
        self.verifier = verifier
    }
}
