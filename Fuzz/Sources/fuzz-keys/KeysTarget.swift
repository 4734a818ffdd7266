import FuzzSupport
import SignetCrypto
import SignetJSON

/// A JWK Set is refused with a message that repeats nothing of a key, or its public halves are read as they
/// were and hold no private member.

/// Members that only their owner may see.
private let secretMembers = ["k", "d", "p", "q", "dp", "dq", "qi", "oth"]

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.values(in: "Tests/SignetCryptoTests/Vectors/thumbprints.json")
            + [("fixture", Array(Fixture.keys.utf8))]
            + Seeds.texts([
                #"{"keys":[{"kty":"oct","use":"enc","kid":"v","nbf":1,"exp":2,"revoked":true,"#
                    + #""k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}"#,
                "env:NAME", "file:keys", "fd:3", "cmd:echo", "keys",
            ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    checkMessage(KeySource(text(input)).description + ".", of: "a source of keys")
    read(input)
    guard let value = try? JSONValue(parsing: input), !Planted.isHeld(in: input) else { return 0 }
    for secret in [Planted.secret, Planted.secret + "!", "\u{0}" + Planted.secret] {
        do throws(KeyError) {
            let set = try KeySet(
                parsing: planting(secret, in: value).serialized(), source: "the fuzzer")
            for key in set.keys {
                Planted.check("\(key) \(set) \(set.publicHalves.text)", of: "a key")
            }
        } catch {
            Planted.check(error.message, of: "a broken key")
        }
    }
    return 0
}

private func read(_ input: [UInt8]) {
    let set: KeySet
    do throws(KeyError) {
        set = try KeySet(parsing: input, source: "the \u{1B}fuzzer")
    } catch {
        checkMessage(error.message, of: "keys")
        return
    }
    for key in set.keys {
        checkMessage(key.description, of: "a key")
        guard set[key.id] === key else { broken("a key's id names another key") }
        do throws(KeyError) {
            try key.requireUsable(at: Fixture.now)
        } catch {
            checkMessage(error.message, of: "a key's times")
        }
        guard let half = key.publicHalf else { continue }
        for name in secretMembers where half[name] != nil {
            broken("a public half holds \(name)")
        }
    }
    let halves = set.publicHalves
    guard let others = try? KeySet(parsing: halves.serialized(), source: "halves"),
        others.publicHalves == halves, !others.isPrivate
    else { broken("public halves are not read as they were") }
    for key in others.keys where set[key.id]?.thumbprint != key.thumbprint {
        broken("a public half has another thumbprint than its key")
    }
}

/// The value with a secret in place of all texts that are secret.
private func planting(_ secret: String, in value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map { planting(secret, in: $0) })
    case .object(let members):
        .object(
            JSONObject(
                members.map { name, value in
                    secretMembers.contains(name) && value.string != nil
                        ? (name: name, value: .string(secret))
                        : (name: name, value: planting(secret, in: value))
                }))
    default: value
    }
}
