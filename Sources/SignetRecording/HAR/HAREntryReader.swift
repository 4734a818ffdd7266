import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetTransport

/// Reads an entry of a HAR tolerantly, and names what can't be read.
struct HAREntryReader {
    let place: String
    private let budget: DecodingBudget?
    private(set) var problems: [RecordingProblem] = []

    /// - Parameter budget: The bytes that bodies may have after decompression; nil for any.
    init(place: String, decoding budget: DecodingBudget? = nil) {
        self.place = place
        self.budget = budget
    }

    private mutating func note(_ path: String, _ message: String) {
        problems.append(RecordingProblem("\(place)\(path)", message))
    }

    /// Returns the exchange of an entry; nil if it has no request that can be shown.
    mutating func exchange(_ entry: JSONValue) -> RecordedExchange? {
        guard let request = entry["request"], let method = request["method"]?.string,
            let url = request["url"]?.string
        else {
            note(".request", "found no method and URL, expected a request; the entry is left out")
            return nil
        }
        let own = entry["_signet"]
        var exchange = RecordedExchange(
            request: RecordedExchange.Request(
                method: method, url: url,
                fields: fields(request["headers"], own: own?["request"], at: ".request.headers")))
        exchange.request.httpVersion = version(request["httpVersion"])
        exchange.request.body = requestBody(request, own: own?["request"])
        exchange.response = response(entry["response"], own: own?["response"])
        exchange.started = started(entry["startedDateTime"])
        exchange.times = times(entry["timings"])
        exchange.address = Self.address(own?["address"], beside: entry["serverIPAddress"])
        readDetails(own, into: &exchange)
        return exchange
    }

    // MARK: Request and response

    private mutating func requestBody(
        _ request: JSONValue, own: JSONValue?
    ) -> RecordedBody? {
        guard let data = request["postData"], data.object != nil else { return nil }
        let type = data["mimeType"]?.string ?? ""
        var body = RecordedBody(bytes: [], mediaType: type)
        if let encoded = own?["body"]?.string {
            body.bytes = Self.base64(encoded) ?? []
            if Self.base64(encoded) == nil {
                body.problem = "the base64 of the body is damaged"
                note("._signet.request.body", "found damaged base64")
            }
        } else if let text = data["text"]?.string, !text.isEmpty || data["params"] == nil {
            body.bytes = Array(text.utf8)
            if data["encoding"]?.string == "base64" { body.bytes = Self.base64(text) ?? body.bytes }
        } else if let parameters = data["params"]?.array, !parameters.isEmpty {
            body.bytes = Self.form(parameters)
        }
        body.size = own?["size"]?.number?.int64 ?? Int64(body.bytes.count)
        if let size = request["bodySize"]?.wholeNumber, size > 0, own?["size"] != nil {
            body.encodedSize = size
        }
        body.problem = own?["problem"]?.string ?? body.problem
        if body.problem != nil, let size = request["bodySize"]?.wholeNumber, size > 0 {
            body.size = max(body.size, size)
        }
        return body
    }

    private static func form(_ parameters: [JSONValue]) -> [UInt8] {
        let pairs = parameters.map { parameter -> String in
            let name = parameter["name"]?.string ?? ""
            let value = parameter["value"]?.string ?? ""
            return PercentCoding.encoded(name, keeping: PercentCoding.form) + "="
                + PercentCoding.encoded(value, keeping: PercentCoding.form)
        }
        return Array(pairs.joined(separator: "&").utf8)
    }

    /// Returns a response; nil for the status 0 that stands for none.
    private mutating func response(
        _ response: JSONValue?, own: JSONValue?
    ) -> RecordedExchange.Response? {
        guard let response, let status = response["status"]?.wholeNumber.map({ Int(clamping: $0) }),
            status != 0
        else { return nil }
        guard (100...999).contains(status) else {
            note(".response.status", "found \(status), expected 100 to 999")
            return nil
        }
        var result = RecordedExchange.Response(
            status: status,
            fields: fields(response["headers"], own: own, at: ".response.headers"))
        result.reason = response["statusText"]?.string ?? ""
        result.httpVersion = version(response["httpVersion"])
        guard own?["noBody"]?.bool != true else { return result }
        result.body = content(response, of: result, own: own)
        return result
    }

    private mutating func content(
        _ response: JSONValue, of head: RecordedExchange.Response, own: JSONValue?
    ) -> RecordedBody? {
        guard let content = response["content"], content.object != nil else { return nil }
        let type = content["mimeType"]?.string ?? head.fields[.contentType] ?? ""
        var body = RecordedBody(bytes: [], mediaType: type)
        body.problem = own?["problem"]?.string
        let text = content["text"]?.string
        if let text, content["encoding"]?.string == "base64" {
            if let bytes = Self.base64(text) {
                body.bytes = bytes
                decode(&body, of: head)
            } else {
                body.problem = "the base64 of the body is damaged"
                note(".response.content", "found damaged base64, expected the body")
            }
        } else if let text {
            body.bytes = Array(text.utf8)
        }
        let size = content["size"]?.wholeNumber ?? 0
        body.size = Int64(body.bytes.count)
        if text == nil, size > 0 { body.problem = "the body was not recorded" }
        if body.problem != nil { body.size = max(size, body.size) }
        if let sent = response["bodySize"]?.wholeNumber, sent >= 0,
            content["compression"] != nil, sent != body.size
        {
            body.encodedSize = sent
        }
        if text == nil, size <= 0, own == nil { return nil }
        return body
    }

