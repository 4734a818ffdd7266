import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SignetSystem

@Suite struct FileLockTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func oneAtATime() throws {
        let path = try folder.write("old", to: "file")
        let lock = try FileLock(guarding: path)
        expect(.busy) { _ = try FileLock(guarding: path, timeout: .zero) }
        lock.release()
        _ = try FileLock(guarding: path, timeout: .zero)
        #expect(try folder.contents() == ["file"])
    }

    @Test func theErrorNamesTheLockedFile() throws {
        let path = try folder.write("old", to: "file")
        let lock = try FileLock(guarding: path)
        let failure = failure { _ = try FileLock(guarding: path, timeout: .milliseconds(20)) }
        #expect(failure?.message.contains("another process is changing it") == true)
        #expect(failure?.message.contains(path) == true)
        lock.release()
    }

    @Test func aLinkASecondNameAndTheFileShareOneLock() throws {
        let path = try folder.write("old", to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: "file")
        try FileManager.default.linkItem(atPath: path, toPath: folder.path("second"))
        let lock = try FileLock(guarding: folder.path("link"))
        for name in ["file", "link", "second"] {
            expect(.busy) { _ = try FileLock(guarding: folder.path(name), timeout: .zero) }
        }
        let locked = lock.path
        #expect(locked.hasSuffix("/file"))
        lock.release()
    }

    @Test func theLockPassesToTheNewFile() throws {
        let path = try folder.write("old", to: "file")
        var lock = try FileLock(guarding: path)
        try lock.write(bytes("new"))
        #expect(try folder.read("file") == bytes("new"))
        expect(.busy) { _ = try FileLock(guarding: path, timeout: .zero) }
        try lock.write(bytes("newer"))
        lock.release()
        _ = try FileLock(guarding: path, timeout: .zero)
        #expect(try folder.read("file") == bytes("newer") && folder.contents() == ["file"])
    }

    @Test func ofTwoThatMakeAFileOneSucceeds() throws {
        var first = try FileLock(guarding: folder.path("file"))
        var second = try FileLock(guarding: folder.path("file"), timeout: .zero)
        let areOfNothing = first.hasNoFile && second.hasNoFile
        #expect(areOfNothing)
        try first.write(bytes("one"))
        let isStill = (first.hasNoFile, second.hasNoFile)
        #expect(isStill == (false, true))
        expect(.alreadyExists) { try second.write(bytes("two")) }
        let remains = second.hasNoFile
        #expect(remains)
        #expect(try folder.read("file") == bytes("one") && folder.contents() == ["file"])
        expect(.busy) { _ = try FileLock(guarding: folder.path("file"), timeout: .zero) }
        first.release()
        second.release()
    }

    @Test func anotherProgramsFileStays() throws {
        let path = try folder.write("old", to: "file")
        var lock = try FileLock(guarding: path)
        try FileManager.default.removeItem(atPath: path)
        expect(.busy) { try lock.write(bytes("new")) }
        #expect(try folder.contents() == [])
        try folder.write("theirs", to: "file")
        expect(.busy) { try lock.write(bytes("new")) }
        #expect(try folder.read("file") == bytes("theirs") && folder.contents() == ["file"])
        lock.release()
    }

    @Test func refusesNonRegularFiles() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("broken"), withDestinationPath: "nowhere")
        expect(.wrongKind) { _ = try FileLock(guarding: folder.path) }
        expect(.wrongKind) { _ = try FileLock(guarding: "/dev/null") }
        expect(.notFound) { _ = try FileLock(guarding: folder.path("broken")) }
        var lock = try FileLock(guarding: folder.path("absent/file"))
        expect(.notFound) { try lock.write(bytes("new")) }
        lock.release()
    }

    @Test func eightThreadsLoseNothing() async throws {
        let path = try folder.write("0", to: "file")
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var lock = try FileLock(guarding: path)
                    let text = try PrivateFile.read(path, limit: 10, requirePrivate: true)
                    let number = try #require(Int(String(decoding: text, as: UTF8.self)))
                    try lock.write(bytes("\(number + 1)"))
                    lock.release()
                }
            }
        }
        #expect(try folder.read("file") == bytes("8") && folder.contents() == ["file"])
    }

    @Test func aReplacedFileIsWiped() throws {
        let path = try folder.write("secret", to: "file")
        let old = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? old.close() }
        var lock = try FileLock(guarding: path)
        try lock.write(bytes("new"), wipingOld: true)
        lock.release()
        #expect(try old.readToEnd() == Data(repeating: 0, count: 6))
        #expect(try folder.read("file") == bytes("new") && folder.contents() == ["file"])
    }

    @Test func aFileWithASecondNameIsNotWiped() throws {
        let path = try folder.write("secret", to: "file")
        try FileManager.default.linkItem(atPath: path, toPath: folder.path("second"))
        var lock = try FileLock(guarding: path)
        let failure = failure { try lock.write(bytes("new"), wipingOld: true) }
        #expect(failure?.message.contains("hard link") == true && failure?.operation == "wipe")
        #expect(try folder.read("file") == bytes("secret"))
        // Without the wish to wipe, this name alone gets the new bytes.
        try lock.write(bytes("new"))
        #expect(try folder.read("file") == bytes("new"))
        #expect(try folder.read("second") == bytes("secret"))
        lock.release()
    }

    // MARK: - What a killed writer left

    private var stale: String { ".file.signet-\(geteuid()).tmp" }

    @Test func aDeadWritersTemporaryIsRemoved() throws {
        for isThere in [false, true] {
            if isThere { try folder.write("old", to: "file") }
            try folder.write("half a fi", to: stale)
            try PrivateFile.writeAtomically(bytes("new"), to: folder.path("file"))
            #expect(try folder.read("file") == bytes("new") && folder.contents() == ["file"])
        }
    }

    @Test func aSecondNameOfTheFileItselfIsRemoved() throws {
        try folder.write("old", to: "file")
        try FileManager.default.linkItem(
            atPath: folder.path("file"), toPath: folder.path(stale))
        var lock = try FileLock(guarding: folder.path("file"))
        try lock.write(bytes("new"))
        lock.release()
        #expect(try folder.read("file") == bytes("new") && folder.contents() == ["file"])
    }

    @Test func foreignTemporaryFilesStay() throws {
        try folder.write("precious", to: "precious")
        for put in [
            {
                try FileManager.default.linkItem(
                    atPath: folder.path("precious"), toPath: folder.path(stale))
            },
            {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.path(stale), withDestinationPath: "precious")
            },
            { try folder.write("theirs", to: stale, mode: 0o644) },
            {
                try FileManager.default.createDirectory(
                    atPath: folder.path(stale), withIntermediateDirectories: false)
            },
        ] as [() throws -> Void] {
            try put()
            try PrivateFile.writeAtomically(bytes("new"), to: folder.path("file"))
            #expect(try folder.read("file") == bytes("new"))
            #expect(try folder.contents() == [stale, "file", "precious"])
            #expect(try folder.read("precious") == bytes("precious"))
            try FileManager.default.removeItem(atPath: folder.path(stale))
        }
    }

    @Test func aLivingWritersTemporaryIsWaitedFor() throws {
        try folder.write("half a fi", to: stale)
        let held = try Descriptor(opening: folder.path(stale), flags: O_RDONLY)
        try #require(try held.tryLock() == .acquired)
        let path = folder.path("file")
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        let (hasBegun, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // A thread of its own: the pool's may be busy for longer than a writer has patience.
        Thread.detachNewThread {
            hasBegun.signal()
            let result = Result { try PrivateFile.writeAtomically(bytes("new"), to: path) }
            outcome.withLock { $0 = result }
            hasEnded.signal()
        }
        hasBegun.wait()
        // Whenever it is looked at, the writer cannot have ended.
        #expect(outcome.withLock { $0 == nil })
        #expect(try folder.contents() == [stale])
        _ = consume held
        hasEnded.wait()
        try outcome.withLock { try $0?.get() }
        #expect(try folder.read("file") == bytes("new") && folder.contents() == ["file"])
    }

    @Test func aLongNameHasATemporaryToo() throws {
        let name = String(repeating: "é", count: 127)
        try PrivateFile.writeAtomically(bytes("new"), to: folder.path(name))
        try PrivateFile.createNew(bytes("new"), at: folder.path(name + "x"))
        #expect(try folder.contents().count == 2)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func anotherUsersFileStaysTheirs() throws {
        let path = try folder.write("old", to: "file", mode: 0o644)
        try FileManager.default.setAttributes(
            [.ownerAccountID: 12_345, .groupOwnerAccountID: 12_346], ofItemAtPath: path)
        var lock = try FileLock(guarding: path)
        try lock.write(bytes("new"))
        lock.release()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.ownerAccountID] as? Int == 12_345)
        #expect(attributes[.groupOwnerAccountID] as? Int == 12_346)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.contents() == ["file"])
    }

    private func expect(
        _ kind: FileFailure.Kind, at location: SourceLocation = #_sourceLocation,
        _ work: () throws -> Void
    ) {
        let found = failure(work)?.kind
        #expect(found == kind, sourceLocation: location)
    }

    private func failure(_ work: () throws -> Void) -> FileFailure? {
        do {
            try work()
            return nil
        } catch {
            return error as? FileFailure
        }
    }
}
