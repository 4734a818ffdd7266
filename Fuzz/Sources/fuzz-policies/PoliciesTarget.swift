import FuzzSupport
import SignetPinning

/// A pin policy is refused with a message, or is written and read as it was, with pins of 32 bytes, and each
/// rule decides about its own host.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    let pins =
        #"["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=","#
        + #""sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="]"#
    let rule =
        #"{"pins":\#(pins),"includeSubdomains":true,"expires":"2027-06-30","#
        + #""afterExpiry":"allow","mode":"report"}"#
    Seeds.write(
        Seeds.values(in: "Tests/SignetPinningTests/Vectors/published.json")
            + Seeds.texts([
                #"{"hosts":{"api.example.com":{"pins":\#(pins)}}}"#,
                #"{"hosts":{"example.com":\#(rule),"*.example.com":{"exclude":true}},"unlisted":"allow"}"#,
                #"{"hosts":{"**.a.b":\#(rule),"x.a.b":\#(rule),"127.0.0.1":{"pins":\#(pins)}}}"#,
                #"{"hosts":{"a":{"pins":["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}}}"#,
                #"{"hosts":{"a":{"pins":\#(pins),"caFile":"ca.pem","caMode":"only"}}}"#,
            ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let policy: PinPolicy?
    do throws(PinError) {
        policy = try PinPolicy(parsing: input)
    } catch {
        checkMessage(error.message, of: "a policy")
        policy = nil
    }
    lint(input, isPolicy: policy != nil)
    guard let policy else { return 0 }
    guard let again = try? PinPolicy(parsing: policy.serialized()), again == policy else {
        broken("a policy that was written is not read as it was")
    }
    for rule in policy.rules {
        guard rule.pins.allSatisfy({ $0.bytes.count == 32 }) else {
            broken("a pin of a wrong length")
        }
        for pin in rule.pins where (try? Pin(parsing: pin.text)) != pin {
            broken("a pin's text is not its own")
        }
        if rule.pattern.scope == .exact, policy.rule(for: rule.pattern.host) != rule {
            broken("another rule decides about \(rule.pattern)")
        }
        for isSecure in [true, false] { decide(policy, rule, isSecure: isSecure) }
    }
    return 0
}

private func decide(_ policy: PinPolicy, _ rule: PinRule, isSecure: Bool) {
    let host = rule.pattern.host
    let decision = policy.decision(for: host, isSecure: isSecure, now: Fixture.now)
    if let refusal = decision.refusal { checkMessage(refusal.message, of: "a decision") }
    let isPinned = rule.pattern.scope == .exact && !rule.isExclusion
    if isPinned, !isSecure, decision.refusal == nil {
        broken("a pinned host is spoken to without TLS: \(host)")
    }
}

private func lint(_ input: [UInt8], isPolicy: Bool) {
    do throws(PinError) {
        let findings = try PinLint.findings(of: input, now: Fixture.now)
        for finding in findings { checkMessage(finding.message, of: "a finding") }
        if !isPolicy, findings.isEmpty { broken("a policy is refused, and nothing is found in it") }
    } catch {
        checkMessage(error.message, of: "a policy for lint")
        if isPolicy { broken("a policy is taken that lint refuses") }
    }
}
