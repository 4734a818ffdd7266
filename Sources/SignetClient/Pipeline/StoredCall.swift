import HTTPTypes
import SignetRPC

/// An unboxed response as the cache stores it.
struct StoredCall: Sendable {
    let response: UnboxedResponse

    init(_ response: UnboxedResponse) { self.response = response }

    private static let version: UInt8 = 1

    /// The bytes, with the body once if it is the result.
    var bytes: [UInt8] {
        var message = CacheMessage()
        let raw = response.raw
        message.add([Self.version])
        message.add(response.status)
        message.add(raw.status)
        message.add(response.fields)
        message.add(raw.fields)
        message.add(raw.body)
        let result = response.result?.bytes
        message.add(result == nil ? 0 : result == raw.body ? 1 : 2)
        if let result, result != raw.body { message.add(result) }
        return message.bytes
    }

    /// Reads the bytes; nil if they are of another form.
    init?(_ bytes: [UInt8]) {
        var reader = StoredCallReader(bytes: bytes[...])
        guard reader.part().map(Array.init) == [Self.version], let status = reader.number(),
            let rawStatus = reader.number(), let fields = reader.fields(),
            let rawFields = reader.fields(), let body = reader.part(), let kind = reader.number()
        else { return nil }
        var result: [UInt8]?
        switch kind {
        case 0: result = nil
        case 1: result = Array(body)
        case 2:
            guard let part = reader.part() else { return nil }
            result = Array(part)
        default: return nil
        }
        guard reader.bytes.isEmpty else { return nil }
        var response = UnboxedResponse(
            result: result.map { RPCResult(validated: $0) }, status: status, fields: fields)
        response.raw = RawResponse(status: rawStatus, fields: rawFields, body: Array(body))
        self.response = response
    }
}

/// Reads what `CacheMessage` writes.
private struct StoredCallReader {
    var bytes: ArraySlice<UInt8>

    mutating func number() -> Int? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return Int(truncatingIfNeeded: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func part() -> ArraySlice<UInt8>? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    mutating func fields() -> HTTPFields? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard
                let name = part().flatMap({ HTTPField.Name(String(decoding: $0, as: UTF8.self)) }),
                let value = part().flatMap({ String(validating: $0, as: UTF8.self) })
            else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }
}
