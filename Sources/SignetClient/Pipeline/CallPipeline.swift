import HTTPTypes
import SignetBase
import SignetRPC
import SignetTransport
import Synchronization

/// Every call goes through these stages: typed calls, batches, exchanges, uploads, downloads,
/// streams, pages, fetched values, signed pin policies and pin reports. Those that no duplicate
/// policy holds for begin at the admission too, and continue with ``send(_:into:in:)``.
///
/// A ``CallTarget`` becomes a ``CallContext`` (snapshot, merged options, identity), which every
/// stage gets. The request is a `CallRequest` until the service's adapter has boxed it, then an
/// `OutgoingCall` through the interceptors, a `FrozenRequest` while it is signed, and an
/// `EngineRequest` when it leaves. The response is an `EngineResponse` until a reader has read it,
/// then a `RawResponse`, and an `UnboxedResponse` after the adapter.
struct CallPipeline: Sendable {
    let admission: AdmissionStage
    let duplicates: DuplicateCalls
    var attempts: AttemptStage
    let decoder: ResponseDecoder

    /// Makes a call with a payload. This is the order of the stages.
    ///
    /// - Parameters:
    ///   - request: Checks the call's values and makes its request, before anything is sent.
    ///   - value: Converts the response.
    func run<Output: Sendable>(
        _ target: CallTarget,
        request: @escaping @Sendable (CallContext) throws(ClientError) -> CallRequest,
        value: @escaping @Sendable (UnboxedResponse) throws(ClientError) -> Output
    ) async throws(ClientError) -> Output {
        try await admission.admit(target) { call throws(ClientError) in
            let request = try request(call)
            let response = try await duplicates.run(request, in: call) { call throws(ClientError) in
                try await respond(to: call.box(request), in: call)
            }
            return try value(response)
        }
    }

    /// Sends a boxed request, unboxes the response and asks the response checks.
    func respond(
        to boxed: BoxedCall, in call: CallContext
    ) async throws(ClientError) -> UnboxedResponse {
        let raw = try await send(call.request(boxed), in: call)
        call.log.setRaw(raw)
        let response = try call.unbox(raw, to: boxed.request)
        // Each call that shares the work asks its own checks.
        if call.joint == nil { try call.check(response) }
        return response
    }

    /// Sends a request: checks the URL rules, and makes the attempts within the interceptors.
    ///
    /// - Parameter reader: The reader of the response; nil reads it into memory.
    func send(
        _ request: OutgoingCall, into reader: (any ResponseReader)? = nil, in call: CallContext
    ) async throws(ClientError) -> RawResponse {
        let reader = reader ?? memoryReader(for: call)
        try call.requireSealable(isBoxed: reader.keepsBody && call.isBoxed)
        try call.checkURL(of: request)
        call.log.setRequest(request.request, bodySize: request.body.length)
        let isPlain = call.options.interceptors.isEmpty
        call.log.enter(isPlain ? nil : .interceptors)
        let (response, isSent) =
            isPlain
            ? (try await attempts.run(request, into: reader, in: call), true)
            : try await intercepted(request, into: reader, in: call)
        call.log.setResponse(
            status: response.status, bodySize: reader.keepsBody ? response.body.count : nil)
        call.log.enter(.unboxing)
        if !isSent, !reader.keepsBody {
            // An interceptor responded itself.
            _ = try await reader.prepare(request.request)
            _ = try await reader.read(
                EngineResponse(response), answering: request.request.method)
        }
        return response
    }

    /// Makes the attempts within the call's interceptors.
    ///
    /// - Returns: The response, and whether an attempt was made.
    private func intercepted(
        _ request: OutgoingCall, into reader: any ResponseReader, in call: CallContext
    ) async throws(ClientError) -> (RawResponse, isSent: Bool) {
        let isSent = SentFlag()
        let response = try await InterceptorChain.run(
            request, by: call.options.interceptors[...],
            intercept: { try await $0.intercept($1, next: $2) }
        ) { changed throws(ClientError) in
            isSent.raise()
            return try await attempts.run(
                call.requireSameOrigin(changed, as: request), into: reader, in: call)
        }
        return (response, isSent.isRaised)
    }

    /// The reader that keeps a call's response in memory.
    func memoryReader(for call: CallContext) -> MemoryReader {
        MemoryReader(decoder: decoder, limit: call.limits.maximumResponseSize)
    }
}

/// Whether a call reached its attempts.
private final class SentFlag: Sendable {
    private let flag = Mutex(false)

    var isRaised: Bool { flag.withLock { $0 } }

    func raise() { flag.withLock { $0 = true } }
}
