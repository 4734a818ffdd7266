import SignetVault

/// The nesting of a TOML text, found without parsing it.
///
/// The parser limits brackets but not the parts of a dotted name, and takes a part of the stack for
/// each of them.
struct TOMLNesting {
    private static let limit = 256

    private var rest: ArraySlice<UInt8>
    private var line = 1
    /// The dots of the names before each open bracket, and of the current name.
    private var dots = [0]
    private var depth = 0

    /// Checks that no name, with the names of the tables around it on the same lines, has more than
    /// 256 dots.
    static func requireUsable(_ text: String) throws(MalformedSource) {
        var scanner = TOMLNesting(rest: Array(text.utf8)[...])
        while let byte = scanner.rest.popFirst() { try scanner.take(byte) }
    }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func take(_ byte: UInt8) throws(MalformedSource) {
        switch byte {
        case UInt8(ascii: "\n"):
            line += 1
            if dots.count == 1 { forget() }
        case UInt8(ascii: "#"): rest = rest.drop { $0 != UInt8(ascii: "\n") }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString(quote: byte)
        case UInt8(ascii: "["), UInt8(ascii: "{"): dots.append(0)
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            forget()
            if dots.count > 1 { dots.removeLast() }
        case UInt8(ascii: ","): forget()
        case UInt8(ascii: "."):
            dots[dots.count - 1] += 1
            depth += 1
            guard depth <= Self.limit else {
                throw MalformedSource(
                    "names of more than \(Self.limit) parts", line: line)
            }
        default: break
        }
    }

    private mutating func forget() {
        depth -= dots[dots.count - 1]
        dots[dots.count - 1] = 0
    }

    /// Skips a string, whose opening quote was taken.
    private mutating func skipString(quote: UInt8) {
        let isLong = rest.starts(with: [quote, quote])
        if isLong { rest = rest.dropFirst(2) }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\n") {
                line += 1
                if !isLong { return }
            } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                if rest.popFirst() == UInt8(ascii: "\n") { line += 1 }
            } else if byte == quote, !isLong {
                return
            } else if byte == quote, rest.starts(with: [quote, quote]) {
                // Two more quotes before the end belong to the text.
                rest = rest.dropFirst(2)
                for _ in 0..<2 where rest.first == quote { rest.removeFirst() }
                return
            }
        }
    }
}
