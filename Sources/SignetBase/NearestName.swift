/// Finds the name that a mistyped word was probably meant to be.
package enum NearestName {
    /// Returns the words that name the nearest known name, or nothing if none is near.
    package static func suggestion(for word: String, among names: [String]) -> String {
        guard let name = nearest(to: word, among: names), !sameBytes(name, word) else { return "" }
        return "; did you mean \"\(name)\"?"
    }

    /// Returns the name that a word was probably meant to be, or nil.
    package static func nearest(to word: String, among names: [String]) -> String? {
        let bytes = Array(word.lowercased().utf8.prefix(64))
        let letters = bytes.drop { $0 == UInt8(ascii: "-") }.count
        let candidates = names.map { (name: $0, distance: distance(from: bytes, to: $0)) }
        if let best = candidates.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, letters / 3), best.distance < letters
        {
            return best.name
        }
        let longer = names.filter { letters > 2 && Array($0.utf8).starts(with: bytes) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// Returns how many letters must be inserted, left out, changed or swapped with their
    /// neighbour.
    private static func distance(from word: [UInt8], to name: String) -> Int {
        let name = Array(name.utf8)
        var before: [Int] = []
        var last = Array(0...name.count)
        for (row, letter) in word.enumerated() {
            var next = [row + 1]
            for (column, other) in name.enumerated() {
                var best = min(next[column], last[column + 1]) + 1
                best = min(best, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == name[column - 1], word[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            before = last
            last = next
        }
        return last[name.count]
    }
}
