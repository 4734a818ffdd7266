import SignetCache
import SignetRPC

extension NetworkSystem {
    /// Removes stored responses.
    public func clearCache() async { await pipeline.caches?.http.store.remove(.all) }

    /// Removes the stored responses of a service.
    public func clearCache(of service: ServiceName) async {
        guard let token = pipeline.caches?.http.scopes.service(service) else { return }
        await pipeline.caches?.http.store.remove(.service(token))
    }

    /// Removes the stored responses of a user, of all services.
    ///
    /// - Parameter scope: The ``CredentialSource/scope`` of the user's credentials.
    public func clearCache(ofUser scope: String) async {
        guard let token = pipeline.caches?.http.scopes.user(scope) else { return }
        await pipeline.caches?.http.store.remove(.user(token))
    }

    /// Removes the stored responses of a host, of all services and users, which HTTP's rules keep.
    ///
    /// - Parameter host: The name, in any spelling.
    public func clearCache(ofHost host: HostName) async {
        await pipeline.caches?.http.store.remove(.host(host.uriText))
    }

    /// Removes the stored responses that the program's own rules keep of a call's API, for all
    /// parameters and users.
    public func clearCache(of call: some TypedCall) async {
        let identity = CallIdentity(
            id: .init(number: 0), service: call.service, method: call.methodName, tags: [],
            path: call.pathTemplate)
        let key = CacheKey(api: CallCacheStage.api(of: identity), call: "", scope: "")
        guard let key else { return }
        await pipeline.caches?.http.store.remove(.origin(key.origin))
    }

    /// Makes a call twice: gives the stored response first, however old it is, and then the
    /// server's.
    ///
    /// ```swift
    /// func show(with system: NetworkSystem) async {
    ///     for await response in system.storedThenCurrent(.get("/news", on: "shop")) {
    ///         print(response.record?.response?.source as Any, response.status ?? 0)
    ///     }
    /// }
    /// ```
    ///
    /// The first element is left out if nothing is stored that may be used. The last one is the
    /// outcome of the call to the server, which is stored. A caller who stops reading cancels the
    /// call under way.
    ///
    /// - Parameters:
    ///   - call: The call with its parameters.
    ///   - options: The options, which win over the call's own. Their ``RequestOptions/cacheMode``
    ///     has no effect.
    public func storedThenCurrent<Call: TypedCall>(
        _ call: Call, options: RequestOptions = RequestOptions()
    ) -> AsyncStream<CallResponse<Call.Success>> {
        AsyncStream { continuation in
            let task = Task {
                var options = options
                options.cacheMode = .only
                let stored = await response(to: call, options: options)
                if case .success = stored.result, stored.record?.work.cache != nil {
                    continuation.yield(stored)
                }
                options.cacheMode = .refresh
                if !Task.isCancelled {
                    continuation.yield(await response(to: call, options: options))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
