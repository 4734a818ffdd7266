internal import CSignetOpenSSL

/// Keeping secrets out of core files.
package enum CoreDumps {
    /// Asks the system never to write this process's memory to a core file, nor to let other
    /// processes of the same user read it.
    ///
    /// A sanitizer that watches the process needs to read it; then only the size of a core file is
    /// set to none.
    ///
    /// - Returns: Whether the system took it.
    @discardableResult
    package static func disable() -> Bool {
        csignet_disable_core_dumps() == 1
    }
}
