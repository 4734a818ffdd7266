import SignetBase
import SignetJSON
import SignetTransport

/// The members of a call that HAR has no place for, in `log._signet.calls`.
enum HARCall {
    static func document(of call: RecordedCall) -> JSONObject {
        var document: JSONObject = ["id": .number(JSONNumber(call.id))]
        // Of another program's entry nothing else is known.
        guard call.service != nil || !call.stages.isEmpty || call.exchanges.count != 1 else {
            return document
        }
        document["service"] = call.service.map(JSONValue.string)
        document["method"] = .string(call.method)
        document["path"] = call.path.map(JSONValue.string)
        if !call.tags.isEmpty { document["tags"] = .array(call.tags.map(JSONValue.string)) }
        document["mode"] = call.mode.map(JSONValue.string)
        document["started"] = .string(HARTime.text(call.started))
        document["time"] = call.duration.map(HARTime.number)
        document["failure"] = call.failure.map(JSONValue.string)
        document["message"] = call.message.map(JSONValue.string)
        document["serverCode"] = call.serverCode.map(JSONValue.string)
        if call.isSimulated { document["simulated"] = true }
        if call.isCancelled { document["cancelled"] = true }
        document["source"] = call.source.map { .string($0.rawValue) }
        document["cache"] = call.cache.map(JSONValue.string)
        document["joined"] = call.joinedCall.map { .number(JSONNumber($0)) }
        if !call.stubs.isEmpty { document["stubs"] = .array(call.stubs.map(JSONValue.string)) }
        if !call.stages.isEmpty {
            document["stages"] = .array(
                call.stages.map { stage in
                    [
                        "name": .string(stage.name), "start": HARTime.number(stage.start),
                        "time": HARTime.number(stage.duration),
                    ]
                })
        }
        if !call.contents.isEmpty {
            document["contents"] = .array(
                call.contents.map { contents in
                    var object: JSONObject = ["stage": .string(contents.stage)]
                    object["before"] = contents.before.map(JSONValue.string)
                    object["after"] = contents.after.map(JSONValue.string)
                    object["base"] = contents.base.map(base)
                    return .object(object)
                })
        }
        return document
    }

    /// Reads a call; nil if it has no number. Members of other types count as absent.
    static func call(_ document: JSONValue) -> RecordedCall? {
        guard let id = document["id"]?.number?.int64, (1...Int64(Int32.max)).contains(id),
            let method = document["method"]?.string
        else { return nil }
        var call = RecordedCall(method: method)
        call.id = Int(id)
        call.service = document["service"]?.string
        call.path = document["path"]?.string
        call.tags = document["tags"]?.array?.compactMap(\.string) ?? []
        call.mode = document["mode"]?.string
        call.started = document["started"]?.string.flatMap(HARTime.milliseconds) ?? 0
        call.duration = document["time"]?.number.flatMap(HARTime.duration)
        call.failure = document["failure"]?.string
        call.message = document["message"]?.string
        call.serverCode = document["serverCode"]?.string
        call.isSimulated = document["simulated"]?.bool ?? false
        call.isCancelled = document["cancelled"]?.bool ?? false
        call.source = document["source"]?.string.flatMap(ResponseSource.init)
        call.cache = document["cache"]?.string
        call.joinedCall = document["joined"]?.number?.int64.map { Int(clamping: $0) }
        call.stubs = document["stubs"]?.array?.compactMap(\.string) ?? []
        call.stages = (document["stages"]?.array ?? []).compactMap { stage in
            stage["name"]?.string.map {
                RecordedCall.Stage(
                    name: $0, start: stage["start"]?.number.flatMap(HARTime.duration) ?? .zero,
                    duration: stage["time"]?.number.flatMap(HARTime.duration) ?? .zero)
            }
        }
        call.contents = (document["contents"]?.array ?? []).compactMap { contents in
            contents["stage"]?.string.map {
                var read = RecordedCall.Contents(
                    stage: $0, before: contents["before"]?.string,
                    after: contents["after"]?.string)
                read.base = contents["base"].flatMap(base)
                return read
            }
        }
        return call
    }

    private static func base(_ base: RecordedCall.SignatureBase) -> JSONValue {
        [
            "scheme": .string(base.scheme), "keyID": .string(base.keyID),
            "text": .string(base.text),
            "parts": .array(
                base.parts.map { ["name": .string($0.name), "value": .string($0.value)] }),
        ]
    }

    private static func base(_ document: JSONValue) -> RecordedCall.SignatureBase? {
        guard let text = document["text"]?.string else { return nil }
        return RecordedCall.SignatureBase(
            scheme: document["scheme"]?.string ?? "", keyID: document["keyID"]?.string ?? "",
            text: text,
            parts: (document["parts"]?.array ?? []).compactMap { part in
                part["name"]?.string.map { .init(name: $0, value: part["value"]?.string ?? "") }
            })
    }
}
