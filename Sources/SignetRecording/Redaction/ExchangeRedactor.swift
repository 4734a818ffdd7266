import SignetBase
import SignetClient
import SignetPinning

/// Replaces the secrets of exchanges by marks: in the URL, the fields and the bodies of both
/// messages, and in every other text of them.
final class ExchangeRedactor: Sendable, CustomStringConvertible, CustomReflectable {
    private let judge: SecretJudge
    private let marks: RedactionMarks
    private let budget: DecodingBudget?

    /// - Parameter budget: The bytes that compressed bodies may have together; nil for any, as of
    ///   the calls of a running program.
    init(_ rules: RedactionRules, marks: RedactionMarks, decoding budget: DecodingBudget? = nil) {
        judge = SecretJudge(rules)
        self.marks = marks
        self.budget = budget
    }

    let description = "ExchangeRedactor"

    /// A mirror without rules and values.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns an exchange without secrets. Marks of the recording that it has already stay.
    func redacted(_ exchange: RecordedExchange) -> RecordedExchange {
        var log = RedactionLog(marks)
        let fields = FieldRedactor(judge: judge)
        var result = exchange
        result.request.url = url(exchange.request.url, at: "request.url", in: &log)
        result.request.method = text(exchange.request.method, at: "request.method", in: &log)
        result.request.httpVersion = exchange.request.httpVersion.map {
            text($0, at: "request.version", in: &log)
        }
        result.request.fields = fields.redacted(
            exchange.request.fields, of: "request", in: &log)
        result.request.body = exchange.request.body.map { body($0, at: "request", in: &log) }
        if let response = exchange.response {
            result.response?.fields = fields.redacted(response.fields, of: "response", in: &log)
            result.response?.body = response.body.map { body($0, at: "response", in: &log) }
            result.response?.reason = text(response.reason, at: "response.reason", in: &log)
            result.response?.httpVersion = response.httpVersion.map {
                text($0, at: "response.version", in: &log)
            }
        }
        result.failure = exchange.failure.map { text($0, at: "failure", in: &log) }
        result.message = exchange.message.map { reason($0, at: "message", in: &log) }
        result.engine = exchange.engine.map { text($0, at: "engine", in: &log) }
        if let address = exchange.address {
            result.address?.address = address.address.map { ip($0, in: &log) }
            result.address?.reason = address.reason.map { text($0, at: "address", in: &log) }
            result.address?.failed = address.failed.map { ip($0, in: &log) }
        }
        if let pins = exchange.pins {
            result.pins?.seen = pins.seen.map { pin($0, in: &log) }
            result.pins?.wanted = pins.wanted.map { pin($0, in: &log) }
        }
        result.redactions = redactions(exchange.redactions + log.redactions)
        return result
    }

    private func url(_ url: String, at place: String, in log: inout RedactionLog) -> String {
        let bytes = log.replacingForeignMarks(Array(url.utf8), at: place)
        let known = judge.replacingKnown(bytes, at: place, in: &log)
        let redacted = URLRedactor(texts: TextRedactor(judge: judge)).redacted(
            known, at: place, in: &log)
        return sameBytes(redacted, url) ? url : String(decoding: redacted, as: UTF8.self)
    }

    private func sameBytes(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.elementsEqual(text.utf8)
    }

    private func body(
        _ body: RecordedBody, at message: String, in log: inout RedactionLog
    ) -> RecordedBody {
        var result = body
        let outcome = BodyRedactor(judge: judge, budget: budget).outcome(
            of: body.bytes, type: body.mediaType, at: "\(message).body", in: &log)
        result.bytes = outcome.bytes
        result.problem = (outcome.problem ?? body.problem).map {
            text($0, at: "\(message).problem", in: &log)
        }
        let type = log.replacingForeignMarks(Array(body.mediaType.utf8), at: "\(message).type")
        let known = judge.replacingKnown(type, at: "\(message).type", in: &log)
        let redacted =
            FieldRedactor(judge: judge).mediaType(known, at: "\(message).type", in: &log) ?? known
        if !sameBytes(redacted, body.mediaType) {
            result.mediaType = String(decoding: redacted, as: UTF8.self)
        }
        return result
    }

    /// A pin is a hash, which looks random.
    private func pin(_ pin: String, in log: inout RedactionLog) -> String {
        pin.startsWithBytes(of: "sha256/") && pin.utf8.count <= 51
            ? pin : text(pin, at: "pins", in: &log)
    }

    /// An IP address of version 6 looks random too.
    private func ip(_ address: String, in log: inout RedactionLog) -> String {
        (try? ServiceAddress(parsing: address)) != nil
            ? address : text(address, at: "address", in: &log)
    }

