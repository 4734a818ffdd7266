public import HTTPTypes
import SignetBase
public import SignetClient
import SignetPinning
import SignetSystem
public import SignetTransport
import Synchronization

/// An engine that responds with recorded responses, in place of the network.
///
/// It is chosen for a system (`NetworkSystem.Options.engine`), or by its name in
/// `NetworkSystem.Options.engines` for a service or one call (`RequestOptions.engine`). Everything
/// in front of it stays as it is: interceptors, adapters, signatures, retries. The pins of a policy
/// are compared with the recorded chain.
///
/// ```swift
/// import SignetClient
///
/// func replay(
///     _ recording: Recording, services: [ServiceName: ServiceConfiguration]
/// ) async throws {
///     let engine = ReplayEngine(recording)
///     var options = NetworkSystem.Options()
///     options.engine = engine
///     options.dangerous.allowUnpinnedServices()  // nothing leaves the process
///     let system = try await NetworkSystem.start(services: services, options: options)
///     _ = try await system.call(RPCCall("orders.list"), on: "orders")
///     precondition(engine.unplayed.isEmpty)
/// }
/// ```
///
/// A request that has no recording fails with `not-recorded`. The message names the nearest one and
/// the places that differ, without values; ``misses`` has the values, redacted. Equal requests get
/// their responses in the order of the recording, also under concurrency.
///
/// The modes that record are refused with `recording-in-production` by a system in production,
/// unless ``RecordingOptions/recordsInProduction`` allows it.
public final class ReplayEngine: HTTPEngine, RecordingHTTPEngine {
    /// The modes, as VCR has them.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Plays the recording, and sends nothing. This is the default.
        case none
        /// Records everything if the recording is empty, else plays it and sends nothing.
        case once
        /// Plays what is recorded, and sends and records the rest.
        case new
        /// Sends and records everything.
        case all
    }

    /// A request without a recording.
    public struct Miss: Sendable, Hashable {
        /// The request, redacted.
        public let request: RecordedExchange.Request
        /// The nearest recording; nil in an empty recording, or if all of the request's recordings
        /// were played.
        public let nearest: RecordedExchange.Request?
        /// The differences to it.
        public let differences: [Difference]
    }

    private struct State {
        var isRunning = true
        var requests: [HTTPRequest] = []
        var misses: [Miss] = []
    }

    private static let keptRequests = 10_000

    /// The engine's capabilities: those of the engine that it sends through, or else all.
    public let capabilities: EngineCapabilities
    private let mode: Mode
    private let matching: ReplayMatching
    private let source: ResponseSource
    private let initial: Recording
    private let playlist: Playlist
    private let redactor: ExchangeRedactor
    private let engine: (any HTTPEngine)?
    private let limit: Int
    private let recordsInProduction: Bool
    private let added: MemoryRecordingStore
    private let state = Mutex(State())

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - recording: The recording, or mocks, which are written by hand in the same form.
    ///   - mode: What is sent. Modes other than `none` need an engine.
    ///   - matching: The rules by which a request is a recorded one.
    ///   - repeats: Whether the last response to a request is played again. Defaults to `false`:
    ///     each is played once.
    ///   - source: The origin that records of calls show: `replay` or `mock`.
    ///   - engine: The engine through which new requests are sent, and which is shut down with this
    ///     one; nil for none.
    ///   - options: The rules of redaction, and the limits of what is recorded.
    public init(
        _ recording: Recording, mode: Mode = .none, matching: ReplayMatching = ReplayMatching(),
        repeats: Bool = false, as source: ResponseSource = .replay,
        through engine: (any HTTPEngine)? = nil, options: RecordingOptions = RecordingOptions()
    ) {
        initial = recording
        self.mode = mode == .once ? (recording.calls.isEmpty ? .all : .none) : mode
        self.matching = matching
        self.source = source
        self.engine = self.mode == .none ? nil : engine
        limit = options.limits.bodySize
        recordsInProduction = options.recordsInProduction
        added = MemoryRecordingStore(limits: options.limits)
        // Another program's recording, or a mock, may have what the redactor replaces in requests.
        let known = ExchangeRedactor(
            options.redaction,
            marks: RedactionMarks(
                after: recording.largestMark, keeping: .numbers(recording.listedMarks)),
            decoding: DecodingBudget())
        playlist = Playlist(
            self.mode == .all ? [] : recording.exchanges, repeats: repeats
        ) { RequestView(known.redacted($0).request, matching) }
        redactor = ExchangeRedactor(
            options.redaction, marks: RedactionMarks(after: recording.lastMark))
        var capabilities =
            self.engine?.capabilities
            ?? EngineCapabilities(
                name: source.rawValue, pinsPublicKeys: true, speaksHTTP2: true,
                usesClientCertificates: true)
        capabilities.source = source
        self.capabilities = capabilities
    }

    /// The recording, with what was recorded since, within the limits of the options.
    public var recording: Recording {
        var recording = mode == .all ? Recording() : initial
        let last = recording.calls.map(\.id).max() ?? 0
        let added = added.current
        recording.droppedCount += added.droppedCount
        recording.calls += added.calls.enumerated().map { index, call in
            var call = call
            call.id = last + index + 1
            return call
        }
        recording.number()
        return recording
    }

    /// The recorded exchanges that no request has asked for.
    public var unplayed: [RecordedExchange] { playlist.unplayed }

    /// The requests that have no recording and weren't sent.
    public var misses: [Miss] { state.withLock { $0.misses } }

    /// The heads of the last 10,000 requests as the engine got them, with their signatures and not
    /// redacted.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// Responds to a request with its recording, or sends it if the mode says so.
    ///
    /// - Throws: `TransportError`: `not-recorded`; the failure that was recorded; a refusal of the
    ///   pin policy; that of the engine that sends.
    public func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let isRunning = state.withLock { state in
            if state.requests.count >= Self.keptRequests { state.requests.removeFirst() }
            state.requests.append(request.request)
            return state.isRunning
        }
        guard isRunning else {
            throw TransportError(.notRunning, "the replay engine is shut down")
        }
        if mode == .all { return try await sendAndRecord(request) }
        for field in request.request.headerFields { _ = try request.sends(field) }
        var request = request
        let live = try await request.recorded(limit: limit, isSent: mode == .new)
        let redacted = redactor.redacted(RecordedExchange(request: live)).request
        let choice = playlist.choose(RequestView(redacted, matching))
        if case .track(let track) = choice {
            return try Playback(track.exchange, of: live, as: source).response(to: request)
        }
        if mode == .new { return try await sendAndRecord(request) }
        throw miss(redacted, choice)
    }

    /// Refuses the run mode production, unless the mode records nothing or the options allow it.
    package func requireRecordable(in runMode: RunMode) throws(TransportError) {
        guard mode == .none || recordsInProduction || runMode != .production else {
            throw TransportError(
                .recordingInProduction,
                "found the run mode production, expected staging or development for the replay "
                    + "mode \(mode.rawValue), which records, or recordsInProduction")
        }
    }

    /// Refuses further requests with `not-running`, and shuts the engine down that sends.
    public func shutdown() async {
        state.withLock { $0.isRunning = false }
        await engine?.shutdown()
    }

    /// The executor of the engine that sends.
    public var executor: (any TaskExecutor)? { engine?.executor }

    private func miss(
        _ request: RecordedExchange.Request, _ choice: Playlist.Choice
    ) -> TransportError {
        let found = "found \(printable(request.method)) \(request.shownURL)"
        let message: String
        var miss = Miss(request: request, nearest: nil, differences: [])
        switch choice {
        case .used(let count):
            message = "\(found), expected no more than the \(count) that are recorded"
        case .none(let (track, differences)?):
            miss = Miss(
                request: request, nearest: track.exchange.request, differences: differences)
            let places = differences.prefix(3).map(\.description).joined(separator: "; ")
            message =
                "\(found), expected a recorded request; the nearest is #\(track.number + 1) "
                + "\(printable(track.exchange.request.method)) "
                + "\(track.exchange.request.shownURL): \(places)"
        case .none(nil): message = "\(found), and the recording is empty"
        case .track: message = "\(found), expected a recorded request"
        }
        state.withLock { state in
            if state.misses.count >= Self.keptRequests { state.misses.removeFirst() }
            state.misses.append(miss)
        }
        return TransportError(.notRecorded, message)
    }

    // MARK: Recording

    private func sendAndRecord(
        _ request: EngineRequest
    ) async throws(TransportError) -> EngineResponse {
        guard let engine else {
            throw TransportError(
                .invalidRequest,
                "the replay mode \(mode.rawValue) sends requests, and there is no engine for them")
        }
        let capture = ExchangeCapture(
            request.request, body: request.body.bytes, attempt: 1, limit: limit
        ) { [added, redactor, limit] in
            added.add(RecordedCall(redactor.redacted($0.recorded(limit: limit))))
        }
        var request = request
        if request.body.bytes == nil {
            request.body = request.body.tapped(
                restarting: { capture.beginBody() }, by: { capture.send($0) },
                ending: { capture.endBody() })
        }
        do throws(TransportError) {
            var response = try await engine.send(request)
            capture.receive(response)
            response.source = .server
            response.body = response.body.captured(by: capture, timings: response.timings)
            return response
        } catch {
            capture.end(error)
            throw error
        }
    }
}

