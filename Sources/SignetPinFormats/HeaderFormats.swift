import SignetBase
import SignetPinning

/// The value of curl's `--pinnedpubkey` (curl's manual): `sha256//BASE64;sha256//BASE64`.
enum CurlFormat {
    private static let prefix = "sha256//"

    static func read(_ bytes: [UInt8], host: String, notes: inout ConversionNotes)
        throws(PinError)
        -> PinPolicy
    {
        let parts = try line(in: bytes).split(separator: ";", omittingEmptySubsequences: false)
        let pins = try parts.map { (part) throws(PinError) in
            guard part.startsWithBytes(of: prefix) else {
                throw PinError(
                    .malformedInput,
                    "curl's pins start with \"sha256//\"; anything else is a file name")
            }
            return try Pin(parsing: Pin.prefix + part.dropFirst(prefix.count))
        }
        notes.add("curl compares only the leaf's key, a policy any key of the verified chain")
        return try PinPolicy(rules: [PinRule(host: host, pins: pins.withoutDuplicates)])
    }

    static func write(_ rule: PinRule, notes: inout ConversionNotes) throws(PinError) -> [UInt8] {
        guard rule.mode == .enforce else {
            throw PinError(
                .notExpressible, "curl has no report mode")
        }
        notes.add("curl compares only the leaf's key: pins of issuers match nothing there")
        if rule.pattern.scope != .exact || rule.includesSubdomains {
            notes.add("curl has pins for one call, not for all hosts of \(rule.pattern)")
        }
        notes.addExpiry(of: rule, in: "curl")
        return Array((rule.pins.map { prefix + $0.base64 }.joined(separator: ";") + "\n").utf8)
    }

    /// Returns the only line without the white space around it.
    static func line(in bytes: [UInt8]) throws(PinError) -> String {
        let line = XMLReader.trimmed(bytes)
        guard !line.isEmpty, line.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw PinError(.malformedInput, "expected one line of printable ASCII that isn't empty")
        }
        return line
    }
}

/// The field `Public-Key-Pins` or `Public-Key-Pins-Report-Only` (RFC 7469, section 2.1).
enum HPKPFormat {
    private static let modes: [String: PinRule.Mode] = [
        "public-key-pins": .enforce, "public-key-pins-report-only": .report,
    ]

    static func read(_ bytes: [UInt8], host: String, notes: inout ConversionNotes)
        throws(PinError)
        -> PinPolicy
    {
        var text = Array(try CurlFormat.line(in: bytes).utf8)[...]
        var mode = PinRule.Mode.enforce
        if let colon = text.firstIndex(of: UInt8(ascii: ":")),
            let itsMode = modes[String(decoding: text[..<colon], as: UTF8.self).lowercased()]
        {
            text = text[(colon + 1)...]
            mode = itsMode
        }
        var pins: [Pin] = []
        var seen: Set<String> = []
        var includesBelow = false
        for (name, value) in try directives(text) {
            if name == "pin-sha256" {
                pins.append(try Pin(parsing: Pin.prefix + (value ?? "")))
                continue
            }
            guard seen.insert(name).inserted else { throw malformed("duplicate \(name)") }
            switch name {
            case "max-age":
                guard let value, !value.isEmpty, value.utf8.count <= 18,
                    value.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
                else { throw malformed("max-age must be a number of seconds") }
                guard Int64(value) != 0 else {
                    throw malformed("max-age=0 tells browsers to forget the pins")
                }
                notes.add("max-age is left out: it is a duration from each visit, not a date")
            case "includesubdomains":
                guard value == nil else { throw malformed("includeSubDomains can't have a value") }
                includesBelow = true
            case "report-uri": notes.add("report-uri has no counterpart and is left out")
            default: notes.add("\(name) has no counterpart and is left out")
            }
        }
        guard mode == .report || seen.contains("max-age") else {
            throw malformed("max-age is missing, so browsers ignore the field")
        }
        guard !pins.isEmpty else { throw malformed("missing pin-sha256") }
        return try PinPolicy(
            rules: [
                PinRule(
                    host: host, pins: pins.withoutDuplicates, includesSubdomains: includesBelow,
                    mode: mode)
            ])
    }

    /// Returns the directives' names in lower case, and their values without quotes.
    private static func directives(_ text: ArraySlice<UInt8>) throws(PinError)
        -> [(String, String?)]
    {
        var directives: [(String, String?)] = []
        var index = text.startIndex
        func skipSpace() {
            while index < text.endIndex, XMLReader.isSpace(text[index]) { index += 1 }
        }
        func token() -> String {
            let start = index
            while index < text.endIndex, !XMLReader.isSpace(text[index]),
                !";=\",".utf8.contains(text[index])
            { index += 1 }
            return String(decoding: text[start..<index], as: UTF8.self)
        }
        while true {
            skipSpace()
            let name = token().lowercased()
            var value: String?
            skipSpace()
            if index < text.endIndex, text[index] == UInt8(ascii: "=") {
                index += 1
                skipSpace()
                if index < text.endIndex, text[index] == UInt8(ascii: "\"") {
                    guard
                        let end = text[(index + 1)...].firstIndex(where: {
                            $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
                        }), text[end] == UInt8(ascii: "\"")
                    else { throw malformed("a quoted value isn't closed, or has an escape") }
                    value = String(decoding: text[(index + 1)..<end], as: UTF8.self)
                    index = end + 1
                } else {
                    value = token()
                }
                skipSpace()
            }
            guard !name.isEmpty || value == nil else {
                throw malformed("found a value without a name")
            }
            if !name.isEmpty { directives.append((name, value)) }
            if index == text.endIndex { return directives }
            guard text[index] == UInt8(ascii: ";") else {
                throw malformed("expected a semicolon between directives")
            }
            index += 1
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(.malformedInput, "invalid Public-Key-Pins field: \(what)")
    }

    /// The seconds that browsers keep the pins: 60 days, the most that section 4.1 of the RFC
    /// suggests.
    private static let maximumAge = 5_184_000

    static func write(_ rule: PinRule, notes: inout ConversionNotes) throws(PinError) -> [UInt8] {
        let includesBelow = try rule.includesBelow(in: "HPKP")
        guard rule.pattern.host.kind == .name else {
            throw PinError(
                .notExpressible,
                "browsers don't keep pins of IP addresses (RFC 7469)")
        }
        if Set(rule.pins).count < 2 {
            notes.add("browsers ignore the field without a backup pin (RFC 7469, section 2.5)")
        }
        notes.addExpiry(of: rule, in: "HPKP")
        notes.add("max-age=\(maximumAge) (60 days) was chosen, because policies don't have it")
        let name = rule.mode == .report ? "Public-Key-Pins-Report-Only" : "Public-Key-Pins"
        let parts =
            rule.pins.map { "pin-sha256=\"\($0.base64)\"" } + ["max-age=\(maximumAge)"]
            + (includesBelow ? ["includeSubDomains"] : [])
        return Array("\(name): \(parts.joined(separator: "; "))\n".utf8)
    }
}
