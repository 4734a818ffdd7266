extension NetworkSystem {
    /// Sends typed calls at once, and returns the outcomes of all in their order.
    ///
    /// ```swift
    /// struct ReadOrder: Endpoint {
    ///     var service: ServiceName { "orders" }
    ///     var method: RPCMethod { "orders.read" }
    ///     var id: Int
    ///     struct Success: Decodable, Sendable { var item: String }
    /// }
    ///
    /// func readItems(of ids: [Int], with system: NetworkSystem) async -> [String?] {
    ///     await system.outcomes(of: ids.map { ReadOrder(id: $0) }, atOnce: 4)
    ///         .map { try? $0.get().item }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - calls: The calls; each has its own outcome.
    ///   - limit: The maximum number of calls that run at once; values below 1 count as 1.
    ///   - options: The options of each call.
    /// - Returns: One outcome for each call, after the last call has ended. If the caller's task is
    ///   cancelled, calls that had not begun are not made, and their outcome is `cancelled`.
    public func outcomes<Call: TypedCall>(
        of calls: [Call], atOnce limit: Int = .max, options: RequestOptions = RequestOptions()
    ) async -> [Result<Call.Success, ClientError>] {
        await outcomes(of: calls, atOnce: limit) { call throws(ClientError) in
            try await self.send(call, options: options)
        }
    }

    /// Makes a call for each element at once, and returns the outcomes of all in their order. The
    /// calls may be of any kind and of different services.
    ///
    /// ```swift
    /// func readPages(with system: NetworkSystem) async -> [Int?] {
    ///     let outcomes = await system.outcomes(of: ["/a", "/b"]) { path throws(ClientError) in
    ///         try await system.call(RESTRequest(.get, path), on: "shop")
    ///     }
    ///     return outcomes.map { try? $0.get().status }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - elements: The elements that the calls are made for.
    ///   - limit: The maximum number of calls that run at once; values below 1 count as 1.
    ///   - call: Makes the call for an element. Of an error that isn't a `ClientError` the outcome
    ///     has the type's name, with the code `interceptor-failed`.
    /// - Returns: As `outcomes(of:atOnce:options:)`.
    public func outcomes<Element: Sendable, Success: Sendable>(
        of elements: [Element], atOnce limit: Int = .max,
        call: @escaping @Sendable (Element) async throws -> Success
    ) async -> [Result<Success, ClientError>] {
        let group = CallGroup(elements: elements, limit: limit, endsAtFailure: false, call: call)
        return await group.run().outcomes.map { $0 ?? .failure(.cancelledByCaller) }
    }

    /// Sends typed calls at once, and returns their values in their order, or the first failure.
    ///
    /// - Parameters: As `outcomes(of:atOnce:options:)`.
    /// - Returns: One value for each call.
    /// - Throws: The first failure in time, after the calls that run have been cancelled and have
    ///   ended. Calls that had not begun are not made.
    public func values<Call: TypedCall>(
        of calls: [Call], atOnce limit: Int = .max, options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> [Call.Success] {
        try await values(of: calls, atOnce: limit) { call throws(ClientError) in
            try await self.send(call, options: options)
        }
    }

    /// Makes a call for each element at once, and returns the values in their order, or the first
    /// failure. The calls may be of any kind and of different services.
    ///
    /// - Parameters: As `outcomes(of:atOnce:call:)`.
    /// - Returns: One value for each element.
    /// - Throws: As `values(of:atOnce:options:)`.
    public func values<Element: Sendable, Success: Sendable>(
        of elements: [Element], atOnce limit: Int = .max,
        call: @escaping @Sendable (Element) async throws -> Success
    ) async throws(ClientError) -> [Success] {
        let group = CallGroup(elements: elements, limit: limit, endsAtFailure: true, call: call)
        let (outcomes, failure) = await group.run()
        if let failure { throw failure }
        var values: [Success] = []
        for outcome in outcomes {
            guard let outcome else { throw .cancelledByCaller }
            values.append(try outcome.get())
        }
        return values
    }
}

/// Calls that run at once.
private struct CallGroup<Element: Sendable, Success: Sendable>: Sendable {
    typealias Outcome = Result<Success, ClientError>

    let elements: [Element]
    let limit: Int
    let endsAtFailure: Bool
    let call: @Sendable (Element) async throws -> Success

    /// Runs the calls to their ends.
    ///
    /// - Returns: The outcome for each element, nil if its call was not made; and the first
    ///   failure.
    func run() async -> (outcomes: [Outcome?], failure: ClientError?) {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var outcomes = [Outcome?](repeating: nil, count: elements.count)
            var failure: ClientError?
            var (begun, running) = (0, 0)
            while true {
                // None is added after a cancellation, neither the caller's nor that below.
                while begun < elements.count, running < max(1, limit),
                    add(begun, to: &group)
                {
                    begun += 1
                    running += 1
                }
                guard let (index, outcome) = await group.next() else { return (outcomes, failure) }
                running -= 1
                outcomes[index] = outcome
                if case .failure(let error) = outcome, failure == nil {
                    failure = error
                    if endsAtFailure { group.cancelAll() }
                }
            }
        }
    }

    private func add(_ index: Int, to group: inout TaskGroup<(Int, Outcome)>) -> Bool {
        let element = elements[index]
        return group.addTaskUnlessCancelled {
            do {
                return (index, .success(try await call(element)))
            } catch {
                return (index, .failure(ClientError(of: "closure for", element, error)))
            }
        }
    }
}
