extension ArraySlice<UInt8> {
    /// Returns the position of the first occurrence of a text, or nil.
    func firstPosition(of text: String) -> Int? {
        let pattern = Array(text.utf8)
        guard count >= pattern.count else { return nil }
        var rest = self
        while let position = rest.firstIndex(of: pattern[0]) {
            if self[position...].starts(with: pattern) { return position }
            rest = rest[(position + 1)...]
        }
        return nil
    }
}
