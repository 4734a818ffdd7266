#if Tool
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// The files that a command makes in a folder, none of which may exist before.
struct NewFiles {
    private let folder: String
    private let names: [String]

    /// Names the files. They count as complete once the last one exists.
    init(_ names: [String], in folder: String) {
        self.names = names
        self.folder = folder
    }

    /// The paths of the files.
    var paths: [String] { names.map(path) }

    /// Returns the path of a file in the folder.
    func path(_ name: String) -> String {
        folder == "." ? name : folder.endsWithBytes(of: "/") ? folder + name : "\(folder)/\(name)"
    }

    /// Removes the files of a killed run, and then checks that none of the files exists.
    ///
    /// - Throws: `file-exists`, naming those that do; `file-busy` while another run makes them.
    func requireNone() throws {
        try StagedFiles.removeUnpublished(in: folder, names: names)
        let found = paths.filter(Folder.exists)
        guard found.isEmpty else {
            throw ToolError(
                .fileExists,
                "these files exist, and nothing is overwritten: "
                    + found.map { printable($0) }.joined(separator: ", "))
        }
    }

    /// Runs a function in the folder, which is created if it does not exist, and removed again if
    /// the function throws and left it empty.
    func inNewFolder(_ run: () throws -> Void) throws {
        let existed = Folder.exists(folder)
        try Folder.create(folder)
        do { try run() } catch {
            if !existed { Folder.remove(emptyFolder: folder) }
            throw error
        }
    }

    /// Returns whether a source of keys is one of the files.
    func contain(_ source: String) -> Bool {
        guard let file = KeySource(source).filePath else { return false }
        let name = file.split(separator: "/").last ?? ""
        return names.contains { sameBytes($0, String(name)) }
            && Folder.resolved(file.dropLast(name.count) + ".") == Folder.resolved(folder)
    }

    /// Makes the files: all of them or, if `write` throws or the process is killed, none.
    ///
    /// - Parameter write: Receives a function that returns the path at which to write a file.
    func make(_ write: (_ path: (String) -> String) throws -> Void) throws {
        let staged = try StagedFiles.start(in: folder, names: names)
        let path = staged.path
        try write { "\(path)/\($0)" }
        try staged.publish()
    }

    /// Writes an object as JSON that everybody may read.
    static func write(_ object: JSONObject, to path: String) throws {
        try PrivateFile.createNew(
            JSONValue.object(object).serialized(.pretty) + [0x0A], at: path, mode: 0o644)
    }

    /// Returns a source of keys as a project file in the folder names it: a file's path relative to
    /// the folder or to the home folder, `credential:` sources as they are, and nil for sources
    /// that a project file which is found may not name.
    func relative(_ source: String) -> String? {
        if KeySource(source).kind == .credential { return source }
        guard let file = KeySource(source).filePath else { return nil }
        guard !file.startsWithBytes(of: "/") else {
            // Another user's home folder has another name.
            guard let home = try? UserFolder.home, file.startsWithBytes(of: home + "/") else {
                return file
            }
            return "~" + file.dropFirst(home.count)
        }
        // Links are followed: the system takes `..` of what a link leads to, not of the link.
        let name = file.split(separator: "/").last ?? ""
        guard let holder = Folder.resolved(file.dropLast(name.count) + "."),
            let base = Folder.resolved(folder)
        else { return file }
        let target = holder.split(separator: "/") + [name]
        let start = base.split(separator: "/")
        let common = zip(target, start).prefix { $0 == $1 }.count
        let ups = [Substring](repeating: "..", count: start.count - common)
        return (ups + target[common...]).joined(separator: "/")
    }
}
#endif
