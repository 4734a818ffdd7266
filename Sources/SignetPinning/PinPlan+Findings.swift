import SignetBase

extension PinPlan {
    /// Collects the findings, host by host.
    struct Findings {
        let now: Int64
        let soon: Int64
        var all: [Finding] = []
        var host: String?

        mutating func inspect(_ host: Host, unpinned: [Material]) {
            self.host = host.rule.pattern.description
            defer { self.host = nil }
            inspectExpiry(of: host.rule)
            inspectEnd(of: host)
            for pin in host.pins { inspect(pin) }
            for material in unpinned { addUnpinned(material) }
        }

        /// Adds a finding about a material that no rule pins and that names no pinned host.
        mutating func addUnused(_ material: Material) {
            add(
                "unused", severity: .warning, pin: material.pin,
                message: "\(shown(material)): no rule has its pin, and it names no pinned host")
        }

        /// Adds a finding about a client's certificate that ends.
        mutating func inspectClient(_ material: Material) {
            guard let end = material.notAfter, end <= soon else { return }
            let isOver = end < now
            add(
                isOver ? "client-certificate-ended" : "client-certificate-ends-soon",
                severity: isOver ? .error : .warning, at: end,
                message: "the client certificate \(shown(material)) \(isOver ? "ended" : "ends") at"
                    + " \(UnixTime.rfc3339(end)): renew it, so that servers still let the program in"
            )
        }

        private mutating func inspectExpiry(of rule: PinRule) {
            guard let date = rule.expires else { return }
            let effect =
                rule.afterExpiry == .refuse
                ? "after that day calls to the host are refused"
                : "after that day the host is trusted by CA and host name alone"
            if date.isOver(at: now) {
                add(
                    "rule-expired", severity: .error, at: date.end,
                    message: "the rule expired on \(date): \(effect)")
            } else if date.end <= soon {
                add(
                    "rule-expires-soon", severity: .warning, at: date.end,
                    message: "the rule expires on \(date): \(effect)")
            }
        }

        /// Adds a finding if no certificate of a pinned key is valid, or if no key is in reserve.
        private mutating func inspectEnd(of host: Host) {
            let hasReserve = host.pins.contains { $0.state == .reserve }
            if let until = host.until {
                guard !hasReserve else { return }
                add(
                    "no-reserve", severity: until <= soon ? .error : .warning, at: until,
                    message: "the last certificate of a pinned key ends at"
                        + " \(UnixTime.rfc3339(until)), and no other pinned key is known: make one"
                        + " (openssl genpkey), pin its request (signet pins show FILE.csr) and ship"
                        + " that policy before")
                return
            }
            let message =
                if hasReserve {
                    "no certificate of a pinned key is valid now: get one for the key in reserve"
                } else if host.pins.allSatisfy({ $0.state == .noKey }) {
                    "no given certificate, request or key has one of its pins: give the"
                        + " certificates that the host uses, or correct its pins"
                } else {
                    "no certificate of a pinned key is valid now"
                }
            add("cut-off", severity: .error, at: now, message: message)
        }

        private mutating func inspect(_ state: PinState) {
            switch state.state {
            case .noKey:
                add(
                    "no-key", severity: .warning, pin: state.pin,
                    message: "no given certificate, request or key has the pin \(state.pin): give"
                        + " its request or key, or remove the pin, which isn't a backup if its key"
                        + " is lost")
            case .ended:
                add(
                    "ended", severity: .warning, pin: state.pin, at: state.until,
                    message: "the certificate of \(state.pin) ended at"
                        + " \(UnixTime.rfc3339(state.until ?? now)): remove the pin, or give a"
                        + " request or a new certificate of its key")
            case .inUse:
                guard let until = state.until, until <= soon else { return }
                add(
                    "ends-soon", severity: .warning, pin: state.pin, at: until,
                    message: "the certificate of \(state.pin) ends at \(UnixTime.rfc3339(until)):"
                        + " renew it with the same key, or switch to the key in reserve")
            case .reserve: break
            }
        }

        /// Adds a finding about a material that names the host and whose key the rule doesn't pin.
        private mutating func addUnpinned(_ material: Material) {
            add(
                "not-pinned", severity: material.isValid(at: now) ? .error : .warning,
                pin: material.pin, at: material.notBefore,
                message: "\(shown(material)) is for this host, and its key isn't pinned: add"
                    + " \"\(material.pin)\" before the host uses it")
        }

        private func shown(_ material: Material) -> String {
            let subject = material.subject.isEmpty ? "" : ", \(material.subject)"
            return "\(material.source) (\(material.kind.rawValue)\(subject))"
        }

        private mutating func add(
            _ code: String, severity: PinLint.Severity, pin: Pin? = nil, at: Int64? = nil,
            message: String
        ) {
            all.append(
                Finding(
                    code: code, severity: severity, host: host, pin: pin, at: at, message: message))
        }
    }
}
