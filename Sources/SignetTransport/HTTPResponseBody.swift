public import HTTPTypes
import Synchronization

/// A response's body, in the chunks in which it arrived.
///
/// It can be read once, by one reader. The engine stops receiving while the reader is slower than
/// the server. If the last copy is released before the body was read, the call is cancelled.
public struct HTTPResponseBody: Sendable, AsyncSequence {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// The error that ends a body early.
    public typealias Failure = TransportError

    fileprivate final class Reading: Sendable {
        /// The origin of the chunks.
        enum Source: Sendable {
            case buffer(BodyBuffer)
            case bytes(BodyBytes)
            case chunks(
                @Sendable () async throws(TransportError) -> [UInt8]?,
                trailers: @Sendable () -> HTTPFields?)
        }

        let source: Source
        init(_ source: Source) { self.source = source }
        deinit { if case .buffer(let buffer) = source { buffer.abandon() } }
    }

    private let reading: Reading

    /// Whether two values are the same body.
    package func isSame(as other: HTTPResponseBody) -> Bool { reading === other.reading }
    private var observer: (@Sendable ([UInt8]) -> Void)?
    private var endObserver: (@Sendable () -> Void)?

    /// Creates a body that reads the chunks of a buffer, which an engine fills.
    public init(_ buffer: BodyBuffer) { self.reading = Reading(.buffer(buffer)) }

    /// Creates a body whose chunks a function returns, one at a time and none of them empty, until
    /// it returns `nil` or throws.
    ///
    /// - Parameter trailers: Returns the trailers after the last chunk.
    package init(
        trailers: @escaping @Sendable () -> HTTPFields? = { nil },
        chunks: @escaping @Sendable () async throws(TransportError) -> [UInt8]?
    ) { reading = Reading(.chunks(chunks, trailers: trailers)) }

    /// Creates a body of bytes.
    public init(bytes: [UInt8]) {
        reading = Reading(.bytes(BodyBytes(bytes)))
    }

    /// The trailers: the fields that followed the body (RFC 9110, section 6.5); `nil` if there were
    /// none, and before the body has been read to its end.
    ///
    /// They are never added to the response's header. Fields that must not be trailers, such as
    /// Content-Length, Content-Type, Authorization and Set-Cookie, are left out.
    public var trailers: HTTPFields? {
        switch reading.source {
        case .buffer(let buffer): buffer.trailers
        case .bytes: nil
        case .chunks(_, let trailers): trailers()
        }
    }

    /// Returns the same body, which reports the size of each chunk that is read.
    package func observed(by observer: @escaping @Sendable (Int) -> Void) -> HTTPResponseBody {
        tapped { observer($0.count) }
    }

    /// Returns the same body, which shows each chunk that is read to one more observer, and tells
    /// it of the end. A body that is left or that fails has no end.
    package func tapped(
        by observer: @escaping @Sendable ([UInt8]) -> Void,
        ending: (@Sendable () -> Void)? = nil
    ) -> HTTPResponseBody {
        var tapped = self
        if let ending {
            let first = endObserver
            tapped.endObserver = {
                first?()
                ending()
            }
        }
        tapped.observer = observer
        if let first = self.observer {
            tapped.observer = { chunk in
                first(chunk)
                observer(chunk)
            }
        }
        return tapped
    }

    private func next() async throws(TransportError) -> [UInt8]? {
        let chunk: [UInt8]?
        switch reading.source {
        case .buffer(let buffer): chunk = try await buffer.next()
        case .bytes(let bytes): chunk = bytes.take()
        case .chunks(let next, _): chunk = try await next()
        }
        if let chunk { observer?(chunk) } else { endObserver?() }
        return chunk
    }

    /// Reads the body chunk by chunk.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let body: HTTPResponseBody

        /// Returns the next chunk, or `nil` at the end.
        ///
        /// - Throws: `TransportError`, for example `cut-off`, `timeout`, `response-too-large` or
        ///   `cancelled`.
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            try await body.next()
        }

        /// Returns the next chunk, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?)
            async throws(TransportError) -> [UInt8]?
        {
            try await body.next()
        }
    }

    /// Starts reading, or continues after an earlier iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum size in bytes.
    /// - Throws: `TransportError`, with code `response-too-large` if the body has more than `limit`
    ///   bytes.
    public func collect(limit: Int = .max) async throws(TransportError) -> [UInt8] {
        var whole: [UInt8] = []
        while let chunk = try await next() {
            guard chunk.count <= limit - whole.count else {
                throw TransportError(
                    .responseTooLarge, "the response's body has more than \(limit) bytes")
            }
            if whole.isEmpty { whole = chunk } else { whole.append(contentsOf: chunk) }
        }
        return whole
    }
}

/// The bytes of a body that is there already, until it is read.
private final class BodyBytes: Sendable {
    private let bytes: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

    func take() -> [UInt8]? {
        let taken = bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        return taken.isEmpty ? nil : taken
    }
}
