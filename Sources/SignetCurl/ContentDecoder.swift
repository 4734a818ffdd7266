import CSignetCurl
public import HTTPTypes
public import SignetTransport

/// Decodes the content coding of one response's body, piece by piece and within limits.
///
/// It supports gzip and deflate (RFC 9110, section 8.4.1), also without zlib's header, as some
/// servers send it. An empty body needs no decoding. Engines deliver
/// bodies still encoded, so decoding runs on the reader's task and a decompression bomb delays no
/// other call. To compute a digest of the encoded body (Content-Digest, Repr-Digest: RFC 9530,
/// sections 2 and 3), update it with each chunk before `push(_:)`.
///
/// ```swift
/// import HTTPTypes
/// import SignetTransport
///
/// var response = HTTPResponse(status: .ok)
/// response.headerFields[.contentEncoding] = "gzip"
/// let body = HTTPResponseBody(bytes: [
///     0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10,
///     0x36, 5, 0, 0, 0,
/// ])
/// var limits = ContentDecoding()
/// limits.maximumSize = 1 << 20
///
/// var decoder = try ContentDecoder(response, answering: .get, limits: limits)
/// var decoded: [UInt8] = []
/// for try await chunk in body {
///     decoder.push(chunk)
///     while let piece = try decoder.next() { decoded += piece }
/// }
/// try decoder.finish()
/// precondition(decoded == Array("hello".utf8))
/// ```
@safe public struct ContentDecoder: ~Copyable {
    private static let pieceSize = 65_536

    private enum Coding { case none, gzip, deflate }

    private let coding: Coding
    private let limits: ContentDecoding
    private let hasBody: Bool
    private let inflater: OpaquePointer?
    private var input: [UInt8] = []
    private var position = 0
    private var encodedCount = 0
    private var decodedCount = 0
    /// Whether a stream has started and not ended.
    private var isInsideStream = true
    private var hasFormat = false
    private var isPadded = false

    /// Creates a decoder for a response's Content-Encoding.
    ///
    /// - Parameters:
    ///   - response: The response's header.
    ///   - method: The request's method. A response to HEAD, and one with status 204 or 304, has no
    ///     body, whatever its fields say.
    ///   - limits: The limits of the decoded body.
    /// - Throws: `TransportError`: `unsupported-encoding` for an unknown coding, for more than one,
    ///   and for a part (206) of an encoded representation; `resources`.
    public init(
        _ response: HTTPResponse, answering method: HTTPRequest.Method,
        limits: ContentDecoding = ContentDecoding()
    ) throws(TransportError) {
        let status = response.status.code
        let hasBody = method != .head && status >= 200 && status != 204 && status != 304
        let coding = try Self.coding(response)
        if coding != .none, status == 206 {
            throw Self.unsupported("found a part (206) of an encoded body, which cannot be decoded")
        }
        let needsInflater = coding != .none && hasBody
        let inflater = unsafe needsInflater ? signet_coder_new(true, coding == .gzip) : nil
        if unsafe needsInflater && inflater == nil { throw Self.noMemory }
        self.limits = limits
        self.hasBody = hasBody
        self.coding = coding
        unsafe self.inflater = inflater
    }

    deinit { if let inflater = unsafe inflater { unsafe signet_coder_free(inflater) } }

    /// Whether the decoder changes the body.
    public var decodes: Bool { coding != .none && hasBody }

    private static func coding(_ response: HTTPResponse) throws(TransportError) -> Coding {
        let listed = response.contentCodings
        guard let name = listed.first else { return .none }
        guard listed.count == 1 else {
            throw unsupported(
                "found \(listed.count) content codings in the response, expected at most one")
        }
        switch name {
        case "gzip", "x-gzip": return .gzip
        case "deflate": return .deflate
        default:
            throw unsupported(
                "found the unknown content coding \"\(String(name.unicodeScalars.prefix(32)))\" in"
                    + " the response, expected gzip or deflate")
        }
    }

    private static func unsupported(_ message: String) -> TransportError {
        TransportError(.unsupportedEncoding, message)
    }

    private static let noMemory = TransportError(
        .resources, "the system provided no memory to decode the response's body")

    /// Adds the next encoded chunk. Call `next()` until it returns `nil` before you add another.
    public mutating func push(_ chunk: [UInt8]) {
        if position == input.count {
            (input, position) = (chunk, 0)
        } else {
            input.append(contentsOf: chunk)
        }
        encodedCount += chunk.count
    }

