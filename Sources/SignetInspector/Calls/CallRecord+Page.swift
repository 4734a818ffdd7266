#if Inspector
import HTTPTypes
import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport

// A call of a running system as the page shows it. Another source of calls makes the same JSON.

extension CallLedger.Entry {
    /// The call's line of the list, with the text that a search looks through.
    var row: JSONObject {
        let url = record?.url
        let (host, path) = url.map(PageJSON.parts) ?? ("", identity.path ?? "")
        let http = record?.request.method?.rawValue
        let hops = record?.attempts.flatMap(\.hops) ?? []
        let last = hops.last
        let pins = hops.compactMap(\.pins)
        let received = hops.reduce(0) { $0 + $1.timings.bytesReceived }
        return [
            "id": .string("\(identity.id)"), "service": .string(identity.service.name),
            "method": .string(identity.method),
            "isRPC": .bool(isRPC), "number": PageJSON.number(number),
            "http": PageJSON.text(http), "url": PageJSON.text(url), "path": .string(path),
            "host": .string(host), "state": .string(state),
            "kind": PageJSON.text(record?.failure?.kind.rawValue),
            "code": PageJSON.text(record?.failure?.name), "message": PageJSON.text(record?.message),
            "serverCode": PageJSON.text(record?.serverCode),
            "status": PageJSON.number(record?.status), "start": PageJSON.number(start),
            "duration": PageJSON.time(record?.duration),
            "sent": PageJSON.number(
                hops.isEmpty ? nil : hops.reduce(0) { $0 + $1.timings.bytesSent }),
            "received": PageJSON.number(
                received > 0 ? received : record?.response?.bodySize.map(Int64.init)),
            "attempts": PageJSON.number(record?.attempts.count ?? 0),
            "redirects": PageJSON.number(
                record?.attempts.reduce(0) { $0 + $1.redirects.count } ?? 0),
            "isSigned": .bool(hops.contains(where: \.isSigned)),
            "pin": .string(
                pins.contains { !$0.isMatch }
                    ? "mismatch" : last?.isPinned == true ? "match" : "none"),
            "cache": PageJSON.text(record?.work.cache?.decision.description),
            "source": PageJSON.text(record?.response?.source.rawValue),
            "tags": .array(identity.tags.sorted().map(JSONValue.string)),
            "engine": .string(last?.engine?.engine.name ?? ""),
            "isSimulated": .bool(record?.work.isSimulated ?? false),
            "stubs": .array((record?.work.stubs ?? []).map { .string($0.module) }),
            "joined": PageJSON.text(record?.work.joinedCall.map { "\($0)" }),
            "ordinal": PageJSON.number(record?.counted.ordinal), "text": .string(searchText),
        ]
    }

    private var state: String {
        switch record?.outcome {
        case nil: "running"
        case .success?: "success"
        case .failed?: "failed"
        case .cancelled?: "cancelled"
        }
    }

    /// The fields and bodies of the first request and of the response, each once.
    private var searchText: String {
        var texts: [String] = []
        if let built = contents.first(where: { $0.stage == .building })?.before {
            texts.append(built.body)
        }
        if let sent = contents.last(where: { $0.stage == .request }) {
            texts += [sent.before, sent.after].compactMap { $0?.description }
        }
        let read = contents.last { $0.stage == .unboxing || $0.stage == .reading }
        if let received = read?.before ?? read?.after { texts.append(received.body) }
        return texts.joined(separator: "\n")
    }

    /// All that is known of the call.
    var detail: JSONValue {
        guard let record else { return Self.unknown }
        let work = record.work
        return [
            "mode": .string(work.mode.rawValue),
            "scenario": PageJSON.text(record.request.scenario?.name),
            "limits": [
                "deadline": PageJSON.time(work.limits.deadline),
                "timeout": PageJSON.time(work.limits.timeout),
                "attempts": PageJSON.number(work.limits.attempts),
            ],
            "stages": .array(
                work.stages.map { stage in
                    [
                        "name": .string(stage.name.description),
                        "start": PageJSON.time(stage.start),
                        "duration": PageJSON.time(stage.duration),
                    ]
                }), "attempts": .array(work.attempts.map(\.json)),
            "stubs": .array(
                work.stubs.map {
                    ["place": .string($0.place.rawValue), "module": .string($0.module)]
                }),
            "cache": work.cache?.json ?? .null, "redacted": .null,
            "contents": .array(contents.map(\.json)), "exchange": Self.exchange(in: contents),
            "again": again,
        ]
    }

