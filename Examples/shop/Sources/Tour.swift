import SignetClient

extension Shop {
    /// Makes calls of every kind, and prints a line for each.
    func tour() async throws {
        // A case of an enum. The type of the constant decides how the result is decoded.
        let tea: Order = try await system.send(Orders.create(item: "tea", quantity: 2))
        show(tea, for: "enum")

        // A struct, which has a type for its result.
        show(try await system.send(ReadOrder(id: tea.id)), for: "struct")

        // A general value, for a call that needs no type of its own.
        let same: Order = try await system.send(.get("/orders/\(tea.id)", on: .catalog))
        show(same, for: "value")

        // Values that the endpoint refuses: nothing is sent.
        do {
            _ = try await system.send(Orders.create(item: "tea", quantity: 0))
        } catch {
            show("\(error.code) after \(error.attempts) attempts", for: "validation")
        }

        let milk = try await batch()
        try await groups(of: [tea.id, milk.id])
        let more = try await chain(from: tea.id)
        try await receipts(of: [tea.id, milk.id, more.id])
        try await lists()
        show(counter.summary, for: "interceptor")
    }

    /// Several procedures in one request, each with an outcome of its own.
    private func batch() async throws -> Order {
        let outcomes: [Result<Order, ClientError>] = try await system.batch([
            Orders.create(item: "milk", quantity: 1), Orders.create(item: "sugar", quantity: 5000),
        ])
        let milk = try outcomes[0].get()
        guard case .failure(let error) = outcomes[1] else {
            throw PayloadError(.batchIncomplete, "both orders were taken")
        }
        show("\(milk); \(error.code) \(error.serverError?.code.text ?? "")", for: "batch")
        return milk
    }

    /// Calls at once: `outcomes` has the end of each, `values` ends with the first failure.
    private func groups(of ids: [Int]) async throws {
        let unknown = 1_000_000_000
        let outcomes = await system.outcomes(of: [ids[0], unknown].map { ReadOrder(id: $0) })
        let ends = outcomes.map { outcome in
            switch outcome {
            case .success(let order): order.description
            case .failure(let error): "\(error.code) \(error.status ?? 0)"
            }
        }
        show(ends.joined(separator: "; "), for: "outcomes")

        let orders = try await system.values(of: ids.map { ReadOrder(id: $0) }, atOnce: 2)
        show(orders.map(\.item).joined(separator: ", "), for: "values")
    }

    /// A chain needs no type: the result of one call is the parameter of the next.
    private func chain(from id: Int) async throws -> Order {
        let read = try await system.send(ReadOrder(id: id))
        let more: Order = try await system.send(
            Orders.create(item: read.item, quantity: read.quantity + 1))
        show(more, for: "chain")
        return more
    }

    /// A token is good for two receipts: one of three calls gets a 401, and is sent with a new token.
    private func receipts(of ids: [Int]) async throws {
        var options = RequestOptions()
        options.credentials = Session(system: system)
        let receipts = try await system.values(
            of: ids.map { ReadReceipt(id: $0) }, options: options)
        show(receipts.map(\.text).joined(separator: ", "), for: "credentials")
    }

    /// The lists of both services become the same lines. A progress counts the bytes of one of them.
    private func lists() async throws {
        let progress = CallProgress()
        var options = RequestOptions(scenario: "interactive")
        options.progress = progress
        let lines = try await system.send(
            .get("/orders", on: .catalog), as: OrderLines(), options: options)
        let state = progress.state
        show("\(state.received) of \(state.expectedToReceive ?? 0) bytes", for: "progress")
        let same = try await system.send(Orders.list, as: OrderLines())
        show("\(lines.count) lines, \(same.count) by JSON-RPC", for: "reformer")
    }

    private func show(_ text: some CustomStringConvertible, for step: String) {
        print(step, text, separator: String(repeating: " ", count: max(1, 12 - step.count)))
    }
}
