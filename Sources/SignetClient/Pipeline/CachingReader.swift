import HTTPTypes
import SignetCache
import SignetSigning
import SignetTransport
import Synchronization

/// Reads the responses of a call through the cache: asks the server about stored responses, stores
/// what may be stored while the caller reads it, and gives the caller the stored response if the
/// server says that it is still valid.
final class CachingReader: ResponseReader {
    private struct State {
        var exchange: CacheExchange
        var use: CacheUse
        /// Whether the last request was the one that was looked up: no redirect led to it, and no
        /// cookie has come since.
        var isOriginal = true
    }

    private let reader: any ResponseReader
    private let stage: HTTPCacheStage
    private let look: HTTPCacheStage.Look
    private let context: CallContext
    private let state: Mutex<State>

    init(
        _ reader: any ResponseReader, of exchange: CacheExchange, _ look: HTTPCacheStage.Look,
        for stage: HTTPCacheStage, in context: CallContext
    ) {
        self.reader = reader
        self.stage = stage
        self.look = look
        self.context = context
        state = Mutex(State(exchange: exchange, use: look.use))
    }

    var limit: Int { reader.limit }
    var keepsBody: Bool { reader.keepsBody }
    var hasHandedOut: Bool { reader.hasHandedOut }
    /// A response that another attempt may replace isn't stored.
    var preliminary: MemoryReader? { reader.preliminary ?? reader as? MemoryReader }

    /// The exchange that was sent last.
    var exchange: CacheExchange { state.withLock { $0.exchange } }

    /// Adds the conditions under which a stored response is still valid, or the missing range.
    func prepare(
        _ request: HTTPRequest, isRedirected: Bool
    ) async throws(ClientError) -> HTTPRequest {
        var request = try await reader.prepare(request, isRedirected: isRedirected)
        let isOriginal =
            !isRedirected
            && (look.key == nil
                || stage.key(of: look.call, secrets: look.secrets, in: context) == look.key)
        let exchange = state.withLock { state in
            state.isOriginal = isOriginal
            return isOriginal ? state.exchange : nil
        }
        guard let exchange else { return request }
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .range, .ifRange] {
            request.headerFields[name] = exchange.request.headerFields[name]
        }
        return request
    }

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        let now = stage.clock.now()
        let keys = response.peerChain.map(\.pin.text)
        let asked = state.withLock { state -> CacheExchange? in
            state.exchange.publicKeys = keys
            return state.isOriginal ? state.exchange : nil
        }
        guard let asked else { return try await reader.read(response, answering: method) }
        let outcome = stage.rules.answer(response.response, to: asked, at: now)
        if response.isMadeUp, case .received = outcome.answer {
            note(.bypassed)
            return try await reader.read(response, answering: method)
        }
        let changes = response.isMadeUp ? [] : outcome.changes
        switch outcome.answer {
        case .received:
            return try await store(response, of: outcome, changes, asked: asked, answering: method)
        case .stored(let served):
            return try await serve(
                served, after: response, changes, asked: asked, answering: method)
        case .joined(let served, let receivedIsFirst):
            return try await join(
                served, with: response, changes, receivedIsFirst: receivedIsFirst,
                answering: method)
        case .again(let next):
            await apply(changes)
            return await again(next, after: response)
        }
    }

    // MARK: Answers

    /// Hands the server's response on, and stores it meanwhile.
    private func store(
        _ response: EngineResponse, of outcome: CacheOutcome, _ changes: [CacheChange],
        asked: CacheExchange, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        let (writers, stored) = await apply(changes)
        // A store that takes nothing, as on a full disk, must not be said to have stored it.
        let answer =
            writers.isEmpty ? stage.rules.received(response.response, in: asked) : outcome
        var passed = response
        if case .received(let header) = answer.answer { passed.response = header }
        let tap = BodyTap(of: response, into: writers)
        if !writers.isEmpty { passed.body = tap.body }
        do throws(ClientError) {
            let reading = try await reader.read(passed, answering: method)
            note(
                look.key == nil ? .bypassed : .miss, reason: exchange.reason.rawValue,
                isStored: tap.isStored)
            return reading
        } catch {
            note(.miss, reason: exchange.reason.rawValue)
            // A coding or a digest that is wrong is noticed at the end of the content.
            if error.kind == .malformed {
                for id in stored { await stage.store.change(.remove(id)) }
            }
            throw error
        }
    }

    /// Hands a stored response out, because the server said that it is valid, or failed.
    private func serve(
        _ served: ServedResponse, after response: EngineResponse, _ changes: [CacheChange],
        asked: CacheExchange, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        let isFailure = response.response.status.code >= 500
        guard let entry = look.entry(of: served), await entry.content.isIntact() else {
            return await withoutStored(after: response)
        }
        await discard(response)
        await apply(changes)
        note(
            isFailure ? .stale : .validated,
            reason: isFailure ? "status \(response.status)" : asked.reason.rawValue,
            age: served.age, isStored: !isFailure)
        return try await reader.read(
            .stored(served.response, body: entry.body(in: served.content)), answering: method)
    }

    /// Hands a stored part out together with the missing one.
    private func join(
        _ served: ServedResponse, with response: EngineResponse, _ changes: [CacheChange],
        receivedIsFirst: Bool, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        guard let entry = look.entry(of: served), await entry.content.isIntact() else {
            return await withoutStored(after: response)
        }
        let (writers, _) = await apply(changes)
        let received = writers.isEmpty ? response.body : BodyTap(of: response, into: writers).body
        let stored = entry.body(in: 0..<entry.response.length)
        note(.completed, reason: "partial", isStored: !writers.isEmpty)
        return try await reader.read(
            .stored(
                served.response,
                body: receivedIsFirst
                    ? received.followed(by: stored) : stored.followed(by: received)),
            answering: method)
    }

    /// Sends the request again at once.
    private func again(
        _ next: CacheExchange, after response: EngineResponse
    ) async -> ResponseReading {
        await discard(response)
        state.withLock { $0.exchange = next }
        return .unfinished
    }

    /// Sends the request again without the stored responses, because one's content is damaged.
    private func withoutStored(after response: EngineResponse) async -> ResponseReading {
        let decision = stage.rules.decide(
            exchange.original, key: look.key, stored: [], at: stage.clock.now())
        guard case .fetch(let next) = decision else { return .unfinished }
        return await again(next, after: response)
    }

    // MARK: Steps

    /// Reads a content that isn't used, so that the connection can be used again.
    private func discard(_ response: EngineResponse) async {
        _ = try? await response.body.collect(limit: 64 << 10)
    }

    /// Applies the changes that need no content.
    ///
    /// - Returns: The writers of the others, and what they store.
    @discardableResult
    private func apply(
        _ changes: [CacheChange]
    ) async -> (writers: [any CacheWriter], stored: [StoredResponse.ID]) {
        var (writers, stored) = ([any CacheWriter](), [StoredResponse.ID]())
        // A POST has just removed what was stored of its own URL.
        let removals =
            look.asked.method == .get ? look.removals : stage.store.removalCount
        for change in changes {
            switch change {
            case .store(let response), .join(_, let response, _):
                let writer = await stage.store.writer(for: change, since: removals)
                guard let writer else { continue }
                writers.append(writer)
                stored.append(response.id)
            case .update, .copy, .remove, .invalidate, .clear: await stage.store.change(change)
            }
        }
        return (writers, stored)
    }

    private func note(
        _ decision: CacheUse.Decision, reason: String? = nil, age: Int64? = nil,
        isStored: Bool = false
    ) {
        let use = state.withLock { state in
            state.use.decision = decision
            state.use.reason = reason ?? state.use.reason
            state.use.age = age
            state.use.isStored = isStored
            return state.use
        }
        context.log.setCache(use)
    }
}

