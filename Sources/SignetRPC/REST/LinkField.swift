public import HTTPTypes
import SignetBase

/// The links of a response's Link fields (RFC 8288).
public struct LinkField: Sendable, Hashable {
    /// One link.
    public struct Link: Sendable, Hashable {
        /// The link's target, a URI reference as written in the field.
        public let target: String
        /// The link's relation types in lower case. If `rel` is repeated, the first one counts
        /// (section 3.3).
        public let relations: [String]
        /// The resource that the link belongs to, if it is not the response's own.
        public let anchor: String?
    }

    /// The links in their order.
    public let links: [Link]

    /// Parses all Link fields of a response.
    ///
    /// - Throws: `PayloadError` with code `malformed-response` if a field cannot be parsed, so that
    ///   an unreadable link to a next page is never taken for the end of the list.
    public init(_ fields: HTTPFields, status: Int = 200) throws(PayloadError) {
        var links: [Link] = []
        for field in fields where field.name.canonicalName == "link" {
            var scanner = Scanner(bytes: Array(field.value.utf8))
            guard scanner.readLinks(into: &links) else {
                throw .malformedResponse(
                    "its Link field cannot be read at byte \(scanner.position)", status: status)
            }
        }
        self.links = links
    }

    /// Returns the target of the link with a relation; nil if there isn't one. Links that belong to
    /// another resource are ignored.
    ///
    /// - Throws: `PayloadError` with code `malformed-response` if several links have different
    ///   targets.
    public func target(of relation: String, status: Int = 200) throws(PayloadError) -> String? {
        let relation = relation.lowercased()
        let targets = links.filter { $0.anchor == nil && $0.relations.contains(relation) }
            .map(\.target)
        guard let first = targets.first else { return nil }
        guard targets.allSatisfy({ sameBytes($0, first) }) else {
            throw .malformedResponse("its Link fields lead to several places", status: status)
        }
        return first
    }

    /// Parses `<reference>; name=value; name="value", …` (RFC 8288, appendix B.2).
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        mutating func readLinks(into links: inout [Link]) -> Bool {
            while true {
                skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
                if position == bytes.count { return true }
                guard links.count < 1000, let link = readLink() else { return false }
                links.append(link)
                guard position == bytes.count || bytes[position] == UInt8(ascii: ",") else {
                    return false
                }
            }
        }

        private mutating func readLink() -> Link? {
            guard consume(UInt8(ascii: "<")) else { return nil }
            let target = read { $0 != UInt8(ascii: ">") }
            guard consume(UInt8(ascii: ">")) else { return nil }
            var relations: [String]?
            var anchor: String?
            skipSpace()
            while consume(UInt8(ascii: ";")) {
                skipSpace()
                // An empty parameter, such as one after a final semicolon, is ignored.
                let name = read(while: \.isToken).lowercased()
                skipSpace()
                var value = ""
                if consume(UInt8(ascii: "=")) {
                    skipSpace()
                    guard let text = readValue() else { return nil }
                    value = text
                }
                if name == "rel", relations == nil {
                    relations = value.lowercased().split(separator: " ").map(String.init)
                }
                if name == "anchor" { anchor = anchor ?? value }
                skipSpace()
            }
            return Link(target: target, relations: relations ?? [], anchor: anchor)
        }

        private mutating func readValue() -> String? {
            guard consume(UInt8(ascii: "\"")) else {
                return read { $0 > 0x20 && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
            }
            var value: [UInt8] = []
            while position < bytes.count {
                if consume(UInt8(ascii: "\"")) { return String(decoding: value, as: UTF8.self) }
                // A backslash before another byte escapes it.
                if position + 1 < bytes.count { consume(UInt8(ascii: "\\")) }
                value.append(bytes[position])
                position += 1
            }
            return nil
        }

        @discardableResult private mutating func consume(_ byte: UInt8) -> Bool {
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        private mutating func read(while isIncluded: (UInt8) -> Bool) -> String {
            let start = position
            skip(isIncluded)
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func skip(_ isIncluded: (UInt8) -> Bool) {
            while position < bytes.count, isIncluded(bytes[position]) { position += 1 }
        }

        private mutating func skipSpace() { skip { $0 == 0x20 || $0 == 0x09 } }
    }
}
