#if Metrics
import HTTPTypes
import SignetBase
import Tracing

/// The values that a tracer injects, before they are a part of a request.
struct TraceFields: Sendable {
    fileprivate var values: [String: String] = [:]

    /// Sets the fields with some names to the injected values. An invalid `traceparent` or
    /// `tracestate` is left out.
    func add(_ names: Set<String>, to fields: inout HTTPFields) {
        // `tracestate` is valid only with `traceparent`.
        let parent = values["traceparent"]
        let hasParent = parent.map(Self.isTraceParent) ?? false
        for (name, value) in values where names.contains(name) {
            switch name {
            case "traceparent" where !hasParent: continue
            case "tracestate" where !hasParent || !Self.isTraceState(value): continue
            default: break
            }
            guard let field = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                continue
            }
            fields[field] = value
        }
    }

    /// Whether a value has the form of version 00: `00-TRACE-SPAN-FLAGS` in lower-case
    /// hexadecimal, with neither id zero (W3C Trace Context, section 3.2).
    static func isTraceParent(_ value: String) -> Bool {
        let parts = value.utf8.split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8) else {
            return false
        }
        return parts.joined().allSatisfy({ $0.isHexDigit && !$0.isUppercaseLetter })
            && parts[1...2].allSatisfy { id in id.contains { $0 != UInt8(ascii: "0") } }
    }

    /// Whether a value is a list of at most 32 members `KEY=VALUE` in at most 512 visible
    /// characters (W3C Trace Context, section 3.3).
    static func isTraceState(_ value: String) -> Bool {
        guard (1...512).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return false }
        let members = value.split(separator: ",", omittingEmptySubsequences: false)
        return members.count <= 32
            && members.allSatisfy { member in
                let parts = member.split(separator: "=", omittingEmptySubsequences: false)
                return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            }
    }
}

/// Receives the fields that a tracer injects.
struct TraceFieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout TraceFields) {
        carrier.values[key.lowercased()] = value
    }
}
#endif
