public import SignetJSON
public import SignetRPC

/// A rule of a service about responses that its protocol calls successful.
///
/// ```swift
/// struct NoEmptyList: ResponseCheck {
///     func failure(in response: UnboxedResponse) -> String? {
///         response.result?.value.array?.isEmpty == true ? "found an empty list" : nil
///     }
/// }
/// ```
public protocol ResponseCheck: Sendable {
    /// Returns the reason why a response is a failure, or nil if it is good. The call then ends
    /// with `business-code`; the reason becomes its message, so it must not contain secrets.
    func failure(in response: UnboxedResponse) -> String?
}

/// A check of the code that an API writes into each result: any other than the good ones is a
/// failure. A result without the code is good.
///
/// In a configuration this is the rule `business-code`, with
/// `services.NAME.responseChecks.codeField` and `.goodCodes`.
///
/// ```swift
/// var options = RequestOptions()
/// options.responseChecks = [BusinessCodeCheck(field: "status.code", goodCodes: [0, 200])]
/// ```
public struct BusinessCodeCheck: ResponseCheck {
    private let path: [String]
    private let goodCodes: [JSONValue]

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - field: The member's name, or names joined by dots.
    ///   - goodCodes: The codes that aren't failures.
    public init(field: String, goodCodes: [JSONValue]) {
        path = field.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        self.goodCodes = goodCodes
    }

    /// Returns the code's name and, for a whole number, its value.
    public func failure(in response: UnboxedResponse) -> String? {
        guard let code = value(in: response), !goodCodes.contains(code) else { return nil }
        let found = code.number.flatMap(\.int64).map { " (\($0))" } ?? ""
        return "the response's \(path.joined(separator: "."))\(found) is not one of the good codes"
    }

    private func value(in response: UnboxedResponse) -> JSONValue? {
        var code = response.result?.value
        for name in path { code = code?[name] }
        return code
    }

    /// The code as text, if it is a number or a short text.
    func code(in response: UnboxedResponse) -> String? {
        switch value(in: response) {
        case .number(let number)? where number.text.utf8.count <= 40: number.text
        case .string(let text)? where text.utf8.count <= 80: text
        default: nil
        }
    }
}

/// A check that a result isn't null.
///
/// In a configuration this is the rule `result`. A REST response without a body has the result
/// null.
public struct ResultCheck: ResponseCheck {
    /// Creates a check.
    public init() {}

    /// Returns the reason for null.
    public func failure(in response: UnboxedResponse) -> String? {
        response.result?.value.isNull == true ? "found the result null" : nil
    }
}
