extension Duration {
    /// The duration in milliseconds, rounded up, from 1 to 2,000,000,000 (about 23 days).
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        return max(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000, 1)
    }
}