/// Copies a body's chunks into writers while it is read.
private final class BodyTap: Sendable {
    private struct State: ~Copyable {
        var hasEnded = false
        var isStored = false
        /// Nil without a Content-Digest.
        var digester: BodyDigester?
    }

    private let response: HTTPResponse
    private let source: HTTPResponseBody
    private let writers: [any CacheWriter]
    private let state: Mutex<State>

    init(of response: EngineResponse, into writers: [any CacheWriter]) {
        self.response = response.response
        source = response.body
        self.writers = writers
        let fields = response.response.headerFields
        let hasDigest = HTTPField.Name.contentDigest.map(fields.contains) ?? false
        state = Mutex(
            State(digester: hasDigest ? try? BodyDigester(Set(BodyDigest.allCases)) : nil))
    }

    /// Whether the body has ended and was stored.
    var isStored: Bool { state.withLock { $0.isStored } }

    var body: HTTPResponseBody {
        HTTPResponseBody(trailers: { self.source.trailers }) {
            () async throws(TransportError) -> [UInt8]? in
            var iterator = self.source.makeAsyncIterator()
            do throws(TransportError) {
                if let chunk = try await iterator.next() {
                    self.state.withLock { try? $0.digester?.update(chunk) }
                    for writer in self.writers { await writer.write(chunk) }
                    return chunk
                }
            } catch {
                // The content ended before its framing said so. Other errors store nothing.
                if error.code == .cutOff { await self.end(isWhole: false) }
                throw error
            }
            await self.end(isWhole: true)
            return nil
        }
    }

    private func end(isWhole: Bool) async {
        let isRight = state.withLock { state in
            defer { state.hasEnded = true }
            guard !state.hasEnded else { return false }
            guard isWhole, let digests = try? state.digester.take()?.finish() else { return true }
            return (try? ResponseDecoder.check(digests, of: response)) != nil
        }
        guard isRight else { return }
        for writer in writers {
            let isStored = await writer.finish(isWhole: isWhole)
            if isStored { state.withLock { $0.isStored = true } }
        }
    }
}

/// A position that one reader moves.
final class BodyPosition: Sendable {
    private let position: Mutex<Int64>

    init(_ value: Int64) { position = Mutex(value) }

    var value: Int64 {
        get { position.withLock { $0 } }
        set { position.withLock { $0 = newValue } }
    }
}

extension HTTPResponseBody {
    /// A body that continues with another one.
    fileprivate func followed(by other: HTTPResponseBody) -> HTTPResponseBody {
        let isSecond = Mutex(false)
        return HTTPResponseBody { () async throws(TransportError) -> [UInt8]? in
            var iterator = (isSecond.withLock { $0 } ? other : self).makeAsyncIterator()
            if let chunk = try await iterator.next() { return chunk }
            guard !isSecond.withLock({ $0 }) else { return nil }
            isSecond.withLock { $0 = true }
            var next = other.makeAsyncIterator()
            return try await next.next()
        }
    }
}
