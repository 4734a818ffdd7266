import CSignetCurl

/// The versions of the libraries that the process has loaded.
package struct LibraryVersions: Sendable, Hashable {
    /// libcurl's version, such as `7.88.1`.
    package let libcurl: String
    /// OpenSSL's version, such as `3.0.17`.
    package let openSSL: String

    /// Asks the libraries.
    package static func loaded() -> LibraryVersions {
        unsafe LibraryVersions(
            libcurl: String(cString: signet_libcurl_version()),
            openSSL: String(cString: signet_openssl_version()))
    }
}
