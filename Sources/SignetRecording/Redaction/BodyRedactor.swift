import SignetBase
import SignetJSON

/// Replaces the secrets of bodies by their media types and their forms: JSON, XML, forms,
/// multipart, text, and bytes.
struct BodyRedactor {
    /// The depth of bodies in bodies, as in multipart.
    private static let maximumDepth = 4
    /// The largest body that is decompressed to search it.
    private static let largestDecoded = 16 << 20

    let judge: SecretJudge
    /// The bytes that compressed bodies may have together; nil for any.
    let budget: DecodingBudget?

    /// A body without secrets.
    struct Outcome {
        var bytes: [UInt8]
        /// The reason why the bytes were dropped; nil if they weren't.
        var problem: String?
    }

    /// Returns a message's body without secrets.
    ///
    /// - Parameters:
    ///   - bytes: The whole body, without content coding.
    ///   - type: The media type with its parameters; empty if it isn't known.
    func outcome(
        of bytes: [UInt8], type: String, at place: String, in log: inout RedactionLog
    ) -> Outcome {
        let bytes = log.replacingForeignMarks(bytes, at: place)
        if let format = CompressedBytes.format(of: bytes) {
            guard
                let decoded = CompressedBytes.decoded(
                    bytes, format: format, limit: Self.largestDecoded, from: budget)
            else {
                return Outcome(
                    bytes: [],
                    problem: "the body is compressed (\(format)) and can't be searched for secrets")
            }
            guard hasSecret(decoded, in: log) else { return Outcome(bytes: bytes) }
            return Outcome(bytes: Array(log.mark(bytes, at: place).utf8))
        }
        return Outcome(bytes: redacted(bytes, type: type, at: place, in: &log))
    }

    private func hasSecret(_ bytes: [UInt8], in log: RedactionLog) -> Bool {
        var trial = log
        return redacted(bytes, type: "", at: "", in: &trial, depth: 1) != bytes
    }

    /// Returns a body, or a part of one, without secrets.
    ///
    /// - Parameter name: The name of the form's field that has the bytes; empty for none.
    func redacted(
        _ bytes: [UInt8], type: String, named name: [UInt8] = [], at place: String,
        in log: inout RedactionLog, depth: Int = 0
    ) -> [UInt8] {
        guard !bytes.isEmpty, RedactionMark.number(of: bytes) == nil else { return bytes }
        let media = MediaType(type)
        // A compressed part of a body isn't decompressed.
        if judge.isSecret(member: name) || depth > 0 && CompressedBytes.format(of: bytes) != nil {
            return Array(log.mark(bytes, at: place).utf8)
        }
        if let boundary = media.boundary, depth < Self.maximumDepth,
            let redacted = multipart(bytes, boundary: boundary, at: place, in: &log, depth: depth)
        {
            return redacted
        }
        let isUTF8 = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        // A mark in another charset would not be found again, so it stands for the whole body.
        if !isUTF8, let text = Charset.utf8(of: bytes, type: media),
            self.text(text, isForm: media.isForm, named: name, at: "", in: log) != text
        {
            return Array(log.mark(bytes, at: place).utf8)
        }
        guard isUTF8 else { return binary(bytes, at: place, in: &log) }
        return text(bytes, isForm: media.isForm, named: name, at: place, in: &log)
    }

    private func text(
        _ bytes: [UInt8], isForm: Bool, named name: [UInt8], at place: String, in log: RedactionLog
    ) -> [UInt8] {
        var trial = log
        return text(bytes, isForm: isForm, named: name, at: place, in: &trial)
    }

