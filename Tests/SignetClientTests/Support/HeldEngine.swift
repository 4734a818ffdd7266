import HTTPTypes
import SignetBase
import SignetJSON
import SignetTransport
import Synchronization

/// An engine for JSON-RPC that holds each request until a test lets it go.
///
/// It responds to each call with its parameter `n`; -1 is an error, -2 gets no response.
final class HeldEngine: HTTPEngine {
    private struct Request {
        let id: Int
        let calls: JSONValue
        let continuation: CheckedContinuation<TransportError.Code?, Never>
    }

    private struct State {
        var held: [Request] = []
        var sent: [[Int64]] = []
        var bodies: [JSONValue] = []
        var fields: [HTTPFields] = []
        var lastID = 0
        var isOpen = false
    }

    let capabilities = EngineCapabilities(name: "held", pinsPublicKeys: true, speaksHTTP2: false)
    private let state = Mutex(State())

    /// The parameters of the calls in each request so far.
    var sent: [[Int64]] { state.withLock { $0.sent } }
    /// The bodies of the requests so far.
    var bodies: [JSONValue] { state.withLock { $0.bodies } }
    var fields: [HTTPFields] { state.withLock { $0.fields } }
    var count: Int { sent.count }
    /// The number of requests that are held.
    var heldCount: Int { state.withLock { $0.held.count } }

    /// Forgets the requests that were sent.
    func forget() { state.withLock { $0.sent = [] } }

    /// Holds no request from now on.
    func open() {
        state.withLock { $0.isOpen = true }
        while letGo() {}
    }

    /// Lets one of the held requests go.
    ///
    /// - Parameters:
    ///   - index: Its place among them.
    ///   - code: Fails with it instead of a response.
    /// - Returns: Whether there was one.
    @discardableResult
    func letGo(_ index: Int = 0, failing code: TransportError.Code? = nil) -> Bool {
        let request = state.withLock { state in
            index < state.held.count ? state.held.remove(at: index) : nil
        }
        request?.continuation.resume(returning: code)
        return request != nil
    }

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let body = (try? JSONValue(parsing: request.body.bytes ?? [])) ?? .null
        let calls = body.array ?? [body]
        let id = state.withLock { state in
            state.lastID += 1
            state.sent.append(calls.compactMap { $0["params"]?["n"]?.number?.int64 })
            state.bodies.append(body)
            state.fields.append(request.request.headerFields)
            return state.lastID
        }
        let code = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, isCancelled) = state.withLock { state -> (Bool, Bool) in
                    if Task.isCancelled { return (true, true) }
                    if state.isOpen { return (true, false) }
                    state.held.append(Request(id: id, calls: body, continuation: continuation))
                    return (false, false)
                }
                if isOver { continuation.resume(returning: isCancelled ? .cancelled : nil) }
            }
        } onCancel: {
            let request = state.withLock { state in
                state.held.firstIndex { $0.id == id }.map { state.held.remove(at: $0) }
            }
            request?.continuation.resume(returning: .cancelled)
        }
        if let code { throw TransportError(code, "failed") }
        let responses = calls.compactMap(Self.response)
        let response: [UInt8] =
            if body.array == nil {
                responses.first?.serialized() ?? []
            } else {
                responses.isEmpty ? [] : JSONValue.array(responses).serialized()
            }
        return EngineResponse(
            response: HTTPResponse(status: response.isEmpty ? .noContent : .ok),
            body: HTTPResponseBody(bytes: response), httpVersion: .init(major: 1, minor: 1))
    }

    private static func response(to call: JSONValue) -> JSONValue? {
        guard let id = call["id"] else { return nil }
        var response: JSONObject = ["jsonrpc": "2.0", "id": id]
        switch call["params"]?["n"] {
        case -1: response["error"] = ["code": -32000, "message": "no"]
        case -2: return nil
        case let number: response["result"] = number ?? .null
        }
        return .object(response)
    }

    func shutdown() async { open() }
}
