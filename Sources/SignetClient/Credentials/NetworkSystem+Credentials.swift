internal import SignetBase

extension NetworkSystem {
    /// Forgets credentials, for example after a user has signed out. The next call asks its source
    /// for a new one. Calls that are under way keep theirs.
    ///
    /// - Parameter scope: The scope whose credentials are forgotten, at all services; nil forgets
    ///   all.
    public func removeCredentials(of scope: String? = nil) {
        credentials.removeAll(of: scope.map(ByteName.init))
    }
}
