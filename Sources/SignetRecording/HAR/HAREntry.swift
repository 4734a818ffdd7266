import HTTPTypes
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetTransport

/// Writes an exchange as an entry of a HAR.
enum HAREntry {
    static func document(of exchange: RecordedExchange, call: Int) -> JSONObject {
        var document: JSONObject = [
            "startedDateTime": .string(HARTime.text(exchange.started)),
            "time": HARTime.number(exchange.times.total),
            "request": .object(request(exchange.request)),
            "response": .object(response(exchange.response, to: exchange)),
            "cache": [:],
            "timings": timings(exchange.times),
        ]
        let address = exchange.address?.address.flatMap { try? ServiceAddress(parsing: $0) }
        document["serverIPAddress"] = address.map { .string($0.host.text) }
        document["_signet"] = .object(details(of: exchange, call: call))
        return document
    }

    // MARK: Request

    private static func request(_ request: RecordedExchange.Request) -> JSONObject {
        var document: JSONObject = [
            "method": .string(request.method), "url": .string(request.url),
            "httpVersion": .string(request.httpVersion ?? ""),
            "cookies": cookies(of: request.fields),
            "headers": headers(request.fields),
            "queryString": pairs(of: RequestTarget(request.url).query),
        ]
        if let body = request.body {
            var data: JSONObject = ["mimeType": .string(body.mediaType)]
            data["text"] = .string(body.text ?? "")
            if MediaType(body.mediaType).isForm { data["params"] = pairs(of: body.bytes[...]) }
            document["postData"] = .object(data)
        }
        document["headersSize"] = -1
        let size = request.body.map { $0.encodedSize ?? $0.size } ?? 0
        document["bodySize"] = .number(JSONNumber(size))
        return document
    }

    /// Names and values, decoded.
    private static func pairs(of text: ArraySlice<UInt8>) -> JSONValue {
        func decoded(_ part: ArraySlice<UInt8>) -> JSONValue {
            .string(String(decoding: PairsRedactor.decoded(part), as: UTF8.self))
        }
        return .array(
            text.split(separator: UInt8(ascii: "&")).map { pair in
                let name = pair.prefix { $0 != ASCII.equals }
                return ["name": decoded(name), "value": decoded(pair.dropFirst(name.count + 1))]
            })
    }

