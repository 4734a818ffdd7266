#if Tool
import SignetBase
import SignetSystem

/// The folders of the user who runs the tool.
enum UserFolder {
    /// The home folder, or nil if the environment names none.
    static var home: String? {
        get throws(ToolError) {
            try Project.variable("HOME").flatMap {
                $0.startsWithBytes(of: "/") && $0 != "/" ? $0 : nil
            }
        }
    }

    /// Returns the folder of Signet's own files: keys, and the list of trusted projects.
    ///
    /// The XDG Base Directory Specification ignores a relative path.
    static func configuration() throws(ToolError) -> String {
        if let folder = try Project.variable("XDG_CONFIG_HOME"), folder.startsWithBytes(of: "/") {
            return folder + "/signet"
        }
        guard let home = try home else {
            throw .usage("found no home folder: set HOME or XDG_CONFIG_HOME")
        }
        return home + "/.config/signet"
    }

    /// Creates the folder of a file that will be written, if it is that of Signet's own files.
    static func create(holding file: String) throws {
        guard let own = try? configuration(),
            sameBytes(InputFile.folder(of: file), own + "/")
        else { return }
        try Folder.createPrivate(own)
    }
}
#endif
