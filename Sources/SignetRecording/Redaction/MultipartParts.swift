import SignetBase

/// The parts of a multipart body (RFC 2046, section 5.1), with the bytes between them. All pieces
/// together are the body.
struct MultipartParts {
    /// The head of a part, with the empty line after it.
    struct Head {
        /// A line of the head.
        struct Field {
            let name: String
            /// The place of the value in the body.
            let value: Range<Int>
        }

        let bytes: ArraySlice<UInt8>
        let fields: [Field]

        private func value(of name: String) -> ArraySlice<UInt8>? {
            fields.first { $0.name.lowercased() == name }.map { bytes[$0.value] }
        }

        /// The parameter `name` of Content-Disposition; empty if there is none.
        var name: [UInt8] {
            let disposition = value(of: "content-disposition") ?? []
            for parameter in disposition.split(separator: ASCII.semicolon) {
                let parameter = parameter.trimmingBlanks()
                let name = parameter.prefix { $0 != ASCII.equals }
                if name.trimmingBlanks().map(\.lowercased).elementsEqual("name".utf8) {
                    return Array(
                        parameter.dropFirst(name.count + 1)
                            .trimming { $0.isBlank || $0 == ASCII.quote })
                }
            }
            return []
        }

        var type: String { String(decoding: value(of: "content-type") ?? [], as: UTF8.self) }
    }

    enum Piece {
        /// A line with the boundary.
        case boundary(ArraySlice<UInt8>)
        case part(Head, content: ArraySlice<UInt8>)
        case other(ArraySlice<UInt8>)
    }

    private static let lineEnd: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]

    private(set) var pieces: [Piece] = []

    /// Reads a body. A part whose head can't be read is another piece.
    ///
    /// - Returns: Nil if the body doesn't have the boundary.
    init?(_ bytes: [UInt8], boundary: [UInt8]) {
        let delimiter = [ASCII.minus, ASCII.minus] + boundary
        var places: [Int] = []
        var at = 0
        while let found = bytes[at...].firstIndex(of: ASCII.minus) {
            at = found + 1
            guard bytes[found...].starts(with: delimiter),
                found == 0 || bytes[found - 1] == ASCII.lineFeed,
                Self.isBoundary(bytes[found...].dropFirst(delimiter.count))
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
            pieces.append(.boundary(bytes[start..<lineEnd]))
            guard lineEnd < end else { continue }
            guard index + 1 < places.count else {
                pieces.append(.other(bytes[lineEnd..<end]))
                continue
            }
            add(bytes[lineEnd..<end])
        }
    }

    /// Whether nothing but dashes and blanks follows a boundary on its line.
    private static func isBoundary(_ rest: ArraySlice<UInt8>) -> Bool {
        let after = rest.prefix { $0 != ASCII.lineFeed }
        let dashes = after.starts(with: [ASCII.minus, ASCII.minus]) ? after.dropFirst(2) : after
        return dashes.allSatisfy { $0.isBlank || $0 == ASCII.carriageReturn }
    }

    /// Adds a part, whose last line end belongs to the boundary after it.
    private mutating func add(_ part: ArraySlice<UInt8>) {
        let hasLineEnd = part.suffix(2).elementsEqual(Self.lineEnd)
        let end = part.endIndex - (hasLineEnd ? 2 : 1)
        var fields: [Head.Field] = []
        var at = part.startIndex
        while at < end {
            let line = part[at..<end].prefix { $0 != ASCII.lineFeed }
            let text = line.last == ASCII.carriageReturn ? line.dropLast() : line
            at = min(line.endIndex + 1, end)
            if text.isEmpty {
                let head = Head(bytes: part[..<at], fields: fields)
                pieces.append(.part(head, content: part[at..<end]))
                pieces.append(.other(part[end...]))
                return
            }
            guard let colon = text.firstIndex(of: ASCII.colon) else { break }
            let value = text[(colon + 1)...].trimmingBlanks()
            fields.append(
                Head.Field(
                    name: String(decoding: text[..<colon].trimmingBlanks(), as: UTF8.self),
                    value: value.isEmpty
                        ? text.endIndex..<text.endIndex
                        : value.startIndex..<value.endIndex))
        }
        // Not a head: judged as one text.
        pieces.append(.other(part))
    }
}