    /// Returns UTF-8 without secrets.
    private func text(
        _ bytes: [UInt8], isForm: Bool, named name: [UInt8], at place: String,
        in log: inout RedactionLog
    ) -> [UInt8] {
        if !isForm, let json = JSONText(bytes) {
            return json.redacted(
                by: TextRedactor(judge: judge), named: name, at: place, in: &log)
        }
        let known = judge.replacingKnown(bytes, at: place, in: &log)
        if isForm || PairsRedactor.isForm(known) && known.contains(UInt8(ascii: "&")) {
            let pairs = PairsRedactor(texts: TextRedactor(judge: judge)).redacted(
                known, at: place, in: &log)
            return Assignments(judge: judge).redacted(pairs, at: place, in: &log)
        }
        let isXML = XMLRedactor.isXML(known)
        let marked =
            isXML
            ? XMLRedactor(texts: TextRedactor(judge: judge)).redacted(known, at: place, in: &log)
            : known
        let assigned = Assignments(judge: judge).redacted(marked, at: place, in: &log)
        let result = lines(of: assigned, named: name, at: place, in: &log)
        // A secret of several lines, such as a private key.
        guard judge.looksSecret(result, named: name) else { return result }
        return Array(log.mark(bytes, at: place).utf8)
    }

    /// Returns a text without the lines that look secret.
    private func lines(
        of bytes: [UInt8], named name: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        var result: [UInt8] = []
        let lines = bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if index > 0 { result.append(ASCII.lineFeed) }
            // A line of server-sent events, or of JSON in lines.
            let field = line.starts(with: "data:".utf8) ? line.prefix(5) : line.prefix(0)
            let content = line[field.endIndex...].trimming(XMLReader.isSpace)
            guard !content.isEmpty else {
                result += line
                continue
            }
            result += line[..<content.startIndex]
            let text = Array(content)
            result +=
                TextRedactor(judge: judge).redacted(text, named: name, at: place, in: &log) ?? text
            result += line[content.endIndex...]
        }
        return result
    }

    /// Returns bytes without known values, or a mark if a text in them looks secret.
    private func binary(
        _ bytes: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let known = judge.replacingKnown(bytes, at: place, in: &log)
        // Texts in UTF-16 have zeros between their characters.
        let dense = known.filter { $0 != 0 }
        var isSecret = dense.count < known.count && judge.known.occur(in: dense)
        for text in [known, dense] where !isSecret {
            let texts = text.split { !$0.isVisible && !$0.isBlank }.filter { $0.count >= 8 }
            isSecret =
                texts.contains { judge.looksSecret(Array($0), named: []) }
                || Assignments(judge: judge).hasSecret(text, in: log)
        }
        return isSecret ? Array(log.mark(bytes, at: place).utf8) : known
    }

    // MARK: Multipart

    /// Returns a multipart body (RFC 2046, section 5.1) without the secrets of its parts; nil if it
    /// isn't one.
    private func multipart(
        _ bytes: [UInt8], boundary: [UInt8], at place: String, in log: inout RedactionLog,
        depth: Int
    ) -> [UInt8]? {
        guard let parts = MultipartParts(bytes, boundary: boundary) else { return nil }
        var result: [UInt8] = []
        for piece in parts.pieces {
            switch piece {
            case .boundary(let line):
                result += judge.replacingKnown(Array(line), at: place, in: &log)
            case .other(let text):
                result += redacted(
                    Array(text), type: "", at: place, in: &log, depth: Self.maximumDepth)
            case .part(let head, let content):
                result += self.head(head, of: bytes, at: place, in: &log)
                let isSecretName = judge.judged(head.name).isSecret
                let name = isSecretName ? [] : head.name
                let shown = "\(place).\(String(decoding: name, as: UTF8.self))"
                result += redacted(
                    Array(content), type: head.type, named: name,
                    at: name.isEmpty ? place : shown, in: &log, depth: depth + 1)
            }
        }
        // A value that goes beyond a part.
        return judge.replacingKnown(result, at: place, in: &log)
    }

    private func head(
        _ head: MultipartParts.Head, of body: [UInt8], at place: String,
        in log: inout RedactionLog
    ) -> [UInt8] {
        var result: [UInt8] = []
        var kept = head.bytes.startIndex
        for field in head.fields {
            let bytes = Array(body[field.value])
            let name = field.name.lowercased()
            let shown = "\(place).fields.\(name)"
            let known = judge.replacingKnown(bytes, at: shown, in: &log)
            let value =
                FieldRedactor(judge: judge).redacted(known, of: name, at: shown, in: &log) ?? known
            guard value != bytes else { continue }
            result += body[kept..<field.value.lowerBound] + value
            kept = field.value.upperBound
        }
        return result + body[kept..<head.bytes.endIndex]
    }
}
