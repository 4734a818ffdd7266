import FuzzSupport
import SignetCrypto
import SignetJSON

@testable import SignetVault

/// A dump is refused with a message, or is byte for byte one of those that were sealed. The inside of a dump
/// is refused with a message, or has one origin for each value.
private let fixture = SealedDumps()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        fixture.dumps.enumerated().map { ("dump-\($0)", $1.dump.bytes) }
            + fixture.dumps.enumerated().map { ("inside-\($0)", $1.inside) })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    outside(input)
    if let state = SequenceState(parsing: input), state.bytes != input {
        broken("a state file is taken in a spelling that is not ours")
    }
    for sealed in fixture.dumps { inside(input, sealed.dump.binding) }
    return 0
}

private func outside(_ input: [UInt8]) {
    let dump: SealedDump
    do throws(VaultError) {
        dump = try SealedDump(parsing: input)
    } catch {
        checkMessage(error.message, of: "a dump")
        return
    }
    guard dump.bytes == input else { broken("a dump holds other bytes than were read") }
    guard dump.plaintextByteCount < input.count,
        (try? JSONValue(parsing: JSONValue.object(dump.inspection).serialized())) != nil
    else { broken("what is said of a dump is wrong") }
    // The cost of a passphrase is another test's.
    guard !dump.isPassphraseSealed else { return }
    for keys in fixture.keys {
        do throws(VaultError) {
            let opened = try dump.open(with: keys, for: dump.binding, now: Fixture.now)
            guard fixture.dumps.contains(where: { $0.dump.bytes == input }) else {
                broken("a dump opens that nobody sealed: \(opened)")
            }
        } catch {
            checkMessage(error.message, of: "opening")
            if error.code == .unknownKey { continue }
            if fixture.dumps.contains(where: { $0.dump.bytes == input }), error.code != .wrongKey {
                broken("a sealed dump does not open: \(error)")
            }
        }
    }
}

private func inside(_ input: [UInt8], _ binding: VersionBinding) {
    do throws(VaultError) {
        let inside = try DumpPlaintext(parsing: input, expecting: binding)
        let names = inside.values.memberNames.sorted()
        guard inside.sequence >= 1, inside.origins.memberNames.sorted() == names else {
            broken("a value without an origin, or the other way round")
        }
        let bytes = DumpPlaintext.bytes(
            for: binding, sequence: inside.sequence, sealedAt: inside.sealedAt,
            tail: DumpPlaintext.tail(
                values: inside.values, origins: inside.origins, changed: inside.changed))
        guard let again = try? DumpPlaintext(parsing: bytes, expecting: binding),
            again.values == inside.values, again.origins == inside.origins
        else { broken("the inside of a dump is not written as it was") }
    } catch {
        checkMessage(error.message, of: "the inside of a dump")
    }
}

/// The dumps of the vectors, which another program made.
private struct SealedDumps {
    let dumps: [(dump: SealedDump, inside: [UInt8])]
    let keys: [KeySet]

    init() {
        var dumps: [(dump: SealedDump, inside: [UInt8])] = []
        var keys: [KeySet] = []
        for vector in Seeds.document("Tests/SignetVaultTests/Vectors/dumps.json")?["accepted"]?
            .array
            ?? []
        {
            guard let root = vector["root"]?.string, let id = vector["keyID"]?.string,
                let text = vector["dump"]?.string, let inside = vector["plaintext"]?.string,
                text.utf8.count < 8192, let dump = try? SealedDump(parsing: Array(text.utf8))
            else { continue }
            let set: JSONValue = [
                "keys": [
                    ["kty": "oct", "use": "enc", "kid": .string(id), "k": .string(root)]
                ]
            ]
            guard let set = try? KeySet(parsing: set.serialized(), source: "the fuzzer") else {
                broken("a vector's key is not one")
            }
            dumps.append((dump, Array(inside.utf8)))
            keys.append(set)
        }
        if dumps.isEmpty { broken("there are no vectors of dumps: is SIGNET_FUZZ_ROOT set?") }
        (self.dumps, self.keys) = (dumps, keys)
    }
}
