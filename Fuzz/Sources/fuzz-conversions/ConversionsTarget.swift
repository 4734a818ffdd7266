import FuzzSupport
import SignetPinFormats
import SignetPinning

/// The file of another program is refused with a message, or is a policy: in signet's format it is the same
/// again, and in every format that can say it, it pins the same hosts with the same pins.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    var seeds = Seeds.texts(["\u{5}sha256//d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="])
    for file in [
        "SignetPinFormatsTests/Vectors/formats", "SignetPinFormatsTests/Vectors/formats-refused",
        "SignetPinningTests/Vectors/published",
    ] {
        for seed in Seeds.values(in: "Tests/\(file).json") {
            // A file's format shows at its start, more or less.
            for number in formats(fitting: seed.bytes) {
                seeds.append(("\(seed.name)-\(number)", [UInt8(number)] + seed.bytes))
            }
        }
    }
    Seeds.write(seeds)
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    guard let first = input.first else { return 0 }
    let format = PinFormat.all[Int(first) % PinFormat.all.count]
    let policy: PinPolicy
    do throws(PinError) {
        let reading = try PinConversion.read(
            Array(input.dropFirst()), as: format, host: format.namesHosts ? nil : "example.com")
        for note in reading.notes { checkMessage(note, of: "\(format): a note") }
        policy = reading.policy
    } catch {
        checkMessage(error.message, of: "\(format)")
        return 0
    }
    guard let again = try? PinPolicy(parsing: policy.serialized()), again == policy else {
        broken("\(format): the policy that was read is not the same in signet's format")
    }
    guard policy.rules.allSatisfy({ $0.pins.allSatisfy { $0.bytes.count == 32 } }) else {
        broken("\(format): a pin of a wrong length")
    }
    guard policy.rules.count <= 32 else { return 0 }
    for other in PinFormat.all {
        write(policy, as: other, binary: false)
        if other == .trustKit { write(policy, as: other, binary: true) }
    }
    return 0
}

private func formats(fitting bytes: [UInt8]) -> [Int] {
    let fitting: [PinFormat] =
        switch bytes.first {
        case UInt8(ascii: "<"): [.trustKit, .android]
        case UInt8(ascii: "{"): [.signet, .trustKitJSON]
        case UInt8(ascii: "b"): [.trustKit, .okHTTP]
        case UInt8(ascii: "s"), UInt8(ascii: "p"): [.curl, .hpkp]
        default: [.okHTTP, .hpkp]
        }
    return fitting.compactMap { PinFormat.all.firstIndex(of: $0) }
}

/// Writes a policy and reads it again.
private func write(_ policy: PinPolicy, as format: PinFormat, binary: Bool) {
    let pinned = policy.rules.filter { !$0.isExclusion && $0.mode == .enforce }
    let bytes: [UInt8]
    do throws(PinError) {
        let writing = try PinConversion.write(policy, as: format, binary: binary)
        for note in writing.notes { checkMessage(note, of: "\(format): a note of writing") }
        bytes = writing.bytes
    } catch {
        checkMessage(error.message, of: "\(format): writing")
        return
    }
    // A text without any pins is not a configuration to some.
    guard let rule = pinned.first else { return }
    let host = format.namesHosts ? nil : rule.pattern.description
    guard let read = try? PinConversion.read(bytes, as: format, host: host).policy else {
        broken("\(format): what was written is not read")
    }
    for rule in format.namesHosts ? pinned : [rule] {
        for name in [rule.pattern.host.text, "z." + rule.pattern.host.text] {
            guard let host = try? HostName.canonical(name), let before = pins(policy, host) else {
                continue
            }
            if !format.namesHosts, rule.pattern.scope == .exact, host != rule.pattern.host {
                continue
            }
            guard pins(read, host) == before else {
                broken("\(format): \(host) is not pinned as it was")
            }
        }
    }
}

/// The pins that a host must have; nil where it need not have any.
private func pins(_ policy: PinPolicy, _ host: HostName) -> Set<Pin>? {
    guard let rule = policy.rule(for: host), !rule.isExclusion, rule.mode == .enforce else {
        return nil
    }
    return Set(rule.pins)
}
