import HTTPTypes
import SignetBase

/// Replaces the secrets of exchanges by marks: in the URL, the fields and the bodies of both
/// messages.
final class ExchangeRedactor: Sendable {
    private let judge: SecretJudge
    private let marks: RedactionMarks

    init(_ rules: RedactionRules, marks: RedactionMarks) {
        judge = SecretJudge(rules)
        self.marks = marks
    }

    /// Returns an exchange without secrets. Marks that it has already stay.
    func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        var log = RedactionLog(marks)
        let fields = FieldRedactor(judge: judge)
        var result = exchange
        result.request.url = URLRedactor(judge: judge).redacted(
            exchange.request.url, at: "request.url", in: &log)
        result.request.fields = fields.redacted(
            exchange.request.fields, of: "request", in: &log)
        result.request.body = exchange.request.body.map {
            body($0, at: "request.body", in: &log)
        }
        if let response = exchange.response {
            result.response?.fields = fields.redacted(response.fields, of: "response", in: &log)
            result.response?.body = response.body.map { body($0, at: "response.body", in: &log) }
            let reason = Array(response.reason.utf8)
            if let redacted = judge.redacted(reason, named: [], at: "response.reason", in: &log) {
                result.response?.reason = String(decoding: redacted, as: UTF8.self)
            }
        }
        for redaction in log.redactions
        where !exchange.redactions.contains(where: {
            $0.mark == redaction.mark && sameBytes($0.place, redaction.place)
        }) {
            result.redactions.append(redaction)
        }
        return result
    }

    private func body(
        _ body: RecordedBody, at place: String, in log: inout RedactionLog
    ) -> RecordedBody {
        var result = body
        result.bytes = BodyRedactor(judge: judge).redacted(
            body.bytes, type: body.mediaType, at: place, in: &log)
        let type = Array(body.mediaType.utf8)
        if let redacted = judge.redacted(type, named: [], at: "\(place).mediaType", in: &log) {
            result.mediaType = String(decoding: redacted, as: UTF8.self)
        }
        return result
    }

    /// Returns a call without secrets in its own texts; its exchanges are redacted already.
    func redacted(texts call: RecordedCall) -> RecordedCall {
        var result = call
        for index in call.contents.indices {
            result.contents[index].before = call.contents[index].before.map(message)
            result.contents[index].after = call.contents[index].after.map(message)
        }
        result.path = call.path.map(text)
        result.tags = call.tags.map(text)
        return result
    }

    /// Returns a message that is written as lines (`StageContents.Message`) without its secrets: a
    /// head, the fields, and after an empty line the body.
    private func message(_ text: String) -> String {
        var log = RedactionLog(marks)
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        var lines = parts[0].split(separator: "\n", omittingEmptySubsequences: false)
        let head = lines.removeFirst().split(separator: " ", maxSplits: 1)
        var result = head.map { word in
            word.contains("://")
                ? URLRedactor(judge: judge).redacted(String(word), at: "", in: &log)
                : self.text(String(word))
        }.joined(separator: " ")
        let fields = lines.map { line in
            let name = line.prefix { $0 != ":" }
            return RecordedField(
                name: String(name), bytes: Array(line.dropFirst(name.count + 2).utf8))
        }
        for field in FieldRedactor(judge: judge).redacted(fields, of: "", in: &log) {
            result += "\n\(field.name): \(field.value)"
        }
        guard parts.count > 1 else { return result }
        let type = fields.first { $0.isNamed(.contentType) }?.value ?? ""
        let body = BodyRedactor(judge: judge).redacted(
            Array(parts[1].utf8), type: type, at: "", in: &log)
        return "\(result)\n\n\(String(decoding: body, as: UTF8.self))"
    }

    /// Returns a text for people, whose names and forms the client has redacted, without known
    /// values.
    private func text(_ text: String) -> String {
        var log = RedactionLog(marks)
        let bytes = judge.replacingKnown(Array(text.utf8), at: "", in: &log)
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}

extension Recording {
    /// Returns the recording without secrets. Marks that it has already stay.
    ///
    /// Texts that aren't a part of a message, such as comments and the initiators that browsers
    /// write down, aren't part of a recording, and so are gone too.
    public func redacted(by rules: RedactionRules = RedactionRules()) -> Recording {
        let redactor = ExchangeRedactor(rules, marks: RedactionMarks(after: lastMark))
        var result = self
        result.calls = calls.map { call in
            var call = redactor.redacted(texts: call)
            call.exchanges = call.exchanges.map(redactor.redacted)
            return call
        }
        return result
    }
}