    private static func headers(_ fields: [RecordedField]) -> JSONValue {
        .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func cookies(of fields: [RecordedField]) -> JSONValue {
        let all = fields.filter { $0.isNamed(.cookie) }.flatMap { field in
            field.value.split(separator: ";").map { pair -> JSONValue in
                let pair = pair.drop { $0 == " " }
                let name = pair.prefix { $0 != "=" }
                return [
                    "name": .string(String(name)),
                    "value": .string(String(pair.dropFirst(name.count + 1))),
                ]
            }
        }
        return .array(all)
    }

    // MARK: Response

    private static func response(
        _ response: RecordedExchange.Response?, to exchange: RecordedExchange
    ) -> JSONObject {
        let fields = response?.fields ?? []
        let location = fields[.location] ?? ""
        return [
            "status": .number(JSONNumber(response?.status ?? 0)),
            "statusText": .string(response?.reason ?? ""),
            "httpVersion": .string(response?.httpVersion ?? ""),
            "cookies": setCookies(of: fields), "headers": headers(fields),
            "content": .object(content(response?.body)), "redirectURL": .string(location),
            "headersSize": -1,
            "bodySize": .number(
                JSONNumber(
                    response?.body.map { $0.encodedSize ?? $0.size } ?? (response == nil ? -1 : 0))),
        ]
    }

    private static func content(_ body: RecordedBody?) -> JSONObject {
        guard let body else { return ["size": 0, "mimeType": ""] }
        var content: JSONObject = ["size": .number(JSONNumber(body.size))]
        if let encoded = body.encodedSize {
            content["compression"] = .number(JSONNumber(body.size - encoded))
        }
        content["mimeType"] = .string(body.mediaType)
        if let text = body.text {
            content["text"] = .string(text)
        } else {
            content["text"] = .string(Base64.encode(body.bytes, as: .standard))
            content["encoding"] = "base64"
        }
        return content
    }

    private static func setCookies(of fields: [RecordedField]) -> JSONValue {
        let all = fields.filter { $0.isNamed(.setCookie) }.map { field -> JSONValue in
            let parts = field.value.split(separator: ";", omittingEmptySubsequences: false)
                .map { $0.drop { $0 == " " } }
            let name = parts[0].prefix { $0 != "=" }
            var cookie: JSONObject = [
                "name": .string(String(name)),
                "value": .string(String(parts[0].dropFirst(name.count + 1))),
            ]
            for attribute in parts.dropFirst() {
                let name = attribute.prefix { $0 != "=" }
                let value = JSONValue.string(String(attribute.dropFirst(name.count + 1)))
                switch name.lowercased() {
                case "path": cookie["path"] = value
                case "domain": cookie["domain"] = value
                case "httponly": cookie["httpOnly"] = true
                case "secure": cookie["secure"] = true
                default: continue
                }
            }
            return .object(cookie)
        }
        return .array(all)
    }

    // MARK: Times and details

    /// HAR has no missing `send`, `wait` and `receive`, and counts TLS as a part of `connect`.
    private static func timings(_ times: RecordedExchange.Times) -> JSONValue {
        func number(_ time: Duration?) -> JSONValue { time.map(HARTime.number) ?? -1 }
        let connect = times.connect.map { $0 + (times.tls ?? .zero) } ?? times.tls
        return [
            "blocked": number(times.blocked), "dns": number(times.nameLookup),
            "connect": number(connect), "ssl": number(times.tls),
            "send": HARTime.number(times.send ?? .zero),
            "wait": HARTime.number(times.wait ?? .zero),
            "receive": HARTime.number(times.receive ?? .zero),
        ]
    }

    private static func details(of exchange: RecordedExchange, call: Int) -> JSONObject {
        var details: JSONObject = ["call": .number(JSONNumber(call))]
        if exchange.attempt > 1 { details["attempt"] = .number(JSONNumber(exchange.attempt)) }
        details["failure"] = exchange.failure.map(JSONValue.string)
        details["message"] = exchange.message.map(JSONValue.string)
        if exchange.source != .server { details["source"] = .string(exchange.source.rawValue) }
        details["engine"] = exchange.engine.map(JSONValue.string)
        details["address"] = exchange.address.flatMap(address)
        if exchange.isSigned { details["signed"] = true }
        if let pins = exchange.pins {
            details["pins"] = [
                "seen": .array(pins.seen.map(JSONValue.string)),
                "wanted": .array(pins.wanted.map(JSONValue.string)), "match": .bool(pins.isMatch),
            ]
        }
        details["request"] = message(exchange.request.fields, body: exchange.request.body)
        details["response"] = message(
            exchange.response?.fields ?? [], body: exchange.response?.body, isResponse: true)
        if !exchange.redactions.isEmpty {
            details["redacted"] = .array(
                exchange.redactions.map { redaction in
                    var object: JSONObject = [
                        "place": .string(redaction.place),
                        "mark": .number(JSONNumber(redaction.mark)),
                    ]
                    if redaction.isWholeValue { object["whole"] = true }
                    return .object(object)
                })
        }
        return details
    }

    /// The parts of an address that `serverIPAddress` can't hold.
    private static func address(_ use: RecordedExchange.Address) -> JSONValue? {
        var document: JSONObject = [:]
        if let address = use.address, (try? ServiceAddress(parsing: address))?.port != nil {
            document["address"] = .string(address)
        }
        document["reason"] = use.reason.map(JSONValue.string)
        if !use.failed.isEmpty { document["failed"] = .array(use.failed.map(JSONValue.string)) }
        return document.isEmpty ? nil : .object(document)
    }

    /// The parts of a message that HAR can't hold: values and bodies that aren't UTF-8.
    private static func message(
        _ fields: [RecordedField], body: RecordedBody?, isResponse: Bool = false
    ) -> JSONValue? {
        var message: JSONObject = [:]
        let values = fields.enumerated().filter { !$0.element.isText }.map { index, field in
            ["index": .number(JSONNumber(index)), "base64": base64(field.bytes)] as JSONValue
        }
        if !values.isEmpty { message["fields"] = .array(values) }
        if let body {
            if !isResponse, body.text == nil { message["body"] = base64(body.bytes) }
            if !isResponse, body.encodedSize != nil {
                message["size"] = .number(JSONNumber(body.size))
            }
            message["problem"] = body.problem.map(JSONValue.string)
        } else if isResponse {
            message["noBody"] = true
        }
        return message.isEmpty ? nil : .object(message)
    }

    private static func base64(_ bytes: [UInt8]) -> JSONValue {
        .string(Base64.encode(bytes, as: .standard))
    }
}