    /// The details of a call that runs.
    private static let unknown: JSONValue = [
        "mode": nil, "scenario": nil, "limits": nil, "stages": [], "attempts": [], "stubs": [],
        "cache": nil, "redacted": nil, "contents": [], "exchange": nil, "again": nil,
    ]

    /// The last request as it was sent, and its response.
    private static func exchange(in contents: [StageContents]) -> JSONValue {
        let sent = contents.last { $0.stage == .request }
        guard let request = sent?.before ?? contents.last(where: { $0.stage == .building })?.after
        else { return .null }
        let head = request.head.split(separator: " ", maxSplits: 1)
        var asked = request.object
        asked["method"] = .string(head.first.map(String.init) ?? "")
        asked["url"] = .string(head.dropFirst().first.map(String.init) ?? "")
        let read = contents.last { $0.stage == .unboxing || $0.stage == .reading }
        let response = (read?.stage == .reading ? read?.after : read?.before) ?? sent?.after
        return [
            "request": .object(asked), "response": response.map { .object($0.object) } ?? .null,
        ]
    }
}

extension CallIdentity {
    /// Whether the method is one of HTTP's.
    var isHTTPMethod: Bool {
        method.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}

extension StageContents {
    fileprivate var json: JSONValue {
        let signed = base.map { base -> JSONValue in
            [
                "text": .string(base.text), "scheme": .string(base.scheme),
                "keyID": .string(base.keyID),
                "parts": .array(base.parts.map { [.string($0.name), .string($0.value)] }),
            ]
        }
        return [
            "stage": .string(stage.description),
            "before": before.map { .object($0.object) } ?? .null,
            "after": after.map { .object($0.object) } ?? .null, "base": signed ?? .null,
        ]
    }
}

extension StageContents.Message {
    fileprivate var object: JSONObject {
        [
            "head": .string(head),
            "fields": .array(fields.map { [.string($0.name), .string($0.value)] }),
            "body": .string(body), "kind": .string(bodyKind.rawValue),
        ]
    }
}

extension CacheUse {
    fileprivate var json: JSONValue {
        [
            "policy": .string(policy.description), "mode": .string(mode.rawValue),
            "key": PageJSON.text(key), "decision": .string(decision.description),
            "reason": PageJSON.text(reason), "age": PageJSON.number(age),
            "isStored": .bool(isStored),
        ]
    }
}

extension AddressUse {
    fileprivate var json: JSONValue {
        [
            "address": PageJSON.text(address), "reason": .string(reason.name),
            "failed": .array(failed.map(JSONValue.string)),
        ]
    }
}

extension CallRecord.Attempt {
    fileprivate var json: JSONValue {
        [
            "hops": .array(hops.map(\.json)),
            "redirects": .array(
                redirects.map { redirect in
                    [
                        "status": PageJSON.number(redirect.status), "from": .string(redirect.from),
                        "to": .string(redirect.to), "method": .string(redirect.method.rawValue),
                    ]
                }),
        ]
    }
}

extension CallRecord.Exchange {
    fileprivate var json: JSONValue {
        [
            "method": .string(method.rawValue), "url": .string(url),
            "status": PageJSON.number(status), "version": PageJSON.text(httpVersion?.description),
            "engine": PageJSON.text(engine?.engine.name),
            "reason": PageJSON.text(engine?.reason.name), "address": address?.json ?? .null,
            "source": .string(source.rawValue), "start": PageJSON.time(start),
            "timings": [
                "name": PageJSON.time(timings.nameResolved),
                "connected": PageJSON.time(timings.connected),
                "tunnelled": PageJSON.time(timings.tunnelled),
                "secured": PageJSON.time(timings.secured),
                "firstByte": PageJSON.time(timings.firstByte),
                "total": PageJSON.time(timings.total),
                "sent": PageJSON.number(timings.bytesSent),
                "received": PageJSON.number(timings.bytesReceived),
                "isReused": .bool(timings.reusedConnection),
            ], "failure": PageJSON.text(failure), "message": PageJSON.text(message),
            "isSimulated": .bool(isSimulated), "isSigned": .bool(isSigned),
            "isPinned": .bool(isPinned), "pins": pins?.json ?? .null,
        ]
    }
}

extension PinUse {
    fileprivate var json: JSONValue {
        [
            "rule": PageJSON.text(rule), "mode": .string(mode.rawValue),
            "seen": .array(
                seen.map { ["subject": .string($0.subject), "pin": .string($0.pin.text)] }),
            "wanted": .array(wanted.map { .string($0.text) }), "isMatch": .bool(isMatch),
            "refusal": PageJSON.text(refusal),
        ]
    }
}
#endif
