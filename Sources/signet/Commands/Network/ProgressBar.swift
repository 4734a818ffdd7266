#if Tool
import SignetClient
import SignetSystem

/// Shows on standard error how far a command's upload or download is, if it takes longer than a
/// second.
struct ProgressBar {
    private static let patience: Duration = .seconds(1)
    private static let interval: Duration = .milliseconds(200)

    let progress = CallProgress()

    /// Makes a bar; nil if standard error is not a terminal.
    init?(on terminal: Terminal) {
        guard terminal.showsProgress else { return nil }
    }

    /// Runs a command's work, and draws the bar meanwhile.
    static func showing<Result>(
        _ bar: ProgressBar?, during work: () async throws -> Result
    ) async throws -> Result {
        guard let progress = bar?.progress else { return try await work() }
        let drawing = Task { await draw(progress) }
        do {
            let result = try await work()
            drawing.cancel()
            await drawing.value
            return result
        } catch {
            drawing.cancel()
            await drawing.value
            throw error
        }
    }

    /// Redraws the line regularly, and removes it at the end.
    private static func draw(_ progress: CallProgress) async {
        do { try await Task.sleep(for: patience) } catch { return }
        while !Task.isCancelled {
            if let line = line(for: progress.state) { write("\r\u{1B}[K\(line)") }
            try? await Task.sleep(for: interval)
        }
        write("\r\u{1B}[K")
    }

    private static func write(_ text: String) {
        _ = StandardStreams.write(Array(text.utf8), to: .standardError)
    }

    /// The line for a state: what is received, or else what is sent; nil before the first byte.
    static func line(for state: CallProgress.State) -> String? {
        let receives = state.received > 0
        guard receives || state.sent > 0 else { return nil }
        let count = receives ? state.received : state.sent
        let total = receives ? state.expectedToReceive : state.expectedToSend
        let verb = receives ? "received" : "sent"
        guard let total, total > 0, count <= total else { return "\(verb) \(size(count))" }
        let width = 24
        let filled = Int(Double(count) / Double(total) * Double(width))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let percent = Int(Double(count) / Double(total) * 100)
        return "\(verb) [\(bar)] \(percent) % of \(size(total))"
    }

    /// A number of bytes with a unit: `900 bytes`, `1.4 MB`.
    static func size(_ count: Int64) -> String {
        var tenths = count
        var unit = "bytes"
        for next in ["kB", "MB", "GB", "TB"] {
            let limit: Int64 = unit == "bytes" ? 1000 : 10_000
            guard tenths >= limit else { break }
            tenths = unit == "bytes" ? tenths / 100 : tenths / 1000
            unit = next
        }
        return unit == "bytes" ? "\(count) bytes" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
#endif
