import HTTPTypes
import SignetBase
import SignetSystem

extension RecordedExchange {
    /// Returns a command for `sh` that sends the same bytes with curl.
    ///
    /// Each redacted value is a variable, such as `$REDACTED_3`, which has to be set first to the
    /// value as it is sent: percent-encoded in a URL, escaped in a JSON string. A body that was
    /// recorded without its content coding is sent without it.
    ///
    /// Nil if a body isn't part of the recording, and for what curl could take for something else
    /// than a request: a URL that isn't `http` or `https`, and names of fields or values that break
    /// a line.
    public var curlCommand: String? {
        if request.body?.problem != nil, request.body?.bytes.isEmpty == true { return nil }
        let url = Array(request.url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let scheme = String(
            decoding: url.prefix { $0 != ASCII.colon }.map(\.lowercased), as: UTF8.self)
        guard ["http", "https"].contains(scheme), !url.contains(0),
            !request.method.isEmpty, request.method.utf8.allSatisfy(\.isToken),
            let fields = curlFields
        else { return nil }
        var words = ["curl", "-q", "--globoff", "--path-as-is", "--proto '=http,https'"]
        switch request.httpVersion?.lowercased() {
        case "http/2", "http/2.0", "h2": words.append("--http2")
        case "http/1.0": words.append("--http1.0")
        default: words.append("--http1.1")
        }
        let hasBody = request.body?.bytes.isEmpty == false
        // These have a Content-Length of 0 if there is no body (RFC 9110, section 8.6).
        let isEmpty = !hasBody && ["POST", "PUT", "PATCH"].contains(request.method)
        if request.method == "HEAD", !hasBody {
            words.append("--head")
        } else if request.method != (hasBody || isEmpty ? "POST" : "GET") {
            words.append("--request \(ShellText.word(Array(request.method.utf8)))")
        }
        words += fields.map { "--header \(ShellText.word($0.line))" }
        // curl adds these by itself.
        let own =
            ["User-Agent", "Accept"] + (hasBody || isEmpty ? ["Content-Type", "Expect"] : [])
        for name in own where !fields.contains(where: { $0.name == name.lowercased() }) {
            words.append("--header '\(name):'")
        }
        if isEmpty { words.append("--data-raw ''") }
        var input = ""
        if hasBody, let body = request.body {
            if ShellText.isPlain(body.bytes), body.bytes.first != ASCII.at {
                words.append("--data-raw \(ShellText.word(body.bytes, whole: wholeMarks))")
            } else {
                input = ShellText.input(body.bytes, whole: wholeMarks) + " | "
                words.append("--data-binary @-")
            }
        }
        words.append("--url \(ShellText.word(url))")
        return input + words.joined(separator: " ")
    }

    /// The fields that the command names, with their lines; nil if one can't be a field.
    private var curlFields: [(name: String, line: [UInt8])]? {
        let host = RequestTarget(request.url).origin.part(behind: "://")
        let isDecoded = request.body.map { $0.encodedSize != nil || $0.text != nil } ?? false
        let isCoded = isDecoded && request.fields[.contentEncoding] != nil
        var result: [(name: String, line: [UInt8])] = []
        for field in request.fields where !field.name.startsWithBytes(of: ":") {
            // A name that begins with `@` would be a file.
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isToken),
                !field.bytes.contains(where: { [0, 0x0A, 0x0D].contains($0) })
            else { return nil }
            let name = field.name.lowercased()
            switch name {
            case "content-length", "transfer-encoding": continue
            case "host" where sameBytes(field.value.lowercased(), host): continue
            case "content-encoding", "content-digest", "digest", "content-md5":
                if isCoded { continue }
            default: break
            }
            let line =
                field.bytes.isEmpty
                ? Array("\(field.name);".utf8) : Array("\(field.name): ".utf8) + field.bytes
            result.append((name, line))
        }
        return result
    }

    /// The names of the variables that the curl command needs.
    public var curlVariables: [String] {
        let sent = request.fields.filter { !$0.name.startsWithBytes(of: ":") }.map(\.bytes)
        let texts = [Array(request.url.utf8)] + sent + [request.body?.bytes ?? []]
        let marks = Set(texts.flatMap { RedactionMark.all(in: $0).map(\.number) })
        return marks.sorted().map(RedactionMark.variable)
    }
}

extension String {
    /// The text behind another one; empty if it doesn't occur.
    fileprivate func part(behind separator: String) -> String {
        let bytes = Array(utf8)
        guard let range = bytes.firstRange(of: Array(separator.utf8)) else { return "" }
        return String(decoding: bytes[range.upperBound...], as: UTF8.self)
    }
}

/// Words of a shell (POSIX, Shell Command Language, 2.2).
enum ShellText {
    /// The longest argument, in bytes. Linux takes 128 KiB.
    private static let longest = 64 << 10
    /// Characters that could control a terminal, or show a text in another order than it is sent.
    private static let hidden: Set<Unicode.GeneralCategory> = [
        .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
        .surrogate,
    ]

    /// Whether bytes can be an argument that shows what it is.
    static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { !hidden.contains($0.properties.generalCategory) }
    }

    /// Returns a word for some bytes, with variables in the places of marks.
    static func word(_ bytes: [UInt8], whole: Set<Int> = []) -> String {
        let pieces = RedactionMark.pieces(of: bytes, whole: whole).map { piece in
            switch piece {
            case .text(let text): quoted(text)
            case .mark(let number): "\"$\(RedactionMark.variable(number))\""
            }
        }
        return pieces.isEmpty ? "''" : pieces.joined()
    }

    private static func quoted(_ bytes: [UInt8]) -> String {
        guard isPlain(bytes), let text = String(validating: bytes, as: UTF8.self) else {
            return "\"$(\(printing(bytes)))\""
        }
        let isBare =
            bytes.first != ASCII.equals
            && bytes.allSatisfy { $0.isLetterOrDigit || "-_./:,@%+=".utf8.contains($0) }
        if isBare { return text }
        return ShellCommand.word(text)
    }

    /// Returns a command that prints bytes of any number, with variables in the places of marks.
    static func input(_ bytes: [UInt8], whole: Set<Int>) -> String {
        let pieces = RedactionMark.pieces(of: bytes, whole: whole).map { piece in
            switch piece {
            case .text(let text): printing(text)
            case .mark(let number): "printf %s \"$\(RedactionMark.variable(number))\""
            }
        }
        return pieces.count == 1 ? pieces[0] : "{ \(pieces.joined(separator: "; ")); }"
    }

    /// Returns a command that prints bytes, none of which but the usual characters of ASCII is in
    /// the command itself.
    private static func printing(_ bytes: [UInt8]) -> String {
        var format: [UInt8] = Array("printf '".utf8)
        for (index, byte) in bytes.enumerated() {
            // A dash at the beginning would be an option.
            if byte.isLetterOrDigit || " _./:,=\"{}[]".utf8.contains(byte)
                || byte == ASCII.minus && index > 0
            {
                format.append(byte)
            } else {
                format.append(ASCII.backslash)
                for shift in [6, 3, 0] { format.append(ASCII.zero + (byte >> shift & 7)) }
            }
        }
        return String(decoding: format, as: UTF8.self) + "'"
    }
}
