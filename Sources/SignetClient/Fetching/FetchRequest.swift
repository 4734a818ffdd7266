import SignetCrypto
import SignetJSON
import SignetRPC
import SignetVault

/// The service and the parameters with which a system fetches values. Defaults and launch values
/// fix them at the start.
struct FetchRequest: Sendable {
    let plan: FetchPlan
    /// Made of defaults and launch values; holds only the service that is asked.
    let snapshot: SystemSnapshot
    let parameters: RPCParameters?

    /// Prepares the one service that is asked, and the parameters.
    ///
    /// - Throws: `invalid-plan`.
    init(
        _ plan: FetchPlan, base: GlobalConfiguration, keys: KeySet?,
        options: NetworkSystem.Options
    ) throws(ClientError) {
        func invalid(_ what: String) -> ClientError {
            ClientError(.invalidPlan, "the plan for fetching: \(what)")
        }
        guard plan.timeout > .zero, plan.maximumResponseSize > 0 else {
            throw invalid("timeout and maximumResponseSize must be above zero")
        }
        var parameters = JSONObject()
        for name in plan.parameters {
            guard let rule = base.schema.rule(named: name), rule.isPublic else {
                throw invalid("the parameter \(name) is not a public key of the schema")
            }
            if let value = base.publicValues[name] { parameters[name] = value }
        }
        self.plan = plan
        self.parameters = parameters.isEmpty ? nil : .object(parameters)
        self.snapshot = try SystemSnapshot(
            base, keys: keys, options: options, only: plan.service)
        guard snapshot.services[plan.service] != nil else {
            throw invalid("defaults and launch values have no service \(plan.service)")
        }
    }
}
