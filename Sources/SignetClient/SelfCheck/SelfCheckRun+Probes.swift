import SignetBase
import SignetPinning
import SignetTransport

extension SelfCheckRun {
    /// Makes the test calls of a configuration, one after the other, with a line for each.
    ///
    /// - Parameters:
    ///   - probes: The calls, or the reasons why they can't be made.
    ///   - reason: Why none is made; nil if they are.
    ///   - pipeline: The pipeline of the system.
    mutating func check(
        _ probes: [(name: String, probe: Result<Probe, ClientError>)],
        skipping reason: String? = nil, through pipeline: CallPipeline?
    ) async {
        for (name, probe) in probes {
            switch probe {
            case .failure(let error):
                add(
                    name, status: .bad, detail: error.message,
                    remedy: "fix the value, and seal the configuration again")
            case .success(let probe):
                guard let pipeline, reason == nil else {
                    add(name, status: .skipped, detail: reason ?? "there is no system")
                    continue
                }
                add(await pipeline.run(probe), of: probe)
            }
        }
    }

    private mutating func add(_ outcome: ProbeOutcome, of probe: Probe) {
        let call = "\(probe.service) \(probe.method)"
        switch outcome.finding {
        case .good:
            guard let source = outcome.record?.response?.source, source == .server else {
                return add(
                    probe.name, status: .warning, detail: "\(call): no server was asked",
                    remedy: "turn off the stubs, or choose an engine with a network")
            }
            add(
                probe.name, status: .good,
                detail: "\(call): as expected, in \(outcome.duration.wholeMilliseconds) ms")
        case .unexpected(let path):
            add(
                probe.name, status: .bad,
                detail: "\(call): the result isn't as expected at \(path)",
                remedy: "fix the service, or probes.\(probe.name).expect")
        case .failed(let error):
            add(
                probe.name, status: .bad, detail: "\(call): \(detail(of: error, in: probe))",
                remedy: remedy(for: error, in: probe), pinRefusal: error.pinRefusal)
        }
    }

    private func detail(of error: ClientError, in probe: Probe) -> String {
        if error.pinRefusal != nil { return error.message }
        if error.code == .timeout {
            return "no response within \(probe.timeout.wholeMilliseconds) ms"
        }
        // Its message may have the path of the URL, or a text of the server.
        if error.kind == .refused {
            let origin = error.url.flatMap { try? WebURL(parsing: $0) }?.origin
            return [
                error.code.name, error.status.map { "status \($0)" }, origin.map { "from \($0)" },
            ].compactMap { $0 }.joined(separator: ", ")
        }
        return "\(error.code.name): \(error.message)"
    }

    private func remedy(for error: ClientError, in probe: Probe) -> String {
        if error.pinRefusal != nil {
            return "if the host's owner changed its keys, update the policy"
        }
        if error.code == .timeout {
            return "find out why the service is slow, or set probes.\(probe.name).timeout"
        }
        switch error.kind {
        case .refused where error.isUnauthorized:
            return "check the key that signs the service's requests, and the clocks of both sides"
        case .refused: return "look at the service's log, or fix probes.\(probe.name)"
        case .malformed: return "fix the service's responses, or services.\(probe.service).protocol"
        case .noResponse: return "look at the host's network and certificate"
        default: return "fix the configuration, or probes.\(probe.name)"
        }
    }

    private mutating func add(
        _ name: String, status: SelfCheckReport.Status, detail: String,
        remedy: String? = nil, pinRefusal: PinRefusal? = nil
    ) {
        report.add(
            area: "probes", subject: name, status: status, detail: detail, remedy: remedy,
            pinRefusal: pinRefusal)
    }
}
