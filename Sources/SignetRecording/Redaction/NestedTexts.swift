/// Replaces the secrets of the texts inside another text, whatever form they have.
protocol NestedTexts: Sendable {
    var judge: SecretJudge { get }

    /// Returns a text without its secrets, or nil if it has none.
    ///
    /// - Parameters:
    ///   - bytes: The text, decoded.
    ///   - name: The names on the way to the text, joined by dots; empty for none.
    func redacted(
        _ bytes: [UInt8], named name: [UInt8], at place: @autoclosure () -> String,
        in log: inout RedactionLog
    ) -> [UInt8]?
}

extension NestedTexts {
    /// Whether a text has a secret anywhere.
    func hasSecret(_ bytes: [UInt8], named name: [UInt8], in log: RedactionLog) -> Bool {
        var trial = log
        return redacted(bytes, named: name, at: "", in: &trial) != nil
    }
}
