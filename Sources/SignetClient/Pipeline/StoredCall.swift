import SignetCache
import SignetRPC

/// An unboxed response as the cache stores it.
struct StoredCall: Sendable {
    let response: UnboxedResponse

    init(_ response: UnboxedResponse) { self.response = response }

    private static let version: UInt8 = 1

    /// The bytes, with the body once if it is the result.
    var bytes: [UInt8] {
        var message = BlockWriter()
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
        var reader = BlockReader(bytes)
        guard reader.block() == [Self.version], let status = reader.number(),
            let rawStatus = reader.number(), let fields = reader.fields(),
            let rawFields = reader.fields(), let body = reader.block(), let kind = reader.number()
        else { return nil }
        var result: [UInt8]?
        switch kind {
        case 0: result = nil
        case 1: result = body
        case 2:
            guard let part = reader.block() else { return nil }
            result = part
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
        var response = UnboxedResponse(
            result: result.map { RPCResult(validated: $0) }, status: status, fields: fields)
        response.raw = RawResponse(status: rawStatus, fields: rawFields, body: body)
        self.response = response
    }
}
