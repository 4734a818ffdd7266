extension ArraySlice<UInt8> {
    /// Returns the position of the first occurrence of a text, or nil.
    func firstPosition(of text: String) -> Int? {
        let pattern = Array(text.utf8)
        guard count >= pattern.count else { return nil }
        return (startIndex...(endIndex - pattern.count)).first { position in
            self[position] == pattern[0] && self[position...].starts(with: pattern)
        }
    }
}
