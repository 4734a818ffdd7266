import Foundation

/// A certificate authority of the tests' own, made by `certs/make` with the openssl program.
///
/// It has a root, an intermediate, and a leaf for all of `hosts`; made once per test process.
package final class TestAuthority: Sendable {
    /// The authority that tests trust.
    package static let trusted = Result { try TestAuthority("Signet tests") }
    /// One with the trusted one's own names in all its certificates, and other keys; it is trusted
    /// by no client.
    package static let impostor = Result { try TestAuthority("Signet tests") }
    /// One with the same names in its leaf, which no client trusts.
    package static let rogue = Result { try TestAuthority("Signet rogue") }

    /// A certificate with its key, as PEM files, and its pin.
    package struct Certificate: Sendable {
        /// The certificate's path.
        package let pem: String
        /// The private key's path.
        package let key: String
        /// The certificate and those that vouch for it, without the root; its path.
        package let chain: String
        /// `sha256/` and the base64 SHA-256 of the DER SubjectPublicKeyInfo, as openssl makes it.
        package let pin: String
    }

    package let folder: TemporaryDirectory
    package let root: Certificate
    package let intermediate: Certificate
    package let leaf: Certificate
    /// For a client's CA file.
    package var caFile: String { root.pem }
    /// The leaf with the intermediate after it, as a server shows it.
    package var identity: OpenSSLServer.Identity {
        .init(certificate: leaf.pem, key: leaf.key, chain: intermediate.pem)
    }

    /// The names and addresses that leaves are good for, unless a test says otherwise.
    package static let hosts = [
        "localhost", "127.0.0.1", "::1", "example.com", "*.example.com", "*.example.test",
    ]

    private init(_ name: String) throws {
        folder = try TemporaryDirectory()
        try Self.call(
            PackageLayout.url("certs/make").path,
            ["--out", folder.path, "--name", name, "--hosts", Self.hosts.joined(separator: ",")])
        root = try Self.certificate("root", in: folder, chain: "root.pem")
        intermediate = try Self.certificate("intermediate", in: folder, chain: "intermediate.pem")
        leaf = try Self.certificate("host", in: folder, chain: "host-chain.pem")
    }

    /// Another leaf of the intermediate (or, `by: root`, of the root) with a new key.
    ///
    /// `from` and `to` are the first and last moment of its validity, as `YYYYMMDDHHMMSSZ`. The
    /// first of `hosts` is the common name. `alternatives` replaces the subjectAltName of all
    /// `hosts`, in OpenSSL's syntax; if it is empty, the leaf has none. `use` is clientAuth for a
    /// client's.
    package func issue(
        _ name: String = UUID().uuidString, hosts: [String] = TestAuthority.hosts,
        alternatives: String? = nil, from: String = "20200101000000Z",
        to: String = "20491231235959Z", by issuer: Certificate? = nil, use: String = "serverAuth"
    ) throws -> Certificate {
        let issuer = issuer ?? intermediate
        let names = hosts.map {
            $0.contains(":") || $0.allSatisfy { "0123456789.".contains($0) }
                ? "IP:\($0)" : "DNS:\($0)"
        }.joined(separator: ",")
        let alternativeNames = alternatives ?? names
        try folder.write(
            """
            [ca]
            default_ca=it
            [it]
            dir=.
            database=\(name).index
            new_certs_dir=.
            rand_serial=yes
            default_md=sha256
            default_crl_days=30
            policy=any
            x509_extensions=leaf
            email_in_dn=no
            unique_subject=no
            [any]
            commonName=supplied
            [leaf]
            basicConstraints=critical,CA:FALSE
            keyUsage=critical,digitalSignature
            extendedKeyUsage=\(use)
            \(alternativeNames.isEmpty ? "" : "subjectAltName=\(alternativeNames)")

            """, to: "\(name).cnf")
        try folder.write([], to: "\(name).index")
        try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(hosts[0])")
        try openssl(
            "ca", "-batch", "-notext", "-config", "\(name).cnf", "-cert", issuer.pem,
            "-keyfile", issuer.key, "-startdate", from, "-enddate", to, "-in", "\(name).csr",
            "-out", "\(name).pem")
        let chain = try folder.read("\(name).pem") + Data(contentsOf: URL(filePath: issuer.chain))
        try folder.write(
            issuer.pem == root.pem ? folder.read("\(name).pem") : chain, to: "\(name)-chain.pem")
        return try Self.certificate(name, in: folder, chain: "\(name)-chain.pem")
    }

    /// A certificate for a client, whose subject is `CN=NAME`.
    package func client(
        _ name: String, from: String = "20200101000000Z", to: String = "20491231235959Z"
    ) throws -> Certificate {
        try issue(
            "client-\(name)-\(UUID().uuidString)", hosts: [name], from: from, to: to,
            use: "clientAuth")
    }

    /// A list of revoked certificates that has one of the intermediate's; its path.
    package func revoking(_ certificate: Certificate) throws -> String {
        let name = URL(filePath: certificate.pem).deletingPathExtension().lastPathComponent
        let issuer = [
            "-config", "\(name).cnf", "-cert", intermediate.pem, "-keyfile", intermediate.key,
        ]
        try Self.call(
            "openssl", ["ca", "-revoke", certificate.pem] + issuer, directory: folder.url)
        try Self.call(
            "openssl", ["ca", "-gencrl", "-out", "\(name).crl"] + issuer, directory: folder.url)
        return folder.path("\(name).crl")
    }

    /// A certificate that vouches for itself.
    package func selfSigned(_ name: String = UUID().uuidString, host: String = "localhost") throws
        -> Certificate
    {
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "\(name).key", "-out", "\(name).pem", "-subj", "/CN=\(host)", "-days", "30",
            "-addext", "subjectAltName=DNS:\(host),IP:127.0.0.1")
        return try Self.certificate(name, in: folder, chain: "\(name).pem")
    }

    /// A certificate as a server sends it, followed by others, whether they vouch for it or not.
    package func showing(_ certificate: Certificate, with others: String...) throws -> Certificate {
        let name = "\(UUID().uuidString)-chain.pem"
        let chain = try ([certificate.pem] + others).reduce(into: Data()) {
            $0 += try Data(contentsOf: URL(filePath: $1))
        }
        return Certificate(
            pem: certificate.pem, key: certificate.key, chain: try folder.write(chain, to: name),
            pin: certificate.pin)
    }

    /// The pin of any certificate in a PEM file (the first there), as the openssl program makes it.
    package static func pin(ofCertificate pem: String) throws -> String {
        let script =
            "openssl x509 -in \"$1\" -noout -pubkey | openssl pkey -pubin -outform DER"
            + " | openssl dgst -sha256 -binary | base64"
        let digest = try call("/bin/sh", ["-c", script, "sh", pem])
        return "sha256/" + digest.text.filter { !$0.isWhitespace }
    }

    private func openssl(_ arguments: String...) throws {
        try Self.call("openssl", arguments, directory: folder.url)
    }

    private static func certificate(
        _ name: String, in folder: TemporaryDirectory, chain: String
    ) throws -> Certificate {
        let pem = folder.path("\(name).pem")
        return Certificate(
            pem: pem, key: folder.path("\(name).key"), chain: folder.path(chain),
            pin: try pin(ofCertificate: pem))
    }

    @discardableResult
    private static func call(
        _ program: String, _ arguments: [String], directory: URL? = nil
    ) throws -> ProcessOutput {
        let output = try ChildProcess.runBlocking(program, arguments, directory: directory)
        guard output.exit == 0 else {
            throw TestSupportError("\(program) \(arguments.first ?? ""): \(output.stderr)")
        }
        return output
    }
}
