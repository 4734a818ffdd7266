/// The value of curl's `--pinnedpubkey` (curl's manual): `sha256//BASE64;sha256//BASE64`.
enum CurlFormat {
    private static let prefix = "sha256//"

    static func read(_ bytes: [UInt8], _ host: String, _ notes: inout ConversionNotes)
        throws(PinError)
        -> PinPolicy
    {
        var pins = DistinctPins()
        for part in try trimmed(bytes).split(separator: ";", omittingEmptySubsequences: false) {
            guard part.hasPrefix(prefix) else {
                throw PinError(
                    code: .malformedInput,
                    message: "pins of curl begin with \"sha256//\"; anything else is a file's name"
                        + " to it")
            }
            pins.add(try Pin(parsing: Pin.prefix + part.dropFirst(prefix.count)))
        }
        notes.add("curl compares the leaf's key alone, a policy any key of the verified chain")
        return try PinPolicy(rules: [PinRule(host: host, pins: pins.pins)])
    }

    static func write(_ rule: PinRule, _ notes: inout ConversionNotes) throws(PinError) -> [UInt8] {
        guard rule.mode == .enforce else {
            throw PinConversion.notExpressible("curl has no report mode")
        }
        notes.add("curl compares the leaf's key alone: pins of issuers match nothing there")
        if rule.pattern.scope != .exact || rule.includesSubdomains {
            notes.add("curl has pins for a call, not for \(rule.pattern) and what is below")
        }
        notes.addExpiry(of: rule, "curl")
        return Array(
            (rule.pins.map { prefix + $0.base64 }.joined(separator: ";") + "\n").utf8)
    }

    /// One line without what is around it.
    static func trimmed(_ bytes: [UInt8]) throws(PinError) -> String {
        let start = bytes.firstIndex { !XMLReader.isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !XMLReader.isSpace($0) }.map { $0 + 1 } ?? start
        let line = bytes[start..<end]
        guard !line.isEmpty, line.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw PinError(
                code: .malformedInput, message: "one line of ASCII is wanted, and not an empty one")
        }
        return String(decoding: line, as: UTF8.self)
    }
}

/// The field `Public-Key-Pins` or `Public-Key-Pins-Report-Only` (RFC 7469, section 2.1).
enum HPKPFormat {
    private static let field = "public-key-pins"
    private static let reportField = "public-key-pins-report-only"

    static func read(_ bytes: [UInt8], _ host: String, _ notes: inout ConversionNotes)
        throws(PinError)
        -> PinPolicy
    {
        var text = Array(try CurlFormat.trimmed(bytes).utf8)[...]
        var mode = PinRule.Mode.enforce
        for (name, itsMode) in [(reportField, PinRule.Mode.report), (field, .enforce)] {
            let start = text.prefix(name.utf8.count + 1)
            if String(decoding: start, as: UTF8.self).lowercased() == name + ":" {
                text = text.dropFirst(name.utf8.count + 1)
                mode = itsMode
                break
            }
        }
        var pins = DistinctPins()
        var seen: Set<String> = []
        var reachesBelow = false
        for (name, value) in try directives(text) {
            if name == "pin-sha256" {
                pins.add(try Pin(parsing: Pin.prefix + (value ?? "")))
                continue
            }
            guard seen.insert(name).inserted else { throw malformed("\(name) stands twice") }
            switch name {
            case "max-age":
                guard let value, !value.isEmpty, value.utf8.count <= 18,
                    value.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
                else { throw malformed("max-age is a number of seconds") }
                guard Int64(value) != 0 else {
                    throw malformed("max-age=0 tells browsers to forget the pins")
                }
                notes.add(
                    "max-age is left out: it says how long a browser remembers, not till when")
            case "includesubdomains":
                guard value == nil else { throw malformed("includeSubDomains has no value") }
                reachesBelow = true
            case "report-uri": notes.add("report-uri has no counterpart and is left out")
            default: notes.add("\(name) has no counterpart and is left out")
            }
        }
        guard mode == .report || seen.contains("max-age") else {
            throw malformed("max-age is missing, so browsers ignore the field")
        }
        guard !pins.pins.isEmpty else { throw malformed("it has no pin-sha256") }
        return try PinPolicy(
            rules: [
                PinRule(
                    host: host, pins: pins.pins, includesSubdomains: reachesBelow, mode: mode)
            ])
    }

    /// Names in lower case, and values without their quotes.
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
                    else { throw malformed("a quoted value does not end, or holds an escape") }
                    value = String(decoding: text[(index + 1)..<end], as: UTF8.self)
                    index = end + 1
                } else {
                    value = token()
                }
                skipSpace()
            }
            guard !name.isEmpty || value == nil else { throw malformed("a value without a name") }
            if !name.isEmpty { directives.append((name, value)) }
            if index == text.endIndex { return directives }
            guard text[index] == UInt8(ascii: ";") else {
                throw malformed("directives stand between semicolons")
            }
            index += 1
        }
    }

    private static func malformed(_ what: String) -> PinError {
        PinError(code: .malformedInput, message: "no Public-Key-Pins field: \(what)")
    }

    /// How long a browser is told to remember: 60 days, as the RFC's section 4.1 suggests at most.
    private static let maximumAge = 5_184_000

    static func write(_ rule: PinRule, _ notes: inout ConversionNotes) throws(PinError) -> [UInt8] {
        let reachesBelow = try rule.reachesBelow("HPKP")
        guard rule.pattern.host.kind == .name else {
            throw PinConversion.notExpressible("browsers note no pins of addresses (RFC 7469)")
        }
        if Set(rule.pins).count < 2 {
            notes.add("browsers ignore the field without a backup pin (RFC 7469, section 2.5)")
        }
        notes.addExpiry(of: rule, "HPKP")
        notes.add("max-age=\(maximumAge) (60 days) was chosen: the policy says nothing of it")
        let name = rule.mode == .report ? "Public-Key-Pins-Report-Only" : "Public-Key-Pins"
        let parts =
            rule.pins.map { "pin-sha256=\"\($0.base64)\"" } + ["max-age=\(maximumAge)"]
            + (reachesBelow ? ["includeSubDomains"] : [])
        return Array("\(name): \(parts.joined(separator: "; "))\n".utf8)
    }
}
