#if Storage
import Foundation
import GRDB
import SignetBase
import SignetCrypto
import SignetSystem
import Synchronization

extension OutboxStore {
    // MARK: Transactions

    /// Changes the database. The change is on the disk when this returns, or nothing has changed.
    ///
    /// - Parameter usesReserve: Whether the change helps to send, so that it may use the room that
    ///   is kept for it.
    func write<Value>(
        usesReserve: Bool = true, _ work: (Database, StoreSeal) throws -> Value
    ) throws(StorageError) -> Value {
        try perform("written", usesReserve: usesReserve) { database in
            try database.queue.write { try work($0, database.seal) }
        }
    }

    func read<Value>(_ work: (Database) throws -> Value) throws(StorageError) -> Value {
        try perform("read", usesReserve: true) { try $0.queue.read(work) }
    }

    /// Closes the file, until it is used again.
    package func close() { try? database.withLock { $0.take() }?.queue.close() }

    /// Gives room on the disk back to the system after much was sent.
    ///
    /// - Parameters:
    ///   - count: Does nothing if there are fewer free pages.
    ///   - usesReserve: Whether this may use the room that is kept for sending.
    func returnRoom(from count: Int, usesReserve: Bool) {
        try? perform("written", usesReserve: usesReserve) { try $0.returnRoom(from: count) }
    }

    private func perform<Value>(
        _ operation: String, usesReserve: Bool, _ work: (OutboxDatabase) throws -> Value
    ) throws(StorageError) -> Value {
        let database = try current()
        do {
            do {
                return try work(database)
            } catch  where OutboxDatabase.isDamage(error) {
                return try work(open(inPlaceOf: database))
            } catch  where usesReserve && OutboxDatabase.isFull(error) && reserve.release() {
                defer { reserve.fill() }
                return try work(database)
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw notWritten("it can't be \(operation): \(Self.reason(error))")
        }
    }

    /// The database, opened again if another process has set it aside.
    private func current() throws(StorageError) -> OutboxDatabase {
        if let old = database.withLock({ $0 }), old.isCurrent(file, in: folder) { return old }
        return try open()
    }

    func notWritten(_ reason: String) -> StorageError {
        StorageError(.outboxNotWritten, "\(printable(folder.path(of: file))): \(reason)")
    }

    // MARK: Opening

    /// Opens the database, in place of a damaged one.
    ///
    /// - Parameter damaged: A database that turned out to be damaged.
    @discardableResult
    func open(inPlaceOf damaged: OutboxDatabase? = nil) throws(StorageError) -> OutboxDatabase {
        do {
            // One process at a time, so that two don't set two files aside.
            let lock = OutboxSendLock(
                try LockedFile(path: lockPath + "-open", until: .now + .seconds(10)))
            defer { withExtendedLifetime(lock) {} }
            defer { reserve.fill() }
            let new: OutboxDatabase
            do {
                new = try openLocked(inPlaceOf: damaged)
            } catch  where OutboxDatabase.isFull(error) && reserve.release() {
                new = try openLocked(inPlaceOf: damaged)
            }
            database.withLock { $0 = new }
            return new
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(
                .unusableOutbox,
                error is ForeignDatabase
                    ? "\(printable(folder.path(of: file))) isn't an outbox"
                    : "\(printable(folder.path(of: file))) can't be opened: \(Self.reason(error))")
        }
    }

    private func openLocked(inPlaceOf damaged: OutboxDatabase?) throws -> OutboxDatabase {
        if damaged?.isCurrent(file, in: folder) == true || folder.identity(of: mark) != nil {
            return try replaceDamaged()
        }
        do {
            return try OutboxDatabase(file, in: folder, key: key, maximumPages: maximumPages)
        } catch  where OutboxDatabase.isDamage(error) {
            return try replaceDamaged()
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.message ?? "\(error.resultCode)"
        case let error as FileFailure: error.message
        default: "\(error)"
        }
    }

    // MARK: Damage

    /// The file that exists while a damaged database is set aside. It has the suffix of the new
    /// names, so that a process that finds it after a kill completes the work.
    private var mark: String { "\(file).damaged" }

    /// Sets the database aside, and makes a new one that tells of it.
    private func replaceDamaged() throws -> OutboxDatabase {
        let suffix = try markedSuffix()
        // The database goes last, so it is never opened without its log. If it is gone, a killed
        // process had begun with a new one, which no one has used yet.
        let isAside = folder.identity(of: "\(file).\(suffix)") != nil
        for part in ["-wal", "-shm", ""] where folder.identity(of: file + part) != nil {
            if isAside {
                folder.remove(file + part)
            } else if !folder.rename(file + part, to: "\(file).\(suffix)\(part)") {
                throw StorageError(
                    .unusableOutbox,
                    "\(printable(folder.path(of: file + part))) is damaged and can't be set aside")
            }
        }
        let new = try OutboxDatabase(file, in: folder, key: key, maximumPages: maximumPages)
        try new.queue.write { try Self.tell(0, for: "damaged", in: $0) }
        folder.remove(mark)
        removeOldDamaged(except: suffix)
        drops.withLock { $0.append(OutboxDrop(reason: "damaged", count: 0)) }
        return new
    }

    /// Removes the databases that were set aside before, but for the newest one. Their names have
    /// the time.
    private func removeOldDamaged(except suffix: String) {
        let names = (try? folder.names()) ?? []
        let former = names.filter { name in
            guard name.startsWithBytes(of: "\(mark)-") else { return false }
            let parts = name.utf8.dropFirst(mark.utf8.count + 1).split(separator: 0x2D)
            return parts.count == 2 && parts[0].allSatisfy { (0x30...0x39).contains($0) }
                && parts[1].count == 8 && !name.endsWithBytes(of: suffix)
        }
        for old in former.sorted().dropLast() {
            for part in ["-wal", "-shm", ""] { folder.remove(old + part) }
        }
    }

    private func markedSuffix() throws(FileFailure) -> String {
        let path = folder.path(of: mark)
        if folder.identity(of: mark) != nil {
            let marked = String(decoding: try InputFile.read(path, limit: 80), as: UTF8.self)
            if marked.startsWithBytes(of: "damaged-"),
                marked.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == 0x2D })
            {
                return marked
            }
        }
        let random = (try? RandomBytes.bytes(4).hexadecimal()) ?? []
        let suffix =
            "damaged-\(UnixTime.now())-\(String(decoding: random, as: UTF8.self))"
        try PrivateFile.writeAtomically(Array(suffix.utf8), to: path)
        return suffix
    }

    // MARK: The right to send

    /// Returns the right to send, which one process at a time has; nil if another has it.
    ///
    /// - Throws: `StorageError` with `outbox-not-written` if the lock can't be used.
    package func lockForSending() throws(StorageError) -> OutboxSendLock? {
        do throws(FileFailure) {
            return OutboxSendLock(try LockedFile(path: lockPath, until: .now))
        } catch {
            if error.kind == .busy { return nil }
            throw notWritten("the right to send can't be had: \(error.description)")
        }
    }
}

/// The right to send, or to open the file, until the last reference goes.
package final class OutboxSendLock: Sendable {
    private let file: LockedFile

    fileprivate init(_ file: consuming LockedFile) { self.file = file }
}
#endif
