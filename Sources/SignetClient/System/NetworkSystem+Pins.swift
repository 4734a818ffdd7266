extension NetworkSystem {
    /// The state of the updates of signed pin policies; nil if no updates are planned.
    public var lastPinUpdate: PinUpdateReport? { updates?.report }

    /// Fetches a newer signed policy now, and uses it.
    ///
    /// The request is judged by the plan's own pins or by the policy in use, and goes to the plan's
    /// URL alone: a redirect is a failure. On failure nothing changes.
    ///
    /// - Returns: The state after it, as ``lastPinUpdate``.
    /// - Throws: `not-configured` without a plan; `not-running`; the error of the fetch; or, if the
    ///   document is refused, a code of `PinError`, such as `tampered`, `rolled-back` or
    ///   `update-expired`.
    @discardableResult
    public func updatePins() async throws(ClientError) -> PinUpdateReport {
        guard let updates else {
            throw ClientError(
                .notConfigured, "the system was started without a plan for pin updates")
        }
        try await updates.update()
        return updates.report ?? PinUpdateReport()
    }

    /// The numbers of pin reports so far, by outcome.
    public var pinReportCounts: PinReportCounts { reporter.counts }
}
