internal import HTTPTypes
internal import SignetBase
internal import SignetRPC
internal import SignetTransport
internal import Synchronization

// Everything that leaves the program goes through the stages of this file, in this order: typed
// calls, batches, exchanges, uploads, downloads, streams, pages, fetched values, signed pin
// policies and pin reports.
//
//     stage                function                           file, without .swift
//  1  admit, merge options admitted(_:work:)                  Pipeline/CallContext
//  2  check and build      request(of:reading:as:)            Calls/NetworkSystem+TypedCalls
//     duplicate policy     DuplicateCalls.run(_:for:work:)    Pipeline/DuplicatePolicy
//     box                  CallContext.box(_:), the adapter   Calls/CallRequest
//  3  URL and fields       CallContext.request(_:at:)         Pipeline/Building
//  4  URL rules            send(_:into:for:)                  this file
//     around the call      intercepted(_:by:send:)            Interceptors/Interception
//  5  attempts, pauses     attempts(_:into:for:)              Pipeline/Attempts
//     compression, once    OutgoingCall.compressed(by:)       Options/RequestCompression
//     credential           credential(of:for:replacing:by:)   Credentials/CredentialStore
//  5a around the attempt   intercepted(_:by:send:)            Interceptors/Interception
//  5b redirects            follow(_:with:noting:for:)         Pipeline/Redirects
//     cookies              PreparedService.cookies(for:)      Services/CookieStore
//     freeze and sign      FrozenRequest.signed(by:at:)       Services/PreparedService
//  5c engine and pins      open(_:isSigned:for:within:limit:) Pipeline/Sending
//     engine choice        EngineSet.use(_:at:)               Engines/EngineSet
//  5d response             MemoryReader                       Pipeline/ResponseReader
//     or of a download     DownloadReader                     Downloads/NetworkSystem+Downloading
//     or of a stream       StreamReader                       Streams/StreamReader
//     decoding             collect(_:answering:limit:)        Calls/NetworkSystem+Decoding
//  6  unbox and check      unboxed(_:to:for:)                 Pipeline/Building
//     convert              value(of:_:) of a typed call       Calls/NetworkSystem+TypedCalls
//  7  record, events, log  finish(_:with:)                    Pipeline/CallContext
//
// Data flow: a CallTarget becomes a CallContext (snapshot, merged options, identity), which every
// stage gets. The request is an OutgoingCall through the interceptors, a FrozenRequest while it is
// signed, and an EngineRequest when it leaves; Sending.swift alone makes one, and decides whether
// an engine may speak to a host. The function unmoved(_:from:for:) in this file checks the changes
// of interceptors before the next stage. The response is an EngineResponse until one of the readers
// has read it, then a RawResponse.

extension NetworkSystem {
    /// Stages 4 and 5 of a built request: checks the URL rules, and runs the interceptors around
    /// the attempts.
    ///
    /// - Parameter reader: The reader of the response; nil reads it into memory.
    func send(
        _ request: OutgoingCall, into reader: (any ResponseReader)? = nil, for context: CallContext
    ) async throws(ClientError) -> RawResponse {
        let reader =
            reader ?? MemoryReader(system: self, limit: context.rules.maximumResponseSize)
        try check(request, for: context)
        context.log.setRequest(request.request, bodySize: request.body.length)
        context.log.enter(context.options.interceptors.isEmpty ? nil : .interceptors)
        let isSent = SentFlag()
        let response = try await intercepted(request, by: context.options.interceptors[...]) {
            call throws(ClientError) in
            isSent.raise()
            return try await self.attempts(
                self.unmoved(call, from: request, for: context), into: reader, for: context)
        }
        context.log.setResponse(
            status: response.status, bodySize: reader is MemoryReader ? response.body.count : nil)
        context.log.enter(.unboxing)
        // An interceptor responded itself.
        if !isSent.isRaised, !(reader is MemoryReader) {
            let own = EngineResponse(
                response: HTTPResponse(
                    status: .init(code: response.status), headerFields: response.fields),
                body: ResponseBody(bytes: response.body),
                httpVersion: EngineResponse.HTTPVersion(major: 1, minor: 1))
            _ = try await reader.prepare(request.request)
            _ = try await reader.read(own, answering: request.request.method)
        }
        return response
    }

    /// Checks that an interceptor left scheme and host as they were, and checks the URL rules
    /// again.
    func unmoved(
        _ call: OutgoingCall, from original: OutgoingCall, for context: CallContext
    ) throws(ClientError) -> OutgoingCall {
        let (new, old) = (call.request, original.request)
        guard new.scheme == old.scheme, new.authority == old.authority else {
            throw .refusedURL("an interceptor changed the scheme or the host of the call")
        }
        if new.path != old.path {
            _ = try WebURL(of: new)
            try check(call, for: context)
        }
        return call
    }

    /// Checks the URL rules.
    private func check(_ call: OutgoingCall, for context: CallContext) throws(ClientError) {
        guard !context.snapshot.urlRules.isEmpty else { return }
        try context.snapshot.urlRules.check(WebURL(of: call.request))
    }
}

/// Whether a call reached its attempts.
private final class SentFlag: Sendable {
    private let flag = Mutex(false)

    var isRaised: Bool { flag.withLock { $0 } }

    func raise() { flag.withLock { $0 = true } }
}
