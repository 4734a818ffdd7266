#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetRecording
import SignetSystem
import Synchronization

/// The recording of a call.
struct RecordOptions: ParsableArguments {
    @Option(
        name: .customLong("record"),
        help: ArgumentHelp(
            """
            Record the requests and responses, redacted, in this file (HAR 1.2). A recording of \
            signet's gets them in addition.
            """, valueName: "file"), completion: .file())
    var file: String?

    func validate() throws {
        try ToolError.requireFile(file, subject: "a recording")
        guard file?.isEmpty != true else { throw ValidationError("--record: the name is empty") }
    }

    /// Checks the file; nil if nothing is recorded.
    ///
    /// - Parameter secrets: Values that the command got from sources of secrets.
    /// - Throws: `foreign-recording` for a file that isn't a recording of ours.
    func open(hiding secrets: [String]) throws -> CallRecorder? {
        guard let file else { return nil }
        return try CallRecorder(RecordingFile(path: file), hiding: secrets)
    }
}

/// Records the calls of a command, and writes them when the command ends, also at a signal.
final class CallRecorder: Sendable {
    private let file: RecordingFile
    private let recorder: Recorder
    private let writing = Mutex<Task<Void, any Error>?>(nil)

    init(_ file: RecordingFile, hiding secrets: [String]) throws {
        try file.requireUsable()
        var options = RecordingOptions()
        options.recordsInProduction = true  // asked for by the option's name
        for secret in secrets { options.redaction.add(secret: Array(secret.utf8)) }
        self.file = file
        recorder = Recorder(options)
    }

    /// Begins to record.
    func start(on system: NetworkSystem) throws {
        try recorder.start(on: system)
        EndSignals.beforeEnding { [weak self, weak system] in
            system?.cancelCalls()
            // Cancelled calls end within 100 ms.
            try? await Task.sleep(for: .milliseconds(200))
            try? await self?.write()
        }
    }

    /// Writes what was recorded, once. Each caller waits for the end.
    func write() async throws {
        recorder.stop()
        let task = writing.withLock { writing in
            let task =
                writing
                ?? Task { [file, recorder] in try await file.append(recorder.recording()) }
            writing = task
            return task
        }
        try await task.value
    }

    /// Writes what was recorded at the end of a command.
    func finish() async throws {
        try await write()
        await EndSignals.waitForEnd()
    }
}

/// A file with a recording of ours, which several commands may add to.
struct RecordingFile: Sendable {
    /// The largest recording that is read, in bytes.
    static let limit = 1 << 30
    let path: String

    /// Returns the recording of the file; nil if there is no file.
    ///
    /// - Throws: `foreign-recording`; `unreadable-file`.
    func read() throws -> Recording? {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try PrivateFile.read(path, limit: Self.limit, requirePrivate: false)
        } catch {
            if error.kind == .notFound { return nil }
            throw error
        }
        return try Self.own(bytes, named: path)
    }

    /// Refuses, before anything is sent, another program's file and a folder that can't be written.
    func requireUsable() throws {
        _ = try read()
        try locked {}
    }

    private static func own(_ bytes: [UInt8], named path: String) throws -> Recording {
        do throws(RecordingError) {
            return try Recording(ownHAR: bytes)
        } catch {
            throw ToolError(
                .foreignRecording,
                "\(path) exists and is not a recording that signet wrote; it is kept as it is")
        }
    }

    /// Adds calls to the file, or creates it with mode 0600.
    func append(_ new: Recording) throws {
        try locked {
            let whole = try read()?.appending(new) ?? new
            try PrivateFile.writeAtomically(whole.har(), to: path)
        }
    }

    /// Does work while no other command reads and replaces the file.
    private func locked(_ work: () throws -> Void) throws {
        // A name that no other program has.
        let lockPath = path + ".signet-lock"
        let lock = try LockedFile(
            path: lockPath, until: .now + .seconds(5), requirePrivate: true)
        defer { withExtendedLifetime(lock) { Folder.remove(file: lockPath) } }
        try work()
    }
}
#endif
