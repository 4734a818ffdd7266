#if Inspector
import SignetBase
import SignetCrypto
import SignetJSON
public import SignetRecording
import SignetSystem

extension Inspector {
    /// Shows a recording on a page for a browser on this machine, until it is stopped.
    ///
    /// The page shows the recording as it is: one that another program wrote has to be redacted
    /// first (`Recording.redacted(by:)`).
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - title: The page's title, such as the file's name.
    /// - Throws: `cannot-listen`.
    public static func show(
        _ recording: Recording, title: String = ""
    ) async throws(InspectorError) -> Inspector {
        try await Inspector(
            showing: RecordingSource(recording, title: title), user: CurrentUser.id)
    }
}

extension Recording {
    /// Returns a page with the recording as one file, which loads nothing and works without a
    /// server.
    ///
    /// - Parameter title: The page's title.
    /// - Throws: `cannot-listen` if OpenSSL fails.
    public func html(title: String = "") throws(InspectorError) -> [UInt8] {
        do throws(CryptoFailure) {
            return try PageDocument.file(
                about: PageJSON.about(self, title: title),
                calls: calls.map { (row: $0.row, detail: $0.detail) })
        } catch {
            throw InspectorError(.cannotListen, "OpenSSL failed: \(error.description)")
        }
    }
}

extension PageJSON {
    /// The words of the page about a recording.
    fileprivate static func about(_ recording: Recording, title: String) -> JSONObject {
        [
            "mode": text(recording.calls.lazy.compactMap(\.mode).first), "title": .string(title),
            "version": .null, "isSwitchable": false, "switches": .null,
            "services": [], "engines": [],
        ]
    }
}

/// The calls of a recording.
private struct RecordingSource: PageSource {
    let recording: Recording
    let title: String

    /// The most calls of one answer.
    private static let limit = 1000

    init(_ recording: Recording, title: String) {
        self.recording = recording
        self.title = title
    }

    func about() async -> JSONObject { PageJSON.about(recording, title: title) }

    func changes(after revision: Int) async -> PageChanges {
        let calls = recording.calls.dropFirst(max(revision, 0)).prefix(Self.limit)
        let end = max(revision, 0) + calls.count
        return PageChanges(
            rows: calls.map { .object($0.row) }, revision: end,
            isEnded: end >= recording.calls.count, dropped: recording.droppedCount)
    }

    func detail(of id: String) async -> JSONValue? {
        recording.calls.first { "\($0.id)" == id }?.detail
    }

    func act(_ action: JSONObject) async throws(InspectorError) {
        throw InspectorError(.notSwitchable, "found a recording, which does nothing")
    }
}
#endif
