/// How a response's body is fetched into a file.
public struct Download: Sendable, Hashable {
    /// Fields of the request besides those that the download makes (Range, If-Range, Accept-Encoding).
    public var fields: HTTPFields = [:]
    /// Whether what an earlier run left is gone on from, where the server still has the same.
    public var resumes = true
    /// The SHA-256 that the whole file must have, 32 bytes; nil if the caller doesn't know it.
    public var sha256: [UInt8]?
    /// The most bytes of the file.
    public var maximumSize: Int64 = 64 << 30
    /// The file's mode.
    public var mode: UInt32 = 0o600

    /// Makes the standard choice: resuming, mode 0600, at most 64 GiB.
    public init() {}

    /// The outcome of a download.
    public struct Result: Sendable, Hashable {
        /// The status of the last response, 200 or 206.
        public let status: Int
        /// Its fields.
        public let fields: HTTPFields
        /// The file's bytes.
        public let byteCount: Int64
        /// How many of them an earlier run had fetched.
        public let resumedFrom: Int64
        /// Whether a digest, the caller's or the server's Repr-Digest, was found to fit.
        public let isDigestChecked: Bool
    }
}