    /// Returns the next piece of the decoded body, or `nil` if it needs another chunk. If the body
    /// is encoded, a piece has at most 64 KiB.
    ///
    /// - Throws: `TransportError`: `response-too-large` beyond a limit, `malformed-response` for
    ///   bytes that don't conform to the coding or follow its end, `resources` if memory ran out.
    public mutating func next() throws(TransportError) -> [UInt8]? {
        guard position < input.count || decodes else { return nil }
        guard decodes else {
            let piece = Array(input[position...])
            position = input.count
            guard hasBody else {
                throw Self.malformed("has bytes, but the method or the status allows none")
            }
            return try checkLimits(of: piece)
        }
        guard hasFormat || recogniseFormat() else { return nil }
        while true {
            if !isInsideStream {
                // Some servers fill up a gzip file with zeros, which gunzip ignores too.
                while coding == .gzip, position < input.count, input[position] == 0 {
                    position += 1
                    isPadded = true
                }
                if position == input.count { return nil }
                // A gzip file may have another member (RFC 1952, section 2.2). Other bytes are
                // garbage.
                guard coding == .gzip, !isPadded, input[position] == 0x1F else {
                    throw Self.malformed("has bytes after the end of its \(coding) stream")
                }
                guard unsafe signet_coder_reset(inflater) else {
                    throw Self.malformed("cannot be decoded")
                }
                isInsideStream = true
            }
            let piece = try inflate()
            if !piece.isEmpty { return try checkLimits(of: piece) }
            if isInsideStream, position == input.count { return nil }
        }
    }

    /// Chooses the format by the first two bytes: zlib's header (RFC 1950, section 2.2) or none.
    ///
    /// - Returns: `false` if they haven't arrived yet.
    private mutating func recogniseFormat() -> Bool {
        guard coding == .deflate else {
            hasFormat = true
            return true
        }
        guard input.count - position >= 2 else { return false }
        let (first, second) = (UInt16(input[position]), UInt16(input[position + 1]))
        let hasHeader = first & 0x0F == 8 && first >> 4 <= 7 && (first << 8 | second) % 31 == 0
        hasFormat = unsafe hasHeader || signet_coder_omit_header(inflater)
        return true
    }

    private mutating func inflate() throws(TransportError) -> [UInt8] {
        var taken = 0
        var result = SIGNET_CODED_PART
        // Clearing the piece first would be slow if a server sends millions of empty members.
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { piece, filled in
            result = unsafe input.withUnsafeBufferPointer { input in
                let rest = unsafe UnsafeBufferPointer(rebasing: input[position...])
                return unsafe signet_coder_run(
                    inflater, rest.baseAddress, rest.count, false, &taken, piece.baseAddress,
                    piece.count, &filled)
            }
        }
        position += taken
        switch result {
        case SIGNET_CODED_PART:
            if taken == 0, piece.isEmpty, position < input.count {
                throw Self.malformed("is not valid \(coding)")
            }
        case SIGNET_CODED_END: isInsideStream = false
        case SIGNET_CODED_NO_MEMORY: throw Self.noMemory
        default: throw Self.malformed("is not valid \(coding)")
        }
        return piece
    }

    private mutating func checkLimits(of piece: [UInt8]) throws(TransportError) -> [UInt8] {
        guard piece.count <= limits.maximumSize - decodedCount else {
            throw TransportError(
                .responseTooLarge,
                "the response's decoded body has more than \(limits.maximumSize) bytes")
        }
        decodedCount += piece.count
        guard
            coding == .none || decodedCount <= limits.ratioFreeSize
                || decodedCount / max(limits.maximumRatio, 1) <= encodedCount
        else {
            throw TransportError(
                .responseTooLarge,
                "the response's \(encodedCount) bytes decode to more than"
                    + " \(limits.maximumRatio) times as many")
        }
        return piece
    }

    /// Checks that the body is complete.
    ///
    /// - Throws: `TransportError` with code `malformed-response` if an encoded body was cut off.
    public consuming func finish() throws(TransportError) {
        guard decodes, encodedCount > 0, isInsideStream || position < input.count else { return }
        throw Self.malformed("ended before its \(coding) stream did")
    }

    private static func malformed(_ problem: String) -> TransportError {
        TransportError(.malformedResponse, "the response's body \(problem)")
    }
}
