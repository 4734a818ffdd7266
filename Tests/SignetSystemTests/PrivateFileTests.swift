import Foundation
import TestSupport
import Testing

@testable import SignetSystem

@Suite struct PrivateFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: [0o600, 0o400, 0o700])
    func readsAFileOfTheOwnerOnly(_ mode: Int) throws {
        let path = try folder.write("secret", to: "file", mode: mode)
        #expect(try PrivateFile.read(path, limit: 6, requirePrivate: true) == bytes("secret"))
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777])
    func refusesAFileThatOthersCanAccess(_ mode: Int) throws {
        let path = try folder.write("secret", to: "file", mode: mode)
        let failure = fileFailure { try PrivateFile.read(path, limit: 6, requirePrivate: true) }
        #expect(failure?.kind == .permissions)
        #expect(failure?.message.contains("chmod 600 \(path)") == true)
        #expect(try PrivateFile.read(path, limit: 6, requirePrivate: false) == bytes("secret"))
    }

    @Test func checksTheFileThatALinkNames() throws {
        let open = try folder.write("secret", to: "open", mode: 0o644)
        try link("link", to: open)
        #expect(kind { try read("link") } == .permissions)
        let closed = try folder.write("secret", to: "closed")
        try link("good", to: closed)
        #expect(try read("good") == bytes("secret"))
    }

    @Test func refusesNonRegularFiles() throws {
        #expect(
            kind { try PrivateFile.read(folder.path, limit: 10, requirePrivate: true) }
                == .wrongKind)
        #expect(
            kind { try PrivateFile.read("/dev/zero", limit: 10, requirePrivate: true) }
                == .wrongKind)
        #expect(
            kind { try PrivateFile.read("/dev/null", limit: 10, requirePrivate: false) }
                == .wrongKind)
        try makePipe()
        #expect(kind { try read("pipe") } == .wrongKind)
        #expect(kind { try read("absent") } == .notFound)
        #expect(kind { try PrivateFile.read("", limit: 10, requirePrivate: true) } == .notFound)
        #expect(kind { try PrivateFile.read("a\0b", limit: 10, requirePrivate: true) } == .notFound)
    }

    @Test func refusesMoreThanTheLimit() throws {
        try folder.write("1234567", to: "file")
        #expect(
            kind { try PrivateFile.read(folder.path("file"), limit: 6, requirePrivate: true) }
                == .tooLarge)
        #expect(
            try PrivateFile.read(folder.path("file"), limit: 7, requirePrivate: true).count == 7)
        try folder.write("", to: "empty")
        #expect(try PrivateFile.read(folder.path("empty"), limit: 0, requirePrivate: true).isEmpty)
        // A file that reports the size 0 and contains more.
        #expect(
            kind { try PrivateFile.read("/proc/self/maps", limit: 10, requirePrivate: false) }
                == .tooLarge)
    }

    @Test func inputsMayBePipesButNotFolders() throws {
        #expect(kind { try InputFile.read(folder.path) } == .wrongKind)
        #expect(kind { try InputFile.read("/dev/zero", limit: 100) } == .tooLarge)
        #expect(try InputFile.read("/dev/null").isEmpty)
        try makePipe()
        #expect(try InputFile.read(folder.path("pipe")).isEmpty)
        try folder.write("text", to: "file", mode: 0o644)
        #expect(try InputFile.read(folder.path("file")) == bytes("text"))
    }

    @Test func writesWholeFilesThatOnlyTheOwnerMayRead() throws {
        try PrivateFile.writeAtomically(bytes("one"), to: folder.path("file"))
        #expect(try folder.read("file") == bytes("one") && mode("file") == 0o600)
        let long = [UInt8](repeating: 0x41, count: 1 << 20)
        try PrivateFile.writeAtomically(long, to: folder.path("file"))
        #expect(try folder.read("file") == long && folder.contents() == ["file"])
        try PrivateFile.writeAtomically(bytes("public"), to: folder.path("open"), mode: 0o644)
        #expect(try mode("open") == 0o644)
        try PrivateFile.writeAtomically([], to: folder.path("file"))
        #expect(try folder.read("file").isEmpty)
    }

    @Test func tightensTheModeOfTheReplacedFile() throws {
        try folder.write("old", to: "file", mode: 0o644)
        try PrivateFile.writeAtomically(bytes("new"), to: folder.path("file"))
        #expect(try mode("file") == 0o600)
    }

    @Test func keepsTheLinkAndReplacesItsTarget() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "inner"), withIntermediateDirectories: false)
        try folder.write("old", to: "inner/file")
        try link("link", to: "inner/file")
        try PrivateFile.writeAtomically(bytes("new"), to: folder.path("link"))
        #expect(try folder.read("inner/file") == bytes("new"))
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link"))
                == "inner/file")
    }

    @Test func aFailureLeavesNothingBehind() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "folder"), withIntermediateDirectories: false)
        try link("broken", to: "nowhere")
        for name in ["folder", "broken", "absent/file", "", ".", ".."] {
            let failure = fileFailure {
                try PrivateFile.writeAtomically(bytes("new"), to: folder.path + "/" + name)
            }
            #expect(failure != nil, "\(name)")
        }
        #expect(kind { try PrivateFile.writeAtomically(bytes("x"), to: "/dev/null") } == .wrongKind)
        #expect(kind { try PrivateFile.writeAtomically(bytes("x"), to: "/dev/full") } == .wrongKind)
        #expect(try folder.contents() == ["broken", "folder"])
    }

    @Test func aKilledRunsFileDoesNotBlock() throws {
        for name in [".signet-.tmp", ".signet-AAAAAAAAAAAAAAAA.tmp", "file.tmp", ".file.tmp"] {
            try folder.write("left behind", to: name)
        }
        try PrivateFile.writeAtomically(bytes("new"), to: folder.path("file"))
        #expect(try folder.read("file") == bytes("new") && folder.contents().count == 5)
    }

    @Test func makesOnlyNewFiles() throws {
        try PrivateFile.createNew(bytes("one"), at: folder.path("file"))
        #expect(try mode("file") == 0o600)
        #expect(
            kind { try PrivateFile.createNew(bytes("two"), at: folder.path("file")) }
                == .alreadyExists)
        try link("broken", to: "nowhere")
        #expect(
            kind { try PrivateFile.createNew(bytes("two"), at: folder.path("broken")) }
                == .alreadyExists)
        #expect(
            kind { try PrivateFile.createNew(bytes("two"), at: folder.path("no/file")) }
                == .notFound)
        #expect(try folder.read("file") == bytes("one"))
        #expect(try folder.contents() == ["broken", "file"])
    }

    @Test func messagesCannotSteerATerminal() {
        let failure = fileFailure { try InputFile.read("/nowhere/\u{1b}[31m\n\u{202e}") }
        #expect(failure?.message.contains("\\u{1b}[31m\\u{a}\\u{202e}") == true)
    }

    private func makePipe() throws {
        let outcome = try ChildProcess.runBlocking("mkfifo", ["-m", "600", folder.path("pipe")])
        try #require(outcome.exit == 0)
    }

    private func read(_ name: String) throws -> [UInt8] {
        try PrivateFile.read(folder.path(name), limit: 100, requirePrivate: true)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(name), withDestinationPath: target)
    }

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    private func kind(_ work: () throws -> Any) -> FileFailure.Kind? { fileFailure(work)?.kind }

    private func fileFailure(_ work: () throws -> Any) -> FileFailure? {
        do {
            _ = try work()
            return nil
        } catch {
            return error as? FileFailure
        }
    }
}
