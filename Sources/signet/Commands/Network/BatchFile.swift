#if Tool
import SignetBase
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
            throw malformed(error.message, in: file)
        }
        guard let elements = value.array else {
            throw malformed("found \(value.typeName), expected an array of calls", in: file)
        }
        var calls: [RPCCall] = []
        for (index, element) in elements.enumerated() {
            let place = "call \(index + 1)"
            guard let object = element.object else {
                throw malformed("\(place): found \(element.typeName), expected an object", in: file)
            }
            for name in object.memberNames where !["method", "params", "notify"].contains(name) {
                throw malformed("\(place) has an unknown member", in: file)
            }
            guard let method = object["method"]?.string else {
                throw malformed("\(place): missing \"method\", expected a string", in: file)
            }
            let notify = object["notify"] ?? false
            guard let isNotification = notify.bool else {
                throw malformed(
                    "\(place): found \(notify.typeName) in \"notify\", expected a boolean", in: file
                )
            }
            calls.append(
                RPCCall(
                    RPCMethod(method),
                    parameters: try object["params"].map { try RPCParameters($0) },
                    isNotification: isNotification))
        }
        return calls
    }

    private static func malformed(_ what: String, in file: String) -> ToolError {
        ToolError(.malformedInput, "\(file): \(what)")
    }
}
#endif
