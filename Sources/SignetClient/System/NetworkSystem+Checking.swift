package import SignetRPC

extension NetworkSystem {
    /// Checks that the present configuration has a call's service and that the service's protocol
    /// has such a call. Sends nothing.
    ///
    /// - Parameter path: The path of a resource of a REST service; nil for a procedure.
    /// - Throws: `ClientError`: `unknown-service`, `unsupported-call`, `refused-url`, or the
    ///   adapter's.
    package func check(
        _ call: RPCCall, on name: ServiceName, path: String?
    ) throws(ClientError) {
        let isResource = path != nil
        let service = try snapshots.current.service(named: name)
        guard isResource == service.adapter is any RESTBoxing else {
            throw ClientError(
                .unsupportedCall,
                "found a \(isResource ? "resource" : "procedure") of the service \(name), expected a "
                    + "\(isResource ? "procedure: it isn't" : "resource: it is") a REST service")
        }
        let call = try service.joiningCommonParameters(call)
        _ = try ClientError.rpc { () throws(PayloadError) in try service.adapter.box(call) }
        if let path { _ = try service.url.appending(path: path) }
    }
}
