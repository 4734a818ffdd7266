/// The values of one exchange that were replaced.
struct RedactionLog {
    let marks: RedactionMarks
    private(set) var redactions: [RecordedExchange.Redaction] = []

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
        if !redactions.contains(redaction) { redactions.append(redaction) }
    }

    /// Notes the marks that a text has already, because an interceptor or another program has
    /// written them.
    mutating func noteMarks(in bytes: [UInt8], at place: String) {
        for mark in RedactionMark.all(in: bytes) { note(mark.number, at: place) }
    }
}
