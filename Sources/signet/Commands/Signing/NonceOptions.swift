#if Tool
import ArgumentParser
import SignetCrypto
import SignetSigning

#if Redis
import SignetRedis
#endif

/// The place in which `verify` remembers nonces.
struct NonceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Remember nonces in this file, and accept each only once.", valueName: "file"),
        completion: .file())
    var nonces: String?

    @Option(
        help: ArgumentHelp(
            """
            The same in a Redis that servers share: redis://HOST[:PORT][/DATABASE], rediss:// for TLS, or \
            unix:PATH. Needs a signet that was built with the package trait Redis.
            """, valueName: "url"))
    var nonceStore: String?

    @Option(
        help: ArgumentHelp("The user in Redis; without it, the default one.", valueName: "name"))
    var nonceStoreUser: String?

    @Option(
        help: ArgumentHelp(
            "Redis's password: a file, env:NAME, fd:N, command:LINE or credential:NAME.",
            valueName: "source"), completion: .file())
    var nonceStorePassword: String?

    @Option(
        help: ArgumentHelp(
            "Authorities for Redis's certificate, in place of the system's.", valueName: "pem"),
        completion: .file())
    var nonceStoreCaFile: String?

    func validate() throws {
        try ToolError.requireFile(nonces, subject: "a list of nonces")
        guard nonces == nil || nonceStore == nil else {
            throw ValidationError("found --nonces and --nonce-store, expected one of them")
        }
        guard
            nonceStore != nil
                || [nonceStoreUser, nonceStorePassword, nonceStoreCaFile].allSatisfy({ $0 == nil })
        else { throw ValidationError("the options of Redis need --nonce-store") }
    }

    /// The store, or nil if none is named.
    func store() throws -> (any NonceStore)? {
        if let nonces { return FileNonceStore(path: nonces) }
        guard let nonceStore else { return nil }
        #if Redis
        var options = try RedisNonceStore.Options(url: nonceStore)
        options.username = nonceStoreUser
        // One call, of a person or a script.
        options.connections = 1
        options.connectTimeout = .seconds(5)
        options.commandTimeout = .seconds(5)
        if let nonceStoreCaFile {
            guard options.tls != nil else {
                throw ToolError.usage("--nonce-store-ca-file needs a URL with rediss://")
            }
            options.tls?.authorityFile = nonceStoreCaFile
        }
        return try RedisNonceStore(
            options, password: nonceStorePassword.map { try Passphrase(KeySource($0)) })
        #else
        _ = nonceStore
        throw ToolError(
            .unsupportedOption,
            "--nonce-store needs a signet that was built with Redis: swift build --traits default,Redis"
        )
        #endif
    }
}
#endif
