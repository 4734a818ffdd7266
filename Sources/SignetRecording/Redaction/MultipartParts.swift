import SignetBase

/// The parts of a multipart body, with the bytes between them.
struct MultipartParts {
    /// The head of a part, with the empty line after it.
    struct Head {
        var fields: [RecordedField]

        /// The parameter `name` of Content-Disposition; empty if there is none.
        var name: [UInt8] {
            let disposition = fields.first { $0.name.lowercased() == "content-disposition" }
            for parameter in (disposition?.bytes ?? []).split(separator: ASCII.semicolon) {
                let parameter = parameter.trimmingBlanks()
                if parameter.starts(with: "name=".utf8) {
                    return Array(parameter.dropFirst(5).trimming { $0 == ASCII.quote })
                }
            }
            return []
        }

        var type: String {
            fields.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        }

        var bytes: [UInt8] {
            fields.flatMap { Array("\($0.name): ".utf8) + $0.bytes + MultipartParts.lineEnd }
                + MultipartParts.lineEnd
        }
    }

    enum Piece {
        case part(Head, content: ArraySlice<UInt8>)
        case other(ArraySlice<UInt8>)
    }

    private static let lineEnd: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]

    private(set) var pieces: [Piece] = []

    /// Reads a body. A head that can't be read becomes a part without fields.
    ///
    /// - Returns: Nil if the body doesn't have the boundary.
    init?(_ bytes: [UInt8], boundary: [UInt8]) {
        let delimiter = [ASCII.minus, ASCII.minus] + boundary
        var places: [Int] = []
        var at = 0
        while let found = bytes[at...].firstIndex(of: ASCII.minus) {
            at = found + 1
            guard bytes[found...].starts(with: delimiter),
                found == 0 || bytes[found - 1] == ASCII.lineFeed
            else { continue }
            places.append(found)
            at = found + delimiter.count
        }
        guard !places.isEmpty else { return nil }
        if places[0] > 0 { pieces.append(.other(bytes[..<places[0]])) }
        for (index, start) in places.enumerated() {
            let end = index + 1 < places.count ? places[index + 1] : bytes.count
            let line = bytes[start..<end]
            let lineEnd = line.firstIndex(of: ASCII.lineFeed).map { $0 + 1 } ?? end
            pieces.append(.other(bytes[start..<lineEnd]))
            guard lineEnd < end else { continue }
            guard index + 1 < places.count else {
                pieces.append(.other(bytes[lineEnd..<end]))
                continue
            }
            add(bytes[lineEnd..<end])
        }
    }

    /// Adds a part, whose last line end belongs to the boundary after it.
    private mutating func add(_ part: ArraySlice<UInt8>) {
        let hasLineEnd = part.suffix(2).elementsEqual(Self.lineEnd)
        let end = part.endIndex - (hasLineEnd ? 2 : 1)
        var fields: [RecordedField] = []
        var at = part.startIndex
        while at < end {
            let line = part[at..<end].prefix { $0 != ASCII.lineFeed }
            let text = line.last == ASCII.carriageReturn ? line.dropLast() : line
            at = min(line.endIndex + 1, end)
            if text.isEmpty {
                pieces.append(.part(Head(fields: fields), content: part[at..<end]))
                pieces.append(.other(part[end...]))
                return
            }
            guard let colon = text.firstIndex(of: ASCII.colon) else { break }
            fields.append(
                RecordedField(
                    name: String(decoding: text[..<colon], as: UTF8.self),
                    bytes: Array(text[(colon + 1)...].trimmingBlanks())))
        }
        // Not a head: judged as one text.
        pieces.append(.other(part))
    }
}
