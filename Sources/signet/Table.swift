#if Tool
import SignetBase
import SignetCrypto

/// Columns for people: padded with spaces, in colour only on a terminal that allows it.
struct Table {
    /// The meaning of a cell's colour.
    enum Tone: String {
        case plain = ""
        case good = "\u{1B}[32m"
        case warning = "\u{1B}[33m"
        case bad = "\u{1B}[31m"
        case heading = "\u{1B}[1m"
    }

    private var rows: [[(text: String, tone: Tone)]]

    /// Creates a table that begins with a line of headings, if there are any.
    init(_ headings: String...) {
        rows = headings.isEmpty ? [] : [headings.map { ($0, .heading) }]
    }

    /// Adds a row; control characters are escaped.
    mutating func add(_ cells: [(text: String, tone: Tone)]) {
        rows.append(cells.map { (Terminal.printable($0.text), $0.tone) })
    }

    /// The lines, without spaces at their ends.
    func lines(colored: Bool) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.count > column ? $0[column].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let last = column == row.count - 1
                let padding = String(
                    repeating: " ", count: last ? 0 : widths[column] - cell.text.count + 2)
                line += Table.colored(cell.text, tone: cell.tone, isAllowed: colored) + padding
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// A cell with the last day of something, coloured if it is over or within 30 days.
    static func until(_ end: Int64?, now: Int64) -> (text: String, tone: Tone) {
        guard let end else { return ("-", .plain) }
        let tone: Tone = end < now ? .bad : end < now + 30 * 86_400 ? .warning : .good
        return (String(UnixTime.rfc3339(end).prefix(10)), tone)
    }

    /// A text in a colour, if colours are allowed.
    static func colored(_ text: String, tone: Tone, isAllowed: Bool) -> String {
        isAllowed && tone != .plain && !text.isEmpty ? tone.rawValue + text + "\u{1B}[0m" : text
    }
}
#endif
