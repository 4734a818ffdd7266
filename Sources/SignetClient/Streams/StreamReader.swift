import HTTPTypes
import SignetCurl
import SignetJSON
import SignetRPC
import SignetSigning
import SignetTransport
import Synchronization

/// Reads the response of a stream: hands the header out when it has arrived, and then the body
/// chunk by chunk.
final class StreamReader: ResponseReader {
    private let memory: MemoryReader
    private let identity: CallIdentity
    private let json: JSONConventions
    private let pipe: StreamPipe
    /// Whether only a response with status 2xx is handed out. Others are read into memory.
    private let needsSuccess: Bool
    private let state = Mutex(State.idle)

    /// How far the one response is that may be handed out.
    private enum State {
        case idle
        /// It was received, and its header isn't handed out yet.
        case beginning
        /// Its header was handed out, and its body isn't complete.
        case open
        case whole
        case failed(ClientError)
    }

    init(
        _ memory: MemoryReader, for context: CallContext, into pipe: StreamPipe,
        needsSuccess: Bool
    ) {
        self.memory = memory
        self.identity = context.identity
        self.json = context.options.json ?? JSONConventions()
        self.pipe = pipe
        self.needsSuccess = needsSuccess
    }

    var limit: Int { memory.limit }
    var preliminary: MemoryReader? { memory }

    var hasHandedOut: Bool {
        switch state.withLock({ $0 }) {
        case .idle, .beginning: false
        case .open, .whole, .failed: true
        }
    }

    /// Whether a response has been handed out with all of its body.
    ///
    /// - Throws: The error that ended a body, even if an interceptor caught it and responded
    ///   itself; `interceptor-failed` if an interceptor returned while the body was being read.
    func hasFinished() throws(ClientError) -> Bool {
        switch state.withLock({ $0 }) {
        case .idle, .beginning: return false
        case .whole: return true
        case .failed(let error): throw error
        case .open:
            throw ClientError(
                .interceptorFailed,
                "an interceptor returned before the body had ended that is being handed out")
        }
    }

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        let status = response.response.status.code
        guard !needsSuccess || (200..<300).contains(status) else {
            return try await memory.read(response, answering: method)
        }
        try await handOut(response, answering: method)
        return .whole(
            RawResponse(status: status, fields: response.response.headerFields, body: []))
    }

    /// Hands out a response that is in memory: an interceptor's own, or one that could have been
    /// replaced by another attempt.
    func handOut(_ response: RawResponse) async throws(ClientError) {
        try await handOut(
            EngineResponse(response), answering: .get, isDecoded: true)
        pipe.setTrailers(response.trailers)
    }

    private func handOut(
        _ response: EngineResponse, answering method: HTTPRequest.Method, isDecoded: Bool = false
    ) async throws(ClientError) {
        try begin()
        do {
            if !isDecoded,
                let decoder = try memory.decoder.makeDecoder(
                    of: response.response, answering: method, limit: limit)
            {
                return try await decode(response, with: decoder)
            }
            open(response.response, of: response)
            var left = limit
            for try await chunk in response.body {
                guard chunk.count <= left else {
                    throw ClientError(
                        .responseTooLarge, "the response's body has more than \(limit) bytes",
                        status: response.response.status.code)
                }
                left -= chunk.count
                try await pipe.write(chunk)
            }
            finish(with: response.trailers)
        } catch let error as TransportError {
            throw ended(by: ClientError(error, status: response.response.status.code))
        } catch {
            throw ended(by: error as? ClientError ?? .cancelledByCaller)
        }
    }

    /// Hands out the decoded body. A wrong Content-Digest ends it with `malformed-response`, after
    /// the chunks.
    private func decode(
        _ response: EngineResponse, with decoder: consuming ContentDecoder
    ) async throws {
        var decoder = decoder
        var header = response.response
        header.headerFields[.contentEncoding] = nil
        header.headerFields[.contentLength] = nil
        open(header, of: response)
        var digester = try BodyDigester(Set(BodyDigest.allCases))
        for try await chunk in response.body {
            try digester.update(chunk)
            decoder.push(chunk)
            while let piece = try decoder.next() { try await pipe.write(piece) }
        }
        try decoder.finish()
        try ResponseDecoder.check(digester.finish(), of: response.response)
        finish(with: response.trailers)
    }

    // MARK: The one response

    private func begin() throws(ClientError) {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .beginning
            return true
        }
        guard isFirst else {
            throw ClientError(
                .interceptorFailed,
                "an interceptor sends a call again whose response has been handed out")
        }
    }

    private func open(_ header: HTTPResponse, of response: EngineResponse) {
        state.withLock { $0 = .open }
        pipe.open(
            StreamPipe.Head(
                identity: identity, response: header, httpVersion: response.httpVersion,
                json: json))
    }

    private func finish(with trailers: HTTPFields?) {
        pipe.setTrailers(trailers)
        state.withLock { $0 = .whole }
    }

    /// Notes the error that ended the body. Before its header was handed out, another response may
    /// follow.
    private func ended(by error: ClientError) -> ClientError {
        state.withLock { state in
            if case .beginning = state { state = .idle } else { state = .failed(error) }
        }
        return error
    }
}
