internal import SignetBase
import SignetJSON
import SignetRPC

/// The file of `--batch`.
enum BatchFile {
    /// Reads a JSON array of `{"method","params","notify"}`, strictly.
    static func calls(in bytes: [UInt8], named file: String) throws -> [RPCCall] {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw malformed(file, error.message)
        }
        guard let elements = value.array else {
            throw malformed(file, "it is \(value.typeName), wanted an array of calls")
        }
        var calls: [RPCCall] = []
        for (index, element) in elements.enumerated() {
            let place = "call \(index + 1)"
            guard let object = element.object else {
                throw malformed(file, "\(place) is \(element.typeName), wanted an object")
            }
            for name in object.memberNames where !["method", "params", "notify"].contains(name) {
                throw malformed(file, "\(place) has an unknown member")
            }
            guard let method = object["method"]?.string else {
                throw malformed(file, "\(place) has no method, wanted a string")
            }
            let notify = object["notify"] ?? false
            guard let isNotification = notify.bool else {
                throw malformed(file, "notify of \(place) is \(notify.typeName), wanted a boolean")
            }
            calls.append(
                RPCCall(
                    RPCMethod(method),
                    parameters: try object["params"].map { try RPCParameters($0) },
                    isNotification: isNotification))
        }
        return calls
    }

    private static func malformed(_ file: String, _ what: String) -> ToolError {
        ToolError(.malformedInput, "\(file): \(what)")
    }
}
