#if Inspector
import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetRecording
import SignetTransport

// A call of a recording as the page shows it: the same JSON as that of a running system.

extension RecordedCall {
    /// The call's line of the list, with the text that a search looks through.
    var row: JSONObject {
        let first = exchanges.first
        let url = first?.request.url.part(before: UInt8(ascii: "?"))
        let (host, path) = url.map(PageJSON.parts) ?? ("", self.path ?? "")
        let http = first?.request.method
        let pins = exchanges.compactMap(\.pins)
        let spent =
            duration ?? exchanges.map { $0.times.total }.reduce(Duration.zero, +)
        return [
            "id": .string("\(id)"), "service": .string(service ?? ""), "method": .string(method),
            "isRPC": .bool(http != nil && http != method), "http": PageJSON.text(http),
            "url": PageJSON.text(url), "path": .string(path), "host": .string(host),
            "state": .string(isCancelled ? "cancelled" : failure == nil ? "success" : "failed"),
            "kind": .null, "code": PageJSON.text(failure),
            "message": PageJSON.text(message),
            "serverCode": PageJSON.text(serverCode ?? codeInBody),
            "status": PageJSON.number(last?.response?.status), "start": PageJSON.number(started),
            "duration": PageJSON.time(spent),
            "sent": PageJSON.number(
                first == nil ? nil : exchanges.reduce(0) { $0 + ($1.request.body?.size ?? 0) }),
            "received": PageJSON.number(last?.response?.body?.size),
            "attempts": PageJSON.number(Set(exchanges.map(\.attempt)).count),
            "redirects": PageJSON.number(exchanges.count - Set(exchanges.map(\.attempt)).count),
            "isSigned": .bool(exchanges.contains(where: \.isSigned)),
            "pin": .string(
                pins.contains { !$0.isMatch } ? "mismatch" : pins.isEmpty ? "none" : "match"),
            "cache": PageJSON.text(decision), "source": PageJSON.text(source?.rawValue),
            "tags": .array(tags.map(JSONValue.string)), "engine": .string(last?.engine ?? ""),
            "isSimulated": .bool(isSimulated), "stubs": .array(stubs.map(JSONValue.string)),
            "joined": PageJSON.text(joinedCall.map { "\($0)" }), "ordinal": .null,
            "text": .string(searchText),
        ]
    }

    /// The service's own code of an RPC error, for a recording that doesn't name it.
    private var codeInBody: String? {
        guard let bytes = last?.response?.body?.bytes,
            let error = (try? JSONValue(parsing: bytes))?["error"]
        else { return nil }
        return error["code"]?.number?.text ?? error["code"]?.string
    }

    /// The decision of the cache, by its Cache-Status.
    private var decision: String? {
        guard let cache else { return nil }
        let words = cache.split(separator: ";").map { String($0.drop { $0 == " " }) }
        return words.first { Self.decisions.contains($0) }
    }

    private static let decisions = Set(
        [CacheUse.Decision.hit, .miss, .validated, .completed, .stale, .bypassed]
            .map(\.description))

    private var searchText: String {
        exchanges.flatMap { exchange -> [String] in
            let request = exchange.request
            let sent = request.fields.map { "\($0.name): \($0.value)" }
            let received = exchange.response?.fields.map { "\($0.name): \($0.value)" } ?? []
            return [request.url] + sent + [request.body?.text ?? ""] + received
                + [exchange.response?.body?.text ?? ""]
        }.joined(separator: "\n")
    }

    /// All that is known of the call.
    var detail: JSONValue {
        let redactions = exchanges.reduce(0) { $0 + $1.redactions.count }
        var last = JSONValue.null
        if let exchange = self.last {
            last = [
                "request": .object(exchange.request.json),
                "response": exchange.response.map { .object($0.json) } ?? .null,
            ]
        }
        return [
            "mode": PageJSON.text(mode), "scenario": .null, "limits": .null,
            "stages": .array(
                stages.map { stage in
                    [
                        "name": .string(stage.name), "start": PageJSON.time(stage.start),
                        "duration": PageJSON.time(stage.duration),
                    ]
                }), "attempts": .array(attempts),
            "stubs": .array(stubs.map { ["place": .string($0), "module": .string("recorded")] }),
            "cache": cache.map { cache in
                [
                    "policy": .null, "mode": .null, "key": .null,
                    "decision": PageJSON.text(decision), "reason": .string(cache), "age": .null,
                    "isStored": .bool(cache.utf8.firstRange(of: "stored".utf8) != nil),
                ]
            } ?? .null, "redacted": .string(redactions == 0 ? "" : "\(redactions) values"),
            "contents": .array(contents.map(\.json)), "exchange": last,
        ]
    }

    /// The attempts with their requests.
    private var attempts: [JSONValue] {
        var attempts: [(number: Int, exchanges: [RecordedExchange])] = []
        for exchange in exchanges {
            if attempts.last?.number != exchange.attempt { attempts.append((exchange.attempt, [])) }
            attempts[attempts.count - 1].exchanges.append(exchange)
        }
        return attempts.map { attempt in
            let pairs = zip(attempt.exchanges, attempt.exchanges.dropFirst())
            return [
                "hops": .array(attempt.exchanges.map { $0.json(since: started) }),
                "redirects": .array(
                    pairs.map { from, to in
                        [
                            "status": PageJSON.number(from.response?.status),
                            "from": .string(from.request.url), "to": .string(to.request.url),
                            "method": .string(to.request.method),
                        ]
                    }),
            ]
        }
    }
}

