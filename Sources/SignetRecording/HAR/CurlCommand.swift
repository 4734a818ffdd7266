import SignetBase

extension RecordedExchange {
    /// Returns a command for `sh` that sends the same bytes with curl.
    ///
    /// Each redacted value is a variable, such as `$REDACTED_3`, which has to be set first to the
    /// value as it is sent: percent-encoded in a URL, escaped in a JSON string. Nil if a body isn't
    /// part of the recording.
    public var curlCommand: String? {
        if request.body?.problem != nil, request.body?.bytes.isEmpty == true { return nil }
        var words = ["curl", "--globoff", "--path-as-is"]
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
            words += ["--request", ShellText.word(Array(request.method.utf8))]
        }
        let fields = request.fields.filter { !$0.name.startsWithBytes(of: ":") }
        let host = RequestTarget(request.url).origin.part(behind: "://")
        for field in fields {
            let name = field.name.lowercased()
            if name == "content-length" || name == "transfer-encoding" { continue }
            if name == "host", sameBytes(field.value.lowercased(), host) { continue }
            let line =
                field.bytes.isEmpty
                ? Array("\(field.name);".utf8) : Array("\(field.name): ".utf8) + field.bytes
            words.append("--header \(ShellText.word(line))")
        }
        // curl adds these by itself.
        let own =
            ["User-Agent", "Accept"] + (hasBody || isEmpty ? ["Content-Type", "Expect"] : [])
        for name in own where !fields.contains(where: { $0.name.lowercased() == name.lowercased() })
        {
            words.append("--header '\(name):'")
        }
        var input = ""
        if isEmpty { words.append("--data-raw ''") }
        if hasBody, let body = request.body {
            let isText = body.text != nil && !body.bytes.contains(0) && body.bytes.first != ASCII.at
            if isText {
                words.append("--data-raw \(ShellText.word(body.bytes, whole: wholeMarks))")
            } else {
                input = "\(ShellText.printing(body.bytes)) | "
                words.append("--data-binary @-")
            }
        }
        // Never an option, nor a file.
        words += ["--proto", "'=http,https'", "--url"]
        words.append(ShellText.word(Array(request.url.utf8.prefix { $0 != UInt8(ascii: "#") })))
        return input + words.joined(separator: " ")
    }
}

extension RecordedExchange {
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
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return "\"$(\(printing(bytes)))\""
        }
        let isPlain = bytes.allSatisfy { $0.isLetterOrDigit || "-_./:,@%+=".utf8.contains($0) }
        if isPlain { return text }
        return "'" + text.replacing("'", with: #"'\''"#) + "'"
    }

    /// Returns a command that prints any bytes.
    static func printing(_ bytes: [UInt8]) -> String {
        var format = ""
        for piece in RedactionMark.pieces(of: bytes) {
            guard case .text(let text) = piece else {
                // A mark in a body that isn't text stands for all of it.
                if case .mark(let number) = piece {
                    return "printf %s \"$\(RedactionMark.variable(number))\""
                }
                continue
            }
            for byte in text {
                // printf takes a format that begins with a hyphen for options.
                let isPlain = byte.isLetterOrDigit || " _./:,=".utf8.contains(byte)
                let digits = String(byte, radix: 8)
                format +=
                    isPlain
                    ? String(UnicodeScalar(byte))
                    : "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }
        return "printf '\(format)'"
    }
}
