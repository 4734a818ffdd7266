import SignetClient
import SignetJSON
import TestSupport
import Testing

/// Remote procedures that need no type.
@Suite struct ProcedureCallTests {
    private struct Order: Codable, Equatable {
        var itemName: String
    }

    private let engine = RecordingEngine(responses: [
        .init(body: #"{"jsonrpc":"2.0","id":1,"result":{"item_name":"tea"}}"#)
    ])

    private func system() async throws -> NetworkSystem {
        try await Pipeline.system(engine, payload: .jsonRPC2) { _ in
        } changeService: {
            $0.options.json = JSONConventions(keys: .snakeCase)
        }
    }

    private func sent(_ index: Int) throws -> JSONValue {
        try JSONValue(parsing: engine.requests[index].bytes)
    }

    @Test(.features("004-16")) func aLineCallsAProcedure() async throws {
        let system = try await system()
        let order: Order = try await system.send(
            .procedure("orders.read", on: "a", parameters: ["id": 7]))
        #expect(order == Order(itemName: "tea"))
        let same = try await system.send(
            .procedure("orders.create", on: "a", encoding: order), as: Order.self)
        #expect(same == order)
        let plain = try await system.send(.procedure("orders.last", on: "a"))
        #expect(plain.result?.value["item_name"] == "tea")
        let byPosition = ProcedureCall(
            RPCCall("orders.add", parameters: .array([1, 2])), on: "a")
        _ = try await system.send(byPosition)
        await system.shutdown()
        #expect(try sent(0)["method"] == "orders.read" && sent(0)["params"] == ["id": 7])
        #expect(try sent(1)["params"] == ["item_name": "tea"])
        #expect(try sent(2)["params"] == nil)
        #expect(try sent(3)["params"] == [1, 2])
    }

    @Test func refusesWhatCannotBeSent() async throws {
        let system = try await system()
        for (call, code) in [
            (.procedure("m", on: "a", encoding: ["x": Double.nan]), "invalid-params"),
            (.procedure("m", on: "a", encoding: 7), "invalid-params"),
            (.procedure("rpc.m", on: "a"), "reserved-method"),
            (.procedure("m", on: "b"), "unknown-service"),
        ] as [(ProcedureCall, String)] {
            let error = await #expect(throws: ClientError.self) { try await system.send(call) }
            #expect(error?.code.name == code && error?.identity?.method == call.methodName)
        }
        #expect(engine.count == 0)
        await system.shutdown()
    }

    @Test func equalCallsJoinByTheirParameters() async throws {
        let waiting = WaitingEngine()
        let system = try await Pipeline.system(waiting, payload: .jsonRPC2) {
            $0.callOptions.duplicates = .join
        }
        let calls = [1, 1, 2].map { id in
            Task {
                await system.response(
                    to: .procedure("m", on: "a", parameters: ["id": .number(JSONNumber(id))]))
            }
        }
        #expect(
            try await eventually { waiting.count == 2 && system.runningCalls.count == 3 })
        await system.shutdown(gracePeriod: .zero)
        for call in calls { _ = await call.value }
        #expect(waiting.count == 2)
    }
}
