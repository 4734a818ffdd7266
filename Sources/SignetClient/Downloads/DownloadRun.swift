import HTTPTypes
import SignetBase
import SignetCrypto
import SignetSigning
import SignetSystem
import SignetTransport

/// A running download: its partial file and its next request.
struct DownloadRun: ~Copyable {
    enum Beginning { case body, again }

    private let url: WebURL
    private let options: Download
    private let source: String
    /// The target of the last request: origin and path.
    private var place: String
    /// Whether it asked for the rest alone.
    private var asksForRest = false
    private var part: PartFile
    private var state: PartState?
    /// The bytes that an earlier run left.
    private let found: Int64
    private var isFromEarlier: Bool
    /// The start of this response's bytes, and the end that they must have, if it is known.
    private var start: Int64 = 0
    private var end: Int64?

    init(_ url: WebURL, to path: String, options: Download) throws(ClientError) {
        let source = try Self.source(of: url)
        var part = try Self.part(for: path)
        let state = try Self.prepare(&part, source: source, options: options)
        self.url = url
        self.options = options
        self.source = source
        place = source
        self.state = state
        found = part.size
        isFromEarlier = part.size > 0
        self.part = part
    }

    private static func source(of url: WebURL) throws(ClientError) -> String {
        try digest("GET \(url.scheme)://\(url.authority)\(url.target)")
    }

    private static func digest(_ address: String) throws(ClientError) -> String {
        do throws(CryptoFailure) {
            return Base64.encode(try Digest.of(Array(address.utf8)), as: .url)
        } catch {
            throw ClientError(.cryptoFailed, error.description)
        }
    }

    private static func part(for path: String) throws(ClientError) -> PartFile {
        do throws(FileFailure) {
            return try PartFile(for: path)
        } catch {
            throw ClientError(error)
        }
    }

    /// Returns the state of the bytes that an earlier run left if the download can continue after
    /// them. Otherwise removes these bytes and returns nil.
    private static func prepare(
        _ part: inout PartFile, source: String, options: Download
    ) throws(ClientError) -> PartState? {
        let state = PartState(part.state())
        let isUsable =
            options.resumes && part.size > 0 && state?.source == source
            && state?.validator != nil && part.size <= state?.total ?? .max
        do throws(FileFailure) {
            if !isUsable, part.size > 0 { try part.truncate(to: 0) }
            // The partial file is complete. Remove its last byte, so that requesting it again shows
            // whether the file is still current.
            if isUsable, part.size == state?.total { try part.truncate(to: part.size - 1) }
        } catch {
            throw ClientError(error)
        }
        return isUsable ? state : nil
    }

    var offset: Int64 { part.size }
    var hasGrown: Bool { growth > 0 }
    /// The bytes that this response added.
    var growth: Int64 { part.size - start }

    /// Returns the request (of the resource or of a redirect), limited to the missing bytes if it
    /// goes to the place that the stored bytes came from.
    mutating func asking(_ request: HTTPRequest) throws(ClientError) -> HTTPRequest {
        var request = request
        request.headerFields[.acceptEncoding] = "identity"
        place = try place(of: request)
        asksForRest = false
        if part.size > 0, let validator = state?.validator, place == state?.place {
            request.headerFields[.range] = "bytes=\(part.size)-"
            request.headerFields[.ifRange] = validator
            asksForRest = true
        }
        return request
    }

    /// A digest of a request's origin and path, and of its query too if the request is for the
    /// resource itself. The query of a redirect is left out because a server may make a new one
    /// each time, such as a signed one.
    private func place(of request: HTTPRequest) throws(ClientError) -> String {
        let target = request.path ?? "/"
        let isSource =
            request.scheme == url.scheme && request.authority == url.authority
            && target == url.target
        if isSource { return source }
        let path = target.prefix { $0 != "?" }
        return try Self.digest("AT \(request.scheme ?? "")://\(request.authority ?? "")\(path)")
    }

    /// Checks a response's header and prepares the partial file for the body.
    mutating func begin(_ response: HTTPResponse) throws(ClientError) -> Beginning {
        let fields = response.headerFields
        let asked = asksForRest
        let codings = response.contentCodings
        switch response.status.code {
        case 200:
            let length = fields[.contentLength].flatMap { Int64($0) }
            try demand(size: length ?? 0)
            var state = PartState(source: source, place: place, fields, total: length)
            // Some servers send a stored archive with a coding. Its bytes are the file, but a part
            // may come in another coding.
            if !codings.isEmpty { state.validator = nil }
            try restart(state)
            end = length
        case 206:
            guard asked else {
                throw Self.malformed("found 206, expected 200: the whole file was requested")
            }
            guard codings.isEmpty else {
                throw ClientError(
                    .unsupportedEncoding,
                    "\(url.origin) sent a part (206) with the Content-Encoding"
                        + " \(quoted(codings.joined(separator: ", "))), expected one without;"
                        + " fetch the whole file without resuming")
            }
            let text = fields[.contentRange]
            guard let range = ContentRange(text), let bytes = range.range else {
                throw Self.malformed("the part that came (206) has no Content-Range of bytes")
            }
            if isOfAnother(fields, total: range.total) { return try again() }
            guard bytes.lowerBound <= part.size else {
                throw Self.malformed(
                    "the received part (206) begins at byte \(bytes.lowerBound), expected \(part.size)"
                )
            }
            guard isCertain(fields, total: range.total) else { return try again() }
            // A cache may begin earlier, at the start of one of its blocks.
            if bytes.lowerBound < part.size { try truncate(to: bytes.lowerBound) }
            if let total = range.total {
                try demand(size: total)
                state?.total = total
            }
            try demand(size: bytes.upperBound)
            start = part.size
            end = bytes.upperBound + 1
        case 416 where asked: return try again()
        default:
            throw ClientError(
                .httpStatus,
                "the server responded with HTTP status \(response.status.code), expected 200 or 206",
                status: response.status.code)
        }
        return .body
    }

