public import HTTPTypes
public import SignetJSON
public import SignetTransport

/// A response whose header has arrived, with a body that is read as it arrives.
///
/// The call runs until the body ends: its deadline, `cancelCall(_:)`, its owner and the system's
/// shutdown end the body with the same error that they end other calls with. If the last copy of
/// the response and its body is released earlier, the call ends with `cancelled`.
///
/// The attempt's time limit (`RequestOptions.timeout`) doesn't end a call whose reader stalls: the
/// reader gets that error only after it has read what was received in time. Set
/// `RequestOptions.deadline` to end such a call.
///
/// ```swift
/// func countBytes(with system: NetworkSystem) async throws -> Int {
///     let response = try await system.stream("files", method: .get, target: "/archive")
///     var count = 0
///     for try await chunk in response.body { count += chunk.count }
///     print(response.status, response.trailers?.count ?? 0)
///     return count
/// }
/// ```
public struct StreamedResponse: Sendable {
    /// The call, for `NetworkSystem.cancelCall(_:)`.
    public let identity: CallIdentity
    /// The status.
    public let status: Int
    /// The fields of the header. Trailers are never added to them.
    public let fields: HTTPFields
    /// The HTTP version that the server used.
    public let httpVersion: EngineResponse.HTTPVersion
    /// The body.
    public let body: StreamedBody
    private let json: JSONConventions

    init(_ head: StreamPipe.Head, body pipe: StreamPipe) {
        identity = head.identity
        status = head.response.status.code
        fields = head.response.headerFields
        httpVersion = head.httpVersion
        body = StreamedBody(pipe, of: head.identity)
        json = head.json
    }

    /// The fields that followed the body, after it has been read to its end; nil if there were
    /// none.
    public var trailers: HTTPFields? { body.trailers }

    /// Decodes the records of the body by the call's ``RequestOptions/json``, one at a time and in
    /// bounded memory.
    ///
    /// - Parameters:
    ///   - type: The type of each record.
    ///   - format: The format of the body.
    ///   - maximumRecordSize: The maximum size of a record in bytes.
    public func records<Record: Decodable & Sendable>(
        of type: Record.Type, in format: JSONStreamFormat, maximumRecordSize: Int = 1 << 20
    ) -> StreamedRecords<Record> {
        StreamedRecords(
            base: body.jsonRecords(
                format, maximumRecordSize: maximumRecordSize, skipsByteOrderMark: true),
            identity: identity, status: status, decoder: StrictJSONDecoder(conventions: json))
    }

    /// Discards the rest of the body. The call ends with `cancelled`, unless it has ended.
    public func cancel() { body.cancel() }
}

extension StreamedResponse: CustomStringConvertible, CustomReflectable {
    /// The call's number, the status and the names of the fields; no value of a field.
    public var description: String {
        let names = fields.map(\.name.canonicalName).joined(separator: ", ")
        return "StreamedResponse(call: \(identity.id), status: \(status), fields: [\(names)])"
    }

    /// The parts of the description, the call's identity and the names of the trailers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "identity": identity, "status": status,
                "fields": fields.map(\.name.canonicalName), "httpVersion": httpVersion,
                "trailers": trailers.map { $0.map(\.name.canonicalName) } as Any,
            ])
    }
}

/// The body of a ``StreamedResponse``, in chunks as they arrive.
///
/// It can be read once, by one reader. The server has to wait while the reader is slower; the
/// attempt's time limit doesn't end a reader that stalls, `RequestOptions.deadline` does.
public struct StreamedBody: Sendable, AsyncSequence {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// The error that ends a body early.
    public typealias Failure = ClientError

    fileprivate final class Reading: Sendable {
        let pipe: StreamPipe
        let identity: CallIdentity

        init(_ pipe: StreamPipe, of identity: CallIdentity) {
            self.pipe = pipe
            self.identity = identity
        }

        deinit { pipe.leave() }

        func next() async throws(ClientError) -> [UInt8]? {
            do throws(ClientError) {
                return try await pipe.next()
            } catch {
                throw error.of(identity, record: nil)
            }
        }
    }

    private let reading: Reading

    init(_ pipe: StreamPipe, of identity: CallIdentity) { reading = Reading(pipe, of: identity) }

    var trailers: HTTPFields? { reading.pipe.trailers }

    func cancel() { reading.pipe.leave() }

    /// Reads the body chunk by chunk.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reading: Reading

        /// Returns the next chunk, or nil at the end.
        ///
        /// - Throws: `ClientError`, for example `cut-off`, `timeout`, `response-too-large`,
        ///   `not-running` or `cancelled`.
        public mutating func next() async throws(ClientError) -> [UInt8]? {
            try await reading.next()
        }

        /// Returns the next chunk, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(ClientError) -> [UInt8]?
        {
            try await reading.next()
        }
    }

    /// Starts reading, or continues after an earlier iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading) }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum size in bytes.
    /// - Throws: `ClientError`, with code `response-too-large` if the body has more than `limit`
    ///   bytes. The call ends with `cancelled` then.
    public func collect(limit: Int) async throws(ClientError) -> [UInt8] {
        var whole: [UInt8] = []
        while let chunk = try await reading.next() {
            guard chunk.count <= limit - whole.count else {
                cancel()
                throw ClientError(
                    .responseTooLarge, "the response's body has more than \(limit) bytes"
                ).of(reading.identity, record: nil)
            }
            whole += chunk
        }
        return whole
    }
}

/// The decoded records of a ``StreamedResponse``.
public struct StreamedRecords<Record: Decodable & Sendable>: Sendable, AsyncSequence {
    /// A record.
    public typealias Element = Record
    /// The error that ends the records early.
    public typealias Failure = ClientError

    let base: JSONRecords<StreamedBody>
    let identity: CallIdentity
    let status: Int
    let decoder: StrictJSONDecoder

    /// Reads the records in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: JSONRecords<StreamedBody>.Iterator
        let records: StreamedRecords

        /// Returns the next record, or nil at the end.
        ///
        /// - Throws: `ClientError`: `malformed-response` for a record that isn't strict JSON,
        ///   `response-too-large`, `type-mismatch`, and those of the body.
        public mutating func next() async throws(ClientError) -> Record? {
            try await next(isolation: #isolation)
        }

        /// Returns the next record, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(ClientError) -> Record?
        {
            let record: JSONRecord?
            do {
                record = try await base.next(isolation: actor)
            } catch let error as JSONError {
                throw records.error(
                    error.code == .tooLargeJSON ? .responseTooLarge : .malformedResponse,
                    message: error.message)
            } catch {
                throw error as? ClientError ?? .cancelledByCaller
            }
            do throws(JSONError) {
                return try record?.decode(Record.self, with: records.decoder)
            } catch {
                throw records.error(
                    .typeMismatch, message: "the record is of another type: \(error.message)")
            }
        }
    }

    private func error(_ code: ClientError.Code, message: String) -> ClientError {
        ClientError(code, message, status: status).of(identity, record: nil)
    }

    /// Starts reading with the body's next chunk.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator(), records: self)
    }
}
