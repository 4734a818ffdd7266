public import SignetRPC

/// A typed call's request, before the service's adapter boxes it.
public enum CallRequest: Sendable, Hashable {
    /// A call with parameters, which the adapter distributes. A path is added to the service's base
    /// URL.
    case procedure(RPCCall, path: String? = nil)
    /// A REST request, part by part.
    case resource(RESTRequest)

    /// The content of the response that the caller can read.
    var responseContent: ResponseContent {
        get {
            switch self {
            case .procedure(let call, _): call.responseContent
            case .resource(let request): request.responseContent
            }
        }
        set {
            switch self {
            case .procedure(var call, let path):
                call.responseContent = newValue
                self = .procedure(call, path: path)
            case .resource(var request):
                request.responseContent = newValue
                self = .resource(request)
            }
        }
    }
}
