internal import SignetBase
internal import SignetCrypto

extension PinPlan {
    /// What is found, host by host.
    struct Findings {
        let now: Int64
        let soon: Int64
        private(set) var all: [Finding] = []
        private var host: String?

        init(now: Int64, soon: Int64) {
            self.now = now
            self.soon = soon
        }

        mutating func look(at host: Host, strangers: [Material]) {
            self.host = host.rule.pattern.description
            defer { self.host = nil }
            lookAtExpiry(of: host.rule)
            lookAtEnd(of: host)
            for pin in host.pins { look(at: pin) }
            for stranger in strangers { add(stranger) }
        }

        /// What no rule wants and no pinned host's name is on.
        mutating func addUnused(_ material: Material) {
            add(
                "unused", .warning, material.pin, nil,
                "\(shown(material)): no rule has its pin, and its name is of no pinned host")
        }

        private mutating func lookAtExpiry(of rule: PinRule) {
            guard let date = rule.expires else { return }
            let then =
                rule.afterExpiry == .refuse
                ? "the host is refused from then on" : "CA and host name alone decide from then on"
            if date.isOver(at: now) {
                add("rule-expired", .error, nil, date.end, "the rule expired on \(date): \(then)")
            } else if date.end <= soon {
                add(
                    "rule-expires-soon", .warning, nil, date.end,
                    "the rule expires on \(date): \(then)")
            }
        }

        /// When nothing is left that the rule wants.
        private mutating func lookAtEnd(of host: Host) {
            let hasReserve = host.pins.contains { $0.state == .reserve }
            if let until = host.until {
                let day = UnixTime.rfc3339(until)
                if !hasReserve {
                    add(
                        "no-reserve", until <= soon ? .error : .warning, nil, until,
                        "at \(day) the last certificate of a pinned key ends, and no other pinned key"
                            + " is at hand: make one (openssl genpkey), pin its request"
                            + " (signet pins show FILE.csr) and ship that policy before")
                }
            } else {
                let what = host.pins.map(\.state).allSatisfy { $0 == .noKey } && !hasReserve
                add(
                    "cut-off", .error, nil, now,
                    what
                        ? "none of its pins is of a certificate, request or key that was given: give"
                            + " those that it shows, or it is cut off"
                        : "no certificate of a pinned key is valid now"
                            + (hasReserve ? ": have one made of the key in reserve" : ""))
            }
        }

        private mutating func look(at state: PinState) {
            switch state.state {
            case .noKey:
                add(
                    "no-key", .warning, state.pin, nil,
                    "nothing that was given is of \(state.pin): if its key is lost, it is no backup;"
                        + " take it out, or give its request or key")
            case .ended:
                add(
                    "ended", .warning, state.pin, state.until,
                    "the certificate of \(state.pin) ended at"
                        + " \(UnixTime.rfc3339(state.until ?? now)): take the pin out, or give a"
                        + " request or a new certificate of its key")
            case .inUse:
                guard let until = state.until, until <= soon else { return }
                add(
                    "ends-soon", .warning, state.pin, until,
                    "the certificate of \(state.pin) ends at \(UnixTime.rfc3339(until)): renew it"
                        + " with the same key, or go over to the key in reserve")
            case .reserve: break
            }
        }

        /// A certificate or request for the host, of a key that its rule does not want.
        private mutating func add(_ stranger: Material) {
            let isInUse =
                (stranger.notBefore ?? .max) <= now && now <= (stranger.notAfter ?? .min)
            add(
                "not-pinned", isInUse ? .error : .warning, stranger.pin, stranger.notBefore,
                "\(shown(stranger)) is for this host, and its key is not pinned: add"
                    + " \"\(stranger.pin)\" before the host shows it")
        }

        private func shown(_ material: Material) -> String {
            let subject = material.subject.isEmpty ? "" : ", \(material.subject)"
            return "\(material.source) (\(material.kind.rawValue)\(subject))"
        }

        private mutating func add(
            _ code: String, _ severity: PinLint.Severity, _ pin: Pin?, _ at: Int64?,
            _ message: String
        ) {
            all.append(
                Finding(
                    code: code, severity: severity, host: host, pin: pin, at: at, message: message))
        }
    }
}
