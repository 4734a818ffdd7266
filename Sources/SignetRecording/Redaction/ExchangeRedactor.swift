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
        return result
    }

    /// Returns a call without secrets in its own texts; its exchanges are redacted already.
    func redacted(texts call: RecordedCall) -> RecordedCall {
        var result = call
        for index in call.contents.indices {
            result.contents[index].before = call.contents[index].before.map(text)
            result.contents[index].after = call.contents[index].after.map(text)
        }
        result.path = call.path.map(text)
        result.tags = call.tags.map(text)
        return result
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
