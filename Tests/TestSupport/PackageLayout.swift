package import Foundation

/// The places of this checkout's files that the tests need in addition to their vectors.
package enum PackageLayout {
    /// The folder that holds `Package.swift`.
    package static let root: URL = {
        // Other packages have this file through a link, and so under another path.
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/",
            !FileManager.default.fileExists(atPath: folder.appending(path: "certs/make").path)
        {
            folder = folder.deletingLastPathComponent()
        }
        return folder
    }()

    /// A file or folder of the package, by its path below the root.
    package static func url(_ path: String) -> URL { root.appending(path: path) }
}

/// The public vector suites that may be next to a checkout; tests that need them are skipped, by
/// name, if they are absent: `@Test(.enabled(if: SharedVectors.directory != nil))`.
package enum SharedVectors {
    /// `../shared/vectors` next to the package, or nil.
    package static let directory: URL? = {
        let url = PackageLayout.root.deletingLastPathComponent().appending(path: "shared/vectors")
        let values = try? url.resourceValues(forKeys: [.isDirectoryKey])
        return values?.isDirectory == true ? url : nil
    }()
}

/// A test's environment is unusable: a program is missing, failed or did not respond.
package struct TestSupportError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
