import SignetRPC

/// The request for a call: where it goes and which options it has.
struct CallTarget: Sendable {
    var service: Service
    /// The remote procedure's name, or the HTTP method.
    var method: String
    /// The options of endpoint and call.
    var options = CallOptions()
    /// Whether an adapter makes the request. Then a call that isn't REST is never redirected to
    /// GET.
    var isBoxed = true
    /// The snapshot to use; nil is the current one.
    var snapshot: SystemSnapshot?
    /// A host of the system's own, instead of a service of the configuration.
    var host: SystemHost?
    /// The path without values, for logs.
    var path: String?
}

extension CallTarget {
    /// Creates the target of a REST request.
    init(_ request: RESTRequest, on service: Service, options: CallOptions) {
        self.init(
            service: service, method: request.method.rawValue, options: options,
            path: request.path.template)
    }
}
