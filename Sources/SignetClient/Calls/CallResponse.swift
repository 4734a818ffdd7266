public import SignetRPC
import Synchronization

/// The outcome of a call with all that is known of it, be it a success or a failure.
///
/// ```swift
/// func report(with system: NetworkSystem) async {
///     let response = await system.response(to: .get("/orders/7", on: "shop"))
///     print(response.identity?.id as Any, response.url ?? "", response.status ?? 0)
///     print(response.record?.attempts.count ?? 0)
///     switch response.result {
///     case .success: print(response.text ?? "")
///     case .failure(let error): print(error.code)
///     }
/// }
/// ```
public struct CallResponse<Success: Sendable>: Sendable, CustomReflectable {
    /// The value, or why there isn't one.
    public let result: Result<Success, ClientError>
    /// The call's identity: number, service, method and tags; nil if the call was refused before it
    /// got one.
    public let identity: CallIdentity?
    /// The request's URL without its query; nil if the call didn't get that far.
    public let url: String?
    /// The response as it was received; nil if none was read to its end.
    public let raw: RawResponse?
    /// The record of the call, with its attempts and times; nil if the call was refused before it
    /// got an identity.
    public let record: CallRecord?

    /// Why there is no value; nil for a success.
    public var error: ClientError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// The HTTP status; nil if no response arrived.
    public var status: Int? { raw?.status ?? error?.status }

    /// The body as text; nil if there is no response, or if the body isn't valid UTF-8.
    public var text: String? { raw?.text }

    /// Returns the value.
    ///
    /// - Throws: The call's error.
    public func get() throws(ClientError) -> Success { try result.get() }

    /// Identity, URL, status and the error's code; neither the value nor the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "identity": identity as Any, "url": url as Any, "status": status as Any,
                "error": error?.code.name as Any,
            ])
    }
}

/// Notes what becomes known of a call while it runs.
final class ResponseNote: Sendable {
    private struct State {
        var identity: CallIdentity?
        var log: CallLog?
        var raw: RawResponse?
    }

    private let state = Mutex(State())

    func begin(_ context: CallContext) {
        context.log.keepRaw()
        state.withLock { ($0.identity, $0.log) = (context.identity, context.log) }
    }

    func setRaw(_ raw: RawResponse) { state.withLock { $0.raw = raw } }

    /// The whole of it, after the call has ended.
    func response<Success>(_ result: Result<Success, ClientError>) -> CallResponse<Success> {
        let state = state.withLock { $0 }
        return CallResponse(
            result: result, identity: state.identity, url: state.log?.url,
            raw: state.raw ?? state.log?.raw, record: state.log?.record)
    }
}
