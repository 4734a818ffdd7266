#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The process's environment variables.
package enum Environment {
    /// The value of a variable, or nil if it is not set.
    package static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
