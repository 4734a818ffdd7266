import SignetJSON

/// How a service's list goes on behind its first page.
public struct Paging: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case link(relation: String)
        case cursor(path: [String], parameter: String)
    }

    package let way: Way
    /// How many pages are read at most; a list that goes on behind them is an error, not the end.
    public var maximumPages = 1000

    /// By the link of a relation in the reply's Link field (RFC 8288), on the service's own origin.
    public static func link(relation: String = "next") -> Paging {
        Paging(way: .link(relation: relation))
    }

    /// By a value in the reply that the next request repeats in its query. Null, an empty string and none
    /// at all are the end.
    ///
    /// - Parameters:
    ///   - path: The names that lead to the value, from the result's root.
    ///   - parameter: The name in the query.
    public static func cursor(at path: [String], as parameter: String) -> Paging {
        Paging(way: .cursor(path: path, parameter: parameter))
    }

    /// The cursor that a result names; nil at the end.
    ///
    /// - Throws: `RPCError` with code `malformed-reply` for one that is neither string nor number.
    package static func cursor(at path: [String], in reply: UnboxedReply) throws(RPCError)
        -> String?
    {
        var value = reply.result?.value
        for name in path { value = value?[name] }
        switch value {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?: return text
        case .number(let number)?: return number.text
        default:
            throw .malformedReply(
                "its cursor is of type \(value?.typeName ?? "null"), wanted a string or number",
                status: reply.status)
        }
    }
}
