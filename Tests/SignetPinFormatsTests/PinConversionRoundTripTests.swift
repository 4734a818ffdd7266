import SignetPinning
import TestSupport
import Testing

@testable import SignetPinFormats

/// Small policies made at random, written in another program's format and read again: no host is
/// pinned less, and none is pinned that was not.
@Suite struct PinConversionRoundTripTests {
    private static let names = ["a", "b.a", "c.b.a", "d.c.b.a", "x.a", "c.x.a", "y"]
    private static let pins = ["8", "A", "E", "I"].map {
        Pin.prefix + "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh\($0)="
    }

    /// The rule for a host, as another program's format can express it.
    private enum Judgement: Equatable {
        case open
        case reported(Set<Pin>)
        case pinned(Set<Pin>)

        init(_ policy: PinPolicy, _ host: String) throws {
            guard let rule = policy.rule(for: try HostName.canonical(host)), !rule.isExclusion
            else {
                self = .open
                return
            }
            self = rule.mode == .report ? .reported(Set(rule.pins)) : .pinned(Set(rule.pins))
        }
    }

    private static func randomRule(_ random: inout SplitMix) throws -> PinRule {
        let reach = ["", "", "", "*.", "**."].randomElement(using: &random) ?? ""
        let host = reach + (names.randomElement(using: &random) ?? "a")
        let below = Bool.random(using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 {
            return try PinRule(excluding: host, includesSubdomains: below)
        }
        let pins = try pins.shuffled(using: &random)
            .prefix(Int.random(in: 1...3, using: &random)).map { try Pin(parsing: $0) }
        return try PinRule(
            host: host, pins: pins, includesSubdomains: below,
            mode: Int.random(in: 0..<5, using: &random) == 0 ? .report : .enforce)
    }

    @Test(arguments: ["signet", "trustkit", "trustkit-json", "android", "okhttp"])
    func aHostIsPinnedAsItWas(_ name: String) throws {
        let format = try #require(PinFormat(name: name))
        var random = SplitMix(seed: 11)
        var written = 0
        for _ in 0..<600 {
            let count = Int.random(in: 1...4, using: &random)
            var rules: [PinRule] = []
            for _ in 0..<count { rules.append(try Self.randomRule(&random)) }
            guard let policy = try? PinPolicy(rules: rules) else { continue }
            let text: [UInt8]
            do throws(PinError) {
                text = try PinConversion.write(policy, as: format).bytes
            } catch {
                try #require(error.code == .notExpressible)
                continue
            }
            // Some formats refuse a text without any pins.
            guard let read = try? PinConversion.read(text, as: format).policy else {
                #expect(policy.rules.allSatisfy { $0.isExclusion || $0.mode == .report })
                continue
            }
            written += 1
            for host in Self.names + Self.names.map({ "z.\($0)" }) {
                let before = try Judgement(policy, host)
                let after = try Judgement(read, host)
                let lost = "\(host) of\n\(String(decoding: policy.serialized(), as: UTF8.self))"
                switch before {
                case .reported where name == "android" || name == "okhttp":
                    #expect(after == .open, "\(lost)")
                default: #expect(after == before, "\(lost)")
                }
            }
        }
        #expect(written > 50, "\(written)")
    }
}
