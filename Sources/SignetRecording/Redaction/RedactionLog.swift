/// The values of one exchange that were replaced.
struct RedactionLog {
    let marks: RedactionMarks
    private(set) var redactions: [RecordedExchange.Redaction] = []
    private var noted: Set<RecordedExchange.Redaction> = []

    init(_ marks: RedactionMarks) { self.marks = marks }

    /// Returns the mark of a secret, and notes its place.
    ///
    /// - Parameter isWhole: Whether the secret is a JSON value that isn't a string.
    mutating func mark(
        _ secret: some Collection<UInt8>, at place: String, isWhole: Bool = false
    ) -> String {
        let number = RedactionMark.number(of: secret) ?? marks.number(of: secret)
        note(number, at: place, isWhole: isWhole)
        return RedactionMark.text(number)
    }

    private mutating func note(_ number: Int, at place: String, isWhole: Bool = false) {
        var redaction = RecordedExchange.Redaction(place: place, mark: number)
        redaction.isWholeValue = isWhole
        if noted.insert(redaction).inserted { redactions.append(redaction) }
    }

    /// Returns bytes in which each text that looks like a mark, and isn't one of this recording,
    /// is replaced by a mark. It must be called before any mark is written into the bytes.
    mutating func replacingForeignMarks(
        _ bytes: [UInt8], at place: @autoclosure () -> String
    ) -> [UInt8] {
        let found = RedactionMark.all(in: bytes)
        guard !found.isEmpty else { return bytes }
        var result: [UInt8] = []
        var kept = 0
        for mark in found {
            if marks.kept.contains(mark.number) { continue }
            result += bytes[kept..<mark.range.lowerBound]
            // Not `mark(_:at:)`, which would take it for a mark.
            let number = marks.number(of: bytes[mark.range])
            note(number, at: place())
            result += RedactionMark.text(number).utf8
            kept = mark.range.upperBound
        }
        return result + bytes[kept...]
    }
}
