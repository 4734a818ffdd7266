#if Tool
import SignetCurl
import SignetJSON
import SignetVault

/// The versions that `signet --version` prints.
enum VersionReport {
    /// The tool's own version.
    static let tool = "0.1.0"

    /// Returns whether a command line asks for the version and nothing else.
    static func isWanted(_ arguments: [String]) -> Bool {
        arguments.contains("--version")
            && arguments.allSatisfy { $0 == "--version" || $0 == "--json" }
    }

    /// The versions of the tool, the libraries and the system that dumps are bound to.
    static var object: JSONObject {
        let libraries = LibraryVersions.loaded()
        return [
            "version": .string(tool), "openssl": .string(libraries.openSSL),
            "libcurl": .string(libraries.libcurl), "systemID": .string(SignetVersion.systemID),
            "systemVersion": .string(SignetVersion.current),
        ]
    }
}
#endif
