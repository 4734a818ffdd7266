import HTTPTypes
import SignetCurl
import SignetTransport

/// One request and its response as they were taken down: with their secrets, and with the content
/// codings of their bodies.
struct CapturedExchange {
    struct Response {
        var status = 0
        var reason = ""
        var major = 0
        var minor = 0
        var fields: [RecordedField] = []
        var body = CapturedBytes()
    }

    /// Unix milliseconds.
    var started: Int64 = 0
    var attempt = 0
    var request = CapturedRequest()
    var response: Response?
    var timings = Timings()
    var failure: String?
    var message: String?
    var source = ResponseSource.server
    var engine: String?
    var address: RecordedExchange.Address?
    var isSigned = false
    var pins: RecordedExchange.Pins?

    /// The exchange as a recording has it, not redacted.
    ///
    /// - Parameter limit: The largest body that is kept, in bytes.
    func recorded(limit: Int) -> RecordedExchange {
        var recorded = RecordedExchange(
            request: request.recorded(limit: limit), response: response?.recorded(limit: limit))
        recorded.request.httpVersion = recorded.response?.httpVersion
        if let failure, let response, response.body.size > 0, !response.body.isWhole {
            recorded.response?.body?.problem = "the body ended early (\(failure))"
        }
        recorded.started = started
        recorded.attempt = attempt
        recorded.times = RecordedExchange.Times(timings)
        recorded.failure = failure
        recorded.message = message
        recorded.source = source
        recorded.engine = engine
        recorded.address = address
        recorded.isSigned = isSigned
        recorded.pins = pins
        return recorded
    }
}

/// A request that was taken down.
struct CapturedRequest {
    var method = ""
    var scheme: String?
    var authority: String?
    var path: String?
    var fields: [RecordedField] = []
    var body = CapturedBytes()

    init() {}

    init(_ request: HTTPRequest, body: CapturedBytes) {
        method = request.method.rawValue
        (scheme, authority, path) = (request.scheme, request.authority, request.path)
        fields = request.headerFields.map(RecordedField.init)
        self.body = body
    }

    func recorded(limit: Int) -> RecordedExchange.Request {
        return RecordedExchange.Request(
            method: method, url: "\(scheme ?? "https")://\(authority ?? "")\(path ?? "/")",
            fields: fields, body: body.body(of: fields, limit: limit))
    }
}

extension CapturedExchange.Response {
    fileprivate func recorded(limit: Int) -> RecordedExchange.Response {
        var recorded = RecordedExchange.Response(
            status: status, fields: fields, body: body.body(of: fields, limit: limit))
        recorded.reason = reason
        recorded.httpVersion =
            EngineResponse.HTTPVersion(major: major, minor: minor).description
        return recorded
    }
}

/// The bytes of a body that passed, up to a limit.
struct CapturedBytes {
    private var bytes: [UInt8] = []
    private(set) var size: Int64 = 0
    /// Whether the end has passed.
    var isWhole = false

    init() {}

    /// Creates a whole body.
    init(_ bytes: [UInt8], limit: Int) {
        append(bytes, limit: limit)
        isWhole = true
    }

    mutating func append(_ piece: [UInt8], limit: Int) {
        size += Int64(piece.count)
        if size > limit {
            bytes = []
        } else if bytes.isEmpty {
            bytes = piece
        } else {
            bytes += piece
        }
    }

    /// The number of bytes that are kept.
    var count: Int { bytes.count }

    /// Returns the body without its content coding; nil if there was none. A part of a body is
    /// never kept, because a secret could be cut in two.
    fileprivate func body(of fields: [RecordedField], limit: Int) -> RecordedBody? {
        guard size > 0 else { return nil }
        var body = RecordedBody(bytes: bytes, mediaType: Self.values(of: .contentType, in: fields))
        body.size = size
        guard size <= limit else {
            body.problem = "the body has \(size) bytes, more than the limit of \(limit)"
            return body
        }
        guard isWhole else {
            body.bytes = []
            body.problem = "the body ended early"
            return body
        }
        let coding = Self.values(of: .contentEncoding, in: fields).lowercased()
        guard !coding.isEmpty, coding != "identity" else { return body }
        body.encodedSize = size
        switch BodyDecoding.decoded(bytes, coding: coding, limit: limit) {
        case .success(let decoded):
            body.bytes = decoded
            body.size = Int64(decoded.count)
        case .failure(let error) where error.code == .responseTooLarge:
            body.bytes = []
            body.problem =
                "the body has more bytes without its content coding than the limit of \(limit)"
        case .failure(let error):
            body.bytes = []
            body.problem = "the content coding can't be undone: \(error.message)"
        }
        return body
    }

    private static func values(of name: HTTPField.Name, in fields: [RecordedField]) -> String {
        fields.filter { $0.isNamed(name) }.map(\.value).joined(separator: ", ")
    }
}

extension RecordedField {
    /// A field of a message.
    init(_ field: HTTPField) { self.init(name: field.name.rawName, bytes: field.valueBytes) }
}

extension RecordedExchange.Times {
    /// The parts of timings that count from the request's start.
    init(_ timings: Timings) {
        self.init()
        func part(_ end: Duration, from start: Duration) -> Duration? {
            end > start ? (end - start).inMicroseconds : nil
        }
        nameLookup = part(timings.nameResolved, from: .zero)
        connect = part(timings.connected, from: timings.nameResolved)
        let open = max(timings.connected, timings.tunnelled)
        tls = part(timings.secured, from: open)
        let ready = max(timings.secured, open, timings.nameResolved)
        send = .zero  // not measured
        wait = part(timings.firstByte, from: ready) ?? .zero
        receive = part(timings.total, from: max(timings.firstByte, ready)) ?? .zero
    }
}

// MARK: Bytes

extension CapturedExchange: ByteFormed {
    static var blank: Self { .init() }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&started)
        form.pass(&attempt)
        form.pass(&request)
        form.pass(&response)
        form.pass(&timings)
        form.pass(&failure)
        form.pass(&message)
        form.pass(&source)
        form.pass(&engine)
        form.pass(&address)
        form.pass(&isSigned)
        form.pass(&pins)
    }
}

extension CapturedRequest: ByteFormed {
    static var blank: Self { .init() }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&method)
        form.pass(&scheme)
        form.pass(&authority)
        form.pass(&path)
        form.pass(&fields)
        form.pass(&body)
    }
}

extension CapturedExchange.Response: ByteFormed {
    static var blank: Self { .init() }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&status)
        form.pass(&reason)
        form.pass(&major)
        form.pass(&minor)
        form.pass(&fields)
        form.pass(&body)
    }
}

extension RecordedField: ByteFormed {
    static var blank: Self { .init(name: "", bytes: []) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&name)
        form.pass(&bytes)
    }
}

extension CapturedBytes: ByteFormed {
    static var blank: Self { .init() }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&bytes)
        form.pass(&size)
        form.pass(&isWhole)
    }
}

extension Timings: ByteFormed {
    static var blank: Self { .init() }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&nameResolved)
        form.pass(&connected)
        form.pass(&tunnelled)
        form.pass(&secured)
        form.pass(&firstByte)
        form.pass(&total)
    }
}

extension RecordedExchange.Address: ByteFormed {
    static var blank: Self { .init(nil) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&address)
        form.pass(&reason)
        form.pass(&failed)
    }
}

extension RecordedExchange.Pins: ByteFormed {
    static var blank: Self { .init(seen: [], wanted: [], isMatch: false) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&seen)
        form.pass(&wanted)
        form.pass(&isMatch)
    }
}