    /// Whether a part belongs to another version of the resource than the bytes on the disk. A
    /// server that doesn't know If-Range sends a part of its current version.
    private func isOfAnother(_ fields: HTTPFields, total: Int64?) -> Bool {
        if let total, let known = state?.total, total != known { return true }
        if hasTag { return fields[.eTag] != nil && PartState.validator(fields) != state?.validator }
        return fields[.lastModified] != nil && fields[.lastModified] != state?.validator
    }

    /// Whether a part certainly belongs to the same version and is the last one: it has the same
    /// tag (RFC 9110, section 15.3.7), and the length of the whole resource is known.
    private func isCertain(_ fields: HTTPFields, total: Int64?) -> Bool {
        (total ?? state?.total) != nil && (!hasTag || fields[.eTag] != nil)
    }

    private var hasTag: Bool { state?.validator?.startsWithBytes(of: "\"") == true }

    private mutating func again() throws(ClientError) -> Beginning {
        try restart(nil)
        return .again
    }

    private mutating func restart(_ new: PartState?) throws(ClientError) {
        do throws(FileFailure) {
            try part.restart(new?.serialized ?? [])
        } catch {
            throw ClientError(error)
        }
        state = new
        isFromEarlier = false
        start = 0
    }

    private mutating func truncate(to size: Int64) throws(ClientError) {
        do throws(FileFailure) {
            try part.truncate(to: size)
        } catch {
            throw ClientError(error)
        }
    }

    private func demand(size: Int64) throws(ClientError) {
        guard size <= options.maximumSize else {
            throw ClientError(
                .responseTooLarge,
                "the resource has \(size) bytes, the limit is \(options.maximumSize)")
        }
    }

    mutating func take(_ chunk: [UInt8]) throws(ClientError) {
        let size = part.size + Int64(chunk.count)
        guard size <= end ?? .max else {
            throw Self.malformed("more bytes came than the response's header said")
        }
        try demand(size: size)
        do throws(FileFailure) {
            try part.append(chunk)
        } catch {
            throw ClientError(error)
        }
    }

    /// Whether all is there, at the end of a response's body.
    func isWhole() throws(TransportError) -> Bool {
        guard part.size == end ?? part.size else {
            throw TransportError(.cutOff, "the response ended before its range did")
        }
        let total = state?.total ?? part.size
        if part.size < total, !hasGrown {
            throw TransportError(.malformedResponse, "found an empty part (206)")
        }
        return part.size == total
    }

    /// Flushes the received bytes to the disk; an error is ignored.
    func keep() { try? part.synchronize() }

    /// Checks the complete file and renames it.
    consuming func finish(_ response: HTTPResponse) throws(ClientError) -> Download.Result {
        let (count, options, resumedFrom) = (part.size, options, isFromEarlier ? found : 0)
        let part = part
        let isChecked: Bool
        do throws(ClientError) {
            isChecked = try Self.check(part, against: response, options: options)
        } catch {
            if error.code == .wrongDigest { part.discard() }
            throw error
        }
        do throws(FileFailure) {
            try part.finish(mode: options.mode)
        } catch {
            throw ClientError(error)
        }
        return Download.Result(
            status: response.status.code, fields: response.headerFields, byteCount: count,
            resumedFrom: resumedFrom, isDigestChecked: isChecked)
    }

    /// Compares the known digests with the file on the disk.
    private static func check(
        _ part: borrowing PartFile, against response: HTTPResponse, options: Download
    ) throws(ClientError) -> Bool {
        let told = response.headerFields[values: reprDigest]
        guard options.sha256 != nil || !told.isEmpty else { return false }
        do {
            var sha256 = try IncrementalDigest(.sha256)
            var sha512 = try IncrementalDigest(.sha512)
            try part.read { bytes in
                try sha256.update(bytes)
                try sha512.update(bytes)
            }
            let found = try sha256.finish()
            if let expected = options.sha256, found != expected {
                throw ClientError(
                    .wrongDigest,
                    "the file has the SHA-256 \(Base64.encode(found, as: .standard)), expected"
                        + " \(Base64.encode(expected, as: .standard))")
            }
            guard !told.isEmpty else { return true }
            let digests = try BodyDigests(
                byteCount: part.size, digests: [.sha256: found, .sha512: try sha512.finish()])
            var message = try SignableMessage(
                response: HTTPResponse(
                    status: .ok, headerFields: [reprDigest: told.joined(separator: ", ")]))
            message.setBody(digests)
            do throws(SigningError) {
                try ReprDigest.check(message)
                return true
            } catch {
                guard error.code == .digestMismatch else { return options.sha256 != nil }
                throw ClientError(
                    .wrongDigest,
                    "the file doesn't match the server's Repr-Digest")
            }
        } catch let error as ClientError {
            throw error
        } catch let error as FileFailure {
            throw ClientError(error)
        } catch {
            throw ClientError(.cryptoFailed, "\(error)")
        }
    }

    private static let reprDigest: HTTPField.Name = HTTPField.Name("Repr-Digest") ?? .eTag

    static func malformed(_ message: String) -> ClientError {
        ClientError(.malformedResponse, message)
    }
}

extension ClientError {
    /// A file that a download cannot be written to.
    fileprivate init(_ failure: FileFailure) {
        self.init(
            failure.kind == .busy ? .fileBusy : .unwritableFile, failure.message)
    }
}
