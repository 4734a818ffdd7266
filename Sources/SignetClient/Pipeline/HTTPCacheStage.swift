import HTTPTypes
import SignetBase
import SignetCache
import SignetTransport

/// Answers requests from a private cache by RFC 9111, before a call's first attempt, and stores
/// what the attempts receive.
///
/// A stored response is used only if the policy of this call accepts the public keys by which it
/// arrived. Requests that redirects lead to aren't answered from the cache, and their responses
/// aren't stored.
struct HTTPCacheStage: Sendable {
    let store: SystemCacheStore
    let rules: PrivateCache
    let scopes: CacheScopes
    let clock: SystemClock
    let renewals: CacheRenewals

    /// The responses that are stored for a request.
    struct Look: Sendable {
        let call: OutgoingCall
        let key: CacheKey?
        /// The fields of the request that may tell users apart.
        let secrets: HTTPFields
        var entries: [CacheEntry]
        /// The request, with the directives of the call's mode.
        let asked: HTTPRequest
        /// The removals from the store before the request.
        let removals: Int
        var use: CacheUse

        func entry(of served: ServedResponse) -> CacheEntry? {
            entries.first { $0.response.id == served.source }
        }
    }

    /// Answers a request from the cache, or sends it.
    func run(
        _ call: OutgoingCall, into reader: any ResponseReader, in context: CallContext,
        by attempts: AttemptStage
    ) async throws(ClientError) -> RawResponse {
        let stage = context.log.begin(.cache)
        context.send { .readingCache($0) }
        var look = await look(for: call, in: context)
        let decision = await decision(for: &look)
        context.log.end(stage)
        let exchange: CacheExchange
        switch decision {
        case .serve(let served, let revalidation):
            if let revalidation { renew(revalidation, of: look, in: context, by: attempts) }
            look.use.decision = .hit
            return try await serve(served, of: look, into: reader, in: context)
        case .unavailable(let response):
            context.log.setCache(look.use)
            guard look.use.mode != .only else {
                throw ClientError(
                    .notCached, "no response is stored that can be used without the server")
            }
            return try await whole(
                reader.read(
                    .stored(response, body: HTTPResponseBody(bytes: [])),
                    answering: call.request.method))
        case .validate(let next), .fetch(let next): exchange = next
        }
        let caching = CachingReader(reader, of: exchange, look, for: self, in: context)
        do throws(ClientError) {
            return try await attempts.run(call, into: caching, in: context)
        } catch {
            guard mayBeStale(after: error, in: context), !reader.hasHandedOut,
                let served = rules.fail(caching.exchange, at: clock.now()),
                await look.entry(of: served)?.content.isIntact() == true
            else {
                context.log.setCache(look.use)
                throw error
            }
            look.use.decision = .stale
            look.use.reason = error.code.name
            return try await serve(served, of: look, into: reader, in: context)
        }
    }

    /// Looks up what is stored for a request, and may be used under the call's policy.
    private func look(for call: OutgoingCall, in context: CallContext) async -> Look {
        let mode = context.options.cacheMode ?? .standard
        let secrets = call.request.headerFields.ofUsers
        var look = Look(
            call: call, key: key(of: call, secrets: secrets, in: context), secrets: secrets,
            entries: [], asked: asked(call.request, secrets: secrets, mode: mode),
            removals: store.removalCount,
            use: CacheUse(policy: .http, mode: mode, decision: .miss))
        guard let key = look.key else {
            look.use.decision = .bypassed
            return look
        }
        look.use.hashedKey = .init(key, hash: scopes.hashKey)
        // Others are always sent.
        guard mayBeStored(call.request.method) else { return look }
        let now = clock.now()
        let follows = context.limits.redirects.maximum > 0
        look.entries = await store.responses(for: key).filter { entry in
            !(follows && entry.response.isRedirect)
                && context.policy?.accepts(entry.response.publicKeys, of: call.origin, at: now)
                    ?? true
        }
        return look
    }

    /// Whether responses to a method answer later requests.
    private func mayBeStored(_ method: HTTPRequest.Method) -> Bool {
        method == .get || method == .head
    }

    /// The key of a request; nil if it isn't cached.
    func key(
        of call: OutgoingCall, secrets: HTTPFields, in context: CallContext
    ) -> CacheKey? {
        // An attempt's interceptors may add what tells users apart, after this stage, and a stub
        // may change the response. A body has no place in the key, so a GET with one isn't cached.
        guard context.options.attemptInterceptors.isEmpty, context.stubs.isEmpty,
            call.body.length == 0 || !mayBeStored(call.request.method)
        else { return nil }
        var fields = secrets
        if context.service.configuration.cookies != nil {
            guard let url = try? WebURL(of: call.request) else { return nil }
            var head = call.request
            head.headerFields = secrets
            context.service.cookies(for: url)?.add(to: &head, of: url, at: clock.now())
            fields = head.headerFields
        }
        guard let place = scopes.place(of: context, fields: fields, origin: call.origin) else {
            return nil
        }
        return CacheKey(
            origin: place.origin, target: call.request.path ?? "/", scope: place.text)
    }

