import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON

/// The parts of a request that are compared, as trees, with masks in place of what may differ.
struct RequestView {
    private static let mask = JSONValue.string("masked")

    private(set) var parts: JSONObject = [:]
    private let names: ReplayMask.Names
    private let masksIDs: Bool
    private let masksUUIDs: Bool

    init(_ request: RecordedExchange.Request, _ matching: ReplayMatching) {
        names = matching.names
        masksIDs = matching.masks.contains(.rpcIDs)
        masksUUIDs = matching.masks.contains(.uuids)
        let url = RequestTarget(request.url)
        if matching.parts.contains(.method) { parts["method"] = .string(request.method) }
        if matching.parts.contains(.host) { parts["host"] = .string(url.origin) }
        if matching.parts.contains(.path) { parts["path"] = text(url.path) }
        if matching.parts.contains(.query) {
            parts["query"] = .object(pairs(url.query, isQuery: true))
        }
        if matching.parts.contains(.body), let body = request.body, !body.bytes.isEmpty {
            parts["body"] = self.body(body)
        }
        var fields: JSONObject = [:]
        for case .field(let name) in matching.parts {
            let values = request.fields.filter { $0.isNamed(name) }.map { text($0.value) }
            let isMasked = names.contain(field: name.canonicalName)
            if !values.isEmpty {
                fields[name.canonicalName] = isMasked ? Self.mask : .array(values)
            }
        }
        if !fields.isEmpty { parts["fields"] = .object(fields) }
    }

    /// A text that equal requests share. All marks of redaction count as equal.
    var key: [UInt8] {
        let bytes = JSONValue.object(parts).serialized(.canonical)
        var key: [UInt8] = []
        var kept = 0
        for mark in RedactionMark.all(in: bytes) {
            key += bytes[kept..<mark.range.lowerBound] + "redacted".utf8
            kept = mark.range.upperBound
        }
        return key + bytes[kept...]
    }

    /// Returns what another request has otherwise; empty if it is the same.
    func differences(to other: RequestView) -> [Difference] {
        var comparison = TreeComparison(.values)
        for name in ["method", "host", "path", "query", "fields", "body"] {
            let place = "request.\(name)"
            switch (parts[name], other.parts[name]) {
            case (nil, nil): continue
            case (let recorded?, let found?): comparison.compare(recorded, found, at: place)
            case (let recorded, let found):
                comparison.compare(recorded ?? .null, found ?? .null, at: place)
            }
        }
        return comparison.differences
    }

    // MARK: Bodies

    private func body(_ body: RecordedBody) -> JSONValue {
        let type = MediaType(body.mediaType)
        if type.isForm { return .object(pairs(body.bytes[...])) }
        if let boundary = type.boundary,
            let parts = MultipartParts(body.bytes, boundary: boundary)
        {
            return .array(
                parts.pieces.compactMap { piece in
                    guard case .part(let head, let content) = piece else { return nil }
                    let name = String(decoding: head.name, as: UTF8.self)
                    let bytes = RecordedBody(bytes: Array(content), mediaType: head.type)
                    return [
                        "name": .string(name), "type": .string(head.type),
                        "content": isMasked(name) ? Self.mask : self.body(bytes),
                    ]
                })
        }
        if let json = try? JSONValue(parsing: body.bytes) { return masked(json, isTop: true) }
        guard let text = body.text else {
            return ["base64": .string(Base64.encode(body.bytes, as: .standard))]
        }
        return self.text(text)
    }

    private func masked(_ value: JSONValue, isTop: Bool = false) -> JSONValue {
        switch value {
        case .object(let object):
            let isCall = isTop && masksIDs && object["method"]?.string != nil
            return .object(
                JSONObject(
                    object.map { name, value in
                        let isID = isCall && sameBytes(name, "id")
                        return (name, isID || isMasked(name) ? Self.mask : masked(value))
                    }))
        case .array(let elements): return .array(elements.map { masked($0, isTop: isTop) })
        case .string(let text): return self.text(text)
        case .null, .bool, .number: return value
        }
    }

    private func text(_ text: some StringProtocol) -> JSONValue {
        let text = String(text)
        return masksUUIDs && Self.isUUID(text) ? Self.mask : .string(text)
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: ASCII.minus, omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy(\.isHexDigit)
    }

    private func isMasked(_ name: String) -> Bool { names.contain(member: name) }

    /// The values of each name, in their order.
    private func pairs(_ text: ArraySlice<UInt8>, isQuery: Bool = false) -> JSONObject {
        var pairs: [(name: String, values: [JSONValue])] = []
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != ASCII.equals }
            let shown = Self.decoded(name)
            let value =
                isQuery && names.contain(inQuery: shown) || isMasked(shown)
                ? Self.mask : self.text(Self.decoded(pair.dropFirst(name.count + 1)))
            if let index = pairs.firstIndex(where: { sameBytes($0.name, shown) }) {
                pairs[index].values.append(value)
            } else {
                pairs.append((shown, [value]))
            }
        }
        return JSONObject(pairs.map { (name: $0.name, value: .array($0.values)) })
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: PairsRedactor.decoded(text), as: UTF8.self)
    }
}
