extension Duration {
    /// The duration in milliseconds, rounded up, from 1 to 2,000,000,000 (about 23 days).
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        return max(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000, 1)
    }

    /// The duration in whole milliseconds, of any length up to 30,000 years.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit: Int64 = 1_000_000_000_000
        return min(max(seconds, -limit), limit) * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// The duration in seconds, rounded up, from 0 to 2,000,000.
    package var wholeSeconds: Int {
        let (seconds, attoseconds) = components
        return Int(min(max(seconds + (attoseconds > 0 ? 1 : 0), 0), 2_000_000))
    }
}