    /// The request as the cache compares and keeps it: with the directives of the mode, and with
    /// hashes in place of secrets, because a store keeps the fields that `Vary` names.
    private func asked(
        _ request: HTTPRequest, secrets: HTTPFields, mode: CacheMode
    ) -> HTTPRequest {
        guard !secrets.isEmpty || mode != .standard else { return request }
        var request = request
        for name in Set(secrets.map(\.name)) {
            request.headerFields[name] = scopes.token(
                [name.canonicalName] + request.headerFields[values: name])
        }
        let directives: String
        switch mode {
        case .standard: return request
        case .refresh: directives = "no-cache"
        case .only: directives = "only-if-cached, max-stale"
        }
        request.headerFields.append(HTTPField(name: .cacheControl, value: directives))
        return request
    }

    /// Decides about a request, without responses whose content is damaged.
    func decision(for look: inout Look) async -> CacheDecision {
        while true {
            let decision = rules.decide(
                look.asked, key: look.key, stored: look.entries.map(\.response), at: clock.now())
            guard case .serve(let served, _) = decision, let entry = look.entry(of: served),
                await !entry.content.isIntact()
            else { return decision }
            look.entries.removeAll { $0.response.id == served.source }
        }
    }

    /// Hands out a stored response.
    private func serve(
        _ served: ServedResponse, of look: Look, into reader: any ResponseReader,
        in context: CallContext
    ) async throws(ClientError) -> RawResponse {
        var use = look.use
        use.reason = use.reason ?? served.status.detail
        use.age = served.age
        context.log.setCache(use)
        if let entry = look.entry(of: served), case .bytes(let bytes) = entry.content,
            let raw = (reader as? MemoryReader)?.whole(
                served.response, body: bytes.part(served.content))
        {
            return raw
        }
        let body = look.entry(of: served).map { $0.body(in: served.content) }
        return try await whole(
            reader.read(
                .stored(served.response, body: body ?? HTTPResponseBody(bytes: [])),
                answering: look.asked.method))
    }

    private func whole(_ reading: ResponseReading) throws(ClientError) -> RawResponse {
        guard case .whole(let response) = reading else {
            throw ClientError(.malformedResponse, "the stored response is not a whole one")
        }
        return response
    }

    /// Whether a stale response may take the place of a failure: the server couldn't be reached,
    /// and the caller's own time isn't over.
    private func mayBeStale(after error: ClientError, in context: CallContext) -> Bool {
        let codes: Set<ClientError.Code> = [.unresolvedHost, .connect, .offline, .timeout, .cutOff]
        return codes.contains(error.code) && !context.hasEnded
            && context.limits.end.map { .now < $0 } ?? true
    }

    // MARK: Renewing

    /// Sends the request that renews a stale response, after the caller has got that response.
    private func renew(
        _ exchange: CacheExchange, of look: Look, in context: CallContext,
        by attempts: AttemptStage
    ) {
        guard let key = look.key else { return }
        renewals.begin(key) {
            // With a log of its own: the caller's call has its outcome.
            let work = CallContext(
                of: JointCalls(log: CallLog(sharedBy: context.log)), like: context)
            let reader = CachingReader(
                DrainingReader(limit: context.limits.maximumResponseSize), of: exchange, look,
                for: self, in: work)
            _ = try? await attempts.run(look.call, into: reader, in: work)
        }
    }
}

/// Reads a response to its end, and keeps nothing.
private struct DrainingReader: ResponseReader {
    let limit: Int

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        do throws(TransportError) {
            for try await _ in response.body {}
        } catch {
            throw ClientError(error)
        }
        return .whole(
            RawResponse(
                status: response.response.status.code, fields: response.response.headerFields,
                body: []))
    }
}

extension HTTPFields {
    /// The fields that may tell users apart. Those of conditions don't, and the server must get
    /// them as they are: a tag that is a hash looks like a secret.
    var ofUsers: HTTPFields {
        filter { Redactor.isSecret($0) && !Self.ofConditions.contains($0.name) }
    }

    private static let ofConditions: Set<HTTPField.Name> = [
        .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .range,
    ]
}

extension StoredResponse {
    /// Whether the response leads elsewhere. A call that follows redirects asks the server.
    fileprivate var isRedirect: Bool {
        RedirectChain.statuses.contains(response.status.code)
            && response.headerFields.contains(.location)
    }
}

extension [UInt8] {
    /// The bytes at positions.
    fileprivate func part(_ range: Range<Int64>) -> [UInt8] {
        range == 0..<Int64(count)
            ? self : Array(self[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

extension CacheEntry {
    /// The stored bytes at positions.
    func body(in range: Range<Int64>) -> HTTPResponseBody {
        switch content {
        case .bytes(let bytes):
            return HTTPResponseBody(bytes: bytes.part(range))
        case .pieces(let reader):
            let position = BodyPosition(range.lowerBound)
            return HTTPResponseBody { () async throws(TransportError) -> [UInt8]? in
                let start = position.value
                guard start < range.upperBound else { return nil }
                guard let piece = await reader.piece(in: start..<range.upperBound) else {
                    throw TransportError(
                        .cutOff, "the stored response was damaged while it was read")
                }
                position.value = start + Int64(piece.count)
                return piece
            }
        }
    }
}

extension EngineResponse {
    /// A stored response.
    static func stored(_ response: HTTPResponse, body: HTTPResponseBody) -> EngineResponse {
        EngineResponse(
            response: response, body: body, httpVersion: HTTPVersion(major: 1, minor: 1))
    }
}
