#if Tool
import SignetBase
import SignetSystem

/// Files that git leaves out.
enum GitIgnore {
    /// Adds a file to the `.gitignore` of its folder, if it is in a git work tree and isn't there
    /// yet.
    ///
    /// - Returns: The `.gitignore` that was changed, or nil.
    /// - Throws: `FileFailure`; wrong usage if git can't name the file, or if `.gitignore` is a
    ///   link, which may lead to any file.
    static func add(_ path: String) throws -> String? {
        let (folder, name) = parts(of: path)
        guard !name.isEmpty, let real = Folder.resolved(folder.isEmpty ? "." : folder),
            isInWorkTree(real)
        else { return nil }
        guard !name.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
            throw ToolError.usage("\(printable(path)): .gitignore cannot name this file")
        }
        let file = folder + ".gitignore"
        var bytes: [UInt8] = []
        var mode: UInt32 = 0o644
        if Folder.exists(file) {
            guard let permissions = Folder.permissions(ofFile: file) else {
                throw ToolError.usage(
                    "\(printable(file)): found a link or no file, expected a file to which git's rule "
                        + "for \(printable(name)) can be added")
            }
            mode = permissions
            bytes = try PrivateFile.read(file, limit: 1 << 20, requirePrivate: false)
        }
        let line = Array("/\(pattern(name))".utf8)
        let lines = bytes.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
        // The last line that matches wins, so a later `!` pattern may include the file again.
        let last = lines.lastIndex {
            $0.elementsEqual(line) || $0.elementsEqual(line.dropFirst())
        }
        if let last, !lines[last...].contains(where: { $0.first == UInt8(ascii: "!") }) {
            return nil
        }
        if let last = bytes.last, last != 0x0A { bytes.append(0x0A) }
        try PrivateFile.writeAtomically(bytes + line + [0x0A], to: file, mode: mode)
        return file
    }

    /// Returns whether git tracks a file, for which it ignores a rule of `.gitignore`.
    static func isTracked(_ path: String) -> Bool {
        let (folder, name) = parts(of: path)
        // A repository of others must start no program (core.fsmonitor), and must make git fetch
        // nothing: a partial clone's missing objects come through a transport that it chooses.
        let line = [
            "git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C",
            folder.isEmpty ? "." : folder, "ls-files", "--error-unmatch", "--", name,
        ].map(ShellCommand.word).joined(separator: " ")
        return
            (try? ShellCommand.output(
                of: "GIT_ALLOW_PROTOCOL=none \(line) 2>/dev/null", limit: 1 << 20)) != nil
    }

    /// Returns the folder with its slash, or nothing, and the name.
    private static func parts(of path: String) -> (folder: String, name: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return (path.endsWithBytes(of: name) ? String(path.dropLast(name.count)) : path, name)
    }

    /// Returns whether a folder or one above it holds `.git`, which is a file in linked work trees.
    private static func isInWorkTree(_ folder: String) -> Bool {
        var folder = folder[...]
        while true {
            if Folder.exists(folder + "/.git") { return true }
            guard let slash = folder.lastIndex(of: "/") else { return false }
            folder = folder[..<slash]
        }
    }

    /// The pattern that matches a name alone (gitignore(5)).
    private static func pattern(_ name: String) -> String {
        var pattern = ""
        for scalar in name.unicodeScalars {
            if "\\*?[".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        // Git drops spaces at the end unless a backslash is before them.
        let text = pattern.prefix(pattern.count - pattern.reversed().prefix { $0 == " " }.count)
        return text + String(repeating: "\\ ", count: pattern.count - text.count)
    }
}
#endif