    /// Returns the message of an error without secrets. Its pins stay, which look random.
    private func reason(_ message: String, at place: String, in log: inout RedactionLog) -> String {
        let prefix = Array("sha256/".utf8)
        var rest = judge.replacingKnown(
            log.replacingForeignMarks(Array(message.utf8), at: place), at: place, in: &log)[...]
        var result = ""
        var kept: [UInt8] = []
        func end(_ log: inout RedactionLog) {
            result += String(
                decoding: TextRedactor(judge: judge).redacted(kept, named: [], at: place, in: &log)
                    ?? kept, as: UTF8.self)
            kept = []
        }
        while let found = rest.firstRange(of: prefix) {
            kept += rest[..<found.lowerBound]
            let pin = String(decoding: rest[found.lowerBound...].prefix(51), as: UTF8.self)
            if (try? Pin(parsing: pin)) != nil {
                end(&log)
                result += pin
                rest = rest[found.lowerBound...].dropFirst(51)
            } else {
                kept += prefix
                rest = rest[found.upperBound...]
            }
        }
        kept += rest
        end(&log)
        return result
    }

    /// Returns any other text without secrets.
    private func text(_ text: String, at place: String, in log: inout RedactionLog) -> String {
        let bytes = log.replacingForeignMarks(Array(text.utf8), at: place)
        let redacted =
            TextRedactor(judge: judge).redacted(bytes, named: [], at: place, in: &log) ?? bytes
        return sameBytes(redacted, text) ? text : String(decoding: redacted, as: UTF8.self)
    }

    // MARK: Places

    private static let placeWords: Set<Substring> = [
        "request", "response", "url", "fields", "body", "path", "query", "fragment", "userinfo",
        "host", "method", "version", "reason", "type", "problem", "failure", "message", "engine",
        "address", "pins", "call",
    ]

    /// Returns redactions without secrets in their places, which have names of the messages.
    private func redactions(
        _ redactions: [RecordedExchange.Redaction]
    ) -> [RecordedExchange.Redaction] {
        // The same place isn't listed twice, also if its mark stands for a whole value in one.
        var seen: Set<RecordedExchange.Redaction> = []
        return redactions.compactMap { redaction in
            guard (1...RedactionMark.largest).contains(redaction.mark) else { return nil }
            var result = redaction
            result.place = place(redaction.place)
            var key = result
            key.isWholeValue = false
            return seen.insert(key).inserted ? result : nil
        }
    }

    private func place(_ place: String) -> String {
        let words = place.split(separator: ".", omittingEmptySubsequences: false)
        let own = words.prefix { Self.placeWords.contains($0) }
        let rest = Array(words.dropFirst(own.count).joined(separator: ".").utf8)
        guard !rest.isEmpty, judge.known.occur(in: rest) || judge.isSecret(name: rest) else {
            return place
        }
        return own.joined(separator: ".")
    }

    // MARK: Calls

    /// Returns a call without secrets in its own texts; its exchanges are redacted already.
    func redacted(texts call: RecordedCall) -> RecordedCall {
        var log = RedactionLog(marks)
        var result = call
        func plain(_ text: String) -> String { self.text(text, at: "call", in: &log) }
        result.service = call.service.map(plain)
        result.method = plain(call.method)
        result.path = call.path.map { url($0, at: "call.path", in: &log) }
        result.tags = call.tags.map(plain)
        result.mode = call.mode.map(plain)
        result.failure = call.failure.map(plain)
        result.message = call.message.map { reason($0, at: "call", in: &log) }
        result.serverCode = call.serverCode.map(plain)
        result.cache = call.cache.map(plain)
        result.stubs = call.stubs.map(plain)
        for index in call.stages.indices {
            result.stages[index].name = plain(call.stages[index].name)
        }
        for index in call.contents.indices {
            result.contents[index].stage = plain(call.contents[index].stage)
            result.contents[index].before = call.contents[index].before.map {
                message($0, in: &log)
            }
            result.contents[index].after = call.contents[index].after.map { message($0, in: &log) }
            result.contents[index].base = call.contents[index].base.map { base($0, in: &log) }
        }
        return result
    }

