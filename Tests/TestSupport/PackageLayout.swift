package import Foundation

/// Where this checkout keeps what the tests need beside their own vectors.
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

/// The public vector suites that may lie beside a checkout; tests that need them are skipped, by
/// name, where they are absent: `@Test(.enabled(if: SharedVectors.directory != nil))`.
package enum SharedVectors {
    /// `../shared/vectors` beside the package, or nil.
    package static let directory: URL? = {
        let url = PackageLayout.root.deletingLastPathComponent().appending(path: "shared/vectors")
        let values = try? url.resourceValues(forKeys: [.isDirectoryKey])
        return values?.isDirectory == true ? url : nil
    }()
}

/// A test's surroundings are not as it needs them: a program is missing, failed or did not answer.
package struct TestSupportError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
