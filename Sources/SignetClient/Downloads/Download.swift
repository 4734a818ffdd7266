/// The options of a download, which fetches a response's body into a file.
///
/// The request asks for no content coding. If the server sends one nevertheless, its bytes are
/// stored as they come, and ``Result/fields`` has the Content-Encoding.
public struct Download: Sendable, Hashable {
    /// Fields of the request besides those that the download makes (Range, If-Range,
    /// Accept-Encoding).
    public var fields: HTTPFields = [:]
    /// Whether the download continues the part that an earlier run left, if the server still has
    /// the same resource.
    public var resumes = true
    /// The SHA-256 that the whole file must have, 32 bytes; nil if the caller doesn't know it.
    public var sha256: [UInt8]?
    /// The maximum size of the file in bytes.
    public var maximumSize: Int64 = 64 << 30
    /// The file's mode.
    public var mode: UInt32 = 0o600

    /// Creates the default options: resuming, mode 0600, at most 64 GiB.
    public init() {}

    /// The outcome of a download.
    public struct Result: Sendable, Hashable {
        /// The status of the last response, 200 or 206.
        public let status: Int
        /// The fields of the last response.
        public let fields: HTTPFields
        /// The file's size in bytes.
        public let byteCount: Int64
        /// The number of bytes that an earlier run had fetched.
        public let resumedFrom: Int64
        /// Whether the file was compared with a digest: the caller's, or the server's Repr-Digest.
        public let isDigestChecked: Bool
    }
}
