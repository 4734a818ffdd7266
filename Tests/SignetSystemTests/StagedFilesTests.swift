import Foundation
import TestSupport
import Testing

@testable import SignetSystem

/// Files that appear in a folder together.
@Suite struct StagedFilesTests {
    private let folder: TemporaryDirectory
    private static let names = ["a", "b", "c"]
    private static let staging = ".signet-new-\(geteuid())"

    init() throws { folder = try TemporaryDirectory() }

    private func begin() throws(FileFailure) -> StagedFiles {
        try StagedFiles.start(in: folder.path, names: Self.names)
    }

    private func fill(_ path: String) throws {
        for name in Self.names {
            try PrivateFile.createNew(Array(name.utf8), at: "\(path)/\(name)")
        }
    }

    /// Leaves the files of a process that was killed after it published so many names.
    private func leave(given count: Int) throws {
        let staging = folder.url.appending(path: Self.staging)
        try FileManager.default.createDirectory(
            at: staging, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try fill(staging.path)
        try folder.write("", to: "\(Self.staging)/lock")
        try folder.write("half", to: "\(Self.staging)/.b.signet-0.tmp")
        for name in Self.names.prefix(count) {
            try FileManager.default.linkItem(
                at: staging.appending(path: name), to: folder.url.appending(path: name))
        }
    }

    @Test func allAppear() throws {
        let staged = try begin()
        try fill(staged.path)
        #expect(try folder.contents() == [Self.staging])
        try staged.publish()
        _ = consume staged
        #expect(try folder.contents() == Self.names)
        #expect(try folder.read("b") == Array("b".utf8))
    }

    @Test func withoutTheLastNameNoneStays() throws {
        let staged = try begin()
        try fill(staged.path)
        _ = consume staged
        #expect(try folder.contents().isEmpty)
    }

    @Test(arguments: ["a", "b", "c"])
    func anExistingFileStaysAlone(_ name: String) throws {
        try folder.write("mine", to: name)
        let staged = try begin()
        try fill(staged.path)
        var kind: FileFailure.Kind?
        do throws(FileFailure) { try staged.publish() } catch { kind = error.kind }
        _ = consume staged
        #expect(kind == .alreadyExists)
        #expect(try folder.contents() == [name])
        #expect(try folder.read(name) == Array("mine".utf8))
    }

    @Test(arguments: [0, 1, 2])
    func aKilledProcessesFilesAreRemoved(_ count: Int) throws {
        try leave(given: count)
        try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        #expect(try folder.contents().isEmpty)
    }

    @Test func aCompletedSetStays() throws {
        try leave(given: 3)
        try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        #expect(try folder.contents() == Self.names)
    }

    /// The user has put a file of their own in the place of one of the killed process.
    @Test func anotherFileOfTheNameStays() throws {
        try leave(given: 2)
        try FileManager.default.removeItem(at: folder.url.appending(path: "a"))
        try folder.write("mine", to: "a")
        try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        #expect(try folder.contents() == ["a"])
        #expect(try folder.read("a") == Array("mine".utf8))
    }

    @Test func aSecondProcessIsRefused() throws {
        let staged = try begin()
        var kind: FileFailure.Kind?
        do throws(FileFailure) {
            try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        } catch { kind = error.kind }
        #expect(kind == .busy)
        try fill(staged.path)
        try staged.publish()
        _ = consume staged
        #expect(try folder.contents() == Self.names)
    }

    @Test func aFolderOfOthersOrALinkIsRefused() throws {
        let staging = folder.url.appending(path: Self.staging)
        try FileManager.default.createDirectory(
            at: staging, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        #expect(throws: FileFailure.self) {
            try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        }
        try FileManager.default.removeItem(at: staging)
        try FileManager.default.createSymbolicLink(
            atPath: staging.path, withDestinationPath: folder.path)
        #expect(throws: FileFailure.self) {
            try StagedFiles.removeUnpublished(in: folder.path, names: Self.names)
        }
        #expect(try folder.contents() == [Self.staging])
    }
}
