import SignetBase
import SignetCrypto
import Synchronization

/// Numbers the secrets of one recording, so that equal ones have the same mark.
///
/// It keeps no secret: a value is found again by its MAC under a key that is random and never
/// leaves the process. A mark says nothing about its value, because numbers count up.
final class RedactionMarks: Sendable, CustomReflectable {
    /// The marks in a text that stay as they are. All others are another program's text, and get
    /// a mark of their own, so that they are never taken for one of this recording.
    enum Kept: Sendable {
        case none
        case all
        case numbers(Set<Int>)

        func contains(_ number: Int) -> Bool {
            switch self {
            case .none: false
            case .all: true
            case .numbers(let numbers): numbers.contains(number)
            }
        }
    }

    private struct State {
        var numbers: [[UInt8]: Int] = [:]
        var last: Int
    }

    /// The number of values that are remembered. Later ones get a mark of their own each time.
    private static let limit = 100_000
    let kept: Kept
    private let key: HMACKey?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - last: The last number that is taken already.
    ///   - kept: The marks that stay.
    init(after last: Int = 0, keeping kept: Kept = .none) {
        state = Mutex(State(last: min(max(last, 0), RedactionMark.largest)))
        self.kept = kept
        key = (try? RandomBytes.bytes(32)).flatMap { try? HMACKey(.sha256, key: $0.span) }
    }

    /// Returns the number of a secret. When all numbers are taken, the rest share the largest.
    func number(of secret: some Collection<UInt8>) -> Int {
        let tag = key.flatMap { try? $0.tag(of: Array(secret)) }
        return state.withLock { state in
            if let tag, let number = state.numbers[tag] { return number }
            state.last = min(state.last + 1, RedactionMark.largest)
            if let tag, state.numbers.count < Self.limit { state.numbers[tag] = state.last }
            return state.last
        }
    }

    /// A mirror without the key and the MACs.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The text in place of a secret: `redacted-3`. A letter or a digit never touches it.
enum RedactionMark {
    private static let prefix = Array("redacted-".utf8)
    /// The largest number of a mark.
    static let largest = 999_999_999

    static func text(_ number: Int) -> String { "redacted-\(number)" }

    /// The number of a mark; nil for any other text.
    static func number(of text: some Collection<UInt8>) -> Int? {
        guard text.starts(with: prefix) else { return nil }
        let digits = text.dropFirst(prefix.count)
        guard (1...9).contains(digits.count), digits.first != ASCII.zero,
            digits.allSatisfy(\.isDigit)
        else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The marks in a text, with their places.
    static func all(in bytes: [UInt8]) -> [(range: Range<Int>, number: Int)] {
        var marks: [(Range<Int>, Int)] = []
        let span = bytes.span
        let prefix = Self.prefix
        // Looks for the last byte of the prefix, so that most bytes are skipped.
        var at = prefix.count - 1
        while at < span.count {
            guard span[at] == ASCII.minus else {
                at += prefix.contains(span[at]) ? 1 : prefix.count
                continue
            }
            let start = at + 1 - prefix.count
            at += 1
            guard bytes[start...].starts(with: prefix),
                start == 0 || !span[start - 1].isLetterOrDigit
            else { continue }
            let digits = bytes[(start + prefix.count)...].prefix(while: \.isDigit)
            let end = digits.endIndex
            guard let number = number(of: bytes[start..<end]),
                end == bytes.count || !bytes[end].isLetter
            else { continue }
            marks.append((start..<end, number))
            at = end + prefix.count - 1
        }
        return marks
    }

    /// Returns bytes without their marks, so that these aren't judged.
    static func removing(from bytes: [UInt8]) -> [UInt8] {
        let marks = all(in: bytes)
        guard !marks.isEmpty else { return bytes }
        var result: [UInt8] = []
        var kept = 0
        for mark in marks {
            result += bytes[kept..<mark.range.lowerBound]
            kept = mark.range.upperBound
        }
        return result + bytes[kept...]
    }
}

extension Recording {
    /// The numbers of the marks that the recording says it has.
    var listedMarks: Set<Int> {
        Set(calls.flatMap(\.exchanges).flatMap(\.redactions).map(\.mark))
    }

    /// The largest number of a mark, also of one that occurs in a text alone.
    var largestMark: Int {
        calls.reduce(lastMark) { largest, call in
            call.exchanges.reduce(largest) { max($0, $1.marks.max() ?? 0) }
        }
    }
}

extension RecordedCall {
    /// Changes each text of the call itself that may have marks: its path, message and server's
    /// code, and the contents of its stages.
    mutating func changeTexts(_ change: (String) -> String) {
        path = path.map(change)
        message = message.map(change)
        serverCode = serverCode.map(change)
        for index in contents.indices {
            contents[index].before = contents[index].before.map(change)
            contents[index].after = contents[index].after.map(change)
            guard var base = contents[index].base else { continue }
            base.text = change(base.text)
            for index in base.parts.indices {
                base.parts[index].value = change(base.parts[index].value)
            }
            contents[index].base = base
        }
    }

    /// The largest number of a mark of redaction in the call; 0 if nothing was redacted.
    var lastMark: Int {
        var last = exchanges.flatMap(\.redactions).map(\.mark).max() ?? 0
        var own = self
        own.changeTexts { text in
            last = max(last, RedactionMark.all(in: Array(text.utf8)).map(\.number).max() ?? 0)
            return text
        }
        return last
    }
}

extension RecordedExchange {
    /// The marks in the messages.
    var marks: Set<Int> {
        let texts =
            [Array(request.url.utf8), request.body?.bytes ?? [], response?.body?.bytes ?? []]
            + (request.fields + (response?.fields ?? [])).map(\.bytes)
        return Set(texts.flatMap { RedactionMark.all(in: $0).map(\.number) })
    }
}

extension RedactionMark {
    /// Returns bytes whose marks have higher numbers.
    static func shifting(_ bytes: [UInt8], by offset: Int) -> [UInt8] {
        guard offset > 0 else { return bytes }
        var result: [UInt8] = []
        var kept = 0
        for mark in all(in: bytes) {
            result += bytes[kept..<mark.range.lowerBound] + text(mark.number + offset).utf8
            kept = mark.range.upperBound
        }
        return result + bytes[kept...]
    }

    static func shifting(_ text: String, by offset: Int) -> String {
        String(decoding: shifting(Array(text.utf8), by: offset), as: UTF8.self)
    }
}

extension RecordedExchange {
    /// Returns the exchange with higher numbers of marks.
    func shiftingMarks(by offset: Int) -> RecordedExchange {
        guard offset > 0, !redactions.isEmpty else { return self }
        func shifted(_ fields: [RecordedField]) -> [RecordedField] {
            fields.map {
                RecordedField(
                    name: $0.name, bytes: RedactionMark.shifting($0.bytes, by: offset))
            }
        }
        var result = self
        result.request.url = RedactionMark.shifting(request.url, by: offset)
        result.request.fields = shifted(request.fields)
        if let body = request.body {
            result.request.body?.bytes = RedactionMark.shifting(body.bytes, by: offset)
        }
        if let response {
            result.response?.fields = shifted(response.fields)
            result.response?.reason = RedactionMark.shifting(response.reason, by: offset)
            if let body = response.body {
                result.response?.body?.bytes = RedactionMark.shifting(body.bytes, by: offset)
            }
        }
        result.failure = failure.map { RedactionMark.shifting($0, by: offset) }
        result.message = message.map { RedactionMark.shifting($0, by: offset) }
        for index in redactions.indices { result.redactions[index].mark += offset }
        return result
    }
}
