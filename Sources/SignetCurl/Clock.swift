import CSignetCurl

/// The system's monotonic clock.
enum Clock {
    static var milliseconds: Int64 { signet_monotonic_milliseconds() }
}