    /// Returns a signature base without secrets: in its parts, each by its name, and in its lines.
    private func base(
        _ base: RecordedCall.SignatureBase, in log: inout RedactionLog
    ) -> RecordedCall.SignatureBase {
        func own(_ text: String) -> [UInt8] {
            judge.replacingKnown(
                log.replacingForeignMarks(Array(text.utf8), at: "call"), at: "call", in: &log)
        }
        func value(_ value: [UInt8], of name: String) -> [UInt8] {
            FieldRedactor(judge: judge).redacted(
                value, of: name == "@signature-params" ? "signature-input" : name, at: "call",
                in: &log) ?? value
        }
        var result = base
        result.scheme = text(base.scheme, at: "call", in: &log)
        result.keyID = text(base.keyID, at: "call", in: &log)
        var whole = own(base.text)
        for (index, part) in base.parts.enumerated() {
            let (old, name) = (own(part.value), Self.component(part.name))
            let new = value(old, of: name)
            result.parts[index].value = String(decoding: new, as: UTF8.self)
            if new != old {
                whole = Array(
                    whole.split(separator: old, omittingEmptySubsequences: false).joined(
                        separator: new))
            }
        }
        let lines = whole.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)
        let clean = lines.map { line -> [UInt8] in
            guard line.first == ASCII.quote, let end = line.firstRange(of: Array(": ".utf8)) else {
                return value(Array(line), of: "")
            }
            let name = Self.component(String(decoding: line[..<end.lowerBound], as: UTF8.self))
            return line[..<end.upperBound] + value(Array(line[end.upperBound...]), of: name)
        }
        result.text = String(
            decoding: Array(clean.joined(separator: [ASCII.lineFeed])), as: UTF8.self)
        return result
    }

    /// The name of a component of a base, such as `token` of `"@query-param";name="token"`.
    private static func component(_ identifier: String) -> String {
        let pieces = identifier.split(separator: ";")
        let named = pieces.first { $0.utf8.starts(with: "name=".utf8) }?.dropFirst(5)
        return (named ?? pieces.first ?? "").lowercased().filter { $0 != "\"" }
    }

    /// Returns the text of a message (`StageContents.Message`) without secrets: its head has a URL,
    /// each line after it a field, and its body follows an empty line.
    private func message(_ text: String, in log: inout RedactionLog) -> String {
        let bytes = log.replacingForeignMarks(Array(text.utf8), at: "call")
        let lines = bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false)
        let head = lines[0].split(separator: ASCII.space, omittingEmptySubsequences: false)
            .map { word -> [UInt8] in
                let known = judge.replacingKnown(Array(word), at: "call", in: &log)
                return URLRedactor(texts: TextRedactor(judge: judge)).redacted(
                    known, at: "call", in: &log)
            }
        var result = Array(head.joined(separator: [ASCII.space]))
        var end = lines[0].endIndex
        let fields = FieldRedactor(judge: judge)
        var type = ""
        for line in lines.dropFirst() {
            end = line.endIndex
            result.append(ASCII.lineFeed)
            guard !line.isEmpty else { break }
            guard let colon = line.firstIndex(of: ASCII.colon) else {
                let texts = TextRedactor(judge: judge)
                result +=
                    texts.redacted(Array(line), named: [], at: "call", in: &log) ?? Array(line)
                continue
            }
            let value = line[(colon + 1)...].drop(while: \.isBlank)
            let known = judge.replacingKnown(Array(value), at: "call", in: &log)
            let name = String(decoding: line[..<colon].map(\.lowercased), as: UTF8.self)
            result += line[..<value.startIndex]
            result += fields.redacted(known, of: name, at: "call", in: &log) ?? known
            if name == "content-type" { type = String(decoding: value, as: UTF8.self) }
        }
        guard end < bytes.endIndex else { return String(decoding: result, as: UTF8.self) }
        result.append(ASCII.lineFeed)
        result += BodyRedactor(judge: judge, budget: budget).redacted(
            Array(bytes[(end + 1)...]), type: type, at: "call", in: &log)
        return String(decoding: result, as: UTF8.self)
    }
}

extension Recording {
    /// Returns the recording without secrets. Marks that it lists already stay.
    ///
    /// Texts that aren't a part of a message, such as comments and the initiators that browsers
    /// write down, aren't part of a recording, and so are gone too.
    ///
    /// Compressed bodies that are too large together are left out, because they can't be searched.
    public func redacted(by rules: RedactionRules = RedactionRules()) -> Recording {
        redacted(by: rules, decoding: DecodingBudget())
    }

    func redacted(by rules: RedactionRules, decoding budget: DecodingBudget) -> Recording {
        let marks = RedactionMarks(after: largestMark, keeping: .numbers(listedMarks))
        let redactor = ExchangeRedactor(rules, marks: marks, decoding: budget)
        var result = self
        result.calls = calls.map { call in
            var call = redactor.redacted(texts: call)
            call.exchanges = call.exchanges.map(redactor.redacted)
            return call
        }
        result.creator = creator.map(redactor.redacted)
        return result
    }
}

extension ExchangeRedactor {
    fileprivate func redacted(_ creator: Recording.Creator) -> Recording.Creator {
        var log = RedactionLog(marks)
        return Recording.Creator(
            name: text(creator.name, at: "creator", in: &log),
            version: text(creator.version, at: "creator", in: &log))
    }
}
