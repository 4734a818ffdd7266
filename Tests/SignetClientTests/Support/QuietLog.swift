import Logging
import Testing

/// Discards what systems without a logger of their own log, in all tests of the process.
///
/// The runner makes the traits of all tests, also of those that it leaves out, before it runs one.
private struct QuietLog: SuiteTrait {
    private static let isSet: Void = LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }

    init() { Self.isSet }
}

@Suite(QuietLog()) struct QuietLogTests {
    @Test func aTestPrintsNoLog() {
        #expect(Logger(label: "signet.client").handler is SwiftLogNoOpLogHandler)
    }
}
