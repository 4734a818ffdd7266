import SignetBase

/// A media type (RFC 9110, section 8.3.1), read tolerantly.
struct MediaType: Sendable, Hashable {
    /// Type and subtype in lower case.
    let essence: String
    /// The value of the parameter `boundary`; nil if there is none.
    let boundary: [UInt8]?
    /// The value of the parameter `charset` in lower case; empty if there is none.
    let charset: String

    init(_ text: String) {
        let bytes = Array(text.utf8)
        let essence = bytes.prefix { $0 != ASCII.semicolon }.trimmingBlanks()
        self.essence = String(decoding: essence.map(\.lowercased), as: UTF8.self)
        var boundary: [UInt8]?
        var charset: [UInt8] = []
        for parameter in bytes.split(separator: ASCII.semicolon).dropFirst() {
            let parameter = parameter.trimmingBlanks()
            let name = parameter.prefix { $0 != ASCII.equals }
            let value = Array(parameter.dropFirst(name.count + 1).trimming { $0 == ASCII.quote })
            switch String(decoding: name.map(\.lowercased), as: UTF8.self) {
            case "boundary": boundary = value
            case "charset": charset = value.map(\.lowercased)
            default: continue
            }
        }
        self.charset = String(decoding: charset, as: UTF8.self)
        let isMultipart = self.essence.startsWithBytes(of: "multipart/")
        self.boundary = isMultipart && boundary?.isEmpty == false ? boundary : nil
    }

    var isForm: Bool { essence == "application/x-www-form-urlencoded" }

    var isJSON: Bool {
        essence == "application/json" || essence.endsWithBytes(of: "+json")
            || essence == "text/json"
    }

    /// Whether the type says that a body is text.
    var isText: Bool {
        isJSON || isForm || essence.startsWithBytes(of: "text/")
            || essence.endsWithBytes(of: "+xml")
            || ["application/xml", "application/javascript", "application/graphql"]
                .contains(essence)
    }
}
