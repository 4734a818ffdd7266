public import HTTPTypes
import SignetBase
import SignetClient
public import SignetJSON

/// A condition for the requests that a stub responds to.
///
/// ```swift
/// let stub = StubEngine()
/// stub.respond(to: .procedure("orders.create", parameters: ["item": "tea"]), with: .result(1))
/// stub.respond(to: .request(.get, path: "/orders/7"), with: .json(["id": 7]))
/// stub.respond(to: .request(.get, path: "/orders", query: ["limit": 2]), with: .json([1, 2]))
/// stub.respond(to: .request(.post, path: "/orders", body: ["item": "tea"]), with: .status(201))
/// stub.respond(to: .matching { $0.body.isEmpty }, with: .status(400))
/// ```
public struct StubMatcher: Sendable {
    let matches: @Sendable (RecordedRequest) -> Bool

    /// Matches every request.
    public static var any: StubMatcher { StubMatcher { _ in true } }

    /// Matches the requests for which a condition is true.
    public static func matching(
        _ condition: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> StubMatcher {
        StubMatcher(matches: condition)
    }

    /// Matches calls of a remote procedure.
    ///
    /// - Parameters:
    ///   - name: The procedure's name.
    ///   - parameters: Parameters that the call must have, among others; nil for any.
    public static func procedure(_ name: String, parameters: JSONObject? = nil) -> StubMatcher {
        StubMatcher { request in
            guard let call = request.json, call["method"]?.string == name else { return false }
            return parameters?.allSatisfy { call["params"]?[$0.name] == $0.value } ?? true
        }
    }

    /// Matches requests with a method, a path and parameters.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The path as it is sent, without the query.
    ///   - query: Parameters that the query must have, among others; nil for any. Names and values
    ///     are compared after they were decoded: a number or a boolean is its text, an array all
    ///     values of its name in their order.
    ///   - body: Members of a JSON body, or fields of a form, that the body must have, among
    ///     others; nil for any.
    public static func request(
        _ method: HTTPRequest.Method, path: String, query: JSONObject? = nil,
        body: JSONObject? = nil
    ) -> StubMatcher {
        StubMatcher { request in
            guard request.request.method == method, request.path == path,
                query.map({ Self.pairs(of: request.encodedQuery, have: $0) }) ?? true
            else { return false }
            guard let body else { return true }
            if let form = request.form { return Self.pairs(of: form, have: body) }
            return body.allSatisfy { request.json?[$0.name] == $0.value }
        }
    }

    /// Whether encoded pairs have all parameters.
    private static func pairs(of text: ArraySlice<UInt8>, have parameters: JSONObject) -> Bool {
        let pairs = text.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (decoded(name), decoded(pair.dropFirst(name.count + 1)))
        }
        return parameters.allSatisfy { name, value in
            let wanted = (value.array ?? [value]).map { $0.string ?? $0.text }
            return pairs.filter { $0.0 == name }.map(\.1) == wanted
        }
    }

    /// The text of one part of a pair; nil if it isn't UTF-8 or percent-encoded wrongly.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        PercentCoding.decoded(text, plusIsSpace: true).flatMap {
            String(validating: $0, as: UTF8.self)
        }
    }
}

extension RecordedRequest {
    /// The query, encoded; empty if there is none.
    var encodedQuery: ArraySlice<UInt8> {
        Array((request.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst())[...]
    }

    /// The body, if it is a form.
    fileprivate var form: ArraySlice<UInt8>? {
        let type = request.headerFields[.contentType] ?? ""
        guard type.startsWithBytes(of: "application/x-www-form-urlencoded") else { return nil }
        return RequestCompression.original(of: body, sentWith: request.headerFields)[...]
    }
}
