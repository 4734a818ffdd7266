import SignetBase
import SignetJSON

/// Replaces the secrets of bodies by their media types: JSON, forms, multipart, text, and bytes.
struct BodyRedactor {
    /// The depth of bodies in bodies, as in multipart.
    private static let maximumDepth = 4

    let judge: SecretJudge

    /// Returns a body's bytes without secrets.
    ///
    /// - Parameters:
    ///   - bytes: The whole body, without content coding.
    ///   - type: The media type with its parameters; empty if it isn't known.
    ///   - name: The name of the form's field that has the bytes; empty for none.
    func redacted(
        _ bytes: [UInt8], type: String, named name: [UInt8] = [], at place: String,
        in log: inout RedactionLog, depth: Int = 0
    ) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        let essence = MediaType(type)
        if essence.isForm, bytes.allSatisfy(\.isFormByte) {
            return URLRedactor(judge: judge).pairs(bytes, at: place, in: &log)
        }
        if let boundary = essence.boundary, depth < Self.maximumDepth,
            let redacted = multipart(bytes, boundary: boundary, at: place, in: &log, depth: depth)
        {
            return redacted
        }
        if let json = json(bytes, named: name, at: place, in: &log) { return json }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            return binary(bytes, at: place, in: &log)
        }
        return text(bytes, named: name, at: place, in: &log)
    }

    /// Returns JSON, also behind a byte order mark, without secrets; nil if it isn't JSON.
    private func json(
        _ bytes: [UInt8], named name: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8]? {
        let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        guard let first = bytes[start...].first(where: { $0 > ASCII.space }),
            first == ASCII.leftBrace || first == ASCII.leftBracket || first == ASCII.quote
                || first.isDigit || first == ASCII.minus || first.isLowercaseLetter,
            let reader = try? JSONReader(start == 0 ? bytes : Array(bytes[start...]))
        else { return nil }
        var redactor = JSONRedactor(reader, judge: judge, place: place)
        return bytes[..<start] + redactor.redacted(named: name, in: &log)
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns text without the lines that look secret, or a mark if it looks secret as a whole.
    private func text(
        _ bytes: [UInt8], named name: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        if judge.isSecret(member: name) { return Array(log.mark(bytes, at: place).utf8) }
        var result: [UInt8] = []
        let lines = bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if index > 0 { result.append(ASCII.lineFeed) }
            // A line of server-sent events, or of JSON in lines.
            let field = line.starts(with: "data:".utf8) ? line.prefix(5) : line.prefix(0)
            let blanks = line[field.endIndex...].prefix(while: \.isBlank)
            let content = Array(line[blanks.endIndex...].trimming { $0 == ASCII.carriageReturn })
            result += field + blanks
            if content.isEmpty {
            } else if lines.count > 1 || !field.isEmpty,
                let json = json(content, named: name, at: place, in: &log)
            {
                result += json
            } else {
                result += judge.redacted(content, named: name, at: place, in: &log) ?? content
            }
            if line.last == ASCII.carriageReturn { result.append(ASCII.carriageReturn) }
        }
        // A secret of several lines, such as a private key.
        guard lines.count > 1, judge.looksSecret(text: RedactionMark.removing(from: result)) else {
            return result
        }
        return Array(log.mark(bytes, at: place).utf8)
    }

    /// Returns bytes without known values, or a mark if a text in them looks secret.
    private func binary(
        _ bytes: [UInt8], at place: String, in log: inout RedactionLog
    ) -> [UInt8] {
        let bytes = judge.replacingKnown(bytes, at: place, in: &log) ?? bytes
        let texts = bytes.split { !$0.isVisible && !$0.isBlank }.filter { $0.count >= 8 }
        guard texts.contains(where: { judge.looksSecret(text: Array($0)) }) else { return bytes }
        return Array(log.mark(bytes, at: place).utf8)
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
            guard case .part(let head, let content) = piece else {
                if case .other(let bytes) = piece {
                    result +=
                        judge.redacted(Array(bytes), named: [], at: place, in: &log)
                        ?? Array(bytes)
                }
                continue
            }
            let fields = FieldRedactor(judge: judge).redacted(
                head.fields, of: place, in: &log)
            result += MultipartParts.Head(fields: fields).bytes
            let name = head.name
            let shown = "\(place).\(String(decoding: name, as: UTF8.self))"
            result += redacted(
                Array(content), type: head.type, named: name, at: shown, in: &log,
                depth: depth + 1)
        }
        return result
    }
}

extension UInt8 {
    /// Whether a form may have the byte (WHATWG URL, section 5.1), or another program's does.
    fileprivate var isFormByte: Bool { self > 0x20 && self != 0x7F }
}

extension RedactionMark {
    /// Returns bytes without their marks, so that these aren't judged.
    static func removing(from bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var kept = 0
        for mark in all(in: bytes) {
            result += bytes[kept..<mark.range.lowerBound]
            kept = mark.range.upperBound
        }
        return result + bytes[kept...]
    }
}
