#if Tool
import SignetBase

/// Times of validity: a drawing, and a table that says the same in words.
struct Timeline {
    /// The meaning of a colour.
    enum Tone: String {
        case good, warning, bad, idle
    }

    /// One bar of the drawing, and one row of the table.
    struct Row {
        /// The heading above the row, such as a host.
        var group: String
        var label: String
        var state: String
        var tone: Tone
        /// Unix seconds.
        var start: Int64?
        /// Unix seconds.
        var end: Int64?
        var note = ""
        /// Whether it has no time yet, and is drawn with a dashed line from now on.
        var isOpen = false
    }

    private static let day: Int64 = 86_400
    private static let left: Int64 = 310
    private static let right: Int64 = 955
    private static let top = 44
    private static let step = 26

    /// Unix seconds.
    let now: Int64
    /// Seconds from now, a band of the drawing: what ends within them needs a successor.
    let leadTime: Int64
    var rows: [Row] = []

    /// The drawing and the table.
    func html(titled title: String) -> HTML {
        guard !rows.isEmpty else { return "<p>There are no dates.</p>" }
        return HTML(joining: [drawing(title), table(title)])
    }

    // MARK: The table

    private func table(_ title: String) -> HTML {
        StatusPage.table(
            title, columns: ["Of", "What", "State", "From", "Until", "Days left", "Note"],
            rows: rows.map { row in
                [
                    "\(row.group)", "<code>\(row.label)</code>",
                    StatusPage.state(row.state, tone: row.tone),
                    StatusPage.words(Self.date(row.start)), StatusPage.words(Self.date(row.end)),
                    "\(daysLeft(row.end))", StatusPage.words(row.note),
                ]
            })
    }

    private func daysLeft(_ end: Int64?) -> String {
        guard let end else { return "–" }
        return end <= now ? "over" : String((end - now) / Self.day)
    }

    /// A day, or a dash.
    static func date(_ seconds: Int64?) -> String {
        seconds.map { String(UnixTime.rfc3339($0).prefix(10)) } ?? "–"
    }

    // MARK: The drawing

    /// The first and the last second that are drawn: at most a year back and three years ahead.
    private var window: (start: Int64, end: Int64) {
        let first = rows.compactMap(\.start).min() ?? now
        let last = rows.compactMap(\.end).max() ?? now
        return (
            max(now - 365 * Self.day, min(first, now - 30 * Self.day)),
            min(now + 3 * 365 * Self.day, max(last, now + leadTime, now + 90 * Self.day))
        )
    }

    private func drawing(_ title: String) -> HTML {
        let window = window
        func x(_ time: Int64) -> Int64 {
            let inside = min(max(time, window.start), window.end)
            return Self.left + (inside - window.start) * (Self.right - Self.left)
                / (window.end - window.start)
        }
        var shapes: [HTML] = []
        var y = Self.top
        var group: String?
        for row in rows {
            if row.group != group {
                group = row.group
                shapes.append(
                    "<text class=\"group\" x=\"4\" y=\"\(y + 17)\">\(Self.cut(row.group))</text>")
                y += Self.step
            }
            shapes.append(
                "<text x=\"16\" y=\"\(y + 17)\"><title>\(row.label)</title>\(Self.cut(row.label))</text>"
            )
            shapes.append(bar(row, y: y, x: x, window: window))
            y += Self.step
        }
        let bottom = y + 6
        var ground: [HTML] = [
            """
            <rect class="band" x="\(x(now))" y="30" width="\(max(1, x(now + leadTime) - x(now)))" \
            height="\(bottom - 30)"><title>Lead time: \(leadTime / Self.day) days</title></rect>
            """
        ]
        for tick in Self.ticks(from: window.start, to: window.end) {
            ground.append(
                """
                <line class="tick" x1="\(x(tick.time))" y1="30" x2="\(x(tick.time))" y2="\(bottom)" />\
                <text class="faint" x="\(x(tick.time))" y="14" text-anchor="middle">\(tick.text)</text>
                """)
        }
        let today: HTML = """
            <line class="now" x1="\(x(now))" y1="30" x2="\(x(now))" y2="\(bottom)" />\
            <text class="now" x="\(x(now))" y="28" text-anchor="middle">today</text>
            """
        let description =
            "One bar for each of \(rows.count) times from \(Self.date(window.start)) to "
            + "\(Self.date(window.end)); the table below says the same."
        return """
            <div class="wide" role="region" aria-label="\(title), drawn" tabindex="0">
            <svg viewBox="0 0 1000 \(bottom + 4)" role="img" aria-labelledby="drawing-title drawing-text">
            <title id="drawing-title">\(title)</title>
            <desc id="drawing-text">\(description)</desc>
            \(HTML(joining: ground + shapes + [today]))
            </svg>
            </div>
            """
    }

    private func bar(
        _ row: Row, y: Int, x: (Int64) -> Int64, window: (start: Int64, end: Int64)
    ) -> HTML {
        let words =
            "\(row.group), \(row.label): \(row.state), from \(Self.date(row.start)) until "
            + Self.date(row.end)
        guard !row.isOpen else {
            return """
                <rect class="open \(row.tone.rawValue)" x="\(x(now))" y="\(y + 6)" \
                width="\(max(4, Self.right - x(now)))" height="12" rx="3"><title>\(words)</title></rect>
                """
        }
        guard let end = row.end else { return "" }
        let start = x(row.start ?? now)
        let arrow: HTML =
            end > window.end
            ? "<text class=\"faint\" x=\"\(Self.right + 3)\" y=\"\(y + 17)\">›</text>" : ""
        return """
            <rect class="bar \(row.tone.rawValue)" x="\(min(start, x(end)))" y="\(y + 5)" \
            width="\(max(4, x(end) - start))" height="14" rx="3"><title>\(words)</title></rect>\(arrow)
            """
    }

    /// A label that fits next to the bars; the whole is in its title and in the table.
    private static func cut(_ text: String) -> String {
        text.count <= 36 ? text : text.prefix(35) + "…"
    }

    /// First days of months, ten at most.
    private static func ticks(from start: Int64, to end: Int64) -> [(time: Int64, text: String)] {
        guard let first = month(start), let last = month(end) else { return [] }
        let step = [1, 2, 3, 6, 12].first { (last - first) / $0 < 10 } ?? 24
        return (first...last).filter { $0 % step == 0 }.compactMap { month in
            let (year, number) = (String(month / 12), String(month % 12 + 1))
            let text =
                String(repeating: "0", count: max(0, 4 - year.count)) + year + "-"
                + (number.count < 2 ? "0" : "") + number
            guard let time = UnixTime.parseDate(text + "-01"), time >= start else { return nil }
            return (time, text)
        }
    }

    /// The months from year 0 to a time.
    private static func month(_ time: Int64) -> Int? {
        let date = UnixTime.rfc3339(time)
        guard let year = Int(date.prefix(4)), let month = Int(date.dropFirst(5).prefix(2)) else {
            return nil
        }
        return year * 12 + month - 1
    }
}
#endif
