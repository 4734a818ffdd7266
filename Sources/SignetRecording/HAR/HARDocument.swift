import SignetBase
public import SignetJSON
import SignetSystem
import SignetVault

extension Recording {
    /// Returns the recording as HAR 1.2, strictly by its schema: UTF-8 without a byte order mark,
    /// indented.
    ///
    /// The members `_signet` have all that HAR has no place for. The bytes are what is recorded: a
    /// recording that another program wrote has to be redacted first (``redacted(by:)``).
    public func har() -> [UInt8] { harDocument().serialized(.pretty) + [ASCII.lineFeed] }

    /// Writes the recording to a file, which only its owner can read (mode 0600), in place of one
    /// that is there. A reader sees either the old file or the new one.
    ///
    /// - Parameter path: The path of the file, whose folder exists.
    /// - Throws: `RecordingError` with the code of the failure, if the file can't be written.
    public func write(to path: String) throws(RecordingError) {
        do throws(FileFailure) {
            try PrivateFile.writeAtomically(har(), to: path)
        } catch {
            throw RecordingError(error.code, error.message)
        }
    }

    /// Returns the recording as a HAR document.
    public func harDocument() -> JSONValue {
        var details: JSONObject = ["version": .number(JSONNumber(Self.formatVersion))]
        if droppedCount > 0 { details["dropped"] = .number(JSONNumber(droppedCount)) }
        let calls = calls.map { HARCall.document(of: $0) }
        if calls.contains(where: { $0.count > 1 }) {
            details["calls"] = .array(calls.map(JSONValue.object))
        }
        let numbered = self.calls.enumerated().flatMap { index, call in
            call.exchanges.enumerated().map { (call: index, position: $0.offset, $0.element) }
        }.sorted { ($0.2.started, $0.call, $0.position) < ($1.2.started, $1.call, $1.position) }
        let entries = numbered.map { number, _, exchange in
            JSONValue.object(HAREntry.document(of: exchange, call: self.calls[number].id))
        }
        return [
            "log": [
                "version": "1.2",
                "creator": ["name": "signet", "version": .string(SignetVersion.current)],
                "entries": .array(entries), "_signet": .object(details),
            ]
        ]
    }

    /// The version of the members `_signet`.
    static let formatVersion = 1

    /// Reads a HAR tolerantly, as browsers, proxies and other tools write it.
    ///
    /// An entry that can't be read at all, and a body that is damaged, are named by ``problems``.
    ///
    /// - Parameter bytes: The whole file; a byte order mark is skipped.
    /// - Throws: `RecordingError` with `malformed-recording` if it isn't JSON, or has no
    ///   `log.entries`.
    public init(har bytes: [UInt8]) throws(RecordingError) {
        try self.init(harDocument: Self.document(ofHAR: bytes))
    }

    /// The document of a HAR; a byte order mark is skipped.
    static func document(ofHAR bytes: [UInt8]) throws(RecordingError) -> JSONValue {
        let text = bytes.hasByteOrderMark ? Array(bytes[ByteOrderMark.bytes.count...]) : bytes
        guard !text.isEmpty else {
            throw RecordingError(
                .malformedRecording, "no recording was given: found nothing, expected a HAR")
        }
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            throw RecordingError(
                .malformedRecording, "found no JSON, expected a HAR: \(error.message)")
        }
    }

    /// Reads a HAR document tolerantly.
    ///
    /// - Throws: `RecordingError` with `malformed-recording` if it has no `log.entries`.
    public init(harDocument document: JSONValue) throws(RecordingError) {
        try self.init(harDocument: document, decoding: DecodingBudget())
    }

    init(harDocument document: JSONValue, decoding budget: DecodingBudget) throws(RecordingError) {
        guard let log = document["log"], let entries = log["entries"] else {
            let missing = document["log"] == nil ? "log" : "log.entries"
            throw RecordingError(
                .malformedRecording,
                "found \(document.typeName) without \(missing), expected a HAR with log.entries")
        }
        guard let entries = entries.array else {
            throw RecordingError(
                .malformedRecording,
                "found \(entries.typeName), expected an array at log.entries")
        }
        self.init()
        creator = log["creator"].flatMap { creator in
            creator["name"]?.string.map {
                Creator(name: $0, version: creator["version"]?.string ?? "")
            }
        }
        let own =
            log["_signet"]?["version"]?.number?.int64 == Int64(Self.formatVersion)
            ? log["_signet"] : nil
        droppedCount = own?["dropped"]?.number?.int64.map { Int(clamping: $0) } ?? 0
        var numbered: [Int: Int] = [:]
        for document in own?["calls"]?.array ?? [] {
            guard let call = HARCall.call(document), numbered[call.id] == nil else { continue }
            numbered[call.id] = calls.count
            calls.append(call)
        }
        for (index, entry) in entries.enumerated() {
            var reader = HAREntryReader(place: "log.entries[\(index)]", decoding: budget)
            let exchange = reader.exchange(entry)
            problems += reader.problems
            guard let exchange else { continue }
            let number = own == nil ? nil : entry["_signet"]?["call"]?.number?.int64
            if let number, let position = numbered[Int(clamping: number)] {
                calls[position].exchanges.append(exchange)
            } else {
                calls.append(RecordedCall(exchange))
            }
        }
        number()
    }

    /// Reads a HAR that Signet wrote, to which a program may add.
    ///
    /// - Throws: `RecordingError` with `malformed-recording`; `foreign-recording` for another
    ///   program's.
    package init(ownHAR bytes: [UInt8]) throws(RecordingError) {
        guard let document = try? JSONValue(parsing: bytes),
            document["log"]?["_signet"]?["version"]?.number?.int64 == Int64(Self.formatVersion)
        else {
            throw RecordingError(
                .foreignRecording, "found another program's file, expected a recording of signet")
        }
        try self.init(harDocument: document)
    }

    /// Returns the recording with the calls of another one, whose numbers and marks follow its own.
    package func appending(_ other: Recording) -> Recording {
        var whole = self
        let (last, offset) = (calls.map(\.id).max() ?? 0, lastMark)
        whole.calls += other.calls.map { call in
            var call = call
            call.id += last
            call.joinedCall = call.joinedCall.map { $0 + last }
            call.exchanges = call.exchanges.map { $0.shiftingMarks(by: offset) }
            call.changeTexts { RedactionMark.shifting($0, by: offset) }
            return call
        }
        whole.droppedCount += other.droppedCount
        whole.number()
        return whole
    }

    /// Orders the calls by their starts, and numbers them from 1.
    mutating func number() {
        let ordered = calls.enumerated().sorted {
            ($0.element.started, $0.element.id, $0.offset)
                < ($1.element.started, $1.element.id, $1.offset)
        }
        // Several processes may have given the same number: the last call before is meant.
        var numbers: [Int: Int] = [:]
        calls = ordered.enumerated().map { index, pair in
            var call = pair.element
            call.joinedCall = call.joinedCall.flatMap { numbers[$0] }
            if call.id > 0 { numbers[call.id] = index + 1 }
            call.id = index + 1
            return call
        }
    }
}