extension RecordedCall.Contents {
    fileprivate var json: JSONValue {
        [
            "stage": .string(stage), "before": Self.message(before), "after": Self.message(after),
            "base": base?.json ?? .null,
        ]
    }

    /// Reads the head, the fields and the body out of a text: lines, an empty line and the body.
    private static func message(_ text: String?) -> JSONValue {
        guard let text else { return .null }
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        let fields = lines.dropFirst().map { line -> JSONValue in
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return [
                .string(String(pair[0])),
                .string(pair.count > 1 ? String(pair[1].drop { $0 == " " }) : ""),
            ]
        }
        return [
            "head": .string(lines.first.map(String.init) ?? ""), "fields": .array(fields),
            "body": .string(parts.count > 1 ? String(parts[1]) : ""),
        ]
    }
}

extension RecordedCall.SignatureBase {
    fileprivate var json: JSONValue {
        [
            "text": .string(text), "scheme": .string(scheme), "keyID": .string(keyID),
            "parts": .array(parts.map { [.string($0.name), .string($0.value)] }),
        ]
    }
}

extension RecordedExchange {
    fileprivate func json(since start: Int64) -> JSONValue {
        // Sums of the parts, as the page has them from the request's start.
        var sums: [Duration] = []
        var sum = times.blocked ?? .zero
        for part in [
            times.nameLookup, times.connect, times.tls,
            (times.send ?? .zero) + (times.wait ?? .zero),
            times.receive,
        ] {
            sum += part ?? .zero
            sums.append(part == nil ? .zero : sum)
        }
        return [
            "method": .string(request.method),
            "url": .string(request.url.part(before: UInt8(ascii: "?"))),
            "status": PageJSON.number(response?.status),
            "version": PageJSON.text(response?.httpVersion ?? request.httpVersion),
            "engine": PageJSON.text(engine), "reason": .null,
            "address": address?.json ?? .null, "source": .string(source.rawValue),
            "start": PageJSON.number(max(0, started - start)),
            "timings": [
                "name": PageJSON.time(sums[0]), "connected": PageJSON.time(sums[1]), "tunnelled": 0,
                "secured": PageJSON.time(sums[2]), "firstByte": PageJSON.time(sums[3]),
                "total": PageJSON.time(sum), "sent": PageJSON.number(request.body?.size ?? 0),
                "received": PageJSON.number(response?.body?.size ?? 0),
                "isReused": .bool(times.connect == nil),
            ], "failure": PageJSON.text(failure), "message": PageJSON.text(message),
            "isSimulated": false, "isSigned": .bool(isSigned),
            "isPinned": .bool(pins?.isMatch ?? false),
            "pins": pins?.json(refusal: failure) ?? .null,
        ]
    }
}

extension RecordedExchange.Address {
    fileprivate var json: JSONValue {
        [
            "address": PageJSON.text(address), "reason": PageJSON.text(reason),
            "failed": .array(failed.map(JSONValue.string)),
        ]
    }
}

extension RecordedExchange.Pins {
    fileprivate func json(refusal: String?) -> JSONValue {
        [
            "rule": .null, "mode": "enforce",
            "seen": .array(seen.map { ["subject": "", "pin": .string($0)] }),
            "wanted": .array(wanted.map(JSONValue.string)), "isMatch": .bool(isMatch),
            "refusal": isMatch ? .null : PageJSON.text(refusal),
        ]
    }
}

extension RecordedExchange.Request {
    fileprivate var json: JSONObject {
        var object = body.pageJSON
        object["method"] = .string(method)
        object["url"] = .string(url)
        object["head"] = .string("\(method) \(url)")
        object["fields"] = fields.pageJSON
        return object
    }
}

extension RecordedExchange.Response {
    fileprivate var json: JSONObject {
        var object = body.pageJSON
        object["head"] = .string(reason.isEmpty ? "\(status)" : "\(status) \(reason)")
        object["fields"] = fields.pageJSON
        return object
    }
}

extension [RecordedField] {
    /// The fields, without those that only browsers write down.
    fileprivate var pageJSON: JSONValue {
        .array(
            filter { $0.name.utf8.first != ASCII.colon }
                .map { [.string($0.name), .string($0.value)] })
    }
}

extension RecordedBody? {
    /// The body as text; one that isn't text as its size, and in base64 for a command of curl; one
    /// that wasn't kept as its size alone.
    fileprivate var pageJSON: JSONObject {
        guard let body = self else { return ["body": ""] }
        guard !body.bytes.isEmpty else {
            return body.problem == nil
                ? ["body": ""] : ["body": .string("(\(body.size) bytes)"), "kind": "omitted"]
        }
        if let text = body.text { return ["body": .string(text)] }
        return [
            "body": .string("(\(body.bytes.count) bytes)"),
            "base64": .string(Base64.encode(body.bytes, as: .standard)),
        ]
    }
}

extension String {
    fileprivate func part(before byte: UInt8) -> String {
        utf8.firstIndex(of: byte).map { String(self[..<$0]) } ?? self
    }
}
#endif
