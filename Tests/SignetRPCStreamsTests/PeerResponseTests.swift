import Foundation
import SignetJSON
import SignetRPC
import TestSupport
import Testing

@testable import SignetRPCStreams

/// Recorded responses of real servers.
struct PeerResponseTests {
    struct Response: Decodable, Sendable, CustomTestStringConvertible {
        let peer: String
        let request: String
        let response: String
        let wanted: String
        var testDescription: String { "\(peer): \(request)" }
    }

    @Test func vectorsAreThere() throws {
        #expect(
            Set(try VectorFile<Response>.load("peer-responses", in: .module).map(\.peer)).count == 5
        )
    }

    @Test(arguments: try VectorFile<Response>.load("peer-responses", in: .module))
    func isUnderstood(_ vector: Response) throws {
        let adapter = JSONRPCAdapter.fromSeven()
        let raw = RawResponse(vector.response)
        switch vector.request {
        case "batch", "notifications":
            let note = RPCCall("nothing", isNotification: true)
            let calls =
                vector.request == "batch"
                ? [RPCCall("add", parameters: .array([1, 2])), note, RPCCall("missing")]
                : [note, note]
            let response = try adapter.unboxBatch(raw, to: adapter.box(batch: calls))
            let found = response.outcomes.compactMap { outcome in
                switch outcome {
                case .result(let result): text(result.bytes)
                case .failure(let error): error.server?.code.text
                default: nil
                }
            }
            let wanted = vector.wanted == "notified" ? [] : ["3", "-32601"]
            #expect(found == wanted)
        case "notification":
            let request = try adapter.box(RPCCall("nothing", isNotification: true))
            #expect(try adapter.unbox(raw, to: request).warnings.isEmpty)
        case "result", "by-position", "null-result":
            let response = try adapter.unbox(raw, to: adapter.box(RPCCall("echo")))
            #expect(response.result?.value == (try JSONValue(parsing: vector.wanted)))
        default:
            let request = try adapter.box(RPCCall("missing"))
            let error = #expect(throws: PayloadError.self) { try adapter.unbox(raw, to: request) }
            #expect(error?.code == .rpcError)
            if !vector.wanted.isEmpty { #expect(error?.server?.code.text == vector.wanted) }
            // The text of an exception in `data` doesn't get into a log.
            if error?.server?.data != nil {
                #expect(error.map { "\($0)".contains("secret detail") } == false)
            }
        }
    }
}
