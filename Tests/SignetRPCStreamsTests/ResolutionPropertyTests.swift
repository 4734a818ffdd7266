import SignetJSON
import SignetRPC
import SignetRPCStreams
import TestSupport
import Testing

/// Any set of responses with unique ids resolves each call exactly once, with any other messages
/// between them.
struct ResolutionPropertyTests {
    /// The response to each call; nil if there is none.
    private struct Plan {
        var outcomes: [String?]
        var responses: [String]

        init(_ count: Int, isWhole: Bool, _ random: inout SplitMix) {
            outcomes = []
            responses = []
            for id in 7..<(7 + count) {
                switch Int.random(in: 0..<(isWhole ? 6 : 7), using: &random) {
                case 0...3:
                    let result = "[\(id),\(UInt32.random(in: 0 ... .max, using: &random))]"
                    outcomes.append(result)
                    responses.append(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#)
                case 4:
                    outcomes.append("rpc-error")
                    responses.append(
                        #"{"id":\#(id),"error":{"message":"","code":\#(id)},"jsonrpc":"2.0"}"#)
                case 5:
                    outcomes.append("malformed-response")
                    responses.append(#"{"jsonrpc":"2.0","id":\#(id),"result":1,"error":{}}"#)
                default: outcomes.append(nil)
                }
            }
            // Responses to no call.
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let stray = ["-1", "0", "\"a\"", "1e3", "7.5", "\"\""]
                    .randomElement(using: &random)
                responses.append(#"{"jsonrpc":"2.0","id":\#(stray ?? ""),"result":0}"#)
            }
            responses.shuffle(using: &random)
        }
    }

    @Test(arguments: 0..<40)
    func ofABatch(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        for _ in 0..<5 {
            let count = Int.random(in: 1...40, using: &random)
            let plan = Plan(count, isWhole: false, &random)
            let adapter = JSONRPCAdapter.fromSeven()
            let request = try adapter.box(batch: Array(repeating: RPCCall("a"), count: count))
            let body = "[" + plan.responses.joined(separator: ",") + "]"
            let response = try adapter.unboxBatch(RawResponse(body), to: request)
            let names = response.outcomes.map { outcome -> String? in
                switch outcome {
                case .result(let result): text(result.bytes)
                case .failure(let error): error.code.name
                default: nil
                }
            }
            #expect(names == plan.outcomes)
        }
    }

    @Test(arguments: 0..<20)
    func ofAStream(_ seed: Int) async throws {
        var random = SplitMix(seed: UInt64(seed))
        let count = Int.random(in: 1...40, using: &random)
        let plan = Plan(count, isWhole: true, &random)
        let (connection, peer) = HostilePeer.pair(seed % 2 == 0 ? .languageServer : .modelContext)
        var calls: [Task<String, Never>] = []
        for _ in 0..<count {
            calls.append(Task { await outcome { try await connection.call("a") } })
            _ = try await peer.message()
        }
        // Some twice: the first one counts.
        for response in plan.responses {
            try await peer.send(response)
            if Bool.random(using: &random) { try await peer.send(response) }
        }
        var names: [String?] = []
        for call in calls { names.append(await call.value) }
        #expect(names == plan.outcomes)
        connection.close()
    }
}
