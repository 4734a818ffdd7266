import Glibc

/// The user that the process runs as.
package enum CurrentUser {
    /// The effective user id.
    package static var id: UInt32 { geteuid() }
}
