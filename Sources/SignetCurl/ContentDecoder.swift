internal import CSignetCurl
public import HTTPTypes
public import SignetTransport

/// Undoes the content coding of one reply's body, in pieces, within limits.
///
/// The engine hands bodies over as they came, and this stands behind it, on the reader's own time: so a
/// bomb holds up nobody else's call, and who must know a digest of what came (Content-Digest and, of the
/// encoded representation, Repr-Digest: RFC 9530, sections 2 and 3) takes it of each chunk before it is
/// given to `push(_:)`. Known are gzip and deflate (with zlib's header, as RFC 9110 has it).
@safe public struct ContentDecoder: ~Copyable {
    private static let pieceSize = 65_536

    private enum Coding { case none, gzip, deflate }

    private let coding: Coding
    private let limits: ContentDecoding
    private let hasBody: Bool
    private let inflater: OpaquePointer?
    private var input: [UInt8] = []
    private var position = 0
    private var came = 0
    private var made = 0
    /// Whether the stream that is open has begun and not ended.
    private var isInside = true

    /// Reads a reply's Content-Encoding.
    ///
    /// - Parameters:
    ///   - response: The reply's header.
    ///   - method: The request's; a reply to HEAD, and one with status 204 or 304, has no body whatever its
    ///     fields say.
    ///   - limits: Of what is decoded.
    /// - Throws: `TransportError` with `unsupported-encoding` for a coding that is not known, for more than
    ///   one, and for a part (206) of an encoded representation; `resources`.
    public init(
        _ response: HTTPResponse, answering method: HTTPRequest.Method,
        _ limits: ContentDecoding = ContentDecoding()
    ) throws(TransportError) {
        let status = response.status.code
        let hasBody = method != .head && status >= 200 && status != 204 && status != 304
        let coding = try Self.coding(response.headerFields)
        if coding != .none, status == 206 {
            throw Self.unsupported("a part of an encoded body (206) cannot be decoded")
        }
        let needsInflater = coding != .none && hasBody
        let inflater = unsafe needsInflater ? signet_inflater_new(coding == .gzip) : nil
        if unsafe needsInflater && inflater == nil {
            throw TransportError(code: .resources, message: "no memory for decoding a reply")
        }
        self.limits = limits
        self.hasBody = hasBody
        self.coding = coding
        unsafe self.inflater = inflater
    }

    deinit { if let inflater = unsafe inflater { unsafe signet_inflater_free(inflater) } }

    /// Whether the body that comes out is another one than came.
    public var decodes: Bool { coding != .none && hasBody }

    private static func coding(_ fields: HTTPFields) throws(TransportError) -> Coding {
        let listed = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
            .map { $0.trimming(" \t").lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard let name = listed.first else { return .none }
        guard listed.count == 1 else {
            throw unsupported(
                "the reply has \(listed.count) content codings, at most one is undone")
        }
        switch name {
        case "gzip", "x-gzip": return .gzip
        case "deflate": return .deflate
        default:
            throw unsupported(
                "the reply's content coding \"\(String(name.unicodeScalars.prefix(32)))\" is not known: wanted gzip or deflate"
            )
        }
    }

    private static func unsupported(_ message: String) -> TransportError {
        TransportError(code: .unsupportedEncoding, message: message)
    }

    /// Takes the next chunk as it came; `next()` is asked until it says nil before another is given.
    public mutating func push(_ chunk: [UInt8]) {
        if position == input.count {
            (input, position) = (chunk, 0)
        } else {
            input.append(contentsOf: chunk)
        }
        came += chunk.count
    }

    /// The next piece of the decoded body, at most 64 KiB of a coded one; nil where more must come first.
    ///
    /// - Throws: `TransportError`: `reply-too-large` beyond a limit, `malformed-reply` for what is not of the
    ///   coding and for bytes behind its end.
    public mutating func next() throws(TransportError) -> [UInt8]? {
        guard position < input.count || decodes else { return nil }
        guard decodes else {
            let piece = Array(input[position...])
            position = input.count
            guard hasBody else { throw Self.malformed("has a body where none may be") }
            return try admit(piece)
        }
        while true {
            if !isInside {
                if position == input.count { return nil }
                // Another member of a gzip file (RFC 1952, section 2.2), or else garbage.
                guard coding == .gzip, input[position] == 0x1F else {
                    throw Self.malformed("has bytes behind the end of its \(coding) stream")
                }
                guard unsafe signet_inflater_reset(inflater) else {
                    throw Self.malformed("cannot be decoded")
                }
                isInside = true
            }
            let piece = try inflate()
            if !piece.isEmpty { return try admit(piece) }
            if isInside, position == input.count { return nil }
        }
    }

    private mutating func inflate() throws(TransportError) -> [UInt8] {
        var taken = 0
        var result = SIGNET_INFLATED_PART
        // Not cleared first: a server may send millions of members with nothing in them.
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { piece, filled in
            result = unsafe input.withUnsafeBufferPointer { input in
                let rest = unsafe UnsafeBufferPointer(rebasing: input[position...])
                return unsafe signet_inflater_run(
                    inflater, rest.baseAddress, rest.count, &taken, piece.baseAddress, piece.count,
                    &filled)
            }
        }
        position += taken
        switch result {
        case SIGNET_INFLATED_PART:
            if taken == 0, piece.isEmpty, position < input.count {
                throw Self.malformed("is no \(coding)")
            }
        case SIGNET_INFLATED_END: isInside = false
        case SIGNET_INFLATED_NO_MEMORY:
            throw TransportError(code: .resources, message: "no memory for decoding a reply")
        default: throw Self.malformed("is no \(coding), or was damaged")
        }
        return piece
    }

    private mutating func admit(_ piece: [UInt8]) throws(TransportError) -> [UInt8] {
        guard piece.count <= limits.maximumSize - made else {
            throw TransportError(
                code: .responseTooLarge,
                message: "the reply's decoded body has more than \(limits.maximumSize) bytes")
        }
        made += piece.count
        guard
            coding == .none || made <= limits.ratioFreeSize
                || made / max(limits.maximumRatio, 1) <= came
        else {
            throw TransportError(
                code: .responseTooLarge,
                message:
                    "the reply's \(came) bytes decode to more than \(limits.maximumRatio) times as many"
            )
        }
        return piece
    }

    /// Demands that the body ended where its coding ends.
    ///
    /// - Throws: `TransportError` with `malformed-reply` for a coded body that was cut.
    public consuming func finish() throws(TransportError) {
        guard decodes, isInside || position < input.count else { return }
        throw Self.malformed("ended before its \(coding) stream did")
    }

    private static func malformed(_ what: String) -> TransportError {
        TransportError(code: .malformedResponse, message: "the reply's body \(what)")
    }
}

extension Substring {
    fileprivate func trimming(_ characters: String) -> Substring {
        var rest = self
        while let first = rest.first, characters.contains(first) { rest.removeFirst() }
        while let last = rest.last, characters.contains(last) { rest.removeLast() }
        return rest
    }
}