extension HTTPResponseBody {
    /// Returns the same body, which ends a capture at its own end.
    fileprivate func captured(by capture: ExchangeCapture, timings: Timings) -> HTTPResponseBody {
        let body = self
        return HTTPResponseBody(trailers: { body.trailers }) {
            () async throws(TransportError) -> [UInt8]? in
            var iterator = body.makeAsyncIterator()
            do throws(TransportError) {
                guard let chunk = try await iterator.next() else {
                    capture.endResponse()
                    capture.end(timings: timings)
                    return nil
                }
                capture.receive(chunk)
                return chunk
            } catch {
                capture.end(error)
                throw error
            }
        }
    }
}

extension EngineRequest {
    /// The request as a recording has it, not redacted. A body that can be read only once is read.
    ///
    /// - Parameter isSent: Whether the request may be sent after that, so that it keeps its body.
    fileprivate mutating func recorded(
        limit: Int, isSent: Bool
    ) async throws(TransportError) -> RecordedExchange.Request {
        var bytes = body.bytes ?? []
        if body.bytes == nil {
            var reader = try body.makeReader()
            while let chunk = try await reader.next() {
                bytes += chunk
                guard bytes.count <= limit else { break }
            }
            if isSent, !body.isReplayable {
                guard bytes.count <= limit else {
                    throw TransportError(
                        .invalidRequest,
                        "found a body of more than \(limit) bytes that can be read only once,"
                            + " expected one that can be compared with the recording and sent")
                }
                body = HTTPRequestBody(bytes)
            }
        }
        return RecordedExchange.Request(request, body: bytes, limit: limit)
    }
}