    /// Decodes a body that is still compressed, as some proxies write it.
    private mutating func decode(
        _ body: inout RecordedBody, of head: RecordedExchange.Response
    ) {
        let coding = head.fields[.contentEncoding]?.lowercased() ?? ""
        guard coding.contains("gzip"), body.bytes.starts(with: [0x1F, 0x8B]) else { return }
        let encoded = Int64(body.bytes.count)
        switch BodyDecoding.decoded(body.bytes, coding: "gzip", from: budget) {
        case .success(let bytes):
            body.bytes = bytes
            body.encodedSize = encoded
        case .failure where budget?.rest == 0:
            body.problem = "the body is compressed, and those before it are too large together"
            guard budget?.tellsEnd() == true else { return }
            note(
                ".response.content",
                "found compressed bodies that have more than \(DecodingBudget.size >> 20) MiB "
                    + "together; this one and those after it aren't decompressed")
        case .failure(let error):
            body.problem = "the gzip of the body is damaged"
            note(".response.content", "found damaged gzip, expected the body (\(error.message))")
        }
    }

    // MARK: Parts

    private mutating func fields(
        _ headers: JSONValue?, own: JSONValue?, at path: String
    ) -> [RecordedField] {
        var fields: [RecordedField] = []
        for (index, header) in (headers?.array ?? []).enumerated() {
            guard let name = header["name"]?.string else {
                note("\(path)[\(index)]", "found no name, expected a field; it is left out")
                continue
            }
            fields.append(RecordedField(name: name, value: header["value"]?.string ?? ""))
        }
        for value in own?["fields"]?.array ?? [] {
            guard let index = value["index"]?.number?.int64,
                fields.indices.contains(Int(clamping: index)),
                let bytes = value["base64"]?.string.flatMap(Self.base64)
            else { continue }
            fields[Int(index)].bytes = bytes
        }
        return fields
    }

    private func version(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return text
    }

    private mutating func started(_ value: JSONValue?) -> Int64 {
        if let time = value?.string.flatMap(HARTime.milliseconds) { return time }
        note(".startedDateTime", "found no date, expected one such as 2026-11-27T09:00:00.000Z")
        return 0
    }

    private func times(_ timings: JSONValue?) -> RecordedExchange.Times {
        func time(_ name: String) -> Duration? {
            timings?[name]?.number.flatMap(HARTime.duration)
        }
        var times = RecordedExchange.Times()
        times.blocked = time("blocked")
        times.nameLookup = time("dns")
        times.tls = time("ssl")
        // Some programs don't count TLS as a part of `connect`.
        times.connect = time("connect").map { connect in
            times.tls.map { connect >= $0 ? connect - $0 : connect } ?? connect
        }
        times.send = time("send") ?? .zero
        times.wait = time("wait") ?? .zero
        times.receive = time("receive") ?? .zero
        return times
    }

    /// An address that isn't one of IP counts as absent.
    private static func address(
        _ own: JSONValue?, beside server: JSONValue?
    ) -> RecordedExchange.Address? {
        func ip(_ text: JSONValue?) -> String? {
            text?.string.flatMap { try? ServiceAddress(parsing: $0) }?.description
        }
        let use = RecordedExchange.Address(
            ip(own?["address"]) ?? ip(server), reason: own?["reason"]?.string,
            failed: (own?["failed"]?.array ?? []).compactMap(ip))
        return use.address == nil && use.reason == nil && use.failed.isEmpty ? nil : use
    }

    private func readDetails(_ own: JSONValue?, into exchange: inout RecordedExchange) {
        guard let own else { return }
        exchange.attempt = own["attempt"]?.number?.int64.map { Int(clamping: $0) } ?? 1
        exchange.failure = own["failure"]?.string
        exchange.message = own["message"]?.string
        exchange.source = own["source"]?.string.flatMap(ResponseSource.init) ?? .server
        exchange.engine = own["engine"]?.string
        exchange.isSigned = own["signed"]?.bool ?? false
        if let pins = own["pins"] {
            exchange.pins = RecordedExchange.Pins(
                seen: pins["seen"]?.array?.compactMap(\.string) ?? [],
                wanted: pins["wanted"]?.array?.compactMap(\.string) ?? [],
                isMatch: pins["match"]?.bool ?? false)
        }
        exchange.redactions = (own["redacted"]?.array ?? []).compactMap { redaction in
            guard let place = redaction["place"]?.string,
                let mark = redaction["mark"]?.number?.int64,
                (1...Int64(RedactionMark.largest)).contains(mark)
            else { return nil }
            var result = RecordedExchange.Redaction(place: place, mark: Int(mark))
            result.isWholeValue = redaction["whole"]?.bool ?? false
            return result
        }
    }

    /// Decodes base64 with line ends, of either alphabet, padded or not; nil if it is damaged.
    static func base64(_ text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 > ASCII.space && $0 != ASCII.equals }.map { byte in
            switch byte {
            case ASCII.plus: ASCII.minus
            case ASCII.slash: ASCII.underscore
            default: byte
            }
        }
        return Base64.decode(digits, from: .url)
    }
}

extension JSONValue {
    /// The number without its fraction, because some programs write sizes as `24.0`; nil for one
    /// that is out of range.
    fileprivate var wholeNumber: Int64? {
        guard let number else { return nil }
        if let whole = number.int64 { return whole }
        return number.double.flatMap { abs($0) < 1e15 ? Int64($0) : nil }
    }
}
