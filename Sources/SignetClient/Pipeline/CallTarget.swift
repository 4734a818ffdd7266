import HTTPTypes
import SignetRPC

/// The request for a call: where it goes and which options it has.
struct CallTarget: Sendable {
    var service: ServiceName
    /// The remote procedure's name, or the HTTP method.
    var method: String
    /// The options of endpoint and call.
    var options = RequestOptions()
    /// Whether an adapter makes the request. Then a call that isn't REST is never redirected to
    /// GET.
    var isBoxed = true
    /// Whether the request's body is in memory, and the response will be. Then no source, file or
    /// pipe of the program can hold up the thread that the call begins on.
    var isInMemory = false
    /// The snapshot to use; nil is the current one.
    var snapshot: SystemSnapshot?
    /// A host of the system's own, instead of a service of the configuration.
    var host: SystemHost?
    /// The path without values, for logs.
    var path: String?
    /// Whether it is a test call of the configuration, which isn't counted.
    var isProbe = false
    /// Fields that the system adds to the request, which win over its own.
    var addedFields: HTTPFields?
    /// The call that has begun already, or why it could not; nil for one that begins when it is
    /// admitted.
    var begun: Result<CallContext, ClientError>?
}

extension CallTarget {
    /// Creates the target of a REST request.
    init(_ request: RESTRequest, on service: ServiceName, options: RequestOptions) {
        self.init(
            service: service, method: request.method.rawValue, options: options,
            path: request.path.template)
    }
}
