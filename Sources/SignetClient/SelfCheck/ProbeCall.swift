import SignetRPC
import SignetTransport

/// How a test call ended.
struct ProbeOutcome: Sendable {
    /// A finding about a call.
    enum Finding: Sendable {
        case good
        /// The result isn't as expected at this path.
        case unexpected(path: String)
        case failed(ClientError)
    }

    let finding: Finding
    let duration: Duration
    /// The record; nil if the call wasn't admitted.
    let record: CallRecord?
}

extension CallPipeline {
    /// Makes a test call once, through all stages.
    ///
    /// - Parameter engine: The engine in place of the service's.
    func run(_ probe: Probe, through engine: EngineName? = nil) async -> ProbeOutcome {
        let trace = CallTrace()
        var options = RequestOptions(deadline: probe.timeout, tags: ["probe"], trace: trace)
        options.attempts = 1
        options.cache = .never
        options.duplicates = .allow
        options.merging = .never
        options.waitsForConnectivity = false
        options.keepsContents = false
        if let engine { options.engine = EngineChoice(engine) }
        var target = CallTarget(
            service: probe.service, method: probe.method.name, options: options, isInMemory: true)
        target.isProbe = true
        let call = RPCCall(probe.method, parameters: probe.parameters)
        let path = probe.path
        let start = admission.clock.instant()
        let finding: ProbeOutcome.Finding
        do throws(ClientError) {
            let result = try await run(
                target, request: { _ throws(ClientError) in .procedure(call, path: path) },
                value: { response throws(ClientError) in response.result?.value })
            finding = probe.mismatch(in: result).map { .unexpected(path: $0) } ?? .good
        } catch {
            finding = .failed(error)
        }
        return ProbeOutcome(
            finding: finding, duration: admission.clock.instant() - start, record: trace.record)
    }
}
