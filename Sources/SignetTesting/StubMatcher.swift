public import HTTPTypes
public import SignetJSON

/// A condition for the requests that a stub responds to.
///
/// ```swift
/// let stub = StubEngine()
/// stub.respond(to: .procedure("orders.create", parameters: ["item": "tea"]), with: .result(1))
/// stub.respond(to: .request(.get, path: "/orders/7"), with: .json(["id": 7]))
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

    /// Matches requests with a method and a path, whatever their query.
    public static func request(_ method: HTTPRequest.Method, path: String) -> StubMatcher {
        StubMatcher { $0.request.method == method && $0.path == path }
    }
}
