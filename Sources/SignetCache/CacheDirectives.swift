import HTTPTypes
import SignetBase

/// The directives of a `Cache-Control` field, of a request or a response (RFC 9111, section 5.2).
///
/// Of equal directives with different arguments the first one counts, and an argument that can't be
/// read makes the response stale, as section 4.2.1 asks.
struct CacheDirectives: Sendable, Hashable {
    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt16

        static let noStore = Flags(rawValue: 1)
        /// `no-cache` without field names.
        static let noCache = Flags(rawValue: 1 << 1)
        static let isPrivate = Flags(rawValue: 1 << 2)
        static let isPublic = Flags(rawValue: 1 << 3)
        static let mustRevalidate = Flags(rawValue: 1 << 4)
        static let mustUnderstand = Flags(rawValue: 1 << 5)
        static let immutable = Flags(rawValue: 1 << 6)
        static let onlyIfCached = Flags(rawValue: 1 << 7)
    }

    /// `2^31`: any larger number of seconds counts as this one (RFC 9111, section 1.2.2).
    static let mostSeconds: Int64 = 2_147_483_648

    private(set) var flags: Flags = []
    private(set) var maxAge: Int64?
    /// `max-stale` of a request; ``mostSeconds`` if it has no argument.
    private(set) var maxStale: Int64?
    private(set) var minFresh: Int64?
    private(set) var staleWhileRevalidate: Int64?
    private(set) var staleIfError: Int64?
    /// The field names of `no-cache="…"` (section 5.2.2.4).
    private(set) var withheldFields: [HTTPField.Name] = []

    init(_ fields: HTTPFields) {
        guard let text = fields[.cacheControl] else { return }
        var reader = DirectiveReader(text)
        while let directive = reader.next() { add(directive) }
        // What follows an open quote can't be read, and may be `no-store`.
        if reader.hasOpenQuote { flags.insert(.noStore) }
    }

    func contains(_ flag: Flags) -> Bool { flags.contains(flag) }

    private mutating func add(_ directive: DirectiveReader.Directive) {
        let seconds = directive.argument.flatMap(deltaSeconds)
        switch directive.name {
        case "no-store": flags.insert(.noStore)
        case "private": flags.insert(.isPrivate)
        case "public": flags.insert(.isPublic)
        case "must-revalidate": flags.insert(.mustRevalidate)
        case "must-understand": flags.insert(.mustUnderstand)
        case "immutable": flags.insert(.immutable)
        case "only-if-cached": flags.insert(.onlyIfCached)
        case "no-cache": addNoCache(directive)
        case "max-age": maxAge = maxAge ?? seconds ?? 0
        case "max-stale":
            let isWithoutArgument = directive.argument == nil
            maxStale = maxStale ?? (isWithoutArgument ? Self.mostSeconds : seconds ?? 0)
        case "min-fresh": minFresh = minFresh ?? seconds ?? Self.mostSeconds
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? seconds ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? seconds ?? 0
        default: break
        }
    }

    /// Names that can't be read withhold the whole response.
    private mutating func addNoCache(_ directive: DirectiveReader.Directive) {
        let names = fieldNames(in: directive.argument ?? [])
        if let names, !names.isEmpty {
            withheldFields += names
        } else {
            flags.insert(.noCache)
        }
    }
}

/// Reads a number of seconds; nil if it isn't made of digits (RFC 9111, section 1.2.2).
func deltaSeconds(_ digits: some Collection<UInt8>) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
    let digits = digits.drop { $0 == ASCII.zero }
    guard digits.count <= 10 else { return CacheDirectives.mostSeconds }
    let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - ASCII.zero) }
    return min(value, CacheDirectives.mostSeconds)
}

/// Reads a comma-separated list of field names; nil if a member isn't a name.
func fieldNames(in list: some Collection<UInt8>) -> [HTTPField.Name]? {
    var names: [HTTPField.Name] = []
    for member in list.split(separator: ASCII.comma) {
        let member = Array(member).trimmingBlanks()
        if member.isEmpty { continue }
        guard let name = HTTPField.Name(String(decoding: member, as: UTF8.self)) else { return nil }
        names.append(name)
    }
    return names
}

/// Reads `name`, `name=token` and `name="quoted"`, separated by commas.
struct DirectiveReader {
    struct Directive {
        /// In lower case.
        let name: String
        /// Without quotes and escapes. An argument that isn't a token or a quoted string has a byte
        /// that no number and no field name has.
        let argument: [UInt8]?
    }

    private var rest: ArraySlice<UInt8>
    private(set) var hasOpenQuote = false

    init(_ text: String) { rest = Array(text.utf8)[...] }

    mutating func next() -> Directive? {
        rest = rest.drop { $0 == ASCII.comma || $0.isBlank }
        guard !rest.isEmpty else { return nil }
        let name = rest.prefix { $0 != ASCII.comma && $0 != ASCII.equals }
        rest = rest[name.endIndex...]
        let text = String(decoding: name.trimmingBlanks(), as: UTF8.self).lowercased()
        guard rest.first == ASCII.equals else { return Directive(name: text, argument: nil) }
        rest = rest.dropFirst()
        var argument = rest.first == ASCII.quote ? quoted() : []
        let isQuoted = !argument.isEmpty
        let token = rest.prefix { $0 != ASCII.comma }
        rest = rest[token.endIndex...]
        // A blank before the argument stays, and makes it unreadable.
        let end = token.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? token.startIndex
        argument += token[..<end]
        if name.last?.isBlank == true || (isQuoted && end > token.startIndex) {
            argument.append(ASCII.quote)
        }
        return Directive(name: text, argument: argument)
    }

    /// Reads a quoted string (RFC 9110, section 5.6.4).
    private mutating func quoted() -> [UInt8] {
        var text: [UInt8] = []
        var isEscaped = false
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if isEscaped {
                isEscaped = false
            } else if byte == ASCII.backslash {
                isEscaped = true
                continue
            } else if byte == ASCII.quote {
                return text
            }
            text.append(byte)
        }
        hasOpenQuote = true
        return text
    }
}
