import HTTPTypes
import SignetRPC
import SignetTransport

// Settings that may hold secrets show names, limits and types when they are printed or dumped: no
// value of a field or parameter, no query, and nothing of a program's own credential sources and
// interceptors.

extension RequestOptions: CustomReflectable {
    /// The options that are set. Fields show their names, objects of the program their types.
    public var customMirror: Mirror {
        func types<Element>(of values: [Element]?) -> [String]? {
            guard let values, !values.isEmpty else { return nil }
            return values.map { "\(type(of: $0 as Any))" }
        }
        let all: [(String, Any?)] = [
            ("deadline", deadline), ("timeout", timeout), ("connectTimeout", connectTimeout),
            ("maximumResponseSize", maximumResponseSize), ("attempts", attempts),
            ("retry", retry), ("idempotency", idempotency), ("redirects", redirects),
            ("baseURL", baseURL.map(shownURL)), ("testBaseURL", testBaseURL.map(shownURL)),
            ("engine", engine), ("fields", fields.isEmpty ? nil : fields.shownNames),
            ("scenario", scenario), ("duplicates", duplicates),
            ("credentials", types(of: credentials.map { [$0] })),
            ("responseChecks", types(of: responseChecks)), ("json", json), ("sets", sets),
            ("interceptors", types(of: interceptors)),
            ("attemptInterceptors", types(of: attemptInterceptors)),
            ("tags", tags.isEmpty ? nil : tags.sorted()), ("compression", compression),
        ]
        let children: [Mirror.Child] = all.compactMap { name, value in value.map { (name, $0) } }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension RequestDefaults: CustomReflectable {
    /// The names of fields and parameters.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["fields": fields.shownNames, "parameters": parameters.memberNames],
            displayStyle: .struct)
    }
}

extension ServiceConfiguration: CustomReflectable {
    /// URL, protocol, pins, limits, and the names of fields, parameters and sets.
    public var customMirror: Mirror {
        let common = RequestDefaults(fields: commonFields, parameters: commonParameters)
        return Mirror(
            self,
            children: [
                "baseURL": shownURL(baseURL), "payloadProtocol": payloadProtocol,
                "adapter": adapter.map { "\(type(of: $0))" } as Any,
                "signing": (signing?.shown) as Any, "pins": pins.map(\.text),
                "hasAuthorities": authorities != nil, "common": common,
                "timeout": timeout as Any, "attempts": attempts as Any,
                "redirects": redirects as Any, "sets": sets,
                "defaultSets": defaultSets, "options": options, "scenarios": scenarios,
                "methods": methods, "hasCookies": cookies != nil, "staging": staging as Any,
                "development": development as Any,
            ], displayStyle: .struct)
    }
}

extension ServiceConfiguration.Environment: CustomReflectable {
    /// URL and pins.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "baseURL": shownURL(baseURL), "signing": (signing?.shown) as Any,
                "pins": pins.map(\.text), "hasAuthorities": authorities != nil,
            ], displayStyle: .struct)
    }
}

extension ServiceConfiguration.Signing {
    /// Scheme and key, without further settings.
    fileprivate var shown: String { "\(scheme), key \(keyID)" }
}

extension HTTPFields {
    fileprivate var shownNames: [String] { map(\.name.canonicalName) }
}

/// Returns a URL without its query. Whether it is valid isn't known.
private func shownURL(_ text: String) -> String {
    guard let url = try? WebURL(text) else { return "not a URL" }
    return "\(url)"
}
