#if Tool
import SignetCrypto
import SignetPinning

/// The pins of a server or a file.
struct PinnedTarget {
    /// A key, and the structure that contained it.
    struct Shown {
        let pin: Pin
        let kind: X509Parser.Kind
        let subject: String
        let notAfter: Int64?
    }

    /// The name for messages.
    let name: String
    /// The host of a server; nil for a file.
    let host: String?
    /// The port of a server.
    var port = 443
    /// The pins; the leaf's first.
    let pins: [Shown]

    /// Returns a policy with one rule for each host, in the order of the targets.
    ///
    /// - Parameters:
    ///   - targets: Those with one host share its rule.
    ///   - host: The host of all targets; nil takes the servers' own.
    ///   - backups: Pins for each rule.
    ///   - includesIssuer: Whether the pin of the leaf's issuer is added.
    /// - Throws: `ToolError` for a file without a host, or a leaf without an issuer; `PinError` for
    ///   an invalid host.
    static func policy(
        of targets: [PinnedTarget], host: String?, backups: [Pin], includesIssuer: Bool
    ) throws -> PinPolicy {
        var hosts: [String] = []
        var pins: [String: [Pin]] = [:]
        for target in targets {
            guard let host = host ?? target.host else {
                throw ToolError.usage(
                    "\(target.name): a file does not name the host of its pins; --host HOST does")
            }
            var chosen = target.pins.prefix(1).map(\.pin)
            if includesIssuer {
                guard target.pins.count > 1, target.pins[1].kind == .certificate else {
                    throw ToolError.usage(
                        "\(target.name): found no certificate of the leaf's issuer, expected one "
                            + "behind the leaf")
                }
                chosen.append(target.pins[1].pin)
            }
            if pins[host] == nil { hosts.append(host) }
            for pin in chosen where pins[host]?.contains(pin) != true {
                pins[host, default: []].append(pin)
            }
        }
        return try PinPolicy(
            rules: hosts.map { host in
                var all = pins[host] ?? []
                for pin in backups where !all.contains(pin) { all.append(pin) }
                return try PinRule(host: host, pins: all)
            })
    }
}
#endif
