internal import SignetPinning
internal import SignetTransport

// MARK: - Pin reports

extension NetworkSystem {
    /// Sends through the engine, and reports the policy's decision about the host.
    func sendReporting(
        _ request: EngineRequest, through engine: any HTTPEngine
    ) async throws(TransportError) -> EngineResponse {
        do throws(TransportError) {
            let response = try await engine.send(request)
            if let finding = response.verdict?.finding {
                report(finding, at: request, isEnforced: false)
            }
            return response
        } catch {
            if let refusal = error.pinRefusal { report(refusal, at: request, isEnforced: true) }
            throw error
        }
    }

    /// The numbers of pin reports so far, by outcome.
    public var pinReportCounts: PinReportCounts { reporter.counts }

    private func report(_ refusal: PinRefusal, at request: EngineRequest, isEnforced: Bool) {
        let scheme = request.request.scheme ?? "https"
        let authority = try? Authority(parsing: request.request.authority ?? "")
        reporter.submit(
            refusal, port: authority?.port(scheme: scheme) ?? 443, isEnforced: isEnforced)
    }

    /// Reports a refusal before any connection.
    func report(_ refusal: PinRefusal, port: Int) {
        reporter.submit(refusal, port: port, isEnforced: true)
    }

    /// Reports a redirect to a host that the policy refuses; nothing if another rule refused it.
    func reportRefusedRedirect(_ error: TransportError) {
        guard let refusal = error.pinRefusal else { return }
        report(refusal, port: refusal.port ?? 443)
    }
}
