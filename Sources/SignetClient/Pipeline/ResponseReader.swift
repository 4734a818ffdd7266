import HTTPTypes
import SignetRPC
import SignetTransport

/// Reads the responses of one call: into memory, into a file, or into a stream that the caller
/// reads.
protocol ResponseReader: Sendable {
    /// The maximum size of a response's body in bytes.
    var limit: Int { get }

    /// Whether the response that `read` returns has the body.
    var keepsBody: Bool { get }

    /// Whether a response was handed to the caller before its body had been read. No attempt
    /// follows then.
    var hasHandedOut: Bool { get }

    /// The reader of a response that another attempt may replace; nil if it is this one.
    var preliminary: MemoryReader? { get }

    /// Whether the response may come from a cache.
    var usesCache: Bool { get }

    /// Whether `prepare` may change a request.
    var preparesRequests: Bool { get }

    /// Changes the next request, if a part of the response is there already.
    ///
    /// - Parameter isRedirected: Whether a redirect led to the request.
    func prepare(
        _ request: HTTPRequest, isRedirected: Bool
    ) async throws(ClientError) -> HTTPRequest

    /// Reads a response to its end.
    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading
}

extension ResponseReader {
    var keepsBody: Bool { false }
    /// False: the caller gets the response after its body has been read.
    var hasHandedOut: Bool { false }
    var preliminary: MemoryReader? { nil }
    /// True.
    var usesCache: Bool { true }
    /// True.
    var preparesRequests: Bool { true }
    func prepare(
        _ request: HTTPRequest, isRedirected: Bool
    ) async throws(ClientError) -> HTTPRequest { request }
}

/// The outcome of reading a response.
enum ResponseReading: Sendable {
    /// All of the response is there.
    case whole(RawResponse)
    /// The request has to be sent again at once, for the rest or from the beginning. No attempt
    /// failed.
    case unfinished
    /// A part is kept, and the next attempt continues there.
    case partial(ClientError)
}

/// Reads responses into memory.
struct MemoryReader: ResponseReader {
    let decoder: ResponseDecoder
    let limit: Int

    var keepsBody: Bool { true }
    var preparesRequests: Bool { false }

    /// Returns a response whose body is in memory; nil if it must be decoded or is too large.
    func whole(_ response: HTTPResponse, body: [UInt8]) -> RawResponse? {
        let fields = response.headerFields
        guard decoder.limits == nil || !fields.contains(.contentEncoding), body.count <= limit
        else { return nil }
        return RawResponse(status: response.status.code, fields: fields, body: body)
    }

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        do throws(TransportError) {
            return .whole(try await decoder.collect(response, answering: method, limit: limit))
        } catch {
            throw ClientError(error)
        }
    }
}

extension EngineResponse {
    /// Whether header and body are equal to those of another response.
    func isSame(as other: EngineResponse) -> Bool {
        response == other.response && body.isSame(as: other.body)
    }

    /// A response that is in memory.
    init(_ raw: RawResponse) {
        self.init(
            response: HTTPResponse(status: .init(code: raw.status), headerFields: raw.fields),
            body: HTTPResponseBody(bytes: raw.body),
            httpVersion: HTTPVersion(major: 1, minor: 1))
    }
}
