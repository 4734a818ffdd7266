/// The settings of an engine that makes its own connections, such as `CurlEngine` of SignetCurl.
public struct EngineSettings: Sendable, Hashable {
    /// The path of a PEM file of CA certificates to use instead of the system's.
    ///
    /// The file may change while the engine runs. Each call checks the file's times, size and
    /// inode; if they differ, this and all later calls use new connections, verified with the
    /// new file, while calls under way continue. Replace the file by renaming another over it,
    /// because calls fail with `trust-store` while it is missing or contains no certificate.
    /// The same applies to the system's file.
    public var caFile: String?
    /// Whether to offer HTTP/2 in the TLS handshake (ALPN). Defaults to `true`.
    public var offersHTTP2 = true
    /// The maximum number of connections to one host and port; further calls wait. 1...65535;
    /// defaults to 64.
    ///
    /// The engine doesn't use the last 16 descriptors that the process may open. A call that
    /// needs one of them fails with `resources`.
    public var maximumConnectionsPerHost = 64
    /// The time for which an idle connection may be used again, rounded up to whole seconds. If
    /// it is zero, each connection is closed as soon as no call uses it. Defaults to 118
    /// seconds.
    public var maximumIdleTime = Duration.seconds(118)
    /// The time for which the addresses of a name are remembered, rounded up to whole seconds;
    /// zero looks each up again. Defaults to 60 seconds.
    public var dnsCacheTime = Duration.seconds(60)
    /// The maximum size of a response's header in bytes, with interim responses and trailers.
    /// Defaults to 64 KiB. Over HTTP/2, libcurl before 8.1 may never receive the end of a
    /// header of more than 64 KiB, or the end of the body after it.
    public var maximumHeaderSize = 64 << 10
    /// The maximum number of fields in a response's header, at most 65,534, which is the limit
    /// of `HTTPFields`. Defaults to 256.
    public var maximumHeaderFields = 256
    /// The approximate number of bytes that are buffered if a body's reader is slower than the
    /// server. Defaults to 256 KiB.
    public var bodyBufferSize = 256 << 10

    /// Creates the default settings.
    public init() {}
}
