extension NetworkSystem {
    /// The events of all calls from now on, until the system is shut down.
    ///
    /// Each use of the property is a listener of its own. A shutdown ends every call, so each gets
    /// its `finished`; the sequence ends after the last one. A listener that falls behind by 10,000
    /// events loses the oldest (``CallEvents/lostCount``).
    public var events: CallEvents { pipeline.admission.hub.events() }

    /// The events of one running call from now on, to its `finished`. There are none if the call
    /// isn't running.
    ///
    /// ```swift
    /// func follow(_ tag: String, in system: NetworkSystem) async {
    ///     let call = system.runningCalls.first { $0.tags.contains(tag) }
    ///     guard let call else { return }
    ///     for await event in system.events(of: call.id) { print(event) }
    /// }
    /// ```
    ///
    /// To see a call's events from the beginning, give it a ``CallTrace``.
    public func events(of call: CallIdentity.ID) -> CallEvents {
        calls.call(call)?.events() ?? EventHub.ended.events()
    }

    /// The stubs of the system, which may be added, removed and switched at any time.
    public var stubs: CallStubs { options.stubs }

    /// Adds an observer of all calls from now on, until it is removed or the system was shut down.
    /// ``Options/observers`` get the events from the first call on.
    ///
    /// - Returns: The observation, which removes the observer. The system holds the observer even
    ///   if the observation is released.
    @discardableResult
    public func addObserver(_ observer: any CallObserver) -> CallObservation {
        let hub = pipeline.admission.hub
        return CallObservation(hub: hub, number: hub.add(observer))
    }

    /// Adds an observer of the beginnings and the ends of all calls from now on.
    package func addObserver(_ observer: any CallSpanObserver) -> CallObservation {
        let hub = pipeline.admission.hub
        return CallObservation(hub: hub, number: hub.add(observer))
    }

    /// The calls that are running, in the order in which they began.
    public var runningCalls: [CallIdentity] { calls.identities }

    /// Ends a running call with `cancelled`.
    ///
    /// - Returns: Whether the call was running.
    @discardableResult
    public func cancelCall(_ id: CallIdentity.ID) -> Bool {
        calls.call(id)?.end(.cancelledByCaller) ?? false
    }

    /// Ends all running calls with `cancelled`, and takes further ones.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls() -> Int { calls.end(with: .cancelledByCaller) { !$0.isInternal } }

    /// Ends the running calls that have a tag with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(taggedWith tag: String) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.tags.contains(tag) }
    }

    /// Ends the running calls of a service with `cancelled`.
    ///
    /// - Returns: Their number.
    @discardableResult
    public func cancelCalls(of service: ServiceName) -> Int {
        calls.end(with: .cancelledByCaller) { $0.identity.service == service }
    }
}
