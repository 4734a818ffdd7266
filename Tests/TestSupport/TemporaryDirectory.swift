package import Foundation

/// A folder of a test's own (mode 0700), removed with everything in it when the last reference
/// goes.
package final class TemporaryDirectory: Sendable {
    package let url: URL
    package var path: String { url.path }

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "signet-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in this folder, whether or not it exists.
    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file with the given mode and returns its path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws
        -> String
    {
        let path = path(name)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: attributes)
        else { throw TestSupportError("cannot write \(path)") }
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        return path
    }

    /// Writes a text file with the given mode and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        try write(text.utf8, to: name, mode: mode)
    }

    /// The bytes of a file in this folder.
    package func read(_ name: String) throws -> [UInt8] {
        // Not Data(contentsOf:), which leaks a page for each empty file.
        let file = try FileHandle(forReadingFrom: url.appending(path: name))
        defer { try? file.close() }
        return [UInt8](try file.readToEnd() ?? Data())
    }

    /// The names of the files in this folder, sorted; to check that no partial file is left.
    package func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    /// The names of the files in a folder inside this one, sorted.
    package func contents(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    /// The mode of a file in this folder.
    package func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    /// Runs openssl in this folder.
    ///
    /// - Throws: If it fails, with what it printed.
    package func openssl(_ arguments: String...) async throws {
        let output = try await ChildProcess.run(
            "/usr/bin/env", ["openssl"] + arguments, directory: url)
        guard output.exit == 0 else { throw TestSupportError("openssl: \(output.stderr)") }
    }
}
