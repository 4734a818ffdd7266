#if Inspector

/// A request to the page's server, as its decisions need it.
struct PageRequest: Sendable {
    /// The method, such as `GET`.
    var method: String
    /// The path without the query, as it was sent.
    var path: String
    /// The query without `?`, as it was sent.
    var query = ""
    /// The values of the fields by their names in lower case.
    var fields: [String: String] = [:]
    /// The body.
    var body: [UInt8] = []
    /// The user who sent it; nil if that isn't known.
    var user: UInt32?

    /// The value of a parameter of the query; nil without it. The page's own parameters need no
    /// percent-coding.
    func parameter(_ name: String) -> String? {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, String(parts[0]) == name { return String(parts[1]) }
        }
        return nil
    }
}

/// A response of the page's server.
struct PageAnswer: Sendable {
    var status: Int
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    init(_ status: Int, type: String, _ body: [UInt8], fields: [(String, String)] = []) {
        self.status = status
        self.body = body
        self.fields =
            [("Content-Type", type)] + Self.common + fields.map { (name: $0.0, value: $0.1) }
    }

    /// The fields of every response: nothing is kept, framed, guessed or told to others.
    private static let common = [
        (name: "Cache-Control", value: "no-store"),
        (name: "Content-Security-Policy", value: PageDocument.serverPolicy),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "X-Frame-Options", value: "DENY"),
    ]

    /// A text.
    static func text(_ status: Int, _ text: String) -> PageAnswer {
        PageAnswer(status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
    }
}
#endif
