#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import SignetBase
import SignetPinning
import SignetTransport

/// Makes async-http-client's request, or refuses what async-http-client can't do.
enum OutgoingRequest {
    /// Makes the request for async-http-client, and returns the origin that it goes to.
    ///
    /// - Parameters:
    ///   - trust: The CAs of this one request; nil for the engine's.
    ///   - connectTimeout: The engine's, which async-http-client can't change for a request.
    /// - Throws: `TransportError` with code `invalid-request` or `unsupported-trailers`, or the pin
    ///   policy's refusal.
    static func make(
        _ request: EngineRequest, trust: TLSConfiguration?, connectTimeout: Duration
    ) throws(TransportError) -> (HTTPClientRequest, WebOrigin) {
        let url = try WebURL(request.request)
        let origin = url.origin
        guard request.proxy == nil else { throw unsupported("a proxy") }
        guard request.connectTo.isEmpty else { throw unsupported("connect-to") }
        guard request.clientCertificate == nil else {
            throw TransportError(
                .clientCertificate,
                "the engine async-http-client can't use a client certificate; nothing was sent")
        }
        // The timeout of the whole request limits connecting too.
        if let wanted = request.connectTimeout, wanted < min(connectTimeout, request.timeout) {
            throw unsupported("a connectTimeout that is shorter than the engine's")
        }
        guard !request.body.hasTrailers else {
            throw TransportError(
                .unsupportedTrailers,
                "the engine async-http-client can't send trailers; nothing was sent")
        }
        try checkPolicy(of: request, for: origin)
        let path = request.request.path ?? "/"
        let text = "\(origin.scheme)://\(origin.authority)\(path)"
        // Foundation escapes what it doesn't know, and the target must be sent as it was signed.
        guard path.startsWithBytes(of: "/"), !path.utf8.contains(UInt8(ascii: "#")),
            URL(string: text)?.absoluteString == text
        else { throw unsupported("this target") }
        var outgoing = HTTPClientRequest(url: text)
        outgoing.method = HTTPMethod(rawValue: request.request.method.rawValue)
        outgoing.tlsConfiguration = trust
        for field in request.request.headerFields where try request.sends(field) {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        outgoing.body = body(request.body)
        return (outgoing, origin)
    }

    /// Refuses hosts whose policy this engine can't enforce. The network system checks that too,
    /// but a program may use the engine alone.
    private static func checkPolicy(
        of request: EngineRequest, for origin: WebOrigin
    ) throws(TransportError) {
        guard let policy = request.policy else { return }
        let decision = policy.decision(
            for: origin.host, isSecure: origin.isSecure, now: Int64(Date().timeIntervalSince1970),
            port: origin.port)
        if let refusal = decision.refusal { throw TransportError(refusal) }
        guard !decision.isPinned else { throw unsupported("the pins of \(origin.authority)") }
        guard decision.rule?.authorities == nil else {
            throw unsupported("CAs of \(origin.authority) alone")
        }
    }

    private static func body(_ body: HTTPRequestBody) -> HTTPClientRequest.Body? {
        if let bytes = body.bytes {
            return bytes.isEmpty ? nil : .bytes(ByteBuffer(bytes: bytes))
        }
        let length = body.length.map { HTTPClientRequest.Body.Length.known($0) } ?? .unknown
        return .stream(BodySequence(body: body), length: length)
    }

    private static func unsupported(_ what: String) -> TransportError {
        TransportError(
            .invalidRequest, "the engine async-http-client can't use \(what); nothing was sent")
    }
}

/// A request's body as async-http-client reads it.
private struct BodySequence: AsyncSequence, Sendable {
    let body: HTTPRequestBody

    struct Iterator: AsyncIteratorProtocol {
        let body: HTTPRequestBody
        var reader: HTTPRequestBody.Reader?

        mutating func next() async throws -> ByteBuffer? {
            var current = try reader ?? body.makeReader()
            let chunk = try await current.next()
            reader = current
            return chunk.map { ByteBuffer(bytes: $0) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(body: body) }
}
#endif
