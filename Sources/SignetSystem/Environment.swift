internal import Glibc

/// The process's environment variables.
package enum Environment {
    /// The value of a variable, or nil if it is not set.
    package static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
